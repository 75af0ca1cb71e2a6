/**
 * Feed of a served market: passes rows of a tape to the venue, which matches, and to the board, which is displayed.
 *
 * Invariants: counts become exact decimal text here and nowhere else; both sides get the same rows in the same order,
 * dated with the venue's own time; an instrument that is not listed has no market. Every public channel has data
 * for every kind of recording: without levels the book is the best level of each side, without quotes the ticker is the
 * top of the book.
 * Not here: when rows are due (market-replay.ts).
 */
import type { Clock } from "../../clock/clock.ts";
import type { Side } from "../../contract/profile.ts";
import { BookSide } from "../../market/book-side.ts";
import type { Series, Tape, TapeInstrument } from "../../market/tape/tape.ts";
import { type Scale, scaleOf } from "../../market/views.ts";
import type { Venue } from "../../venue/venue.ts";
import type { MarketBoard } from "./market-board.ts";
import type { ReplayBars } from "./replay-bars.ts";

export interface ReplayFeed {
  /** Takes rows as the venue does; the instants given are not read, the venue's time is. */
  readonly venue: Venue;
  /** Called when all rows of an instant have been passed. */
  flush(): void;
  /** Removes the levels that the first rows of the tape do not show, for another round. */
  rewind(): void;
}

type Level = readonly [px: number, qty: number];

interface Shown {
  readonly scale: Scale;
  readonly bars: ReplayBars;
  readonly kinds: ReadonlySet<Series["kind"]>;
  readonly book: { readonly buy: BookSide<Level>; readonly sell: BookSide<Level> };
  /** Levels at the start of the recording; another round begins with no others. */
  readonly opening: { readonly buy: ReadonlySet<number>; readonly sell: ReadonlySet<number> };
  last: string;
  /** The latest ticker, to detect whether the top of the book has changed. */
  top: string;
}

const sideOf = (sign: number | undefined): Side => ((sign ?? 0) > 0 ? "buy" : "sell");

const openingOf = (series: readonly Series[]): Shown["opening"] => {
  const opening = { buy: new Set<number>(), sell: new Set<number>() };
  for (const one of series) {
    if (one.kind !== "level" || one.snapshot[0] !== 1) continue;
    for (let row = 0; row < one.at.length && one.at[row] === one.at[0]; row++)
      opening[sideOf(one.side[row])].add(one.px[row] as number);
  }
  return opening;
};

/** Shows a level on its channel, and keeps it in the book from which later levels are taken away. */
const showLevel = (
  board: MarketBoard,
  { scale, book }: Shown,
  side: Side,
  px: number,
  qty: number,
  at: number,
): void => {
  book[side].set(px, qty === 0 ? undefined : [px, qty]);
  board.level({ instId: scale.instId, side, px: scale.tick.format(px), sz: scale.lot.format(qty), at });
};

/** The one level of a side that a quote shows. */
const showBest = (board: MarketBoard, one: Shown, side: Side, px: number, qty: number, at: number): void => {
  const { best } = one.book[side];
  if (best !== undefined && (best[0] !== px || qty === 0)) showLevel(board, one, side, best[0], 0, at);
  if (qty > 0 && (best?.[0] !== px || best[1] !== qty)) showLevel(board, one, side, px, qty, at);
};

const tell = (
  board: MarketBoard,
  { scale, last }: Shown,
  [bidPx, bidQty]: Level,
  [askPx, askQty]: Level,
  at: number,
): void => {
  const { instId, tick, lot } = scale;
  const [bid, bidSz] = bidQty > 0 ? [tick.format(bidPx), lot.format(bidQty)] : ["", ""];
  const [ask, askSz] = askQty > 0 ? [tick.format(askPx), lot.format(askQty)] : ["", ""];
  board.ticker({ instId, last, bidPx: bid, bidSz, askPx: ask, askSz, at });
};

const noLevel: Level = [0, 0];

/** Publishes the top of a book without quotes, when it has moved. */
const tellTop = (board: MarketBoard, one: Shown, at: number): void => {
  const { buy, sell } = one.book;
  const [bid, ask] = [buy.best ?? noLevel, sell.best ?? noLevel];
  const top = [...bid, ...ask].join(" ");
  if (top === one.top) return;
  one.top = top;
  tell(board, one, bid, ask, at);
};

export const createReplayFeed = (
  tape: Tape,
  venue: Venue,
  board: MarketBoard,
  clock: Clock,
  barsOf: (scale: Scale, instrument: number) => ReplayBars,
): ReplayFeed => {
  const shown = new Map(tape.instruments.map((one, index) => [one.instId, shownOf(tape, index, barsOf)]));
  /** Books of this instant without quotes. */
  const moved = new Set<Shown>();
  const listed = (instId: string): Shown | undefined => (venue.lists(instId) ? shown.get(instId) : undefined);
  const level: Venue["level"] = (instId, side, px, qty) => {
    const one = listed(instId);
    if (one === undefined) return;
    const at = clock.now();
    venue.level(instId, side, px, qty, at);
    showLevel(board, one, side, px, qty, at);
    if (!one.kinds.has("quote")) moved.add(one);
  };
  const trade: Venue["trade"] = (instId, side, px, qty) => {
    const one = listed(instId);
    if (one === undefined) return;
    const at = clock.now();
    venue.trade(instId, side, px, qty, at);
    one.bars.trade(px, qty, at);
    one.last = one.scale.tick.format(px);
    board.trade({ instId, side, px: one.last, sz: one.scale.lot.format(qty), at });
  };
  const quote: Venue["quote"] = (instId, bidPx, bidQty, askPx, askQty) => {
    const one = listed(instId);
    if (one === undefined) return;
    const at = clock.now();
    venue.quote(instId, bidPx, bidQty, askPx, askQty, at);
    tell(board, one, [bidPx, bidQty], [askPx, askQty], at);
    if (one.kinds.has("level")) return;
    showBest(board, one, "buy", bidPx, bidQty, at);
    showBest(board, one, "sell", askPx, askQty, at);
  };
  return {
    venue: { ...venue, trade, quote, level, ...termsOf(venue, clock) },
    flush: () => {
      const at = clock.now();
      for (const one of moved) tellTop(board, one, at);
      moved.clear();
      board.flush(at);
    },
    rewind: () => {
      for (const [instId, { kinds, book, opening }] of shown) {
        if (!kinds.has("level")) continue;
        for (const side of ["buy", "sell"] as const) {
          for (const [px] of book[side].levels()) if (!opening[side].has(px)) level(instId, side, px, 0, 0);
        }
      }
    },
  };
};

/** Terms are not shown. They take effect at the venue's own time. */
const termsOf = (venue: Venue, clock: Clock): Pick<Venue, "mark" | "funding" | "list" | "delist" | "change"> => ({
  mark: (instId, px, billionths) => {
    venue.mark(instId, px, billionths, clock.now());
  },
  funding: (instId, rate) => {
    venue.funding(instId, rate, clock.now());
  },
  list: (instrument) => {
    venue.list(instrument, clock.now());
  },
  delist: (instId) => {
    venue.delist(instId, clock.now());
  },
  change: (instId, change) => {
    venue.change(instId, change, clock.now());
  },
});

const shownOf = (tape: Tape, index: number, barsOf: (scale: Scale, instrument: number) => ReplayBars): Shown => {
  const scale = scaleOf(tape.instruments[index] as TapeInstrument);
  const series = tape.series.filter((one) => one.instrument === index && one.at.length > 0);
  return {
    scale,
    bars: barsOf(scale, index),
    kinds: new Set(series.map(({ kind }) => kind)),
    book: { buy: new BookSide(1), sell: new BookSide(-1) },
    opening: openingOf(series),
    last: "",
    top: "",
  };
};
