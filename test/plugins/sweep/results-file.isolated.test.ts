import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openResults } from "../../../plugins/sweep/results-file.ts";
import type { Result } from "../../../plugins/sweep/sweep-report.ts";
import { folder } from "./harness/sweep.ts";

const identity = { config: "c", fixture: "f", space: [{ name: "a.b", values: [1, 2] }], seed: "1", limits: null };
const failed = (index: number, error = "no luck"): Result => ({
  index,
  part: "whole",
  point: index,
  options: { "a.b": index },
  status: "failed",
  error,
});
const done = (index: number): Result =>
  ({ ...failed(index), status: "done", resultHash: `hash ${index}`, figures: {} }) as unknown as Result;

let count = 0;
const fresh = (): { dir: string; path: string } => {
  const dir = join(folder, `results-${count++}`);
  return { dir, path: join(dir, "results.ndjson") };
};

describe("Stored sweep results", () => {
  it("come back by index, and what failed is to be tried again", () => {
    const { dir } = fresh();
    const file = openResults(dir, identity, false);
    for (const result of [done(3), failed(1), done(0)]) file.append(result);
    expect([...openResults(dir, identity, true).kept]).toEqual([
      [3, done(3)],
      [0, done(0)],
    ]);
  });

  it("lose a last line that was cut off, whatever it was, before anything is added", () => {
    const { dir, path } = fresh();
    openResults(dir, identity, false).append(done(0));
    const whole = readFileSync(path, "utf8");
    // A whole line without its end may be the beginning of a longer one.
    appendFileSync(path, JSON.stringify(done(1)));
    const file = openResults(dir, identity, true);
    expect([...file.kept.keys()]).toEqual([0]);
    file.append(done(2));
    expect(readFileSync(path, "utf8")).toBe(`${whole}${JSON.stringify(done(2))}\n`);
  });

  it("are never overwritten, and never made up", () => {
    const { dir } = fresh();
    expect(() => openResults(dir, identity, true)).toThrow(
      `--resume: there is no ${dir}/results.ndjson. Leave --resume out to begin.`,
    );
    openResults(dir, identity, false);
    expect(() => openResults(dir, identity, false)).toThrow(
      `results.ndjson exists. Go on with it by --resume, or name another folder with --out.`,
    );
  });

  it.each([
    ["config", { config: "d" }, "the config, or a file it imports, has changed since"],
    ["fixture", { fixture: "g" }, "the fixture has changed since"],
    ["space", { space: [{ name: "a.b", values: [1, 3] }] }, "what is varied has changed since"],
    ["seed", { seed: "2" }, "the seed has changed since"],
    ["limits", { limits: false }, "--no-limits has changed since"],
  ])("of another %s are refused", (_, change, message) => {
    const { dir } = fresh();
    openResults(dir, identity, false);
    expect(() => openResults(dir, { ...identity, ...change }, true)).toThrow(message);
  });

  it("are refused where they are damaged, by line", () => {
    const { dir, path } = fresh();
    openResults(dir, identity, false).append(done(0));
    appendFileSync(path, `{"index":1,\n${JSON.stringify(done(2))}\n`);
    expect(() => openResults(dir, identity, true)).toThrow(`${path}: line 3 is damaged. Remove that line`);
  });

  it("are refused where they are something else", () => {
    const { dir, path } = fresh();
    mkdirSync(dir);
    writeFileSync(path, '{"a":1}\n');
    expect(() => openResults(dir, identity, true)).toThrow("line 1 is not the head of a sweep");
    writeFileSync(path, "");
    expect(() => openResults(dir, identity, true)).toThrow("line 1 is not the head of a sweep");
  });
});
