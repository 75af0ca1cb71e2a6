/** The list of trades: one table worked out by hand, prices in between, and sums that must hold of any fills. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { add, compare, div, equal, isZero, mul, neg, sub, sum } from "../../../src/decimal.ts";
import { createTape } from "../../../src/market/tape/tape.ts";
import { priceExtremes } from "../../../src/report/price-extremes.ts";
import { tradeCsv } from "../../../src/report/trade-csv.ts";
import type { TradeRecord } from "../../../src/report/trade-list.ts";
import { TradeStatistics } from "../../../src/report/trade-statistics.ts";
import type { Fill } from "../../../src/venue/venue.ts";
import { candles, btc as product, quoteTape, startAt, swap } from "../../support/harness/backtest.ts";
import { anyFill, anyMarks, btc, makerFill, tellSent } from "../../support/harness/report-fills.ts";

const noPrices = () => undefined;

type Row = readonly [at: number, order: string, side: "buy" | "sell", qty: string, px: string, cost: string];

const fillOf = ([at, order, ...rest]: Row, instId = btc): Fill => makerFill(at, order, instId, ...rest);

const tallyOf = (
  strategy: string,
  orders: readonly string[],
  tally = new TradeStatistics([strategy], { currency: "USDT", fromAt: 0, untilAt: 1_000, keepsLots: true }),
) => {
  tellSent(tally, strategy, orders);
  return tally;
};

describe("Trades worked out by hand", () => {
  const rows: readonly Row[] = [
    [100, "o1", "buy", "2", "100", "0.2"],
    [110, "o2", "buy", "2", "110", "0.2"],
    [120, "o3", "sell", "1", "120", "0.1"],
    [130, "o4", "sell", "1", "100", "0.1"],
    [140, "o5", "sell", "1", "105.2", "0.1"],
    [150, "o6", "sell", "3", "104", "0.3"],
    [160, "o7", "buy", "0.5", "100", "0.05"],
    [170, "o7", "buy", "0.5", "102", "0.05"],
    [180, "o8", "sell", "1", "110", "0.1"],
    [200, "o9", "buy", "1", "117", "0.1"],
  ];
  const tally = tallyOf(
    "a",
    rows.map(([, order]) => order),
  );
  for (const row of rows) {
    if (row[1] === "o9")
      tally.onFunding({ instId: btc, at: 190, rate: "-0.002", px: "100", held: { u1: "-2" }, paid: { u1: "0.4" } });
    tally.onFill(fillOf(row));
  }
  const { position, fifo } = tally.tradeLists(new Map([[btc, "111"]]), noPrices);

  it("runs from flat to flat, and a reversal closes one trade and opens the next", () => {
    // Long: in 200 + 220 = 420, out 120 + 100 + 105.2 + 104 = 429.2; fees 0.2 + 0.2 + 0.1 + 0.1 + 0.1 + 0.3 / 3.
    // Short: in 208 + 110 = 318, out 50 + 51 + 117 = 218 and 1 at the mark of 111; fees 0.2 + 0.1 + 0.1 + 0.1.
    expect(position).toEqual([
      {
        strategy: "a",
        instId: btc,
        side: "long",
        qty: "4",
        openedAt: 100,
        closedAt: 150,
        entryPx: "105",
        exitPx: "107.3",
        gross: "9.2",
        fees: "0.8",
        funding: "0",
        net: "8.4",
        currency: "USDT",
        mfe: "0",
        mae: "0",
        entries: ["o1", "o2"],
        exits: ["o3", "o4", "o5", "o6"],
      },
      {
        strategy: "a",
        instId: btc,
        side: "short",
        qty: "3",
        openedAt: 150,
        entryPx: "106",
        exitPx: "109.666666666666",
        gross: "-11",
        fees: "0.5",
        funding: "0.4",
        net: "-11.9",
        currency: "USDT",
        mfe: "0",
        mae: "0",
        entries: ["o6", "o8"],
        exits: ["o7", "o9"],
      },
    ]);
  });

  it("matches what closes to the oldest lots, one trade for each pair of orders", () => {
    const brief = ({ entries, exits, openedAt, closedAt, qty, gross, fees, funding, net }: TradeRecord) =>
      [...entries, ...exits, openedAt, closedAt, qty, gross, fees, funding, net].join(" ");
    expect(fifo.map(brief)).toEqual([
      "o1 o3 100 120 1 20 0.2 0 19.8",
      "o1 o4 100 130 1 0 0.2 0 -0.2",
      "o2 o5 110 140 1 -4.8 0.2 0 -5",
      "o2 o6 110 150 1 -6 0.2 0 -6.2",
      "o6 o7 150 170 1 3 0.2 0 2.8",
      "o6 o9 150 200 1 -13 0.2 0.2 -13.4",
      "o8 180  1 -1 0.1 0.2 -1.3",
    ]);
  });

  it("is written with one line each", () => {
    const [head, first, last] = [...tradeCsv(position)].join("").split("\r\n");
    expect(head).toBe(
      "strategy,instId,side,qty,openedAt,closedAt,entryPx,exitPx,gross,fees,funding,net,currency,mfe,mae,entries,exits",
    );
    expect(first).toBe(
      "a,BTC-USDT-SWAP,long,4,1970-01-01T00:00:00.100Z,1970-01-01T00:00:00.150Z,105,107.3,9.2,0.8,0,8.4,USDT,0,0,o1 o2,o3 o4 o5 o6",
    );
    expect(last).toContain("1970-01-01T00:00:00.150Z,,106,");
  });
});

describe("The furthest moves while a trade was held", () => {
  it("are those of the middle of the quotes from opening to closing, both included", () => {
    // Ticks of 0.1: mids of 1000.5, 990.5, 1020.5, 995.5, 900.5 ticks.
    const tape = quoteTape([1_000, 990, 1_020, 995, 900].map((bid, second) => [second * 1_000, bid, 5, bid + 1, 5]));
    const tally = tallyOf(
      "a",
      ["o1", "o2", "o3"],
      new TradeStatistics(["a"], { currency: "USDT", fromAt: startAt, untilAt: startAt + 4_000, keepsLots: true }),
    );
    const at = (ms: number) => startAt + ms;
    tally.onFill(fillOf([at(500), "o1", "buy", "2", "100", "0"]));
    tally.onFill(fillOf([at(3_000), "o2", "sell", "2", "100", "0"]));
    tally.onFill(fillOf([at(3_500), "o3", "sell", "1", "99", "0"]));
    const [long, short] = tally.tradeLists(new Map([[btc, "90.05"]]), priceExtremes(tape)).position;
    // 2 × (102.05 - 100), 2 × (99.05 - 100).
    expect([long?.mfe, long?.mae]).toEqual(["4.1", "-1.9"]);
    // Held to the end: 99 - 90.05, and never against it.
    expect([short?.mfe, short?.mae]).toEqual(["8.95", "0"]);
  });

  it("are those of all bars that overlap the trade", () => {
    const tape = createTape(
      [product],
      [
        candles(
          [
            [1_000, 1_010, 990, 1_000],
            [1_000, 1_030, 980, 1_000],
            [1_000, 1_001, 999, 1_000],
          ],
          60_000,
        ),
      ],
    );
    const between = (from: number, until: number) => priceExtremes(tape)(swap, startAt + from, startAt + until);
    expect(between(1_000, 2_000)).toEqual({ low: "99", high: "101" });
    // From the instant at which the first bar closed.
    expect(between(60_000, 60_001)).toEqual({ low: "98", high: "103" });
    expect(between(59_999, 120_000)).toEqual({ low: "98", high: "103" });
    expect(between(180_000, 190_000)).toBeUndefined();
    expect(priceExtremes(tape)("ETH-USDT", 0, 1)).toBeUndefined();
  });

  it("equal those of looking at every row, for any stretch of many rows", () => {
    const mids = Array.from({ length: 1_000 }, (_, index) => 10_000 + ((index * 7_919) % 997) - ((index * 31) % 89));
    const extremes = priceExtremes(quoteTape(mids.map((bid, index) => [index * 10, bid, 5, bid + 2, 5])));
    fc.assert(
      fc.property(fc.integer({ min: -5, max: 1_005 }), fc.integer({ min: 0, max: 1_005 }), (first, length) => {
        const seen = mids.filter((_, index) => index >= first && index <= first + length).map((bid) => bid + 1);
        const found = extremes(swap, startAt + first * 10, startAt + (first + length) * 10);
        const ticks = (px: string | undefined) => (px === undefined ? undefined : Math.round(Number(px) * 10));
        if (seen.length === 0) expect(found).toBeUndefined();
        else expect([ticks(found?.low), ticks(found?.high)]).toEqual([Math.min(...seen), Math.max(...seen)]);
      }),
      { numRuns: 500 },
    );
  });
});

describe("Trades of any fills, funding and liquidations", () => {
  const fill = fc.record({ ...anyFill, liquidated: fc.integer({ min: 0, max: 9 }).map((chance) => chance === 0) });

  it("lose nothing by either way of matching: gross, fees, funding and net are those of the report, to the last digit", () => {
    fc.assert(
      fc.property(fc.array(fill, { maxLength: 40 }), (fills) => {
        const names = ["a", "b"];
        const tally = new TradeStatistics(names, { currency: "USDT", fromAt: 0, untilAt: 1_000, keepsLots: true });
        for (const name of names) {
          tallyOf(
            name,
            Array.from({ length: 12 }, (_, order) => `${name}${order >> 1}${order % 2 === 0 ? "buy" : "sell"}`),
            tally,
          );
        }
        const held = new Map<string, string>();
        for (const [at, { strategy, order, instId, side, px, qty, cost, paid, liquidated }] of fills.entries()) {
          tally.onFill(fillOf([at, `${strategy}${order}${side}`, side, qty, px, cost], instId));
          const net = add(held.get(instId) ?? "0", side === "buy" ? qty : neg(qty));
          held.set(instId, net);
          if (isZero(net)) continue;
          if (paid !== null) tally.onFunding({ instId, at, rate: "0.0001", px, held: { u1: net }, paid: { u1: paid } });
          if (!liquidated) continue;
          const [exit, size] = compare(net, "0") > 0 ? (["sell", net] as const) : (["buy", neg(net)] as const);
          const ordId = `liquidation ${at}`;
          tally.onLiquidation({
            uid: "u1",
            instId,
            ordId,
            side: exit,
            qty: size,
            value: mul(size, px),
            fee: cost,
            covered: "0",
            at,
          });
          tally.onFill({ ...fillOf([at, ordId, exit, size, px, "0.001"], instId), clOrdId: "" });
          held.set(instId, "0");
        }
        const lists = tally.tradeLists(anyMarks, noPrices);
        for (const name of names) {
          const { pnl, realised, unrealised, fees, funding = "0", liquidation = "0" } = tally.of(name, anyMarks);
          for (const list of [lists.position, lists.fifo]) {
            const total = (of: "gross" | "fees" | "funding" | "net"): string =>
              sum(list.filter(({ strategy }) => strategy === name).map((trade) => trade[of]));
            expect(equal(total("gross"), add(realised, unrealised))).toBe(true);
            expect(equal(total("fees"), add(fees, liquidation))).toBe(true);
            expect(equal(total("funding"), funding)).toBe(true);
            expect(equal(total("net"), pnl)).toBe(true);
          }
        }
        for (const { net, gross, fees, funding } of [...lists.position, ...lists.fifo]) {
          expect(equal(net, sub(sub(gross, fees), funding))).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe("Trades of instruments in other quote currencies", () => {
  const swap = "XRP-EUR-SWAP";
  const spot = "ETH-BTC";

  it("of a swap convert gains when they are made, and what is held at the rate of now", () => {
    let rate = "1.1";
    const counted = { currency: "USDT", fromAt: 0, untilAt: 1_000, keepsLots: true, rateOf: () => rate };
    const tally = tallyOf("a", ["o1", "o2"], new TradeStatistics(["a"], counted));
    tally.onFill(fillOf([1, "o1", "buy", "100", "2", "1"], swap));
    rate = "1.2";
    tally.onFill(fillOf([2, "o2", "sell", "50", "3", "1"], swap));
    rate = "1.3";
    const marks = new Map([[swap, "4"]]);
    // 50 × (3 - 2) × 1.2 = 60 and 50 × (4 - 2) × 1.3 = 130, less fees of 1.1 and 1.2.
    expect(tally.of("a", marks)).toMatchObject({
      realised: "60",
      unrealised: "130",
      fees: "2.3",
      pnl: "187.7",
      volume: "400",
    });
    const { position, fifo } = tally.tradeLists(marks, noPrices);
    expect(position.map(({ gross, net, entryPx, exitPx }) => [gross, net, entryPx, exitPx])).toEqual([
      ["190", "187.7", "2", "3.5"],
    ]);
    expect(fifo.map(({ gross }) => gross)).toEqual(["60", "130"]);
  });

  it("of a spot product are bought and sold at prices converted at the instant of each fill", () => {
    let rate = "40000";
    const counted = { currency: "USDT", fromAt: 0, untilAt: 1_000, keepsLots: true, rateOf: () => rate };
    const tally = tallyOf("a", ["o1"], new TradeStatistics(["a"], counted));
    tally.onFill(fillOf([1, "o1", "buy", "10", "0.05", "0.001"], spot));
    rate = "44000";
    // 10 × (0.05 × 44,000 - 0.05 × 40,000), although the price in BTC is the same.
    expect(tally.of("a", new Map([[spot, "0.05"]]))).toMatchObject({ unrealised: "2000", fees: "40", pnl: "1960" });
    expect(tally.exposure(new Map([[spot, "0.05"]]))).toEqual({ gross: "22000", net: "22000" });
  });

  it("add up to what the report says of each instrument and of each strategy, whatever rates do", () => {
    const fill = fc.record({
      strategy: fc.constantFrom("a", "b"),
      instId: fc.constantFrom(btc, swap, spot),
      side: fc.constantFrom("buy" as const, "sell" as const),
      px: fc.integer({ min: 1, max: 99_999 }).map((px) => div(String(px), "100", 2)),
      qty: fc.integer({ min: 1, max: 9_999 }).map((qty) => div(String(qty), "1000", 3)),
      rate: fc.integer({ min: 1, max: 999_999 }).map((rate) => div(String(rate), "7", 18)),
    });
    fc.assert(
      fc.property(fc.array(fill, { maxLength: 30 }), (fills) => {
        let now = "1.5";
        // A rate of "1" is that of the run's own currency.
        const rateOf = (instId: string) => (instId === btc ? "1" : now === "1" ? "1.0" : now);
        const counted = { currency: "USDT", fromAt: 0, untilAt: 1_000, keepsLots: true, rateOf };
        const tally = tallyOf(
          "b",
          ["b buy", "b sell"],
          tallyOf("a", ["a buy", "a sell"], new TradeStatistics(["a", "b"], counted)),
        );
        for (const [at, { strategy, instId, side, px, qty, rate }] of fills.entries()) {
          now = rate;
          tally.onFill(fillOf([at, `${strategy} ${side}`, side, qty, px, "0.01"], instId));
        }
        const marks = new Map([btc, swap, spot].map((instId) => [instId, "432.1"]));
        const { position, fifo } = tally.tradeLists(marks, noPrices);
        const netOf = (list: readonly TradeRecord[], of: Partial<TradeRecord>): string =>
          sum(
            list
              .filter((trade) =>
                Object.entries(of).every(([name, value]) => trade[name as keyof TradeRecord] === value),
              )
              .map(({ net }) => net),
          );
        const instruments = tally.instruments(marks);
        for (const [instId, { pnl }] of Object.entries(instruments)) {
          expect(equal(netOf(position, { instId }), pnl)).toBe(true);
          // Lots of a swap are realised in another order, and so at other rates.
          if (instId !== swap) expect(equal(netOf(fifo, { instId }), pnl)).toBe(true);
        }
        for (const strategy of ["a", "b"])
          expect(equal(netOf(position, { strategy }), tally.of(strategy, marks).pnl)).toBe(true);
        expect(
          equal(
            sum(Object.values(instruments).map(({ pnl }) => pnl)),
            add(tally.of("a", marks).pnl, tally.of("b", marks).pnl),
          ),
        ).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});
