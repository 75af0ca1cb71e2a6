/**
 * Market data as it is written in a session, and as an engine gets it back.
 *
 * Invariants: what a recorded engine sees is read back from what was written, so that a replay sees the same; text
 * stays exact; a book is written whole once and then as the levels that changed (a quantity of "0" removes a level).
 * Not here: fixtures (market-fixture.ts).
 */
import type { Observable } from "rxjs";
import {
  approximate,
  type BookLevel,
  type BookView,
  type Candle,
  compare,
  type Market,
  type Quote,
  SluiceError,
  type Trade,
} from "sluice";
import { askedBars, type BarGrid, gridName, gridOf } from "sluice/extension";

type StreamKind = "trades" | "quotes" | "books" | "candles";

/** Name of a stream in a session: its kind, its instrument and, for candles, the length of its bars. */
export interface StreamName {
  readonly kind: StreamKind;
  readonly instId: string;
  readonly barMs?: number;
  /** Set for bars with an anchor or a zone, and for months. */
  readonly grid?: BarGrid;
}

export type MarketValue = Trade | Quote | BookView | Candle;

export type TradeRow = readonly [at: number, side: "buy" | "sell", px: string, qty: string];
export type QuoteRow = readonly [at: number, bidPx: string, bidQty: string, askPx: string, askQty: string, mid: string];
export type CandleRow = readonly [
  at: number,
  openedAt: number,
  open: string,
  high: string,
  low: string,
  close: string,
  volume: string,
  /** 1 where the bar is partial. */
  partial?: 1,
];
type LevelPair = readonly [px: string, qty: string];
/** `whole` is 1 where the levels are all there are. */
export type BookRow = readonly [at: number, whole: 0 | 1, bids: readonly LevelPair[], asks: readonly LevelPair[]];

interface RowCodec {
  readonly encode: (value: MarketValue) => unknown;
  readonly decode: (row: unknown) => MarketValue;
}

export const spellName = ({ kind, instId, barMs, grid }: StreamName): string => {
  const bars = grid === undefined ? barMs : gridName(grid);
  return bars === undefined ? `${kind} ${instId}` : `${kind} ${instId} ${bars}`;
};

const kinds: readonly string[] = ["trades", "quotes", "books", "candles"] satisfies readonly StreamKind[];

/** Undefined for names of other streams, such as those of pushes. */
export const readName = (text: string): StreamName | undefined => {
  const [kind = "", instId = "", bars = ""] = text.split(" ");
  if (!kinds.includes(kind)) return undefined;
  return { kind: kind as StreamKind, instId, ...(bars === "" ? {} : barsOf(gridOf(bars))) };
};

/** Plain bars go by their length alone. */
const barsOf = (grid: BarGrid): Pick<StreamName, "barMs" | "grid"> =>
  grid.length !== "month" && grid.anchorMs === 0 && grid.zone === "UTC" ? { barMs: grid.length } : { grid };

/** Quotes and books begin with the latest one. */
export const keepsLatest = (kind: StreamKind): boolean => kind === "quotes" || kind === "books";

/** A market that opens each stream once; one that `open` refuses is asked for again each time. */
export const marketOver = (
  open: (name: StreamName, stream: string) => Observable<MarketValue>,
  lastPx: Market["lastPx"],
): Market => {
  const streams = new Map<string, Observable<MarketValue>>();
  const once = (name: StreamName): Observable<MarketValue> => {
    const stream = spellName(name);
    const made = streams.get(stream) ?? open(name, stream);
    streams.set(stream, made);
    return made;
  };
  return {
    trades: (instId) => once({ kind: "trades", instId }) as Observable<Trade>,
    quotes: (instId) => once({ kind: "quotes", instId }) as Observable<Quote>,
    books: (instId) => once({ kind: "books", instId }) as Observable<BookView>,
    candles: (instId, length, options) =>
      once({ kind: "candles", instId, ...barsOf(askedBars(length, options).grid) }) as Observable<Candle>,
    lastPx,
  };
};

export const streamOf = (market: Market, { kind, instId, barMs = 0, grid }: StreamName) => {
  if (kind !== "candles") return market[kind](instId);
  if (grid === undefined) return market.candles(instId, barMs);
  return market.candles(instId, grid.length, { anchor: grid.anchorMs, zone: grid.zone });
};

export const codecOf = ({ kind, instId }: StreamName): RowCodec => {
  switch (kind) {
    case "trades":
      return simple(
        ({ at, side, px, qty }: Trade): TradeRow => [at, side, px, qty],
        (row: TradeRow) => tradeOf(instId, row),
      );
    case "quotes":
      return simple(
        ({ at, bidPx, bidQty, askPx, askQty, mid }: Quote): QuoteRow => [at, bidPx, bidQty, askPx, askQty, mid],
        (row: QuoteRow) => quoteOf(instId, row),
      );
    case "candles":
      return simple(
        ({ at, openedAt, open, high, low, close, volume, partial }: Candle): CandleRow => {
          const row = [at, openedAt, open, high, low, close, volume] as const;
          return partial === true ? [...row, 1] : row;
        },
        (row: CandleRow) => candleOf(instId, row),
      );
    case "books":
      return bookCodec(instId);
  }
};

const simple = <V extends MarketValue, R>(encode: (value: V) => R, decode: (row: R) => V): RowCodec => ({
  encode: encode as (value: MarketValue) => unknown,
  decode: decode as (row: unknown) => MarketValue,
});

const tradeOf = (instId: string, [at, side, px, qty]: TradeRow): Trade =>
  Object.freeze({ instId, at, side, px, qty, pxFloat: approximate(px), qtyFloat: approximate(qty) });

const quoteOf = (instId: string, [at, bidPx, bidQty, askPx, askQty, mid]: QuoteRow): Quote =>
  Object.freeze({
    ...{ instId, at, bidPx, bidQty, askPx, askQty, mid },
    ...{ bidFloat: approximate(bidPx), askFloat: approximate(askPx), midFloat: approximate(mid) },
  });

const candleOf = (instId: string, [at, openedAt, open, high, low, close, volume, partial]: CandleRow): Candle =>
  Object.freeze({
    ...{ instId, at, openedAt, open, high, low, close, volume },
    ...{
      openFloat: approximate(open),
      highFloat: approximate(high),
      lowFloat: approximate(low),
      closeFloat: approximate(close),
    },
    ...(partial === 1 && { partial: true }),
  });

type Levels = Map<string, string>;

const changes = (before: Levels, levels: readonly BookLevel[]): readonly LevelPair[] => {
  const after = new Set(levels.map(({ px }) => px));
  const gone = [...before.keys()].filter((px) => !after.has(px)).map((px): LevelPair => [px, "0"]);
  const moved = levels.filter(({ px, qty }) => before.get(px) !== qty).map(({ px, qty }): LevelPair => [px, qty]);
  return [...gone, ...moved];
};

const apply = (side: Levels, pairs: readonly LevelPair[]): void => {
  for (const [px, qty] of pairs) {
    if (compare(qty, "0") === 0) side.delete(px);
    else side.set(px, qty);
  }
};

const best = (side: Levels, sign: 1 | -1): readonly BookLevel[] =>
  Object.freeze([...side].sort(([a], [b]) => sign * compare(b, a)).map(([px, qty]) => Object.freeze({ px, qty })));

/**
 * Encodes against the last book written and decodes against the last one read: one codec goes one way through one
 * session.
 */
const bookCodec = (instId: string): RowCodec => {
  let begun = false;
  const written = { bids: new Map<string, string>(), asks: new Map<string, string>() };
  const read = { bids: new Map<string, string>(), asks: new Map<string, string>() };
  const encode = ({ at, bids, asks }: BookView): BookRow => {
    const row: BookRow = [at, begun ? 0 : 1, changes(written.bids, bids), changes(written.asks, asks)];
    begun = true;
    apply(written.bids, row[2]);
    apply(written.asks, row[3]);
    return row;
  };
  const decode = ([at, whole, bids, asks]: BookRow): BookView => {
    if (whole === 1) for (const side of [read.bids, read.asks]) side.clear();
    apply(read.bids, bids);
    apply(read.asks, asks);
    return Object.freeze({ instId, at, bids: best(read.bids, 1), asks: best(read.asks, -1) });
  };
  return simple(encode, decode);
};

/** Checks a row of a session before it is used. */
export const checkRow = (name: StreamName, row: unknown, place: string): void => {
  const wide = { trades: 4, quotes: 6, candles: 7, books: 4 }[name.kind];
  if (Array.isArray(row) && row.length === wide && typeof row[0] === "number") return;
  throw new SluiceError(
    "FIXTURE_INVALID",
    `${place}: expected a row of ${spellName(name)} with ${wide} values, found ${JSON.stringify(row)}. The session is damaged; record it again.`,
  );
};
