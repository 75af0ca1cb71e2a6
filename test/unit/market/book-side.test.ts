/** Books from levels: compared with a plain map, and never shown half-applied. */
import { inspect } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compare } from "../../../src/decimal.ts";
import { BookSide } from "../../../src/market/book-side.ts";
import { createFeed, type Feed } from "../../../src/market/feed.ts";
import type { BookView } from "../../../src/market/market-data.ts";
import { seriesBuilder } from "../../../src/market/tape/series-builder.ts";
import { createTape, type Tape, type TapeInstrument } from "../../../src/market/tape/tape.ts";

const instruments: readonly TapeInstrument[] = [{ instId: "BTC-USDT", tickSize: "0.5", lotSize: "0.1" }];

type Row = readonly [at: number, side: 1 | -1, px: number, qty: number, snapshot?: 1];

const tapeOf = (...rows: readonly Row[]): Tape => {
  const builder = seriesBuilder("level", 0);
  for (const [at, side, px, qty, snapshot = 0] of rows) builder.push(at, side, px, qty, snapshot);
  return createTape(instruments, [builder.series()]);
};

const play = (feed: Feed, tape: Tape, from = 0, to = tape.length): void => {
  for (let index = from; index < to; index++) feed.deliver(tape, index, tape.series[0]?.at[index] ?? 0);
};

const spell = ({ at, bids, asks }: BookView): string =>
  `${at}: ${bids.map(({ px, qty }) => `${px}x${qty}`).join(" ")} | ${asks.map(({ px, qty }) => `${px}x${qty}`).join(" ")}`;

const watch = (feed: Feed): BookView[] => {
  const seen: BookView[] = [];
  feed.books("BTC-USDT").subscribe((book) => seen.push(book));
  return seen;
};

const story: readonly Row[] = [
  [1, 1, 100, 5, 1],
  [1, 1, 98, 7],
  [1, -1, 102, 4],
  [2, 1, 99, 1],
  [3, 1, 100, 0],
  [3, -1, 101, 2],
  [4, -1, 103, 9, 1],
];
const told = [
  "1: 50x0.5 49x0.7 | 51x0.4",
  "2: 50x0.5 49.5x0.1 49x0.7 | 51x0.4",
  "3: 49.5x0.1 49x0.7 | 50.5x0.2 51x0.4",
  "4:  | 51.5x0.9",
];

describe("Market books", () => {
  it("show best levels first, after each instant's rows and not between them", () => {
    const feed = createFeed(instruments);
    const seen = watch(feed);
    play(feed, tapeOf(...story));
    expect(seen.map(spell)).toEqual(told);
  });

  it("start a new subscriber with the latest, built only then, and go on from there", () => {
    const feed = createFeed(instruments);
    const tape = tapeOf(...story);
    play(feed, tape, 0, 4);
    const seen = watch(feed);
    play(feed, tape, 4);
    expect(seen.map(spell)).toEqual(told.slice(1));
  });

  it("do not change after they were emitted", () => {
    const feed = createFeed(instruments);
    const seen = watch(feed);
    const tape = tapeOf(...story);
    play(feed, tape, 0, 3);
    const [first] = seen;
    play(feed, tape, 3);
    expect(first && spell(first)).toBe(told[0]);
    expect(Object.isFrozen(first?.bids)).toBe(true);
    expect(first?.bids).toBe(first?.bids);
  });

  it("go on when bars are asked for while the tape runs", () => {
    const feed = createFeed(instruments);
    const seen = watch(feed);
    const tape = tapeOf(...story);
    play(feed, tape, 0, 3);
    feed.candles("BTC-USDT", 1000);
    expect(watch(feed).map(spell)).toEqual(told.slice(0, 1));
    play(feed, tape, 3);
    expect(seen.map(spell)).toEqual(told);
  });

  it("can be limited to the best levels", () => {
    const feed = createFeed(instruments, { bookDepth: 1 });
    const seen = watch(feed);
    play(feed, tapeOf(...story));
    expect(seen[1] && spell(seen[1])).toBe("2: 50x0.5 | 51x0.4");
  });

  it("start over with another tape", () => {
    const feed = createFeed(instruments);
    const seen = watch(feed);
    play(feed, tapeOf(...story));
    play(feed, tapeOf([9, 1, 90, 1]));
    expect(seen.at(-1) && spell(seen.at(-1) as BookView)).toBe("9: 45x0.1 | ");
  });

  it("are shown as text whatever reads them", () => {
    const feed = createFeed(instruments);
    const seen = watch(feed);
    play(feed, tapeOf(...story), 0, 3);
    const bids = [
      { px: "50", qty: "0.5" },
      { px: "49", qty: "0.7" },
    ];
    expect(JSON.parse(JSON.stringify(seen[0]))).toEqual({
      instId: "BTC-USDT",
      at: 1,
      bids,
      asks: [{ px: "51", qty: "0.4" }],
    });
    expect(inspect(seen[0]?.bids)).toBe("[ { px: '50', qty: '0.5' }, { px: '49', qty: '0.7' } ]");
  });

  it.each([1, -1] as const)(
    "keep the same levels as a map would, in every list that was handed out (side %i)",
    (better) => {
      const change = fc.tuple(fc.integer({ min: 1, max: 120 }), fc.integer({ min: 0, max: 3 }), fc.boolean());
      fc.assert(
        fc.property(fc.array(change, { maxLength: 300 }), (list) => {
          const side = new BookSide<readonly [number, number]>(better);
          const levels = new Map<number, number>();
          const handed: (readonly [got: unknown, expected: unknown])[] = [];
          for (const [px, qty, shows] of list) {
            side.set(px, qty === 0 ? undefined : [px, qty]);
            if (qty === 0) levels.delete(px);
            else levels.set(px, qty);
            const sorted = [...levels].sort(([a], [b]) => (a - b) * better);
            expect(side.best).toEqual(sorted.at(-1));
            if (shows) handed.push([side.levels(), sorted]);
            if (shows && qty === 3 && px < 5) {
              side.clear();
              levels.clear();
            }
          }
          for (const [got, expected] of handed) expect(got).toEqual(expected);
        }),
      );
    },
  );

  it("tell prices apart whose numbers are rounded to the same", () => {
    const [low, high] = ["9007199254740992", "9007199254740993"] as const;
    expect(Number(low)).toBe(Number(high));
    for (const better of [1, -1] as const) {
      const side = new BookSide<string>(better, (level, px) => compare(level, px));
      for (const px of [high, low, high]) side.set(Number(px), px, px);
      expect(side.levels()).toEqual(better === 1 ? [low, high] : [high, low]);
      side.set(Number(low), undefined, low);
      expect(side.levels()).toEqual([high]);
      side.set(Number(low), undefined, low);
      expect(side.size).toBe(1);
    }
  });
});
