import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { countInPart, partOfRun, readPart } from "../../../plugins/sweep/sweep-parts.ts";
import { runsOf } from "../../../plugins/sweep/sweep-plan.ts";
import type { SweepReport } from "../../../plugins/sweep/sweep-report.ts";
import { main } from "../../../src/cli/main.ts";
import { capturedIo } from "../../support/captured-io.ts";
import { once } from "../../support/once.ts";
import { folder, marketOf, stand } from "./harness/sweep.ts";

const sweep = async (...argv: readonly string[]) => {
  const io = capturedIo();
  const code = await main(["sweep", stand, ...argv], io);
  return { code, out: io.outText, err: io.errText };
};

const at = (name: string): string => join(folder, name);
const linesIn = (dir: string): string => readFileSync(join(dir, "results.ndjson"), "utf8");
const indexesIn = (dir: string): readonly number[] =>
  linesIn(dir)
    .trimEnd()
    .split("\n")
    .slice(1)
    .map((line) => (JSON.parse(line) as { index: number }).index);

/** Parts of `given`, each on its own, in folders whose names begin with `name`. */
const inParts = async (name: string, of: number, given: readonly string[]): Promise<readonly string[]> => {
  const dirs: string[] = [];
  for (let index = of; index >= 1; index--) {
    const dir = at(`${name}-${index}`);
    const { code } = await sweep(...given, "--jobs", "1", "--part", `${index}/${of}`, "--out", dir, "--json");
    expect(code).toBe(0);
    dirs.push(dir);
  }
  return dirs;
};

describe("Parts of a sweep", () => {
  const given = [
    "--fixture",
    marketOf(1),
    "--vary",
    "ladder.levels=1..3",
    "--vary",
    "ladder.notional=100,200",
    "--vary",
    "fickle.mood=calm",
  ];
  const files = (name: string) => [
    "--csv",
    at(`${name}.csv`),
    "--html",
    at(`${name}.html`),
    "--out",
    at(name),
    "--json",
  ];
  const made = (name: string): readonly string[] => [
    linesIn(at(name)),
    ...["csv", "html"].map((end) => readFileSync(at(`${name}.${end}`), "utf8")),
  ];
  const grid = once(() => inParts("grid", 4, given));

  it("give, merged in any order, the bytes of one run: report, results, table of values and page", async () => {
    const whole = await sweep(...given, "--jobs", "1", ...files("whole"));
    const merged = await sweep(...given, ...files("merged"), "--merge", ...(await grid()));
    expect([merged.code, merged.out]).toEqual([0, whole.out]);
    expect(made("merged")).toEqual(made("whole"));
    expect(merged.err).toContain("from 4 parts: 6 points");
    const { ranking, runs } = JSON.parse(merged.out) as SweepReport;
    expect(runs.done).toBe(6);
    expect(new Set(ranking.map(({ score }) => score)).size).toBeGreaterThan(3);
    expect((await grid()).map(indexesIn)).toEqual([[3], [2], [1, 5], [0, 4]]);
  });

  it("of a walk-forward are whole folds, also where options are learned from earlier runs", async () => {
    const learning = [
      "--fixture",
      marketOf(3),
      "--vary",
      "ladder.levels=1..8",
      "--vary",
      "ladder.step=0.00001..0.001/log9",
    ];
    const forward = [
      ...learning,
      "--sampler",
      "tpe",
      "--trials",
      "12",
      "--batch",
      "4",
      "--folds",
      "3",
      "--train",
      "0.5",
    ];
    const whole = await sweep(...forward, "--jobs", "1", "--out", at("forward"), "--json");
    const dirs = await inParts("fold", 2, forward);
    const merged = await sweep(...forward, "--out", at("forward-merged"), "--json", "--merge", ...dirs);
    expect(merged.out).toBe(whole.out);
    expect(linesIn(at("forward-merged"))).toBe(linesIn(at("forward")));
    expect((JSON.parse(whole.out) as SweepReport).folds?.map(({ outOfSample }) => typeof outOfSample?.pnl)).toEqual(
      Array(3).fill("string"),
    );
    expect([...indexesIn(dirs[0] as string)].sort((a, b) => a - b)).toEqual([
      ...Array.from({ length: 12 }, (_, run) => 12 + run),
      37,
    ]);
  });

  it("keep their failures, which a merge tells as one run would", async () => {
    const failing = ["--fixture", marketOf(1), "--vary", "fickle.mood=calm,throws", "--vary", "ladder.notional=100"];
    const whole = await sweep(...failing, "--jobs", "1", "--json");
    const dirs = ["fail-1", "fail-2"].map(at);
    expect((await sweep(...failing, "--part", "1/2", "--out", dirs[0] as string)).code).toBe(0);
    expect((await sweep(...failing, "--part", "2/2", "--out", dirs[1] as string)).code).toBe(1);
    const merged = await sweep(...failing, "--json", "--merge", ...dirs);
    expect([merged.code, merged.out]).toEqual([1, whole.out]);
    expect(merged.err).toContain("1 run of 2 failed");
  });

  it("that are missing or not finished are named with what to do, and nothing is written", async () => {
    const [four, three, two, one] = (await grid()) as [string, string, string, string];
    const short = at("short");
    cpSync(two, short, { recursive: true });
    writeFileSync(join(short, "results.ndjson"), linesIn(two).split("\n").slice(0, 2).join("\n"));
    const { code, err } = await sweep(...given, "--out", at("never"), "--merge", one, short, four);
    expect(code).toBe(2);
    expect(err).toContain("--merge: 3 of 6 runs are missing:\n");
    expect(err).toContain(`part 2/4 lacks 2 runs: go on with --part 2/4 --out ${short} --resume\n`);
    expect(err).toContain("part 3/4 was not named (1 run): run it with --part 3/4 --out DIR\n");
    expect(existsSync(at("never"))).toBe(false);
    expect((await sweep(...given, "--part", "2/4", "--out", short, "--resume")).code).toBe(0);
    expect((await sweep(...given, "--json", "--merge", one, short, three, four)).code).toBe(0);
  });

  it.each([
    [
      "of another sweep",
      (dirs: readonly string[]) => ["--seed", "5", "--merge", ...dirs],
      "belongs to another sweep: the seed is another.",
    ],
    [
      "named twice",
      (dirs: readonly string[]) => ["--merge", ...dirs, dirs[0] as string],
      "are both part 4/4. Name one.",
    ],
    ["that are no parts", () => ["--merge", at("whole")], "was written without --part. Name folders of parts only."],
    ["that are not there", () => ["--merge", at("nowhere")], "Name folders that --part … --out has written."],
    [
      "made by another version",
      () => ["--merge", altered("version", '"version":"[^"]+"', '"version":"0.0.1"')],
      "Sluice's version is another.",
    ],
    [
      "run on a fixture of another name",
      () => ["--merge", altered("name", '"name":"[^"]+market', '"name":"/mnt/market')],
      "the fixture's name, which result hashes cover, is another.",
    ],
    [
      "with runs of other options",
      () => ["--merge", altered("options", '"ladder.levels":2', '"ladder.levels":9')],
      "6 of 6 runs are missing",
    ],
    [
      "with runs of others",
      () => ["--merge", altered("part", '"part":"4/4"', '"part":"1/4"')],
      "holds run 3, which is not of part 1/4.",
    ],
  ])("%s are refused", async (_, flags, message) => {
    const { code, out, err } = await sweep(...given, ...flags(await grid()));
    expect([code === 0, out]).toEqual([false, ""]);
    expect(err).toContain(message);
  });

  const altered = (name: string, from: string, to: string): string => {
    const dir = at(`altered-${name}`);
    cpSync(at("grid-4"), dir, { recursive: true });
    const text = linesIn(dir);
    writeFileSync(join(dir, "results.ndjson"), text.replace(new RegExp(from), to));
    expect(linesIn(dir)).not.toBe(text);
    return dir;
  };

  it.each([
    [["--part", "0/4", "--out", "x"], "Parts are counted from 1: write 1/8 to 8/8."],
    [["--part", "5/4", "--out", "x"], "$((JOB_COMPLETION_INDEX + 1))/8"],
    [["--part", "1/4"], "--part: name the folder that keeps the part for --merge by --out DIR."],
    [["--part", "1/7", "--out", "x"], "6 points cannot be divided into 7 parts. Take 6 parts or fewer."],
    [["--part", "1/4", "--out", "x", "--folds", "3"], "3 folds cannot be divided into 4 parts."],
    [["--part", "1/2", "--out", "x", "--prune"], "Add --folds N, which gives each part folds of its own"],
    [["--merge", "a", "--resume", "--out", "x"], "--resume"],
  ])("that cannot be are refused before anything runs: %j", async (flags, message) => {
    const { code, err } = await sweep(...given, ...(flags as readonly string[]));
    expect([code, existsSync("x")]).toEqual([2, false]);
    expect(err).toContain(message);
  });

  it("cannot go on in the folder of another part", async () => {
    const [four] = await grid();
    const { code, err } = await sweep(...given, "--part", "1/4", "--out", four as string, "--resume");
    expect(code).toBe(2);
    expect(err).toContain("belongs to another sweep: --part has changed since.");
  });
});

describe("The division of a sweep", () => {
  const fold = { train: { fromAt: 0, toAt: 1 }, test: { fromAt: 1, toAt: 2 } };

  it.each([
    [7, 0, 3],
    [100, 0, 100],
    [5, 4, 3],
    [1, 9, 2],
  ])("of %i trials on %i folds into %i parts gives every run to one part, and counts them", (trials, folds, of) => {
    const plan = { trials, windows: Array.from({ length: folds }, () => fold) };
    const owners = Array.from({ length: runsOf(plan) }, (_, run) => partOfRun(plan, run, of));
    for (let index = 1; index <= of; index++)
      expect(owners.filter((owner) => owner === index)).toHaveLength(runsOf({ ...plan, part: { index, of } }));
    // The test of a fold is where its trainings are.
    for (let at = 0; at < folds; at++) expect(new Set([owners[at * trials], owners[folds * trials + at]]).size).toBe(1);
  });

  it("reads parts as they are written, from one", () => {
    expect(readPart("3/8")).toEqual({ index: 3, of: 8 });
    expect([1, 2, 3].map((index) => countInPart(7, { index, of: 3 }))).toEqual([3, 2, 2]);
    for (const text of ["3", "3/", "8/3", "0/8", "-1/8", "1.5/8", "3/8/9", "1/1000000"])
      expect(() => readPart(text)).toThrow("Parts are counted from 1");
  });
});
