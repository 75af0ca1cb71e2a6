import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { csvOf } from "../../../plugins/sweep/csv.ts";
import { sweepPage } from "../../../plugins/sweep/html-page.ts";
import { type Figures, figuresOf, ranked, scoreOf } from "../../../plugins/sweep/scores.ts";
import type { SweepPlan } from "../../../plugins/sweep/sweep-plan.ts";
import { type Result, reportOf, type SweepReport } from "../../../plugins/sweep/sweep-report.ts";
import { sweepText } from "../../../plugins/sweep/table.ts";
import { checkConfig } from "../../../src/host/config.ts";
import { loadConfigFile } from "../../../src/host/load.ts";
import { hashOfConfig } from "../../../src/host/source-hash.ts";
import { sampleReport } from "../../support/harness/sample-report.ts";
import { folder, marketOf, planOf, stand } from "./harness/sweep.ts";

const figures = (pnl: string): Figures => ({
  pnl,
  sharpe: "0.5",
  sharpePer: "run",
  drawdown: "1234.5",
  drawdownPercent: "1.5",
  fees: "-1",
  volume: "10000",
  trades: 7,
  winPercent: "42.85",
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
  return reportOf(
    { ...over, fixture: 'a<b>&"c', configPath: "config.ts" },
    new Map(results.map((one) => [one.index, one])),
  );
};

const look = { columns: 120, colour: false, top: 2 };

describe("The figures of a sweep's run", () => {
  it("are those of its own report, with the same name and to the last digit", () => {
    const { trades, returns, pnl } = sampleReport();
    const { winPercent, profitFactor, expectancy, count } = trades;
    const own = {
      pnl,
      sharpe: returns?.sharpe,
      sharpePer: returns?.per,
      trades: count,
      winPercent,
      profitFactor,
      expectancy,
    };
    expect(figuresOf(sampleReport())).toMatchObject(own);
  });

  it("have no Sharpe ratio where the report has none, and rank between gains and losses then", () => {
    const { returns: _, ...flat } = sampleReport();
    const still = figuresOf(flat);
    expect(still).not.toHaveProperty("sharpe");
    expect(scoreOf(still, "sharpe")).toBe("0");
    const [gain, loss] = ["0.1", "-0.1"].map((sharpe) => ({ ...still, sharpe })) as [Figures, Figures];
    expect(ranked([loss, still, gain], "sharpe", (one) => one)).toEqual([gain, still, loss]);
  });
});

describe("The page of a sweep", () => {
  it("lists the best first, says what is left out, what failed and what is missing", () => {
    const text = sweepText(reported(["1", "-2", "3.456", undefined, "0"]), look);
    expect(text).toContain("4 points, the best by pnl first; 4 runs done, 1 failed, 1 not run");
    const rows = text.split("\n").filter((line) => /^ [12] {5}/.test(line));
    expect(rows).toEqual([
      " 1              2          0.1  +3.46    0.50  1,234.50       7     43       -  -1.00     12   1,800    0  10,000",
      " 2              1          0.1  +1.00    0.50  1,234.50       7     43       -  -1.00     12   1,800    0  10,000",
    ]);
    expect(text).toContain("2 more; --top, --csv or --json show them");
    expect(text).toContain("Sharpe is of each run, not annualised (that needs 7 days);");
    expect(text).toContain('1 run failed:\n ladder.levels=2 ladder.step=0.2: it said "no",\\nand =left');
  });

  it("warns of multiple testing, with the best against the median and against chance", () => {
    expect(sweepText(reported(["1", "2", "3", "4"]), look).replaceAll(/\n ?/g, " ")).toContain(
      "the best of 4 trials has pnl 4.00, the median 2.50, the spread is 1.29. If the options did not matter at all, the best of 4 would still be about 3.86; this one is beyond that, which is evidence, not proof.",
    );
    expect(sweepText(reported(["1", "2"]), look)).toContain("Only 2 trials: too few to judge luck.");
  });

  it("keeps to its width and drops columns whole", () => {
    const lines = sweepText(reported(["1", "2", "3"]), { ...look, columns: 60 }).split("\n");
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(60);
    expect(lines.find((line) => line.includes("pnl  sharpe"))).toMatch(
      /ladder\.levels {2}ladder\.step {4}pnl {2}sharpe {2}drawdown$/,
    );
  });
});

describe("The page of a walk-forward sweep", () => {
  it("puts out of sample first in its HTML, in the units of the table", async () => {
    const report = await walked(1, "sharpe");
    const html = sweepPage(report);
    const order = ["Out of sample</h2>", "Options against Sharpe a day", "<h2>Selection bias", 'id="runs"'].map(
      (text) => html.indexOf(text),
    );
    expect(order).toEqual([...order].sort((a, b) => a - b));
    expect(order[0]).toBeGreaterThan(0);
    expect(html.match(/<path class="out"/g)).toHaveLength(4);
    const shown = sweepText(report, { ...look, columns: 200 });
    const [chance = ""] = /\d+\.\d\d(?= {2}2024)/.exec(shown) ?? [];
    expect(html).toContain(`<td class="n">${chance}</td>`);
    expect([...html.matchAll(/<tr id="run-(\d+)"><th[^>]*>\d+<\/th><td class="part"><b>out of sample/g)]).toHaveLength(
      2,
    );
  });

  const parts = { fixture: marketOf(2), folds: { count: 2, train: 0.5 } };
  const walked = async (share: number, by: "pnl" | "sharpe" = "pnl", whole = true): Promise<SweepReport> => {
    const over = await planOf(["ladder.levels=1..3", "ladder.notional=100,200"], { ...parts, by });
    const { points, windows } = over;
    const trainings = windows.length * points.length;
    const results = Array.from({ length: trainings + windows.length }, (_, index): Result => {
      const test = index >= trainings;
      const point = test ? 0 : index % points.length;
      const fold = test ? index - trainings : Math.floor(index / points.length);
      const options = Object.fromEntries(
        over.space.map(({ name, values }, at) => [name, values[points[point]?.[at] ?? 0]]),
      );
      const head = { index, part: test ? ("test" as const) : ("train" as const), fold, point, options };
      return { ...head, status: "done", resultHash: "h", figures: figures(String(-point)) };
    });
    const done = results.slice(0, Math.floor(trainings * share) + (whole ? windows.length : 0));
    return reportOf({ ...over, fixture: "f", configPath: "config.ts" }, new Map(done.map((one) => [one.index, one])));
  };

  it.each([0, 0.25, 0.5, 0.75, 1])(
    "shows what there is when it was stopped after the share %d of its trainings",
    async (share) => {
      const report = await walked(share, "pnl", false);
      for (const columns of [60, 80, 200]) {
        const text = sweepText(report, { ...look, columns });
        expect(text).toContain("out of sample");
        expect(text).toMatch(share === 1 ? /by chance[ \n]/ : /not run/);
      }
      expect(sweepPage(report)).toContain("</html>");
      expect(csvOf(report)).toContain("index,part,fold");
    },
  );

  it("keeps at 80 columns what its legend explains, and names the options on lines of their own", async () => {
    const report = await walked(1);
    const lines = sweepText(report, { ...look, columns: 80 }).split("\n");
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(lines.find((line) => line.includes("fold  "))).toMatch(
      /fold {2}out of sample {2}in sample {2}by chance .*test from/,
    );
    expect(lines.filter((line) => line.trim() === "ladder.levels=1 ladder.notional=100")).toHaveLength(2);
    expect(sweepText(report, { ...look, columns: 200 })).not.toContain("ladder.levels=1 ");
  });

  it("ranks the points by their trainings below the folds, as many as asked for", async () => {
    const report = await walked(1);
    const shown = sweepText(report, { ...look, columns: 120, top: 20 }).split("\n");
    const from = shown.findIndex((line) => line.includes("Points by pnl in sample"));
    expect(from).toBeGreaterThan(shown.findIndex((line) => line.includes("out of sample")));
    expect(shown[from + 1]).toMatch(/ladder\.levels +ladder\.notional +pnl +trainings/);
    expect(shown.slice(from + 2, from + 2 + report.ranking.length).map((line) => line.trim().split(/ +/)[0])).toEqual(
      report.ranking.map((_, index) => String(index + 1)),
    );
    expect(sweepText(report, { ...look, columns: 120, top: 1 })).toContain(`${report.ranking.length - 1} more; --top`);
  });

  it("brings Sharpe ratios of parts to a day", async () => {
    const text = sweepText(await walked(1, "sharpe"), { ...look, columns: 200 });
    // A training of 40 s has 0.5 × √(86,400 / 40), its test of 40 s as much.
    expect(text).toMatch(/sharpe out {2}sharpe in/);
    expect(text).toMatch(/ 23\.\d\d +23\.\d\d /);
    expect(text).toContain("Sharpe ratios are per day");
  });
});

describe("Sweep runs without an accepted order", () => {
  const reason = "all 3 orders refused before sending, most often: the notional is below one lot";
  const mixed = (pnls: readonly string[]): SweepReport => {
    const report = reported(["1", "-2", "3", "0"]);
    const results = report.results.map((result): Result => {
      if (pnls.includes(String(result.index))) return result;
      const { index, part, point, options } = result;
      return { index, part, point, options, status: "unaccepted", resultHash: "h", reason };
    });
    return reportOf({ ...plan, fixture: "f", configPath: "c" }, new Map(results.map((one) => [one.index, one])));
  };

  it("are told with their reason and are never ranked, however much the others lost", () => {
    const report = mixed(["1"]);
    expect(report.ranking.map(({ point }) => point)).toEqual([1]);
    const text = sweepText(report, { ...look, columns: 80 });
    expect(text.replaceAll(/\n ?/g, " ")).toContain("1 run done, 3 without an accepted order, 2 not run");
    expect(text).toContain(
      "3 runs without an accepted order, not ranked:\n ladder.levels=1 ladder.step=0.1: all 3 orders",
    );
    expect(csvOf(report)).toContain(`,unaccepted,`);
    expect(sweepPage(report).match(/class="shade"/g)).toHaveLength(1);
  });

  it("leave nothing to rank when all are so", () => {
    expect(sweepText(mixed([]), look)).toContain("No run has figures to rank.");
    expect(sweepPage(mixed([]))).toContain("</html>");
  });
});

describe("The table of a sweep", () => {
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

describe("Figures of a sweep", () => {
  const columnsIn = (line: string): readonly string[] => line.trim().split(/ {2,}/);
  const pnls = ["1.004", "-2.5", "1234.567", "0", "-0.25", "33"];

  it.each([80, 120])("are the same in the table of %i columns, in JSON and in values", (columns) => {
    const report = JSON.parse(JSON.stringify(reported(pnls))) as SweepReport;
    const lines = sweepText(report, { columns, colour: false, top: 6 }).split("\n");
    const heading = lines.findIndex((line) => line.includes("ladder.levels  "));
    const names = ["", ...columnsIn(lines[heading] ?? "")];
    const [head = "", ...rows] = csvOf(report).trimEnd().split("\r\n");
    const values = rows.map((row) => Object.fromEntries(head.split(",").map((name, at) => [name, row.split(",")[at]])));
    for (const [place, { runs, score }] of report.ranking.entries()) {
      const shown = Object.fromEntries(
        columnsIn(lines[heading + 1 + place] ?? "").map((cell, at) => [names[at], cell]),
      );
      const row = values[runs[0] as number] ?? {};
      expect(row).toMatchObject({
        pnl: score,
        "ladder.levels": shown["ladder.levels"],
        drawdown: "1234.5",
        status: "done",
      });
      expect(Number(shown["pnl"]?.replace(",", ""))).toBeCloseTo(Number(score), 2);
      expect([shown["drawdown"], shown["trades"], shown["win %"]]).toEqual(["1,234.50", row["trades"], "43"]);
    }
    expect(lines.every((line) => line.length <= columns)).toBe(true);
  });

  it("mark the Pareto front in the table, and in JSON with the scores of all objectives", () => {
    const report = reported(["1", "-2", "3", "0"], { ...plan, objectives: ["pnl", "fills"] });
    expect(report.ranking.map(({ score, onFront, scores }) => [score, onFront, scores])).toEqual([
      ["3", true, { pnl: "3", fills: "12" }],
      ["1", false, { pnl: "1", fills: "12" }],
      ["0", false, { pnl: "0", fills: "12" }],
      ["-2", false, { pnl: "-2", fills: "12" }],
    ]);
    const text = sweepText(report, { ...look, columns: 80, top: 4 });
    expect(text).toContain("4 points, the Pareto front of pnl and fills first");
    expect(text).toMatch(/ladder\.step {4}pnl {2}fills {2}sharpe/);
    expect(text.split("\n").filter((line) => /^ +\d\*/.test(line))).toHaveLength(1);
    expect(text).toContain("* on the Pareto front of pnl and fills");
  });

  it("tell how many runs were given up, which are no part of the ranking but count as trials", () => {
    const whole = reported(["1", "-2", "3"]);
    const [first, ...rest] = whole.results as [Result, ...Result[]];
    const { index, part, point, options } = first;
    const given: Result = {
      index,
      part,
      point,
      options,
      status: "pruned",
      at: 0.25,
      pnl: "-7",
      bar: "-1.5",
      rungs: ["-7"],
    };
    const report = reportOf({ ...plan, prune: true }, new Map([given, ...rest].map((one) => [one.index, one])));
    expect(report.runs).toMatchObject({ done: 2, pruned: 1 });
    expect([report.ranking.length, report.luck?.trials]).toEqual([2, 3]);
    const text = sweepText(report, { ...look, columns: 80 }).replaceAll(/\n ?/g, " ");
    expect(text).toContain("2 runs done, 1 given up early and not ranked, 3 not run");
    expect(text).toContain("runs that fell behind were given up");
    expect(csvOf(report)).toContain("pruned,,");
    expect(csvOf(report)).toContain("given up at 25 % of the time with pnl -7");
  });
});

describe("The HTML page of a sweep", () => {
  it("has a cell for every pair, the best one in bold, and needs nothing from outside", () => {
    const html = sweepPage(reported(["1", "-2", "3.456", "0", "-1", "2"]));
    expect(html.match(/class="shade"/g)).toHaveLength(6);
    expect(html.match(/<b>.*?<\/b>/g)).toEqual(["<b>3.46</b>"]);
    expect(html).toMatch(/--gain\) 35%,transparent\)"><b>3\.46/);
    expect(html).toMatch(/--loss\) 20%,transparent\)">-2\.00</);
    expect(html).toContain("Down: ladder.step. Across: ladder.levels.");
    expect(html).toContain("prefers-color-scheme:dark");
    expect(html).not.toMatch(/https?:|url\(|src=|<link|@import/);
    expect(html).toContain("Sweep of a&lt;b&gt;&amp;&quot;c");
    expect(html).not.toContain("a<b>");
  });

  it("has a row for every run with its exact figures, marks that lead to the rows, and links to the reports there are", () => {
    const html = sweepPage(reported(["1", "-2", "3.456", undefined]), {
      reportOf: (index) => (index === 2 ? "map-runs/2.html" : undefined),
    });
    expect([...html.matchAll(/<tr id="run-(\d)"/g)].map(([, index]) => index)).toEqual(["2", "0", "1", "3"]);
    expect([...html.matchAll(/<tr id="run-\d">.*?data-v="([^"]*)"/g)].map(([, pnl]) => pnl)).toEqual([
      "3.456",
      "1",
      "-2",
      "",
    ]);
    expect(html.match(/<a href="#run-\d" tabindex="-1"><circle/g)).toHaveLength(6);
    expect(html.match(/href="map-runs[^>]*>report/g)).toEqual(['href="map-runs/2.html">report']);
    expect(html).toContain("failed: it said &quot;no&quot;");
  });

  it("shares cells where an option has many values, and names them by their ends", async () => {
    const many = await planOf(["ladder.levels=1..20", "ladder.notional=100,200"], { fixture: marketOf(1) });
    const html = sweepPage(
      reported(
        Array.from({ length: 40 }, (_, index) => String(index)),
        many,
      ),
    );
    expect(html.match(/class="shade"/g)).toHaveLength(20);
    expect(html).toContain('<th scope="col" class="n">19 to 20</th>');
  });

  it("is a row for one option, and medians over the others for three", async () => {
    const one = await planOf(["ladder.levels=1..3"], { fixture: marketOf(1) });
    expect(sweepPage(reported(["1", "2", "3"], one)).match(/class="shade"/g)).toHaveLength(3);
    const three = await planOf(["ladder.levels=1,2", "ladder.step=0.1,0.2", "ladder.notional=1..3"], {
      fixture: marketOf(1),
    });
    const html = sweepPage(reported(["1", "9", "2", "4", "5", "6", "7", "8", "9", "0", "0", "1"], three));
    expect(html).toContain("Each cell is the median over the other varied options.");
    expect(html.match(/class="shade"/g)).toHaveLength(6);
  });

  it("says so when nothing was finished", () => {
    expect(sweepPage(reported([]))).toContain("No run was finished.");
  });
});

describe("The source hash of a sweep's config", () => {
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
