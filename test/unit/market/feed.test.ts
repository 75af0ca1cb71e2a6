/** A feed turns tape rows into the objects strategies see, one stream per instrument and kind. */
import { map, take } from "rxjs";
import { describe, expect, it } from "vitest";
import { createFeed, type Feed } from "../../../src/market/feed.ts";
import type { Candle } from "../../../src/market/market-data.ts";
import { seriesBuilder } from "../../../src/market/tape/series-builder.ts";
import { createTape, type Series, type Tape, type TapeInstrument } from "../../../src/market/tape/tape.ts";

const btc = "BTC-USDT-SWAP";
const eth = "ETH-USDT";
const instruments: readonly TapeInstrument[] = [
  { instId: btc, tickSize: "0.5", lotSize: "0.001" },
  { instId: eth, tickSize: "0.01", lotSize: "0.01" },
];

type TradeRow = readonly [at: number, px: number, qty: number];

const trades = (instrument: number, ...rows: readonly TradeRow[]): Series => {
  const builder = seriesBuilder("trade", instrument);
  for (const [at, px, qty] of rows) builder.push(at, -1, px, qty);
  return builder.series();
};

const quotes = (
  instrument: number,
  ...rows: readonly (readonly [number, number, number, number, number])[]
): Series => {
  const builder = seriesBuilder("quote", instrument);
  for (const row of rows) builder.push(...row);
  return builder.series();
};

type BarRow = readonly [at: number, open: number, high: number, low: number, close: number, volume: number];

const candles = (barMs: number, ...rows: readonly BarRow[]): Series => {
  const builder = seriesBuilder("candle", 0, barMs);
  for (const row of rows) builder.push(...row);
  return builder.series();
};

const play = (feed: Feed, tape: Tape, latencyMs = 0): void => {
  for (let index = 0; index < tape.length; index++) {
    const at = tape.series[tape.order.series[index] ?? 0]?.at[tape.order.row[index] ?? 0] ?? 0;
    feed.deliver(tape, index, at + latencyMs);
  }
};

const feedOf = (options?: Parameters<typeof createFeed>[1]): Feed => createFeed(instruments, options);

describe("Streams of trades and quotes", () => {
  it("carry exact text, rounded floats and the instant of delivery", () => {
    const feed = feedOf();
    const seen: unknown[] = [];
    feed.trades(btc).subscribe((trade) => seen.push({ ...trade, ...JSON.parse(JSON.stringify(trade)) }));
    feed.quotes(btc).subscribe((quote) => seen.push(JSON.parse(JSON.stringify(quote))));
    play(feed, createTape(instruments, [quotes(0, [1, 120_001, 5, 120_002, 70]), trades(0, [2, 120_001, 1500])]), 25);
    expect(seen).toEqual([
      {
        instId: btc,
        at: 26,
        bidPx: "60000.5",
        bidQty: "0.005",
        askPx: "60001",
        askQty: "0.07",
        mid: "60000.75",
        bidFloat: 60000.5,
        askFloat: 60001,
        midFloat: 60000.75,
      },
      { instId: btc, at: 27, side: "sell", px: "60000.5", qty: "1.5", pxFloat: 60000.5, qtyFloat: 1.5 },
    ]);
  });

  it("cannot be changed by who receives them", () => {
    const feed = feedOf();
    let refusal: unknown;
    feed.trades(btc).subscribe((trade) => {
      try {
        (trade as { px: string }).px = "1";
      } catch (error) {
        refusal = error;
      }
      expect(trade.px).toBe("5");
    });
    play(feed, createTape(instruments, [trades(0, [1, 10, 1])]));
    expect(refusal).toBeInstanceOf(TypeError);
  });

  it("reach only the streams of their instrument", () => {
    const feed = feedOf();
    const seen: string[] = [];
    for (const instId of [btc, eth])
      feed.trades(instId).subscribe((trade) => seen.push(`${instId} ${trade.instId} ${trade.px}`));
    play(feed, createTape(instruments, [trades(1, [1, 300, 1]), trades(0, [2, 10, 1])]));
    expect(seen).toEqual([`${eth} ${eth} 3`, `${btc} ${btc} 5`]);
  });

  it("find their instrument by id, whatever its place on the tape", () => {
    const feed = feedOf();
    const seen: string[] = [];
    feed.trades(eth).subscribe((trade) => seen.push(trade.px));
    play(feed, createTape([...instruments].reverse(), [trades(0, [1, 300, 1])]));
    expect(seen).toEqual(["3"]);
  });

  it("begin with the latest quote, but never repeat trades", () => {
    const feed = feedOf();
    play(feed, createTape(instruments, [quotes(0, [1, 10, 1, 11, 1], [2, 12, 1, 13, 1]), trades(0, [1, 10, 1])]));
    const seen: string[] = [];
    feed
      .quotes(btc)
      .pipe(map(({ at, bidPx }) => `${at} ${bidPx}`))
      .subscribe((quote) => seen.push(quote));
    feed.trades(btc).subscribe(() => seen.push("trade"));
    feed.quotes(eth).subscribe(() => seen.push("other"));
    expect(seen).toEqual(["2 6"]);
  });
});

describe("The market feed", () => {
  it("refuses an instrument nobody listed, with the nearest name", () => {
    expect(() => feedOf().trades("BTC-USDT-SWAB")).toThrow(expect.objectContaining({ code: "INST_ID_INVALID" }));
    expect(() => feedOf().quotes("ETH-USDC")).toThrow(/there is none for "ETH-USDC".*Did you mean "ETH-USDT"/);
  });

  it("refuses a tape whose steps are not its own", () => {
    const other = instruments.map((instrument) => ({ ...instrument, tickSize: "0.1" }));
    expect(() => {
      play(feedOf(), createTape(other, [trades(0, [1, 10, 1])]));
    }).toThrow(/0.1/);
  });

  it("completes all streams, and those asked for later at once", () => {
    const feed = feedOf();
    const ended: string[] = [];
    const watch = (name: string, stream: { subscribe(observer: { complete(): void }): unknown }): void => {
      stream.subscribe({ complete: () => ended.push(name) });
    };
    watch("trades", feed.trades(btc));
    watch("candles", feed.candles(eth, 1000));
    feed.complete();
    watch("quotes", feed.quotes(eth));
    watch("books", feed.books(eth));
    watch("late candles", feed.candles(eth, 2000));
    expect(ended).toEqual(["trades", "candles", "quotes", "books", "late candles"]);
  });

  it("goes on when a subscriber throws, and reports it", () => {
    const errors: unknown[] = [];
    const feed = feedOf({ onError: (error) => errors.push(error) });
    let seen = 0;
    feed.trades(btc).subscribe(() => {
      throw new Error("strategy");
    });
    feed.trades(btc).subscribe(() => seen++);
    play(feed, createTape(instruments, [trades(0, [1, 10, 1], [2, 10, 1])]));
    expect([seen, errors.length]).toEqual([2, 2]);
  });

  it("may be fed from another tape later", () => {
    const feed = feedOf();
    const seen: string[] = [];
    feed.trades(btc).subscribe(({ px }) => seen.push(px));
    play(feed, createTape(instruments, [trades(0, [1, 10, 1])]));
    play(feed, createTape(instruments, [quotes(0, [5, 10, 1, 11, 1]), trades(0, [6, 12, 1])]));
    expect(seen).toEqual(["5", "6"]);
  });
});

describe("Candle streams", () => {
  const spell = ({ openedAt, at, open, high, low, close, volume }: Candle): string =>
    `${openedAt}-${at} ${open} ${high} ${low} ${close} ${volume}`;
  const barsOf = (feed: Feed, barMs: number): string[] => {
    const seen: string[] = [];
    feed
      .candles(btc, barMs)
      .pipe(map(spell))
      .subscribe((bar) => seen.push(bar));
    return seen;
  };

  it("are built from trades, aligned to the epoch, when the next event comes; empty ones are skipped", () => {
    const feed = feedOf();
    const seen = barsOf(feed, 1000);
    const rows: TradeRow[] = [
      [1500, 10, 1],
      [1600, 14, 2],
      [1700, 8, 3],
      [1999, 12, 4],
      [4000, 20, 5],
    ];
    play(feed, createTape(instruments, [trades(0, ...rows), quotes(1, [3500, 1, 1, 2, 1])]));
    expect(seen).toEqual(["1000-2000 5 7 4 6 0.01"]);
    expect(feed.nextBarAt).toBe(5000);
    feed.tick(4999);
    expect(seen.length).toBe(1);
    feed.tick(5000);
    expect(seen.at(-1)).toBe("4000-5000 10 10 10 10 0.005");
    expect(feed.nextBarAt).toBe(Number.POSITIVE_INFINITY);
  });

  it("are emitted before the event that ends them, whatever its instrument", () => {
    const feed = feedOf();
    const order: string[] = [];
    feed.candles(btc, 1000).subscribe(() => order.push("bar"));
    feed.quotes(eth).subscribe(() => order.push("quote"));
    play(feed, createTape(instruments, [trades(0, [500, 10, 1]), quotes(1, [999, 1, 1, 2, 1], [1000, 1, 1, 2, 1])]));
    expect(order).toEqual(["quote", "bar", "quote"]);
  });

  it("of several lengths end in order of time, then in the order they were asked for", () => {
    const feed = feedOf();
    const order: number[] = [];
    for (const barMs of [2000, 1000, 500]) feed.candles(btc, barMs).subscribe(() => order.push(barMs));
    play(feed, createTape(instruments, [trades(0, [100, 10, 1], [1100, 10, 1], [2000, 10, 1])]));
    expect(order).toEqual([500, 1000, 500, 2000, 1000]);
  });

  it("come as recorded where the recording holds their length", () => {
    const feed = feedOf();
    const seen = barsOf(feed, 60_000);
    play(
      feed,
      createTape(instruments, [
        candles(60_000, [60_000, 1, 9, 1, 5, 7]),
        trades(0, [10, 99, 1], [70_000, 99, 1], [200_000, 99, 1]),
      ]),
      3,
    );
    expect(seen).toEqual(["0-60000 0.5 4.5 0.5 2.5 0.007"]);
  });

  it("of a longer length are built from the longest recorded one that divides it", () => {
    const feed = feedOf();
    const seen = barsOf(feed, 4000);
    const short = candles(1000, ...[1, 2, 3, 4].map((bar): BarRow => [bar * 1000, 90, 99, 1, 90, 1]));
    const long = candles(
      2000,
      [2000, 10, 20, 8, 12, 3],
      [4000, 12, 14, 6, 10, 4],
      [6000, 11, 12, 11, 12, 1],
      [10_000, 1, 2, 1, 2, 5],
    );
    play(feed, createTape(instruments, [short, long, candles(3000, [3000, 70, 70, 70, 70, 1])]));
    // The second bar lacks its last part, so it ends when the first part of a later bar comes.
    expect(seen).toEqual(["0-4000 5 10 3 5 0.007", "4000-8000 5.5 6 5.5 6 0.001"]);
  });

  it("built from recorded ones are not cut short by other events", () => {
    const feed = feedOf();
    const seen = barsOf(feed, 2000);
    const tape = createTape(instruments, [
      quotes(0, [2000, 1, 1, 2, 1]),
      candles(1000, [1000, 2, 4, 2, 2, 1], [2000, 2, 6, 2, 2, 1]),
    ]);
    play(feed, tape);
    feed.tick(9000);
    expect(seen).toEqual(["0-2000 1 3 1 1 0.002"]);
  });

  it("move with the recording when it is replayed on another scale of time", () => {
    const feed = feedOf({ shiftMs: 100_000 });
    const seen = barsOf(feed, 1000);
    play(feed, createTape(instruments, [candles(1000, [1000, 2, 4, 2, 2, 1])]), 100_000);
    expect(seen).toEqual(["100000-101000 1 2 1 1 0.001"]);
  });

  it("stay as they were when they are kept, however many come after", () => {
    const feed = createFeed(instruments);
    const kept: Candle[] = [];
    const told: Candle[] = [];
    for (const bars$ of [feed.candles(btc, 1000), feed.candles(btc, 120_000)]) {
      bars$.subscribe((bar) => {
        kept.push(bar);
        told.push({ ...(bar as Candle & { toJSON(): Candle }).toJSON() });
      });
    }
    const rows = Array.from({ length: 300 }, (_, bar): TradeRow => [bar * 1000, 10 + ((bar * 7) % 90), 1 + (bar % 9)]);
    const minutes = Array.from(
      { length: 200 },
      (_, bar): BarRow => [(bar + 1) * 60_000, 5 + (bar % 3), 99, 1 + (bar % 5), 9, bar],
    );
    play(feed, createTape(instruments, [trades(0, ...rows), candles(60_000, ...minutes)]));
    feed.tick(1_000_000);
    expect(told.filter((bar) => bar.at - bar.openedAt === 1000)).toHaveLength(300);
    expect(told.filter((bar) => bar.at - bar.openedAt === 120_000)).toHaveLength(100);
    expect(kept.map((bar) => (bar as Candle & { toJSON(): Candle }).toJSON())).toEqual(told);
    expect(told[200]).not.toEqual(told[201]);
  });

  it("may be asked for while the tape runs", () => {
    const feed = feedOf();
    let seen: string[] = [];
    feed
      .trades(btc)
      .pipe(take(1))
      .subscribe(() => {
        seen = barsOf(feed, 1000);
      });
    play(feed, createTape(instruments, [trades(0, [100, 10, 1], [200, 12, 1], [1300, 10, 1])]));
    expect(seen).toEqual(["0-1000 6 6 6 6 0.001"]);
  });

  it.each([0, -1, 1.5, Number.NaN])("refuse a length of %s", (barMs) => {
    expect(() => feedOf().candles(btc, barMs)).toThrow(/not a bar length/);
  });

  it.each([
    [60, "60 would be 60 ms; for bars of 60 seconds write 60000."],
    [5, "for bars of 5 seconds write 5000."],
    [300, "write 300000."],
    [86_400, "write 86400000."],
  ])("refuses a length of %i, which counts seconds, with what to write", (barMs, words) => {
    expect(() => feedOf().candles(btc, barMs)).toThrow(words);
  });

  it.each([100, 250, 500, 1_000, 60_000, 90_000])("takes a length of %i milliseconds", (barMs) => {
    expect(() => feedOf().candles(btc, barMs)).not.toThrow();
  });
});
