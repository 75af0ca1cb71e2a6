/** What a run leaves in its report and in its details. */
import { concat, ignoreElements, map, merge, NEVER, of, take, tap, timer } from "rxjs";
import { beforeAll, describe, expect, it } from "vitest";
import { withDetails } from "../../../src/backtest/with-details.ts";
import { runBacktest } from "../../../src/backtest.ts";
import { add, compare, isZero, neg, sub, sum } from "../../../src/decimal.ts";
import type { Strategy } from "../../../src/index.ts";
import type { RunDetails } from "../../../src/report/details.ts";
import {
  type ArenaOptions,
  calm,
  candleTape,
  configOf,
  far,
  run,
  stored,
  strategy,
  swap,
} from "../../support/harness/backtest.ts";
import { generateTapeFor, type RunReport } from "../../support/harness/generated-market.ts";

const lively = stored(generateTapeFor([swap], 10));

const swinger = strategy("swinger", {
  wanted: () =>
    timer(1_000, 15_000).pipe(
      map((round) => [
        {
          slot: "swing",
          instId: swap,
          side: round % 2 === 0 ? ("buy" as const) : ("sell" as const),
          ordType: "market" as const,
          qty: "0.05",
          round,
        },
      ]),
    ),
});
const maker = strategy("maker", {
  wanted: ({ market }) =>
    market.quotes(swap).pipe(
      map(({ bidPx, askPx }) => [
        {
          slot: "bid",
          instId: swap,
          side: "buy" as const,
          ordType: "post_only" as const,
          px: bidPx,
          qty: "0.02",
          keepWithin: "3",
        },
        {
          slot: "ask",
          instId: swap,
          side: "sell" as const,
          ordType: "post_only" as const,
          px: askPx,
          qty: "0.02",
          keepWithin: "3",
        },
      ]),
    ),
});
const resting = strategy("resting", { wanted: () => concat(of([far("a"), far("b", "31000")]), NEVER) });

const detailed = async (dir: string, strategies: readonly Strategy[], options: ArenaOptions = {}) => {
  const kept: RunDetails[] = [];
  const report = await runBacktest(withDetails(configOf(dir, strategies, options), (details) => kept.push(details)));
  expect(kept).toHaveLength(1);
  return { report, details: kept[0] as RunDetails };
};

describe("The report of three strategies", () => {
  let report: RunReport;
  let details: RunDetails;
  beforeAll(async () => {
    ({ report, details } = await detailed(lively, [swinger, maker, resting]));
  });

  it("tells what rests at the end, and whose it is", () => {
    expect(report.perStrategy["resting"]?.open).toEqual({ count: 2, notional: add("300", "310") });
    expect(sum(Object.values(report.perStrategy).map(({ open }) => open.notional))).toBe(report.open.notional);
    expect(Object.values(report.perStrategy).reduce((total, { open }) => total + open.count, 0)).toBe(
      report.open.count,
    );
    const { placed, canceled, filled, rejected } = report.orders;
    expect(report.open.count).toBe(placed - canceled - filled - rejected);
  });

  it("splits the result into realised and unrealised, and leaves nothing unexplained", () => {
    expect(sub(add(report.realised, report.unrealised), report.fees)).toBe(report.pnl);
    expect(report.elsewhere).toBe("0");
    for (const { pnl, realised, unrealised, fees } of Object.values(report.perStrategy)) {
      expect(sub(add(realised, unrealised), fees)).toBe(pnl);
    }
  });

  it("tells positions that are the fills' sums, at the service's mark", () => {
    for (const { strategy: owner, qty, averagePx, markPx, unrealised } of report.positions) {
      const fills = details.fills.filter((fill) => fill.strategy === owner);
      expect(sum(fills.map((fill) => (fill.side === "buy" ? fill.qty : neg(fill.qty))))).toBe(qty);
      expect([compare(averagePx, "0"), compare(markPx, "0"), isZero(qty)]).toEqual([1, 1, false]);
      expect(unrealised).toMatch(/^-?\d+(\.\d+)?$/);
    }
  });

  it("splits fills, volume and fees into those of makers and takers", () => {
    const { maker: made, taker } = report.liquidity;
    const count = (liquidity: string): number => details.fills.filter((fill) => fill.liquidity === liquidity).length;
    expect([made.fills, taker.fills]).toEqual([count("maker"), count("taker")]);
    expect(Math.min(made.fills, taker.fills)).toBeGreaterThan(0);
    expect([add(made.volume, taker.volume), add(made.fees, taker.fees)]).toEqual([report.volume, report.fees]);
  });

  it("counts the quota by minute as the service does", () => {
    const { overTime, weight, requests, perLayerPeak, rejected429, heldMs } = report.quota;
    const total = (what: (minute: RunDetails["minutes"][number]) => number): number =>
      details.minutes.reduce((all, minute) => all + what(minute), 0);
    expect([
      total((minute) => minute.weight),
      total((minute) => minute.requests),
      total(({ refused }) => refused),
    ]).toEqual([weight, requests, rejected429]);
    expect(Math.max(...overTime.spans.map(({ peakWeight }) => peakWeight))).toBe(perLayerPeak.uid);
    expect(Math.max(...overTime.spans.map(({ peakKey }) => peakKey))).toBe(perLayerPeak.key);
    const waited = Object.values(report.quota.waitedMs).reduce((all, ms) => all + ms, 0);
    expect(Math.abs(waited - heldMs.total)).toBeLessThan(heldMs.count);
  });

  it("keeps every fill and every order's life in its details", () => {
    expect(details.fills).toHaveLength(report.fills);
    expect(details.orders.filter(({ phases }) => phases.some(({ phase }) => phase === "sent"))).toHaveLength(
      report.orders.placed,
    );
    const ended = (last: string): number => details.orders.filter(({ phases }) => phases.at(-1)?.phase === last).length;
    expect([ended("filled"), ended("canceled")]).toEqual([report.orders.filled, report.orders.canceled]);
    expect(details.orders.some(({ waitedMs }) => waitedMs > 0)).toBe(
      report.quota.waitedMs.turn + report.quota.waitedMs.key > 0,
    );
    for (const { phases } of details.orders) {
      expect(phases.map(({ at }) => at)).toEqual(phases.map(({ at }) => at).sort((a, b) => a - b));
    }
    expect(details.equity.length).toBeGreaterThan(report.equity.length);
    expect(details.prices[0]?.at.length).toBeGreaterThan(100);
    expect(details.positions[0]?.points.at(-1)?.qty).toBe(sum(report.positions.map(({ qty }) => qty)));
  });

  it("keeps what strategies plot, at the instant they do", async () => {
    const plotting = strategy("plotting", {
      run: ({ plot, now }) =>
        timer(1_000, 60_000).pipe(
          tap((round) => {
            plot("round", round);
            plot("text", "1.5", { pane: "price", instId: swap });
            plot("clock", now() - (details.minutes[0]?.at ?? 0), { pane: "clock" });
            plot("gap", Number.NaN);
          }),
        ),
    });
    const { plots, plotsLeftOut } = (await detailed(lively, [plotting])).details;
    expect(plots.map(({ strategy: owner, name, pane, instId }) => [owner, name, pane, instId])).toEqual([
      ["plotting", "round", "round", undefined],
      ["plotting", "text", "price", swap],
      ["plotting", "clock", "clock", undefined],
    ]);
    expect(plots[0]?.points.map(({ value }) => value)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(plots[2]?.points.every(({ at, value }) => at - value === details.minutes[0]?.at)).toBe(true);
    expect(plotsLeftOut).toBe(0);
  });

  it("lists trades that make up what each strategy made, whichever way they are matched", () => {
    for (const [name, { pnl, fees }] of Object.entries(report.perStrategy)) {
      for (const trades of [details.trades.position, details.trades.fifo]) {
        const own = trades.filter((trade) => trade.strategy === name);
        expect([sum(own.map((trade) => trade.net)), sum(own.map((trade) => trade.fees))]).toEqual([pnl, fees]);
      }
    }
    const {
      mfe,
      mae,
      entries,
      exits,
      openedAt,
      closedAt = 0,
    } = details.trades.position[0] as RunDetails["trades"]["position"][number];
    expect([compare(mfe, "0") >= 0, compare(mae, "0") <= 0, closedAt > openedAt]).toEqual([true, true, true]);
    const known = details.orders.map(({ clOrdId }) => clOrdId);
    expect(known).toEqual(expect.arrayContaining([...entries, ...exits]));
  });

  it("keeps what each strategy had made at every sample, which with the rest is the account's equity", () => {
    expect(details.strategies.map(({ strategy: name }) => name)).toEqual(["swinger", "maker", "resting"]);
    const start = details.equity[0]?.equity ?? "";
    for (const [index, { at, equity }] of details.equity.entries()) {
      const made = details.strategies.map(({ points }) => points[index]);
      expect(made.map((point) => point?.at)).toEqual([at, at, at]);
      expect(sum([start, ...made.map((point) => point?.equity ?? "")])).toBe(equity);
    }
  });

  it("keeps what the starting equity had become in the instrument that was traded first", () => {
    const { instId, points } = details.benchmark ?? {};
    expect([instId, points?.length, points?.[0]]).toEqual([swap, details.equity.length, details.equity[0]]);
    const [first, last] = [details.prices[0]?.close[0], details.prices[0]?.close.at(-1)];
    expect(Number(points?.at(-1)?.equity)).toBeCloseTo((Number(points?.[0]?.equity) * Number(last)) / Number(first), 0);
  });

  it("holds JSON only, money as text", () => {
    expect(JSON.parse(JSON.stringify(details))).toEqual(details);
    expect(JSON.parse(JSON.stringify(report))).toEqual(report);
  });

  it("decides the same whether or not details are kept, and details are equal for equal runs", async () => {
    expect((await run(lively, [swinger, maker, resting])).resultHash).toBe(report.resultHash);
    const again = await detailed(lively, [swinger, maker, resting]);
    expect(again.details).toEqual(details);
  });
});

describe("The report of a run of days", () => {
  // Hourly bars over eight days and a half that close at 60,000 plus 100 for each hour.
  const hours = Array.from({ length: 204 }, (_, hour) => 600_000 + 1_000 * hour);
  const bars = hours.map((open) => [open, open + 1_000, open, open + 1_000]);
  const holder = strategy("holder", {
    wanted: () =>
      timer(7_201_000).pipe(
        map(() => [{ slot: "x", instId: swap, side: "buy" as const, ordType: "market" as const, qty: "0.1" }]),
      ),
  });

  it("has a return for each day in UTC, from close to close at the service's prices", async () => {
    const { report, details } = await detailed(stored(candleTape(bars, 3_600_000)), [holder], {
      fees: { makerBps: "0", takerBps: "0" },
    });
    expect(details.returns.map(({ day }) => day)).toEqual(Array.from({ length: 9 }, (_, day) => `2024-01-0${1 + day}`));
    const [first, ...later] = details.returns.map(({ equity }) => equity);
    // 24 hours of 100 for a tenth, from one close to the next; no bar opens after the last, whose high is an ask: a tick less.
    const gains = later.map((equity, day) => sub(equity, day === 0 ? (first ?? "") : (later[day - 1] ?? "")));
    expect(gains).toEqual([...Array.from({ length: 7 }, () => "240"), "119.99"]);
    expect(report.returns).toMatchObject({ per: "year", samples: 9, everyMs: 86_400_000, drawdowns: [] });
    expect(report.returns?.months).toEqual([{ month: "2024-01", percent: report.returns?.percent }]);
    expect(report.benchmark).toMatchObject({ instId: swap, drawdownPercent: "0" });
    expect(details.equity.map(({ at }) => at)).toEqual(
      expect.arrayContaining(details.returns.slice(0, -1).map(({ at }) => at)),
    );
  });
});

describe("Market data requested but not available", () => {
  const dir = stored(calm(60));
  const asking = strategy("asking", {
    wanted: ({ market }) =>
      merge(market.quotes(swap), market.books(swap), market.trades(swap), market.candles(swap, 10_000)).pipe(
        ignoreElements(),
      ),
  });

  it("is told with who asked and what there is instead, and what was delivered is not", async () => {
    const { coverage, warnings } = await run(dir, [asking]);
    expect(coverage.missing).toEqual([`books of ${swap}`, `trades of ${swap}`, `candles of 10 s of ${swap}`]);
    expect(warnings).toContain(`asking subscribes to books of ${swap}; this fixture has quotes only.`);
    expect(warnings).toContain("No order was wanted in this run (strategies: asking).");
  });

  it("is told of the strategy that asked, also where another one trades the product at the market", async () => {
    const bars = stored(candleTape(Array.from({ length: 3 }, () => [600_000, 600_100, 599_900, 600_050])));
    const order = { slot: "x", instId: swap, side: "buy" as const, ordType: "market" as const, qty: "0.01" };
    const trader = strategy("trader", { wanted: () => timer(100_000).pipe(map(() => [order])) });
    const maker = strategy("waits-for-quotes", { wanted: ({ market }) => market.quotes(swap).pipe(map(() => [])) });
    const { warnings, orders } = await run(bars, [maker, trader]);
    expect(orders.placed).toBe(1);
    expect(warnings).toEqual([
      `waits-for-quotes subscribes to quotes of ${swap}; this fixture has candles of 1 min only.`,
      "waits-for-quotes wanted no order in this run.",
    ]);
  });

  it("names a strategy that never emits beside one that trades", async () => {
    const never = strategy("never", { wanted: () => NEVER });
    const order = { slot: "x", instId: swap, side: "buy" as const, ordType: "market" as const, qty: "0.01" };
    const trader = strategy("trader", { wanted: () => timer(20_000).pipe(map(() => [order])) });
    expect((await run(dir, [never, trader])).warnings).toEqual(["never wanted no order in this run."]);
  });

  it("is not what only the engine asked for to price a market order", async () => {
    const bars = stored(candleTape(Array.from({ length: 3 }, () => [600_000, 600_100, 599_900, 600_050])));
    const blind = strategy("blind", {
      wanted: () =>
        timer(100_000).pipe(
          take(1),
          map(() => [{ slot: "x", instId: swap, side: "buy" as const, ordType: "market" as const, qty: "0.01" }]),
        ),
    });
    const report = await run(bars, [blind]);
    expect([report.orders.placed, report.coverage.missing]).toEqual([1, []]);
  });
});

describe("Details of a config without a backtest", () => {
  it("leave it as it is, for the run to refuse", () => {
    const config = { service: { kind: "paper" } };
    expect(withDetails(config, () => undefined)).toBe(config);
    expect(withDetails(undefined, () => undefined)).toBeUndefined();
  });
});
