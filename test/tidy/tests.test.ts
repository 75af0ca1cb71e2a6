/**
 * Rule for test files: what `npm test` runs starts no process, so that a contributor has an answer in minutes.
 *
 * The name of a file says its kind (vitest.config.ts); what it imports from `test` counts as its own.
 */
import { describe, expect, it } from "vitest";
import { sourceTree } from "../support/source-tree.ts";

const starters = ["node:child_process", "node:cluster", "playwright-core"];
const kinds = /\.(processes|soak)\.test\.ts$/;
const files = new Map(sourceTree("test").map((file) => [file.path, file]));

/** The first import that starts a process, found from `path` through files of `test`. */
const starterOf = (path: string, seen = new Set<string>()): string | undefined => {
  const file = files.get(path);
  if (file === undefined || seen.has(path)) return undefined;
  seen.add(path);
  const own = file.specifiers.find((specifier) => starters.includes(specifier));
  if (own !== undefined) return `${path} imports ${own}`;
  for (const { from } of file.imported) {
    const found = starterOf(from, seen);
    if (found !== undefined) return found;
  }
  return undefined;
};

describe("Test files", () => {
  it("start processes only where their names say so", () => {
    const wrong = [...files.keys()]
      .filter((path) => path.endsWith(".test.ts") && !kinds.test(path))
      .flatMap((path) => {
        const starter = starterOf(path);
        return starter === undefined ? [] : [`${path}: ${starter}; name the file *.processes.test.ts`];
      });
    expect(wrong).toEqual([]);
  });
});
