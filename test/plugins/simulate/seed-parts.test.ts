/** Parts of a simulation in files, and what is made of them. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { seedsOfPart } from "../../../plugins/simulate/seed-parts.ts";
import type { Summary } from "../../../plugins/simulate/simulation.ts";
import { main } from "../../../src/cli/main.ts";
import { capturedIo } from "../../support/captured-io.ts";
import { once } from "../../support/once.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder("seed-parts");
const at = (name: string): string => join(folder, `${name}.json`);
const simulate = async (...args: string[]) => {
  const io = capturedIo();
  const code = await main(["simulate", "config/backtest.ts", "--minutes", "1", ...args], io);
  return { code, out: io.outText, err: io.errText };
};
const withoutTime = (text: string): string => text.replace(/"elapsedMs":\d+/, "");

describe("Parts of a simulation", () => {
  const given = ["--seeds", "5", "--first", "3"];
  const written = once(async () => {
    for (const index of [3, 1, 2])
      expect((await simulate(...given, "--part", `${index}/3`, "--out", at(`part-${index}`))).code).toBe(0);
    return [2, 3, 1].map((index) => at(`part-${index}`));
  });

  it("give, merged in any order, what one run gives but for the time it took", async () => {
    const whole = await simulate(...given, "--json");
    const merged = await simulate(...given, "--json", "--merge", ...(await written()));
    expect(merged.code).toBe(0);
    expect(withoutTime(merged.out)).toBe(withoutTime(whole.out));
    const { seeds, weight } = JSON.parse(merged.out) as Summary;
    const weights = (await written()).map(
      (file) => (JSON.parse(readFileSync(file, "utf8")) as { summary: Summary }).summary.weight,
    );
    expect([seeds, weight]).toEqual([5, weights.reduce((a, b) => a + b)]);
    expect(weight).toBeGreaterThan(100);
  });

  it.each([
    [
      "are missing",
      (files: readonly string[]) => ["--merge", ...files.slice(1)],
      "1 of 3 parts are missing:\n  - part 2/3: run it with --part 2/3 --out FILE",
    ],
    ["are named twice", (files: readonly string[]) => ["--merge", ...files, files[0] as string], "are both part 2/3"],
    [
      "are of other seeds",
      (files: readonly string[]) => ["--seeds", "6", "--merge", ...files],
      "the number of seeds (--seeds) is another",
    ],
    [
      "are of another version",
      (files: readonly string[]) => ["--merge", altered(files[0] as string)],
      "Sluice's version is another",
    ],
    ["are no parts", () => ["--merge", "package.json"], "package.json is not a part of a simulation"],
    ["are not there", () => ["--merge", at("none")], "Name files that --part … --out has written."],
  ])("that %s are refused by name", async (_, flags, message) => {
    const { code, out, err } = await simulate(...given, ...flags(await written()));
    expect([code === 0, out]).toEqual([false, ""]);
    expect(err).toContain(message);
  });

  const altered = (file: string): string => {
    const other = at("altered");
    writeFileSync(other, readFileSync(file, "utf8").replace(/"version":"[^"]+"/, '"version":"0.0.1"'));
    return other;
  };

  it("are never written over, and never run without a file", async () => {
    const [file] = (await written()) as [string];
    const again = await simulate(...given, "--part", "2/3", "--out", file);
    expect([again.code, again.err]).toEqual([2, expect.stringContaining("exists. Name another file")]);
    expect((await simulate(...given, "--part", "2/3")).err).toContain("--part and --out FILE belong together");
    expect((await simulate(...given, "--part", "1/9", "--out", at("nine"))).err).toContain(
      "5 seeds cannot be divided into 9 parts.",
    );
    expect(existsSync(at("nine"))).toBe(false);
  });

  it.each([
    [5, 3],
    [1_000, 7],
    [4, 4],
  ])("of %i seeds in %i are ranges one after the other", (seeds, of) => {
    const ranges = Array.from({ length: of }, (_, at) => seedsOfPart({ seeds, first: 10 }, { index: at + 1, of }));
    const all = ranges.flatMap((range) => Array.from({ length: range.seeds }, (_, seed) => range.first + seed));
    expect(all).toEqual(Array.from({ length: seeds }, (_, seed) => 10 + seed));
  });
});
