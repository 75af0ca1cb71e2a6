/**
 * Rule for test files: what `npm test` runs starts no process, so that a contributor has an answer in minutes.
 *
 * The name of a file says its kind (vitest.config.ts); what it imports from `test` counts as its own.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { pathsUnder } from "../support/source-tree.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const starters = ["node:child_process", "node:cluster", "playwright-core"];
const kinds = /\.(processes|soak)\.test\.ts$/;

const importsOf = (path: string): string[] =>
  [...readFileSync(join(root, path), "utf8").matchAll(/(?:\bfrom|\bimport)\s*\(?\s*"([^"]+)"/g)].map(
    ([, specifier]) => specifier as string,
  );

/** The first import that starts a process, found from `path` through files of `test`. */
const starterOf = (path: string, seen = new Set<string>()): string | undefined => {
  if (seen.has(path)) return undefined;
  seen.add(path);
  for (const specifier of importsOf(path)) {
    if (starters.includes(specifier)) return `${path} imports ${specifier}`;
    const target = specifier.startsWith(".") ? normalize(join(dirname(path), specifier)) : "";
    const found = target.startsWith("test/") && existsSync(join(root, target)) ? starterOf(target, seen) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
};

describe("Test files", () => {
  it("start processes only where their names say so", () => {
    const wrong = pathsUnder("test")
      .filter((path) => path.endsWith(".test.ts") && !kinds.test(path))
      .flatMap((path) => {
        const starter = starterOf(path);
        return starter === undefined ? [] : [`${path}: ${starter}; name the file *.processes.test.ts`];
      });
    expect(wrong).toEqual([]);
  });
});
