import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkConfig } from "../../src/host/config.ts";
import { loadConfigFile } from "../../src/host/load.ts";
import { csvOf } from "../../src/sweep/csv.ts";
import { heatMap } from "../../src/sweep/heat-map.ts";
import type { SweepPlan } from "../../src/sweep/plan.ts";
import { type Result, reportOf, type SweepReport } from "../../src/sweep/report.ts";
import type { Figures } from "../../src/sweep/scores.ts";
import { hashOfConfig } from "../../src/sweep/source-hash.ts";
import { sweepText } from "../../src/sweep/table.ts";
import { folder, marketOf, planOf, stand } from "./arena.ts";

const figures = (pnl: string): Figures => ({
  pnl,
  sharpe: "0.5",
  drawdown: "1234.5",
  drawdownPercent: "1.5",
  fees: "-1",
  volume: "10000",
  fills: 12,
  placed: 20,
  canceled: 3,
  rejected: 0,
  refused: 0,
  requests: 40,
  weight: 1_800,
  rejected429: 0,
  blockedMinutes: 0,
  heldMs: 5,
  currency: "USDT",
});

const plan = await planOf(["ladder.levels=1..3", "ladder.step=0.1,0.2"], { fixture: marketOf(1) });

/** The `pnls` as the results of the plan's points, in order; undefined is a failed run. */
const reported = (pnls: readonly (string | undefined)[], over: SweepPlan = plan): SweepReport => {
  const results = over.points.slice(0, pnls.length).map((point, index): Result => {
    const options = Object.fromEntries(over.space.map(({ name, values }, at) => [name, values[point[at] ?? 0]]));
    const head = { index, part: "whole" as const, point: index, options };
    const pnl = pnls[index];
    return pnl === undefined
      ? { ...head, status: "failed", error: 'it said "no",\nand =left' }
      : { ...head, status: "done", resultHash: "h", figures: figures(pnl) };
  });
  return reportOf({ ...over, fixture: 'a<b>&"c', configPath: "config.ts" }, new Map(results.map((one) => [one.index, one])));
};

const look = { columns: 120, colour: false, top: 2 };

describe("the page of a sweep", () => {
  it("lists the best first, says what is left out, what failed and what is missing", () => {
    const text = sweepText(reported(["1", "-2", "3.456", undefined, "0"]), look);
    expect(text).toContain("4 points, the best by pnl first; 4 runs done, 1 failed, 1 not run");
    const rows = text.split("\n").filter((line) => /^ [12] {5}/.test(line));
    expect(rows).toEqual([
      " 1              2          0.1  +3.46    0.50  1,234.50  -1.00     12   1,800    0  10,000",
      " 2              1          0.1  +1.00    0.50  1,234.50  -1.00     12   1,800    0  10,000",
    ]);
    expect(text).toContain("2 more; --top, --csv or --json show them");
    expect(text).toContain('1 run failed:\n ladder.levels=2 ladder.step=0.2: it said "no",\\nand =left');
  });

  it("warns of choosing by hindsight, with the best against the median and against chance", () => {
    expect(sweepText(reported(["1", "2", "3", "4"]), look).replaceAll(/\n ?/g, " ")).toContain(
      "the best of 4 trials has pnl 4.00, the median 2.50, the spread is 1.29. If the options did not matter at all, the best of 4 would still be about 3.86; this one is beyond that, which is a hint and no proof.",
    );
    expect(sweepText(reported(["1", "2"]), look)).toContain("Only 2 trials: nothing can be said about luck.");
  });

  it("keeps to its width and drops columns whole", () => {
    const lines = sweepText(reported(["1", "2", "3"]), { ...look, columns: 60 }).split("\n");
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(60);
    expect(lines.find((line) => line.includes("pnl  sharpe"))).toMatch(/ladder\.levels {2}ladder\.step {4}pnl {2}sharpe {2}drawdown$/);
  });
});

describe("the table of all runs", () => {
  it("has a line a run, quotes what needs it and holds no formula", () => {
    const [head, first, second] = csvOf(reported(["-1.5", undefined])).split("\r\n");
    expect(head).toMatch(/^index,part,fold,ladder\.levels,ladder\.step,status,pnl,/);
    expect(first).toMatch(/^0,whole,,1,0\.1,done,-1\.5,/);
    expect(second).toMatch(/^1,whole,,1,0\.2,failed,(,)+"it said ""no"",\nand =left"$/);
    const formula = { ...reported([undefined]) };
    const results = formula.results.map((one) => ({ ...one, error: "=1+1" }) as Result);
    expect(csvOf({ ...formula, results })).toContain(",'=1+1\r\n");
  });
});

describe("the heat map", () => {
  it("has a cell for every pair, the best one outlined, and needs nothing from outside", () => {
    const html = heatMap(reported(["1", "-2", "3.456", "0", "-1", "2"]));
    expect(html.match(/<rect /g)).toHaveLength(6);
    expect(html.match(/class="best"/g)).toHaveLength(1);
    expect(html).toMatch(/class="best"\/><text [^>]*class="value">3\.46<\/text>/);
    expect(html).toContain("<title>ladder.levels=2, ladder.step=0.1: pnl 3.456</title>");
    expect(html).toContain("prefers-color-scheme: dark");
    expect(html).not.toMatch(/https?:|url\(|<script|<link|@import/);
    expect(html).toContain("Sweep of a&lt;b&gt;&amp;&quot;c");
    expect(html).not.toContain("a<b>");
  });

  it("is a row for one option, and medians over the others for three", async () => {
    const one = await planOf(["ladder.levels=1..3"], { fixture: marketOf(1) });
    expect(heatMap(reported(["1", "2", "3"], one)).match(/<rect /g)).toHaveLength(3);
    const three = await planOf(["ladder.levels=1,2", "ladder.step=0.1,0.2", "ladder.notional=1..3"], { fixture: marketOf(1) });
    const html = heatMap(reported(["1", "9", "2", "4", "5", "6", "7", "8", "9", "0", "0", "1"], three));
    expect(html).toContain("Each cell is the median over the other varied options.");
    expect(html.match(/<rect /g)).toHaveLength(6);
  });

  it("says so when nothing was finished", () => {
    expect(heatMap(reported([]))).toContain("No run was finished.");
  });
});

describe("the fingerprint of a config", () => {
  it("changes with the file, with what it imports by relative path and with values, and with nothing else", async () => {
    const config = checkConfig(await loadConfigFile(stand));
    const main = join(folder, "main.ts");
    const part = join(folder, "part.ts");
    writeFileSync(main, 'import a from "./part.ts";\nimport "rxjs";\n');
    writeFileSync(part, "export default 1;\n");
    const first = hashOfConfig(main, config);
    writeFileSync(join(folder, "bystander.ts"), "export default 3;\n");
    expect(hashOfConfig(main, config)).toBe(first);
    expect(hashOfConfig(main, { ...config, instance: "other" })).not.toBe(first);
    expect(hashOfConfig(main, { ...config, strategies: config.strategies.slice(1) })).not.toBe(first);
    writeFileSync(part, "export default 2;\n");
    expect(hashOfConfig(main, config)).not.toBe(first);
  });
});
