/** Trades and what is said of them: one table worked out by hand, and what must hold of any fills. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { add, isZero, mul, neg, sub, sum } from "../../../src/decimal.ts";
import { TradeStatistics } from "../../../src/report/trade-statistics.ts";
import { tradesOf } from "../../../src/report/trades.ts";
import type { Fill, Funding } from "../../../src/venue/venue.ts";
import { anyFill, anyMarks, btc, eth, makerFill, tellSent } from "../../support/harness/report-fills.ts";

type Row = readonly [
  at: number,
  order: string,
  instId: string,
  side: "buy" | "sell",
  qty: string,
  px: string,
  cost: string,
];

const fillOf = (row: Row): Fill => makerFill(...row);

const tallyOf = (orders: Readonly<Record<string, readonly string[]>>): TradeStatistics => {
  const tally = new TradeStatistics(Object.keys(orders), { currency: "USDT", fromAt: 0, untilAt: 1_000 });
  for (const [strategy, own] of Object.entries(orders)) tellSent(tally, strategy, own);
  return tally;
};

describe("Trades worked out by hand", () => {
  // Of a, in BTC, from flat to flat:
  //   in  2 at 100 (0.2 of fees), 2 at 110 (0.2)                                   420   0.4
  //   out 1 at 120, 1 at 100, 1 at 105.2 (0.1 each), 1 of 3 at 104 (0.3 / 3)       429.2 0.4   won 9.2 - 0.8 = 8.4 in 50 ms
  //   in, short: 2 of 3 at 104 (0.2), 1 at 110 (0.1)                               318   0.3
  //   out 0.5 at 100, 0.5 at 102 (0.05 each), 1 at 117 (0.1); 0.4 of funding       218   0.2
  //   still 1 at the mark of 111: 318 - 218 - 111 - 0.5 - 0.4 = -11.9
  // Of b, in ETH: in 1 at 10, out 1 at 9 (0.01): lost 1.01 in 10 ms.
  const rows: readonly Row[] = [
    [100, "o1", btc, "buy", "2", "100", "0.2"],
    [110, "o2", btc, "buy", "2", "110", "0.2"],
    [120, "o3", btc, "sell", "1", "120", "0.1"],
    [130, "o4", btc, "sell", "1", "100", "0.1"],
    [140, "o5", btc, "sell", "1", "105.2", "0.1"],
    [150, "o6", btc, "sell", "3", "104", "0.3"],
    [160, "o7", btc, "buy", "0.5", "100", "0.05"],
    [170, "o7", btc, "buy", "0.5", "102", "0.05"],
    [180, "o8", btc, "sell", "1", "110", "0.1"],
    [200, "o9", btc, "buy", "1", "117", "0.1"],
    [50, "p1", eth, "buy", "1", "10", "0"],
    [60, "p2", eth, "sell", "1", "9", "0.01"],
  ];
  const tally = tallyOf({ a: ["o1", "o2", "o3", "o4", "o5", "o6", "o7", "o8", "o9"], b: ["p1", "p2"], idle: [] });
  const funding: Funding = { instId: btc, at: 190, rate: "-0.002", px: "100", held: { u1: "-2" }, paid: { u1: "0.4" } };
  for (const row of [...rows].sort(([a], [b]) => a - b)) {
    if (row[1] === "o9") tally.onFunding(funding);
    tally.onFill(fillOf(row));
  }
  const marks = new Map([
    [btc, "111"],
    [eth, "9"],
  ]);

  it("of the one strategy", () => {
    expect(tally.of("a", marks).trades).toEqual({
      count: 1,
      won: 1,
      lost: 0,
      net: "8.4",
      profit: "8.4",
      loss: "0",
      winPercent: "100",
      averageWin: "8.4",
      expectancy: "8.4",
      best: "8.4",
      worst: "8.4",
      averageMs: 50,
      longestMs: 50,
      // What is still held has lost more than was won, and is told beside it.
      held: 1,
      open: "-11.9",
      // Held from 100 on to the end at 1,000: a reversal is never flat.
      inMarketMs: 900,
      inMarketPercent: "90",
    });
    // Cash from the fills 109.2, less 111 for what is owed, less 1.3 of fees and 0.4 of funding: -3.5 = 8.4 - 11.9.
    expect(tally.of("a", marks).pnl).toBe("-3.5");
  });

  it("of the other, which lost its only trade: no average win, and a factor of nothing", () => {
    const { trades } = tally.of("b", marks);
    expect(trades).toMatchObject({
      count: 1,
      won: 0,
      lost: 1,
      net: "-1.01",
      averageLoss: "-1.01",
      profitFactor: "0",
      winPercent: "0",
    });
    expect(trades).toMatchObject({ best: "-1.01", worst: "-1.01", inMarketMs: 10, inMarketPercent: "1" });
    expect(trades).not.toHaveProperty("averageWin");
  });

  it("of one that never traded: counts and sums alone", () => {
    const none = {
      count: 0,
      won: 0,
      lost: 0,
      net: "0",
      profit: "0",
      loss: "0",
      held: 0,
      open: "0",
      inMarketMs: 0,
      inMarketPercent: "0",
    };
    expect(tally.of("idle", marks).trades).toEqual(none);
  });

  it("of a run of less than half a millisecond: no share of its time is stated", () => {
    expect(tradesOf([], { ms: 0.2, ofMs: 0.4 })).toMatchObject({ count: 0, inMarketPercent: "0" });
  });

  it("of all of them", () => {
    expect(tally.trades(marks)).toEqual({
      count: 2,
      won: 1,
      lost: 1,
      net: "7.39",
      profit: "8.4",
      loss: "-1.01",
      winPercent: "50",
      averageWin: "8.4",
      averageLoss: "-1.01",
      profitFactor: "8.3168",
      expectancy: "3.695",
      best: "8.4",
      worst: "-1.01",
      averageMs: 30,
      longestMs: 50,
      held: 1,
      open: "-11.9",
      inMarketMs: 910,
      inMarketPercent: "91",
    });
  });

  it("has neither a rate of loss nor a factor where nothing was lost", () => {
    const lucky = tallyOf({ a: ["o1", "o2"] });
    lucky.onFill(fillOf([1, "o1", btc, "buy", "1", "100", "0"]));
    lucky.onFill(fillOf([2, "o2", btc, "sell", "1", "101", "0"]));
    const { trades } = lucky.of("a", marks);
    expect(trades).toMatchObject({ count: 1, won: 1, net: "1", winPercent: "100" });
    expect(trades).not.toHaveProperty("averageLoss");
    expect(trades).not.toHaveProperty("profitFactor");
  });
});

describe("Trades of any fills, funding included", () => {
  it("net profits and what is open add up to the change of equity, for each strategy and in all, to the last digit", () => {
    fc.assert(
      fc.property(fc.array(fc.record(anyFill), { maxLength: 40 }), (fills) => {
        const orders = (strategy: string) => Array.from({ length: 6 }, (_, order) => `${strategy}${order}`);
        const tally = tallyOf({ a: orders("a"), b: orders("b") });
        // Cash, and what is held, without any notion of a trade.
        let cash = "0";
        const held = new Map<string, string>();
        for (const [at, { strategy, order, instId, side, px, qty, cost, paid }] of fills.entries()) {
          tally.onFill(fillOf([at, `${strategy}${order}`, instId, side, qty, px, cost]));
          const sign = side === "buy" ? qty : neg(qty);
          cash = sub(sub(cash, mul(sign, px)), cost);
          held.set(instId, add(held.get(instId) ?? "0", sign));
          const net = held.get(instId) ?? "0";
          if (paid === null || isZero(net)) continue;
          tally.onFunding({ instId, at, rate: "0.0001", px, held: { u1: net }, paid: { u1: paid } });
          cash = sub(cash, paid);
        }
        const equity = add(cash, sum([...held].map(([instId, qty]) => mul(qty, anyMarks.get(instId) ?? "0"))));
        const all = tally.trades(anyMarks);
        expect(sub(add(all.net, all.open), equity)).toBe("0");
        const own = ["a", "b"].map((name) => tally.of(name, anyMarks));
        for (const { trades, pnl } of own) expect(sub(add(trades.net, trades.open), pnl)).toBe("0");
        expect(own.reduce((count, { trades }) => count + trades.count, 0)).toBe(all.count);
        expect(all.won + all.lost).toBeLessThanOrEqual(all.count);
      }),
      { numRuns: 200 },
    );
  });
});
