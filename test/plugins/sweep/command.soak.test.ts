import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { SweepReport } from "../../../plugins/sweep/sweep-report.ts";
import { backtest } from "../../../src/backtest/backtest-service.ts";
import { constant } from "../../../src/backtest/latency.ts";
import { runBacktest } from "../../../src/backtest/runner.ts";
import { main } from "../../../src/cli/main.ts";
import { loadConfigFile } from "../../../src/host/load.ts";
import ladder from "../../../strategies/ladder.ts";
import { capturedIo } from "../../support/captured-io.ts";
import { folder, marketOf, stand } from "./harness/sweep.ts";

const sweep = async (...argv: readonly string[]) => {
  const io = capturedIo();
  const code = await main(["sweep", stand, ...argv], io);
  return { code, out: io.outText, err: io.errText };
};

describe("sluice sweep", () => {
  it("says how many runs there are, and writes table, file and picture; options of the file vary unless the line says otherwise", async () => {
    const fixture = marketOf(1);
    const [csv, html] = [join(folder, "not", "there", "runs.csv"), join(folder, "nor", "here", "map.html")];
    const { code, out, err } = await sweep(
      "--fixture",
      fixture,
      "--vary",
      "ladder.levels=1..2",
      "--jobs",
      "2",
      "--csv",
      csv,
      "--html",
      html,
    );
    expect(err).toContain(
      `4 runs of ${fixture} (59.9 s) on 2 threads: 4 points of 2 of ladder.notional × 2 of ladder.levels\n`,
    );
    expect(out).toContain("4 points, the best by pnl first; 4 runs done");
    expect(code).toBe(0);
    expect(readFileSync(csv, "utf8").trimEnd().split("\r\n")).toHaveLength(5);
    expect(readFileSync(html, "utf8")).toContain("</html>");
  });

  it("with --json prints one document and nothing else, keeps results, and resumes them without running anything", async () => {
    const dir = join(folder, "kept");
    const given = [
      "--fixture",
      marketOf(1),
      "--vary",
      "ladder.notional=50,100",
      "--vary",
      "fickle.mood=loud",
      "--json",
      "--jobs",
      "1",
      "--out",
      dir,
    ];
    const first = await sweep(...given);
    expect(first.code).toBe(0);
    const report = JSON.parse(first.out) as SweepReport;
    expect(report.runs).toEqual({ wanted: 2, done: 1, failed: 0, unaccepted: 1 });
    const resumed = await sweep(...given, "--resume");
    expect(resumed.out).toBe(first.out);
    const again = await sweep(...given);
    expect([again.code, again.out]).toEqual([2, ""]);
    expect(again.err).toContain("exists. Go on with it by --resume");
    const other = await sweep(...given, "--resume", "--seed", "5");
    expect([other.code, other.out]).toEqual([2, ""]);
    expect(other.err).toContain("belongs to another sweep: the seed has changed since");
  });

  it("writes reports of the tests and the best runs beside its page, also later and from kept results", async () => {
    const [dir, html] = [join(folder, "reported"), join(folder, "reported.html")];
    const given = [
      "--fixture",
      marketOf(1),
      "--vary",
      "ladder.levels=1..2",
      "--vary",
      "ladder.notional=100",
      "--folds",
      "1",
      "--jobs",
      "1",
      "--out",
      dir,
      "--html",
      html,
    ];
    expect((await sweep(...given, "--json")).code).toBe(0);
    expect(readFileSync(html, "utf8")).not.toContain("reported-runs");
    const { code, out } = await sweep(...given, "--json", "--resume", "--reports", "2");
    const { results, ranking } = JSON.parse(out) as SweepReport;
    const written = [2, ranking[0]?.runs[0] as number];
    expect([code, readdirSync(join(folder, "reported-runs")).sort()]).toEqual([
      0,
      written.map((index) => `${index}.html`).sort(),
    ]);
    const page = readFileSync(html, "utf8");
    for (const index of written) {
      expect(page).toContain(`href="reported-runs/${index}.html"`);
      const { resultHash } = results[index] as { resultHash?: string };
      expect(readFileSync(join(folder, "reported-runs", `${index}.html`), "utf8")).toContain(resultHash);
    }
  });

  it("runs with the fill model and the warm-up it was given, as a config with them would, and tells such a sweep from another", async () => {
    const [fixture, dir] = [marketOf(1), join(folder, "given")];
    const flags = ["--fixture", fixture, "--vary", "ladder.notional=100", "--json", "--out", dir];
    const { code, out } = await sweep(...flags, "--fills", "trades", "--warm-up", "0.5");
    expect(code).toBe(0);
    const { journal: _, ...config } = (await loadConfigFile(stand)) as { journal?: unknown };
    const service = backtest({ latency: constant(20), fills: "trades", warmUpMs: 30_000 });
    const strategies = [
      ladder({ levels: 2, step: "0.00003", notional: "100" }),
      ...(config as { strategies: unknown[] }).strategies.slice(1),
    ];
    const { resultHash } = await runBacktest({ ...config, service, strategies }, { fixture, print: () => undefined });
    expect((JSON.parse(out) as SweepReport).results).toMatchObject([{ status: "done", resultHash }]);
    const other = await sweep(...flags, "--fills", "trades", "--resume");
    expect([other.code, other.err]).toEqual([2, expect.stringContaining("belongs to another sweep")]);
  });

  it("ends with 1 and the reasons when runs failed, after telling what was done", async () => {
    const { code, out, err } = await sweep(
      "--fixture",
      marketOf(1),
      "--vary",
      "fickle.mood=calm,throws",
      "--vary",
      "ladder.notional=100",
    );
    expect(code).toBe(1);
    // Nobody said how many threads there should be.
    expect(err).toMatch(/ on (up to \d+ threads|1 thread): /);
    expect(out).toContain("1 point, the best by pnl first; 1 run done, 1 failed");
    expect(err).toContain(
      "error: 1 run of 2 failed:\n  - strategy fickle: out of temper (test/support/configs/sweep.ts:15:34)\n",
    );
  });

  it("shows what is done when it is stopped, and how to go on", async () => {
    const io = capturedIo();
    const dir = join(folder, "asked");
    const running = main(
      [
        "sweep",
        stand,
        "--fixture",
        marketOf(1),
        "--vary",
        "fickle.mood=calm,spins",
        "--vary",
        "ladder.notional=100",
        "--jobs",
        "1",
        "--out",
        dir,
      ],
      io,
    );
    const file = join(dir, "results.ndjson");
    while (!existsSync(file) || readFileSync(file, "utf8").split("\n").length < 3) {
      await new Promise((resolve) => {
        setTimeout(resolve, 20);
      });
    }
    io.stop();
    expect(await running).toBe(130);
    expect(io.outText).toContain("1 run done, 1 not run");
    expect(io.errText).toContain(`error: Stopped with 1 of 2 runs missing. Go on with --out ${dir} --resume.`);
  });

  it.each([
    ["with --out", ["--out", join(folder, "folds-asked")], `Go on with --out ${join(folder, "folds-asked")} --resume.`],
    ["without --out", [], "Keep results with --out DIR, so that --resume can go on."],
  ])("that walks forward shows what is done when it is stopped, %s", async (_, flags, remedy) => {
    const io = capturedIo({ isTty: true, columns: 80 });
    const given = [
      "--fixture",
      marketOf(2),
      "--vary",
      "fickle.mood=calm,spins",
      "--vary",
      "ladder.notional=100",
      "--folds",
      "2",
    ];
    const running = main(["sweep", stand, ...given, "--jobs", "1", ...flags], io);
    while (!io.errText.includes("1 of 6 runs")) {
      await new Promise((resolve) => {
        setTimeout(resolve, 20);
      });
    }
    io.stop();
    expect(await running).toBe(130);
    expect(io.outText).toContain("1 run done, 5 not run");
    expect(io.outText).toContain("nothing chosen");
    expect(io.errText).toContain(` Stopped with 5 of 6 runs missing. ${remedy}`);
  });

  it("in which no order of any run was accepted ends with 1 and the reason", async () => {
    const { code, out, err } = await sweep("--fixture", marketOf(1), "--vary", "ladder.notional=0.000001");
    expect(code).toBe(1);
    expect(out).toContain("0 runs done, 1 without an accepted order");
    expect(err).toMatch(
      /error: No order was accepted in any run:\n {2}- all [\d,]+ orders refused before sending, most often: /,
    );
  });

  it.each([
    ["a value its strategy refuses", ["--vary", "ladder.levels=0"], "ladder does not take levels=0:"],
    ["--resume without --out", ["--resume"], "--resume: name the folder to go on with by --out DIR."],
    ["--train without --folds", ["--train", "0.5"], "--train: it is the share of a fold; add --folds N."],
    ["a share that is none", ["--train", "1"], "Write a share between 0 and 1, such as 0.7."],
    ["both ways to choose", ["--grid", "--random", "3"], "'--grid' cannot be used with option '--random <n>'"],
    [
      "reports without a page",
      ["--reports", "3"],
      "--reports: the page of --html leads to them. Name its file with --html FILE.",
    ],
    [
      "two ways to say how many",
      ["--random", "3", "--trials", "3"],
      "--random N is --sampler random --trials N. Write one of them.",
    ],
    [
      "trials of a grid",
      ["--trials", "3"],
      "--trials: a grid tries everything. Add --sampler tpe or --sampler random.",
    ],
    [
      "a batch that nothing waits for",
      ["--batch", "3"],
      "--batch: results count for the next batch with --sampler tpe or --prune only.",
    ],
    [
      "giving up by another score",
      ["--prune", "--by", "fees"],
      "--prune gives up runs by their profit so far, which shows little about fees.",
    ],
    ["giving up with two", ["--prune", "--objective", "pnl,drawdown"], "which shows little about pnl and drawdown."],
    ["an objective that is none", ["--objective", "pnl,luck"], '"luck" is no score. There is pnl, sharpe, drawdown'],
    ["a score that is none", ["--by", "luck"], "Allowed choices are pnl, sharpe, drawdown"],
    [
      "a file that cannot be written",
      ["--csv", "package.json/at/all.csv"],
      "package.json/at/all.csv cannot be written: ENOTDIR",
    ],
    [
      "too many points",
      ["--vary", "ladder.levels=1..20", "--max", "39"],
      "40 points (2 of ladder.notional × 20 of ladder.levels) are more than --max 39.",
    ],
    ["no fixture at all", [], "No recorded market is named."],
  ])("refuses %s with 2 before anything runs", async (_, argv, message) => {
    const needsMarket = !argv.includes("--fixture") && argv.length > 0;
    const { code, out, err } = await sweep(...argv, ...(needsMarket ? ["--fixture", marketOf(1)] : []));
    expect([code, out]).toEqual([2, ""]);
    expect(err).toContain(message);
  });
});
