/**
 * Fill models by name: what is accepted, what a recording supports, and hand-computed fills of each.
 */

import fc from "fast-check";
import { concat, map, NEVER, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import { chooseFills } from "../../../src/backtest/fill-choice.ts";
import { queueTerms } from "../../../src/backtest/fill-models.ts";
import { doubleLastTrade, tradeTaker } from "../../../src/backtest/fill-trades.ts";
import {
  backtest,
  bookFills,
  candleFills,
  constant,
  createTape,
  type Fills,
  type Queue,
  quoteFills,
  runBacktest,
  type Tape,
  tradeFills,
  withDetails,
} from "../../../src/backtest.ts";
import { assumptionText } from "../../../src/contract/assumption.ts";
import type { Strategy } from "../../../src/index.ts";
import {
  type Column,
  type Series,
  type SeriesKind,
  seriesOf,
  type TradeSeries,
} from "../../../src/market/tape/tape.ts";
import type { Venue } from "../../../src/venue/venue.ts";
import { btc, candles, startAt, stored, strategy, swap } from "../../support/harness/backtest.ts";

/** Rows `[ms after the start, …columns]`. */
const rows = (kind: SeriesKind, list: readonly (readonly number[])[], instrument = 0): Series => {
  const at = Float64Array.from(list, ([ms = 0]) => startAt + ms);
  const width = (list[0]?.length ?? 1) - 1;
  const columns = Array.from({ length: width }, (_, index): Column => {
    const values = list.map((row) => row[index + 1] as number);
    if (kind !== "quote" && index === 0) return Int8Array.from(values);
    return kind === "level" && index === 3 ? Uint8Array.from(values) : Float64Array.from(values);
  });
  return seriesOf(kind, instrument, at, columns);
};
const quotes = (list: readonly (readonly number[])[], instrument = 0) => rows("quote", list, instrument);
const trades = (list: readonly (readonly number[])[], instrument = 0) => rows("trade", list, instrument);
const levels = (list: readonly (readonly number[])[], instrument = 0) => rows("level", list, instrument);
const eth = { instId: "ETH-USDT-SWAP", tickSize: "0.01", lotSize: "0.001" };

describe("A fill model chosen by name", () => {
  it.each<[string, Fills, object]>([
    ["a name has its defaults", "book", { from: "book", queue: "risk-averse", volume: "unlimited" }],
    ["trades know no queue", "trades", { from: "trades", queue: "through", volume: "unlimited" }],
    [
      "candles have a path",
      "candles",
      { from: "candles", queue: "risk-averse", volume: "unlimited", path: "pessimistic" },
    ],
    ["a function is the same", bookFills(), { from: "book", queue: "risk-averse", volume: "unlimited" }],
    [
      "with parameters",
      quoteFills({ queue: { power: 3 } }),
      { from: "quotes", queue: { power: 3 }, volume: "unlimited" },
    ],
    [
      "of each kind",
      tradeFills({ queue: "touch", volume: "traded" }),
      { from: "trades", queue: "touch", volume: "traded" },
    ],
    [
      "and their own",
      candleFills({ path: "shortest" }),
      { from: "candles", queue: "risk-averse", volume: "unlimited", path: "shortest" },
    ],
  ])("%s", (_, given, expected) => {
    const tape = createTape(
      [btc],
      [levels([[0, 1, 1, 1, 1]]), quotes([[0, 1, 1, 2, 1]]), trades([[0, 1, 1, 1]]), candles([[1, 1, 1, 1]], 60_000)],
    );
    expect(chooseFills(tape, given).models).toEqual([expected]);
  });

  it.each<[unknown, string]>([
    [
      "boook",
      'backtest options.fills: fill model "boook" is not known; it is one of "book", "quotes", "trades", "candles". Did you mean "book"?',
    ],
    [{ from: "book", queue: "risk averse" }, 'queue "risk averse" is not known; it is one of "risk-averse", '],
    [
      { from: "book", queue: { power: 0.5 } },
      'queue {"power":0.5} is not known. Write { power: 2 }, a multiple of 0.5 from 1 to 16',
    ],
    [{ from: "book", queue: null }, "queue null is not known."],
    [{ from: "book", volume: "all" }, 'volume "all" is not known; it is one of "unlimited", "traded"'],
    [{ from: "book", que: 1 }, '"que" is not an option. Did you mean "queue"?'],
    [{ from: "quotes", path: "shortest" }, "path is for candles; quotes have their own. Leave it out."],
    [{ from: "candles", path: "zigzag" }, 'path "zigzag" is not known; it is one of "pessimistic", "shortest"'],
    [{ queue: "touch" }, "from undefined is not known"],
  ])("%j is refused by place, value and remedy", (fills, message) => {
    expect(() => backtest({ fills: fills as Fills })).toThrow(message);
  });

  it.each<[Queue, string]>([
    ["risk-averse", "cancels are taken to be behind it"],
    ["probabilistic", "to the power of 2"],
    [{ power: 3 }, "to the power of 3"],
    ["through", "only prints and prices beyond it do"],
    ["touch", "no queue is assumed"],
  ])("%j is told in words", (queue, words) => {
    expect(queueTerms(queue).consequence).toContain(words);
  });
});

describe("The default fill model", () => {
  const sources = (tape: Tape, fills?: Fills) => chooseFills(tape, fills).models.map((model) => model?.from);
  const bars = candles([[1, 1, 1, 1]], 60_000);
  const hours = candles([[1, 1, 1, 1]], 3_600_000);

  it.each<[string, readonly Series[], string]>([
    [
      "levels, quotes and trades",
      [levels([[0, 1, 1, 1, 1]]), quotes([[0, 1, 1, 2, 1]]), trades([[0, 1, 1, 1]])],
      "book",
    ],
    ["quotes and bars", [quotes([[0, 1, 1, 2, 1]]), bars], "quotes"],
    ["trades and bars", [trades([[0, 1, 1, 1]]), bars], "trades"],
    ["bars", [bars], "candles"],
  ])("is the finest of %s", (_, series, expected) => {
    expect(sources(createTape([btc], series))).toEqual([expected]);
  });

  it("is made product by product, and none where nothing is recorded", () => {
    const tape = createTape(
      [btc, eth, { ...btc, instId: "SOL-USDT-SWAP" }],
      [trades([[0, 1, 1, 1]], 0), quotes([[0, 1, 1, 2, 1]], 1)],
    );
    expect(sources(tape)).toEqual(["trades", "quotes", undefined]);
    expect(chooseFills(tape).assumptions.map(assumptionText)).toEqual([
      expect.stringContaining("Fills of ETH-USDT-SWAP: from quotes, the finest the recording holds"),
      expect.stringContaining("Queue of ETH-USDT-SWAP: risk-averse"),
      expect.stringContaining("Volume of ETH-USDT-SWAP: unlimited"),
      "Trades of ETH-USDT-SWAP: not recorded; a resting order is filled only when the other side reaches its price",
      expect.stringContaining("Fills of BTC-USDT-SWAP: from trades"),
      expect.stringContaining("Queue of BTC-USDT-SWAP: through"),
      expect.stringContaining("Volume of BTC-USDT-SWAP: unlimited"),
    ]);
  });

  it("reads no rows that a model does not need, and of bars the shortest", () => {
    const series = [levels([[0, 1, 1, 1, 1]]), quotes([[0, 1, 1, 2, 1]]), trades([[0, 1, 1, 1]]), bars, hours];
    const tape = createTape([btc], series);
    const played = (fills: Fills) => series.map((one) => Number(chooseFills(tape, fills).plays(one))).join("");
    expect(["book", "quotes", "trades", "candles"].map((fills) => played(fills as Fills))).toEqual([
      "11100",
      "01100",
      "00100",
      "00010",
    ]);
  });

  it("that cannot be had names product, what there is and what to write", async () => {
    const tape = createTape([btc], [trades([[0, 1, 1, 1]]), bars]);
    await expect(run(tape, [strategy("idle", { wanted: () => NEVER })], "book")).rejects.toThrow(
      'fills: "book" needs book levels, and the recording holds none of BTC-USDT-SWAP, only trades and candles. Write "trades", leave fills out to have it chosen by product, or record book levels.',
    );
  });
});

const run = async (tape: Tape | string, strategies: readonly Strategy[], fills?: Fills) => {
  const dir = typeof tape === "string" ? tape : stored(tape);
  const told: string[] = [];
  const service = backtest({ fixture: dir, latency: constant(10), ...(fills === undefined ? {} : { fills }) });
  const config = withDetails({ service, strategies }, (details) => {
    for (const { at, side, px, qty, liquidity } of details.fills)
      told.push(`${at - startAt} ${side} ${qty}@${px} ${liquidity}`);
  });
  const report = await runBacktest(config);
  return { report, told };
};

/** Places one order `ms` after the start of the recording; strategies begin with the engine, a little before it. */
const once = (
  ms: number,
  side: "buy" | "sell",
  px: string | undefined,
  qty: string,
  ordType: "limit" | "market" | "ioc" | "fok" | "post_only" = "limit",
) =>
  strategy(`${side} ${ms} ${ordType}`, {
    wanted: ({ now }) =>
      concat(
        timer(startAt + ms - now()).pipe(
          map(() => [{ slot: "x", instId: swap, side, qty, ordType, ...(px === undefined ? {} : { px }) }]),
        ),
        NEVER,
      ),
  });

describe("Best prices derived from prints", () => {
  it.each<[string, readonly (readonly [side: number, px: number, qty: number])[], readonly number[]]>([
    ["a buyer shows the ask", [[1, 100, 5]], [0, 0, 100, 5]],
    ["a seller shows the bid", [[-1, 100, 5]], [100, 5, 101, 0]],
    [
      "each side stays where it was seen",
      [
        [1, 103, 5],
        [-1, 100, 7],
      ],
      [100, 7, 103, 5],
    ],
    [
      "a buyer at the bid pushes it a tick away",
      [
        [1, 103, 5],
        [-1, 100, 7],
        [1, 100, 2],
      ],
      [99, 7, 100, 2],
    ],
    [
      "a buyer below the bid too",
      [
        [-1, 100, 7],
        [1, 98, 2],
      ],
      [97, 7, 98, 2],
    ],
    [
      "a seller at the ask pushes it a tick away",
      [
        [1, 103, 5],
        [-1, 103, 4],
      ],
      [103, 4, 104, 5],
    ],
  ])("%s", (_, list, expected) => {
    const shown: number[][] = [];
    const venue = {
      trade: () => undefined,
      quote: (_id: string, ...values: number[]) => shown.push(values.slice(0, 4)),
    } as unknown as Venue;
    const series = trades(list.map((row, index) => [index, ...row])) as TradeSeries;
    const take = tradeTaker(series, swap, venue);
    list.forEach((_row, row) => {
      take(row, 0);
    });
    expect(shown.at(-1)).toEqual(expected);
    const [bid = 0, , ask = 0] = expected;
    if (list.some(([side]) => side > 0) && list.some(([side]) => side < 0))
      expect(doubleLastTrade(series)).toBe(bid + ask);
    else expect(doubleLastTrade(series)).toBeUndefined();
  });
});

describe("Prints applied in bulk", () => {
  const print = fc.tuple(
    fc.constantFrom(1 as const, -1 as const),
    fc.integer({ min: 100, max: 106 }),
    fc.integer({ min: 1, max: 9 }),
  );

  it("leave the same best prices as if each had been taken, wherever taking begins again", () => {
    fc.assert(
      fc.property(
        fc.array(print, { minLength: 1, maxLength: 20 }),
        fc.array(fc.nat(19), { maxLength: 6 }),
        (list, taken) => {
          const series = trades(list.map((row, index) => [index, ...row])) as TradeSeries;
          const shownAt = (rows: readonly number[]): ReadonlyMap<number, readonly number[]> => {
            const shown = new Map<number, readonly number[]>();
            const quote = (_id: string, ...[bidPx, bidQty, askPx, askQty, row]: number[]): unknown =>
              shown.set(row as number, [bidPx as number, bidQty as number, askPx as number, askQty as number]);
            const take = tradeTaker(series, swap, { trade: () => undefined, quote } as unknown as Venue);
            for (const row of rows) {
              take.skipTo(row);
              take(row, row);
            }
            return shown;
          };
          const all = shownAt(list.map((_, row) => row));
          const some = [...new Set(taken)].filter((row) => row < list.length).sort((a, b) => a - b);
          for (const [row, shown] of shownAt(some)) expect(shown).toEqual(all.get(row));
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe("Fills worked out by hand", () => {
  const far = [60_000, 599_000, 1, 601_000, 1] as const;

  it("from quotes: a taker gets the best quantity and no more, a resting order waits its turn in the queue", async () => {
    const tape = createTape(
      [btc],
      [
        quotes([[0, 600_000, 50, 600_010, 20], far]),
        trades([
          [2_000, -1, 600_000, 30],
          [3_000, -1, 600_000, 30],
          [4_000, -1, 600_000, 30],
        ]),
      ],
    );
    const { told, report } = await run(tape, [
      once(1_000, "buy", undefined, "0.03", "market"),
      once(1_000, "buy", "60000", "0.03"),
    ]);
    expect(told).toEqual(["1010 buy 0.02@60001 taker", "3000 buy 0.01@60000 maker", "4000 buy 0.02@60000 maker"]);
    expect(report.assumptions[2]).toMatchObject({ what: "Unit of sz" });
    expect(report.assumptions.map(assumptionText)).toContainEqual(
      expect.stringContaining("Fills: from quotes, the finest the recording holds"),
    );
  });

  it("from the book: a taker walks the levels, post-only is refused, IOC keeps what it got, FOK gets all or nothing", async () => {
    const tape = createTape(
      [btc],
      [
        levels([
          [0, -1, 600_010, 20, 1],
          [0, -1, 600_020, 20, 0],
          [0, 1, 600_000, 20, 0],
          [60_000, 1, 599_990, 1, 0],
        ]),
      ],
    );
    const orders = [
      once(1_000, "buy", "60002", "0.05", "fok"),
      once(2_000, "buy", "60002", "0.01", "post_only"),
      once(3_000, "buy", "60002", "0.03", "ioc"),
      once(4_000, "buy", "60002", "0.03", "ioc"),
    ];
    const { told, report } = await run(tape, orders, "book");
    expect(told).toEqual(["3010 buy 0.02@60001 taker", "3010 buy 0.01@60002 taker", "4010 buy 0.01@60002 taker"]);
    expect(report.orders).toMatchObject({ placed: 4, filled: 1, canceled: 2, rejected: 1 });
    expect(report.assumptions.map(({ what }) => what)).toContain("Trades of BTC-USDT-SWAP");
  });

  it("from quotes where a book was recorded too: nothing beyond the best price can be had", async () => {
    const tape = createTape(
      [btc],
      [
        levels([
          [0, -1, 600_010, 20, 1],
          [0, -1, 600_020, 20, 0],
        ]),
        quotes([[0, 600_000, 50, 600_010, 20], far]),
      ],
    );
    const taker = [once(1_000, "buy", undefined, "0.03", "market")];
    expect((await run(tape, taker, "quotes")).told).toEqual(["1010 buy 0.02@60001 taker"]);
    expect((await run(tape, taker)).told).toEqual(["1010 buy 0.02@60001 taker", "1010 buy 0.01@60002 taker"]);
  });

  const prints = createTape(
    [btc],
    [
      trades([
        [0, 1, 600_010, 20],
        [0, -1, 600_000, 20],
        [2_000, -1, 600_000, 30],
        [3_000, -1, 599_990, 10],
        [4_000, 1, 600_010, 10],
        [60_000, 1, 600_010, 10],
      ]),
    ],
  );
  it("from trades: a taker pays what the last buyer paid, a print at the price fills nobody, one through it does", async () => {
    const { told, report } = await run(prints, [
      once(1_000, "buy", undefined, "0.03", "market"),
      once(1_000, "buy", "60000", "0.03"),
    ]);
    expect(told).toEqual(["1010 buy 0.02@60001 taker", "3000 buy 0.03@60000 maker"]);
    // Worth 60000 each, the middle of 59999 and 60001 as they were seen last.
    expect(report.unrealised).toBe("-0.02");
    expect(report.elsewhere).toBe("0");
  });
  it("from trades, what is held of a currency is worth the middle of the last prices seen, to strategy and account alike", async () => {
    const pair = { ...btc, instId: "BTC-USDT" };
    const tape = createTape([pair], prints.series);
    const buyer = strategy("buyer", {
      wanted: ({ now }) =>
        concat(
          timer(startAt + 1_000 - now()).pipe(
            map(() => [
              { slot: "x", instId: pair.instId, side: "buy" as const, qty: "0.01", ordType: "market" as const },
            ]),
          ),
          NEVER,
        ),
    });
    const { report } = await run(tape, [buyer]);
    expect(report.fills).toBe(1);
    expect(report.positions[0]?.markPx).toBe("60000");
    expect(report.perStrategy["buyer"]?.pnl).toBe(report.pnl);
  });
  it("from trades, only what was traded", async () => {
    const { told } = await run(prints, [once(1_000, "buy", "60000", "0.03")], tradeFills({ volume: "traded" }));
    expect(told).toEqual(["3000 buy 0.01@60000 maker"]);
  });
  it("from trades, only what was traded, whatever the prints show of the other side", async () => {
    const tape = createTape(
      [btc],
      [
        trades([
          [0, 1, 600_010, 90],
          [3_000, -1, 599_990, 10],
          [4_000, 1, 599_980, 10],
          [60_000, 1, 600_010, 10],
        ]),
      ],
    );
    const { told } = await run(tape, [once(1_000, "buy", "60000", "0.05")], tradeFills({ volume: "traded" }));
    // Nothing of the ask that the second print pushes away; then the bid is above what somebody paid.
    expect(told).toEqual(["3000 buy 0.01@60000 maker", "4000 buy 0.01@60000 maker"]);
  });
  it("from trades without a queue: the first print at the price fills", async () => {
    const { told } = await run(prints, [once(1_000, "buy", "60000", "0.03")], tradeFills({ queue: "touch" }));
    expect(told).toEqual(["2000 buy 0.03@60000 maker"]);
  });

  describe("from candles", () => {
    const bars = createTape(
      [btc],
      [
        candles(
          [
            [600_000, 600_000, 600_000, 600_000],
            [600_000, 601_000, 599_000, 600_500],
            [600_500, 600_500, 600_500, 600_500],
          ],
          60_000,
        ),
      ],
    );
    const bought = once(61_000, "buy", "59950", "0.01");

    it("the extreme that only buys meet comes second", async () => {
      expect((await run(bars, [bought], "candles")).told).toEqual(["100000 buy 0.01@59950 maker"]);
      expect((await run(bars, [bought], candleFills({ path: "shortest" }))).told).toEqual([
        "80000 buy 0.01@59950 maker",
      ]);
    });
    it("the extreme that only sells meet comes second", async () => {
      const falling = createTape(
        [btc],
        [
          candles(
            [
              [600_000, 600_000, 600_000, 600_000],
              [600_000, 601_000, 599_000, 599_500],
              [599_500, 599_500, 599_500, 599_500],
            ],
            60_000,
          ),
        ],
      );
      const sold = once(61_000, "sell", "60050", "0.01");
      expect((await run(falling, [sold])).told).toEqual(["100000 sell 0.01@60050 maker"]);
      expect((await run(falling, [sold], candleFills({ path: "shortest" }))).told).toEqual([
        "80000 sell 0.01@60050 maker",
      ]);
    });
    it("no more than the quarter of the volume that is behind a print, where volume counts", async () => {
      const large = once(61_000, "buy", "59950", "1.5");
      expect((await run(bars, [large])).told).toEqual(["100000 buy 1.5@59950 maker"]);
      expect((await run(bars, [large], candleFills({ volume: "traded" }))).told).toEqual(["100000 buy 1@59950 maker"]);
    });
    it("with both, or none, the bar goes against its own direction first", async () => {
      const both = [bought, once(61_000, "sell", "60050", "0.01")];
      expect((await run(bars, both)).told).toEqual(["80000 buy 0.01@59950 maker", "100000 sell 0.01@60050 maker"]);
    });
    it("of a recording with prints, where they are asked for", async () => {
      const tape = createTape([btc], [...bars.series, trades([[70_000, -1, 599_000, 50]])]);
      expect((await run(tape, [bought])).told).toEqual(["70000 buy 0.01@59950 maker"]);
      expect((await run(tape, [bought], "candles")).told).toEqual(["100000 buy 0.01@59950 maker"]);
    });
  });

  it("is the same again", async () => {
    const [dir, orders] = [stored(prints), [once(1_000, "buy", "60000", "0.03")]];
    const [one, two] = [await run(dir, orders), await run(dir, orders)];
    expect(two.report.resultHash).toBe(one.report.resultHash);
    expect(one.report.perStrategy["buy 1000 limit"]?.pnl).toBe(one.report.pnl);
  });
});
