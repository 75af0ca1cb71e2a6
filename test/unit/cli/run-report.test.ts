/** Reports at the end of runs: against a table made by hand, and against a backtest of the same recording. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { mergeMap, Subject } from "rxjs";
import { beforeAll, describe, expect, it } from "vitest";
import { constant, paper, type RunReport } from "../../../src/backtest.ts";
import type { ReportFile } from "../../../src/cli/plugin-options.ts";
import { type ReportFiles, reportOf } from "../../../src/cli/run-report.ts";
import { letPromisesSettle } from "../../../src/clock/microtasks.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { createEngine, type Engine, type Event } from "../../../src/index.ts";
import { capturedIo } from "../../support/captured-io.ts";
import { quoteTape, run, stored, strategy, swap } from "../../support/harness/backtest.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** Ten seconds; the bid is 60,000 and one more with every quote, the ask a tick above. */
const rising = () =>
  stored(
    quoteTape(
      Array.from({ length: 41 }, (_, index) => [index * 250, 600_000 + index * 10, 5_000, 600_001 + index * 10, 5_000]),
    ),
  );

/** At which quote what is traded: long, turned short, and partly closed again. */
const deals = new Map([
  [8, { side: "buy", qty: "0.1" }],
  [16, { side: "sell", qty: "0.15" }],
  [24, { side: "buy", qty: "0.02" }],
] as const);
type Deal = { readonly side: "buy" | "sell"; readonly qty: string };

const trader = () =>
  strategy("trader", {
    run: ({ market, orders }) =>
      market.quotes(swap).pipe(
        mergeMap((_, index) => {
          const deal: Deal | undefined = (deals as ReadonlyMap<number, Deal>).get(index);
          return deal === undefined ? [] : orders.place({ instId: swap, ordType: "market", ...deal });
        }),
      ),
  });

/**
 *   quote  deal        price    value      fee of 5 bp  position  realised
 *   8      buy  0.1    60008.1  6000.81    3.000405      0.1
 *   16     sell 0.15   60016    9002.4     4.5012       -0.05      0.79
 *   24     buy  0.02   60024.1  1200.482   0.600241     -0.03     -0.162
 * What is left, short 0.03 at 60016, can be bought back at 60040.1 at the end: -0.723.
 */
const byHand = { fills: 3, volume: "16203.692", fees: "8.101846", realised: "0.628" };
const byQuotes = { unrealised: "-0.723", pnl: "-8.196846" };

/** The same strategy on paper, on a clock that is turned; its report sees the embedded service or own fills alone. */
const onPaper = async (dir: string, equity: "account" | "fills", files: ReportFiles = {}) => {
  const clock = createVirtualClock(1_767_575_000_000);
  const config = { service: paper({ fixture: dir, clock, latency: constant(10) }), strategies: [trader()] };
  const engine: Engine = createEngine(config);
  const place = equity === "account" ? undefined : "http://there";
  const { events$, strategies, openOrders, service } = engine;
  const reporter = reportOf(
    { events$, strategies, openOrders, ...(equity === "account" && { service }) },
    config,
    place,
    files,
    clock,
  );
  const drive = async (until: number): Promise<void> => {
    await letPromisesSettle();
    while (clock.step(until)) await letPromisesSettle();
    clock.advanceTo(until);
    await letPromisesSettle();
  };
  let isStarted = false;
  await engine.load();
  const started = engine.start().then(() => {
    isStarted = true;
    reporter.begin();
  });
  const begunAt = clock.now();
  while (!isStarted && clock.now() < begunAt + 5_000) await drive(clock.now() + 10);
  await started;
  await drive(begunAt + 12_500);
  const last = engine.strategies()[0]?.positions.get(swap);
  await engine.stop();
  reporter.close();
  const ended = await reporter.end(capturedIo({ columns: 80, env: { NO_COLOR: "1" } }));
  return { report: ended?.report as RunReport, text: ended?.text ?? "", written: ended?.written, last };
};

describe("A run's report", () => {
  let dir = "";
  let backtest: RunReport;
  beforeAll(async () => {
    dir = rising();
    backtest = await run(dir, [trader()]);
  });

  it("tells on paper what a backtest of the recording tells, to the last digit", async () => {
    const { report } = await onPaper(dir, "account");
    expect(report).toMatchObject(byHand);
    const {
      pnl,
      unrealised,
      liquidity,
      orders,
      fills,
      volume,
      fees,
      positions,
      currency,
      perInstrument,
      turnover,
      elsewhere,
      drawdown,
    } = backtest;
    expect(report).toMatchObject({
      pnl,
      unrealised,
      liquidity,
      orders,
      fills,
      volume,
      fees,
      positions,
      currency,
      perInstrument,
      turnover,
      elsewhere,
    });
    const { inMarketMs: _, inMarketPercent: __, ...trades } = backtest.trades;
    expect(report.trades).toMatchObject(trades);
    expect(report.equity.at(-1)?.equity).toBe(backtest.equity.at(-1)?.equity);
    // Looked at once a second here and forty times there.
    expect(Number(report.drawdown.max)).toBeLessThanOrEqual(Number(drawdown.max));
    expect(Number(report.drawdown.max)).toBeGreaterThan(8);
  });

  it("tells of own fills what a table made by hand tells, marked by the quote that would close", async () => {
    const { report, text, last } = await onPaper(dir, "fills");
    expect(report).toMatchObject({
      ...byHand,
      ...byQuotes,
      elsewhere: "0",
      run: { kind: "live", place: "http://there", equity: "fills" },
    });
    expect(report.perStrategy["trader"]).toMatchObject({
      ...byHand,
      ...byQuotes,
      placed: 3,
      filled: 3,
      state: "completed",
    });
    // The engine's own opinion, which the line of status shows.
    expect([last?.profit, last?.fees, last?.qty]).toEqual([byQuotes.pnl, byHand.fees, "-0.03"]);
    // Two thirds of the second fee belong to the long trade: 0.79 - 3.000405 - 3.0008, and -0.885 - 1.5004 - 0.600241.
    expect(report.trades).toMatchObject({ count: 1, held: 1, net: "-5.211205", open: "-2.985641" });
    expect(text).toMatch(/^\n Live run at http:\/\/there\n/);
    expect(text).toContain("Profit in USDT");
    // A loss is none of everything where it is not known what there was.
    expect(report.warnings).toEqual([]);
    expect(text).toMatch(/result +-8\.1968 /);
    expect(text).not.toMatch(/result hash|Recording/);
  });

  it("writes the trades and the files of plugins that were asked for", async () => {
    const folder = temporaryFolder("run-report");
    const files = { trades: join(folder, "a/run.csv") };
    const file = join(folder, "run.txt");
    const contents: ReportFile["contents"] = ({ run, currency }, { fills, equity }) =>
      Promise.resolve(`${run?.place} ${currency} ${fills.length} ${equity.length > 2}`);
    const { written } = await onPaper(dir, "fills", { ...files, exported: [{ file, contents }] });
    expect(written).toEqual([file, files.trades]);
    const [, first = "", second = ""] = readFileSync(files.trades, "utf8").split("\n");
    expect(first.split(",").slice(0, 4)).toEqual(["trader", swap, "long", "0.1"]);
    expect(second.split(",").slice(0, 4)).toEqual(["trader", swap, "short", "0.05"]);
    // Fees are those of the whole first deal, and of two thirds of the second.
    expect(first.split(",").slice(6, 13)).toEqual(["60008.1", "60016", "0.79", "6.001205", "0", "-5.211205", "USDT"]);
    expect(readFileSync(file, "utf8")).toBe("http://there USDT 3 true");
  });

  it("is printed without the files where a plugin cannot make its own", async () => {
    const file = join(temporaryFolder("run-report-failed"), "run.txt");
    const contents = () => Promise.reject(new Error("no room"));
    const { text, written } = await onPaper(dir, "fills", { exported: [{ file, contents }] });
    expect(text).toMatch(/Live run at http:\/\/there[\s\S]*\nThe report is not complete: no room\n$/);
    expect(written).toEqual([]);
  });

  it("that fails is said to be incomplete, and nothing that trades learns of it", async () => {
    const clock = createVirtualClock();
    const events$ = new Subject<Event>();
    const strategies = (): never => {
      throw new Error("no\u001bluck");
    };
    const reporter = reportOf({ events$, strategies, openOrders: () => [] }, {}, undefined, {}, clock);
    reporter.begin();
    clock.advanceTo(5_000);
    events$.next({ type: "engine.stopped", reason: "", seq: 0, at: 0 });
    expect(await reporter.end(capturedIo())).toEqual({
      text: "The report is not complete: no\\u001bluck\n",
      written: [],
    });
    reporter.close();
    expect([events$.observed, clock.pending]).toEqual([false, 0]);
  });
});
