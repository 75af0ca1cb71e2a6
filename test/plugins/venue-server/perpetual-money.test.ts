/** Funding and liquidation in a run: charged by the service, shared out among strategies, told in the report, survived by the engine. */

import { map, mergeMap, NEVER, take, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import { PublicChannels } from "../../../plugins/venue-server/server/public-channels.ts";
import { isPlayed } from "../../../src/backtest/candle-prints.ts";
import { scheduleFunding } from "../../../src/backtest/funding-schedule.ts";
import { replayMarket } from "../../../src/backtest/serve/market-replay.ts";
import {
  backtest,
  constant,
  createTape,
  type RunReport,
  reportText,
  runBacktest,
  type Tape,
} from "../../../src/backtest.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { createContract } from "../../../src/contract/contract.ts";
import { add, sub, sum } from "../../../src/decimal.ts";
import { instrumentRefresh } from "../../../src/engine/initial-sync.ts";
import { type CandleSeries, seriesOf } from "../../../src/market/tape/tape.ts";
import { fundingShares, shareClosing, sharesOf } from "../../../src/report/attribution.ts";
import { createVenue } from "../../../src/venue/venue.ts";
import { builtOrder } from "../../support/built-orders.ts";
import { btc, candleTape, recorder, startAt, stored, strategy, swap } from "../../support/harness/backtest.ts";

const hourMs = 3_600_000;
const floats = (values: readonly number[]) => Float64Array.from(values);
const at = (rows: readonly (readonly number[])[]) => floats(rows.map(([ms]) => startAt + (ms as number)));
const column = (rows: readonly (readonly number[])[], index: number) => floats(rows.map((row) => row[index] as number));

/** Quotes `[ms, bid in ticks]` a tick wide, and what else is recorded. */
const tapeOf = (quotes: readonly (readonly number[])[], terms: readonly ReturnType<typeof seriesOf>[] = []): Tape => {
  const bids = column(quotes, 1);
  const many = floats(quotes.map(() => 50_000));
  return createTape(
    [btc],
    [...terms, seriesOf("quote", 0, at(quotes), [bids, many, bids.map((bid) => bid + 1), many])],
  );
};
const minutes = (count: number, bidAt: (minute: number) => number) =>
  tapeOf(Array.from({ length: count }, (_, minute) => [minute * 60_000, bidAt(minute)]));

const holder = (name: string, side: "buy" | "sell", qty: string, px = side === "buy" ? "60100" : "1") =>
  strategy(name, {
    run: ({ orders }) =>
      timer(10_000).pipe(mergeMap(() => orders.place({ instId: swap, side, ordType: "ioc", px, qty }))),
  });

const run = (
  tape: Tape,
  strategies: Parameters<typeof runBacktest>[0],
  options: object = {},
  profile: object = {},
  plugins: object[] = [],
) =>
  runBacktest({
    service: backtest({ fixture: stored(tape), latency: constant(10), ...options }),
    strategies,
    plugins,
    profile,
  });
const parts = (report: RunReport) => Object.values(report.perStrategy);
/** Everything strategies made is everything the account made. */
const adds = (report: RunReport): void => {
  expect(sum(parts(report).map(({ pnl }) => pnl))).toBe(report.pnl);
  expect(report.elsewhere).toBe("0");
};

const fundingIn = ({ assumptions }: RunReport): string | undefined =>
  assumptions.find(({ what }) => what === "Funding")?.value;

describe("Funding in a run", () => {
  const day = minutes(20 * 60, (minute) => 600_000 + ((minute * 37) % 501));

  it("is charged at a rate of the config every so many hours, and is its own line", async () => {
    const report = await run(day, [holder("long", "buy", "0.031"), holder("short", "sell", "0.012")], {
      funding: { intervalHours: 8, rate: "0.000123456789" },
    });
    const { long, short } = report.perStrategy;
    expect(report.funding).toBe(add(long?.funding ?? "", short?.funding ?? ""));
    expect(Number(long?.funding)).toBeCloseTo(2 * 0.031 * 60_020 * 0.000123456789, 1);
    expect(Number(short?.funding)).toBeLessThan(0);
    adds(report);
    expect(fundingIn(report)).toBe(`${swap} at a rate of 0.000123456789 every 8 h, as the config says`);
    expect(reportText(report, { columns: 100, colour: false })).toMatch(/funding paid +0\.28/);
  });

  it("is charged at the recorded rates, whatever else is configured, and not at all when it is off", async () => {
    const rates = [
      [8 * hourMs, 1, 1_000_000_000_000],
      [16 * hourMs, -1, 500_000_000_000],
    ];
    const funding = seriesOf("funding", 0, at(rates), [Int8Array.of(1, -1), column(rates, 2)]);
    const tape = createTape([btc], [funding, ...day.series]);
    const report = await run(tape, [holder("long", "buy", "0.1")], { funding: { intervalHours: 1, rate: "0.4" } });
    // 0.1 at the middle of the minute before each instant.
    const mid = (minute: number) => 60_000 + (((minute * 37) % 501) + 0.5) / 10;
    expect(Number(report.funding)).toBeCloseTo(0.1 * (mid(479) * 0.0001 - mid(959) * 0.00005), 9);
    expect(fundingIn(report)).toBe(`${swap} at the recorded rates`);
    adds(report);
    const off = await run(tape, [holder("long", "buy", "0.1")], { funding: "off" });
    expect(off.funding).toBeUndefined();
    expect(fundingIn(off)).toBe("not charged, though rates were recorded");
  });

  it("between two strategies that cancel each other moves what one pays the other", async () => {
    const report = await run(day, [holder("long", "buy", "0.031"), holder("short", "sell", "0.031")], {
      funding: { intervalHours: 8, rate: "0.0001" },
    });
    expect(report.funding).toBe("0");
    expect(Number(report.perStrategy["long"]?.funding)).toBeGreaterThan(0.3);
    adds(report);
  });

  it("is not there without rates, and leaves no trace in a report", async () => {
    const report = await run(
      minutes(30, () => 600_000),
      [holder("long", "buy", "0.1")],
    );
    expect(fundingIn(report)).toBe("not charged");
    expect([report.funding, report.perStrategy["long"]?.funding, report.liquidations]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("is not there either when nobody held anything", async () => {
    const sides = ["buy", "sell"] as const;
    const quick = strategy("quick", {
      run: ({ orders }) =>
        timer(10_000, 10_000).pipe(
          take(2),
          mergeMap((index) =>
            orders.place({ instId: swap, side: sides[index] ?? "buy", ordType: "market", qty: "0.1" }),
          ),
        ),
    });
    const report = await run(
      minutes(30, () => 600_000),
      [quick],
      { funding: { intervalHours: 0.1, rate: "0.001" } },
    );
    expect([report.fills, report.funding, report.perStrategy["quick"]?.funding]).toEqual([2, undefined, undefined]);
  });

  it.each([
    ["weekly", /options.funding: "weekly" is not one of "recorded", "off" or/],
    [{ intervalHours: 0, rate: "0.1" }, /options.funding.intervalHours: must be >= 0.01/],
    [{ intervalHours: 8 }, /options.funding: "rate" is missing/],
  ])("is refused as %j", (funding, message) => {
    expect(() => backtest({ funding } as never)).toThrow(message);
  });
});

describe("Liquidation in a run", () => {
  /** Falls by a third over forty minutes. */
  const falling = minutes(60, (minute) => 600_000 - Math.max(0, Math.min(40, minute - 5)) * 5_000);

  it("is shared out among those who held the position, adds up, and is said loudly", async () => {
    const strategies = [holder("big", "buy", "0.5"), holder("small", "buy", "0.017"), holder("against", "sell", "0.1")];
    const report = await run(falling, strategies, { balances: { USDT: "5000" } });
    expect(report.liquidations).toMatchObject({
      count: 1,
      first: [{ uid: "paper", instId: swap, side: "sell", qty: "0.417" }],
    });
    adds(report);
    expect(report.positions).toEqual([]);
    const costs = sub(report.liquidations?.fees ?? "", report.liquidations?.covered ?? "");
    expect(sum(parts(report).map(({ liquidation = "" }) => liquidation))).toBe(costs);
    expect(sum(parts(report).map(({ fees }) => fees))).toBe(report.fees);
    const text = reportText(report, { columns: 160, colour: false });
    expect(text).toMatch(
      /! LIQUIDATED: the service closed 1 position for want of margin, the first long 0.417 of BTC-USDT-SWAP at 2024/,
    );
    expect(text).toMatch(/LIQUIDATED +1 position/);
  });

  it("takes resting orders, which a strategy learns like any cancel, and its engine runs on", async () => {
    const { events, plugin } = recorder();
    // The second wanted order comes when everything is lost.
    const wanting = strategy("wanting", {
      wanted: () =>
        timer(0, 55 * 60_000).pipe(
          map((round) => [
            { slot: "far", instId: swap, side: "buy" as const, px: round === 0 ? "20000" : "10000", qty: "0.01" },
          ]),
        ),
    });
    const seen: string[] = [];
    const watching = strategy("watching", {
      wanted: ({ account }) =>
        account.positions$.pipe(
          map(({ value }) => {
            seen.push(value.map(({ pos }) => pos).join());
            return [];
          }),
        ),
    });
    const report = await run(
      falling,
      [holder("big", "buy", "0.5"), wanting, watching],
      { balances: { USDT: "5000" } },
      {},
      [plugin],
    );
    expect(report.liquidations?.count).toBe(1);
    expect(report.perStrategy["wanting"]).toMatchObject({ placed: 2, canceled: 1, rejected: 1, state: "running" });
    expect(seen).toContain("0.5");
    expect(seen.at(-1)).toBe("");
    expect(events.filter(({ type }) => type === "strategy.failed")).toEqual([]);
    adds(report);
  });

  it("does not happen where the profile says never, and the report says so", async () => {
    const report = await run(
      falling,
      [holder("big", "buy", "0.5")],
      { balances: { USDT: "5000" } },
      { margin: { liquidation: "never" } },
    );
    expect(report.liquidations).toBeUndefined();
    expect(report.assumptions).toContainEqual(expect.objectContaining({ what: "Liquidation", value: "never" }));
    expect(reportText(report, { columns: 100, colour: false })).toContain(
      "Nothing is left: equity ended at or below zero.",
    );
  });
});

describe("Funding on a clock of its own", () => {
  const [instruments, fees] = [
    [btc],
    { SPOT: { makerBps: "0", takerBps: "0" }, SWAP: { makerBps: "0", takerBps: "0" } },
  ] as const;
  const contract = createContract();
  const opened = () => createVenue({ contract, instruments, users: [], fees, enforceLimits: false });

  it("falls due at whole intervals of the service's clock, and leaves no timer when it is stopped", () => {
    const clock = createVirtualClock(startAt + 60_000);
    const venue = opened();
    venue.quote(swap, 600_000, 1, 600_002, 1, startAt);
    const charged: (readonly [number, string])[] = [];
    venue.onFunding(({ at: instant, px }) => charged.push([instant - startAt, px]));
    const stop = scheduleFunding(
      minutes(2, () => 600_000),
      venue,
      clock,
      { intervalHours: 4, rate: "0.1" },
      1_500,
    );
    clock.advanceTo(startAt + 9 * hourMs);
    expect(charged).toEqual([
      [4 * hourMs, "60000.1"],
      [8 * hourMs, "60000.1"],
    ]);
    stop();
    expect(clock.nextAt()).toBe(Number.POSITIVE_INFINITY);
  });

  it("of a served market happens at the venue's time, like marks and changes of rules", () => {
    const later = startAt + 77_000_000;
    const clock = createVirtualClock(later);
    const venue = opened();
    const funding = seriesOf("funding", 0, at([[60_000]]), [Int8Array.of(1), Float64Array.of(7)]);
    const mark = seriesOf("mark", 0, at([[30_000]]), [Float64Array.of(600_500), Float64Array.of(0)]);
    const change = seriesOf("change", 0, at([[45_000]]), [Float64Array.of(5), Float64Array.of(1), Uint8Array.of(1)]);
    const told: unknown[] = [];
    venue.onFunding(({ at: instant, px, rate }) => told.push([instant - later, px, rate]));
    const market = replayMarket(
      createTape([btc], [change, mark, funding, ...minutes(2, () => 600_000).series]),
      venue,
      new PublicChannels(contract),
      clock,
    );
    clock.advanceTo(later + 70_000);
    expect(told).toEqual([[60_000, "60050", "0.0000000000000007"]]);
    market.stop();
  });
});

describe("Recorded mark prices and instrument rules", () => {
  it("value positions at the mark, in the report too", async () => {
    const mark = seriesOf("mark", 0, floats([startAt, startAt + 600_000]), [
      floats([600_000, 601_000]),
      floats([0, 500_000_000]),
    ]);
    const report = await run(
      tapeOf(
        Array.from({ length: 20 }, (_, minute) => [minute * 60_000, 600_000]),
        [mark],
      ),
      [holder("long", "buy", "0.1")],
    );
    expect(report.positions[0]).toMatchObject({ markPx: "60100.05" });
    adds(report);
  });

  it("hold from the start of the recording on and change within it", async () => {
    const rows = [
      [0, 10, 1, 1],
      [600_000, 10, 1, 0],
      [660_000, 1, 1, 1],
    ];
    const change = seriesOf("change", 0, at(rows), [column(rows, 1), column(rows, 2), Uint8Array.from([1, 0, 1])]);
    const tape = tapeOf(
      Array.from({ length: 20 }, (_, minute) => [minute * 60_000, 600_000]),
      [change],
    );
    const steps: (string | undefined)[] = [];
    const placing = strategy("placing", {
      run: ({ orders, listed }) =>
        timer(10_000, 620_000).pipe(
          mergeMap(() => {
            steps.push(listed()[0]?.tickSize);
            return orders.place({ instId: swap, side: "buy", px: "50000.1", qty: "0.01" });
          }),
        ),
    });
    const report = await run(tape, [placing]);
    expect(steps[0]).toBe("1");
    // The second is placed while the product is not listed.
    expect(report.orders).toMatchObject({ placed: 2, rejected: 1, canceled: 1 });
    expect(report.turnedDown[0]?.reason).toContain("51001");
  });

  it("that changed are read anew when the service refuses an order by them, at most once a minute", async () => {
    const rows = [
      [0, 1, 1, 1],
      [30_000, 50, 1, 1],
    ];
    const change = seriesOf("change", 0, at(rows), [column(rows, 1), column(rows, 2), Uint8Array.from([1, 1])]);
    const tape = tapeOf(
      Array.from({ length: 10 }, (_, minute) => [minute * 60_000, 600_000]),
      [change],
    );
    const steps: (string | undefined)[] = [];
    const placing = strategy("placing", {
      run: ({ orders, listed }) =>
        timer(40_000, 1_000).pipe(
          take(30),
          mergeMap(() => {
            steps.push(listed()[0]?.tickSize);
            return orders.place({ instId: swap, side: "buy", px: "50000.1", qty: "0.01" });
          }),
        ),
    });
    const report = await run(tape, [placing]);
    expect([steps[0], steps[1]]).toEqual(["0.1", "5"]);
    expect(report.orders).toMatchObject({ placed: 30, rejected: 1 });
    expect(report.open.count).toBe(29);
  });
});

describe("Recorded terms of an instrument", () => {
  it("hide no bars: they are played beside marks and funding, and not beside trades", () => {
    const bars = candleTape([[10, 11, 9, 10]]).series[0] as CandleSeries;
    const mark = seriesOf("mark", 0, floats([1]), [floats([1]), floats([0])]);
    const trade = seriesOf("trade", 0, floats([1]), [Int8Array.of(1), floats([1]), floats([1])]);
    expect([isPlayed(bars, [bars, mark]), isPlayed(bars, [bars, trade])]).toEqual([true, false]);
  });

  it("keep their place among prints while nobody trades: what is owned has the last price before its delisting", async () => {
    const spot = { ...btc, instId: "BTC-USDT" };
    const prints = seriesOf("trade", 0, at([[0], [10_000]]), [
      Int8Array.of(1, 1),
      floats([600_000, 610_000]),
      floats([1, 1]),
    ]);
    const gone = seriesOf("change", 0, at([[10_050], [60_000]]), [floats([1, 1]), floats([1, 1]), Uint8Array.of(0, 0)]);
    const idle = strategy("idle", { wanted: () => NEVER });
    const report = await run(createTape([spot], [gone, prints]), [idle], { balances: { USDT: "5", BTC: "2" } });
    expect([report.equity[0]?.equity, report.pnl]).toEqual(["120005", "2000"]);
  });

  it("are asked for again at most once a minute for each product, when orders are refused by them", () => {
    const clock = createVirtualClock(0);
    let asked = 0;
    const rejected = instrumentRefresh(createContract().profile, clock, () => asked++);
    const refuse = (reason: string, instId = swap): number => {
      const spec = { instId, side: "buy", ordType: "limit", px: "1", sz: "1", reduceOnly: false } as const;
      rejected(builtOrder({ spec, phase: "rejected", reason }));
      return asked;
    };
    expect([refuse("51008 no money"), refuse("51006 px"), refuse("51020 sz")]).toEqual([0, 1, 1]);
    clock.advanceTo(60_000);
    expect([refuse("51001 gone"), refuse("51001 gone")]).toEqual([2, 2]);
    // Another product's rules may have changed after the list was read.
    clock.advanceTo(70_000);
    const other = (): number => refuse("51006 px", "ETH-USDT-SWAP");
    expect([other(), other(), refuse("51006 px")]).toEqual([3, 3, 3]);
    clock.advanceTo(120_000);
    expect([other(), refuse("51006 px")]).toEqual([3, 4]);
  });
});

describe("Shares of the strategies", () => {
  it.each([
    ["10", ["1", "2"], "3", ["3.333333333333333333", "6.666666666666666667"]],
    ["10", ["1", "1"], "3", ["3.333333333333333333", "3.333333333333333333"]],
    ["-1", ["3", "-2"], "1", ["-3", "2"]],
    ["1", [], "3", []],
  ])("of %s by %j of %s", (total, weights, whole, expected) => {
    expect(sharesOf(total, weights, whole)).toEqual(expected);
  });

  it("of funding add up to what the service charged, and leave what is of nobody here", () => {
    const funding = {
      instId: swap,
      at: 0,
      rate: "0.0000000000000001",
      px: "0.333",
      held: { ann: "2" },
      paid: { ann: "0.000000000000000066" },
    };
    expect(sum(fundingShares(funding, "ann", ["1", "1"]))).toBe("0.000000000000000066");
    expect(fundingShares(funding, "ann", ["1"])).toEqual(["0.000000000000000033"]);
    expect(fundingShares(funding, "bob", ["1", "-1"])).toEqual(["0.000000000000000033", "-0.000000000000000033"]);
  });

  it("of a closing order close each holding, whatever the fills", () => {
    const liquidation = {
      uid: "ann",
      instId: swap,
      ordId: "1",
      side: "sell" as const,
      qty: "1",
      value: "0",
      fee: "0",
      covered: "0",
      at: 0,
    };
    const share = shareClosing(liquidation, ["0.7", "-0.5", "0.8"]);
    const fill = (qty: string) => ({
      uid: "ann",
      instId: swap,
      ordId: "1",
      clOrdId: "",
      side: "sell" as const,
      px: "5",
      qty,
      fee: "0",
      cost: "0.1",
      liquidity: "taker" as const,
      at: 0,
    });
    const closed = [...share(fill("0.333")), ...share(fill("0.667"))];
    const of = (holder: number) =>
      sum(closed.filter((part) => part.holder === holder).map(({ side, qty }) => (side === "sell" ? qty : `-${qty}`)));
    expect([of(0), of(1), of(2)]).toEqual(["0.7", "-0.5", "0.8"]);
    expect(sum(closed.map(({ cost }) => cost))).toBe("0.2");
  });
});
