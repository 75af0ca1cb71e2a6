/**
 * What a strategy sees of the market: plain read-only objects with exact decimal text, made lazily.
 *
 * Invariants: objects never change after they were emitted; decimal fields are exact; fields ending in `Float` are rounded
 * copies for indicators and must not be turned back into prices without a tick.
 * Not here: columns (market/tape/tape.ts), delivery (feed.ts).
 */
import type { Observable } from "rxjs";

/** A public trade. `qty` is in base currency; `side` is the aggressor's. `at` is milliseconds on the engine's clock. */
export interface Trade {
  readonly instId: string;
  readonly at: number;
  readonly side: "buy" | "sell";
  readonly px: string;
  readonly qty: string;
  readonly pxFloat: number;
  readonly qtyFloat: number;
}

/** Best bid and ask. Quantities are in base currency. `mid` is exact and may lie between two ticks. */
export interface Quote {
  readonly instId: string;
  readonly at: number;
  readonly bidPx: string;
  readonly bidQty: string;
  readonly askPx: string;
  readonly askQty: string;
  readonly mid: string;
  readonly bidFloat: number;
  readonly askFloat: number;
  readonly midFloat: number;
}

/** A finished bar; `at` is the instant it closed, `openedAt` when it began. `volume` is as recorded. */
export interface Candle {
  readonly instId: string;
  readonly at: number;
  readonly openedAt: number;
  readonly open: string;
  readonly high: string;
  readonly low: string;
  readonly close: string;
  readonly volume: string;
  readonly openFloat: number;
  readonly highFloat: number;
  readonly lowFloat: number;
  readonly closeFloat: number;
}

/** Spelled when it is read, so that only what is looked at costs anything. */
export interface BookLevel {
  readonly px: string;
  readonly qty: string;
}

/** The book after a change: best levels first. */
export interface BookView {
  readonly instId: string;
  readonly at: number;
  readonly bids: readonly BookLevel[];
  readonly asks: readonly BookLevel[];
}

/** Asks a stream to begin with what came before it. */
export interface HistoryOptions {
  /** How many to begin with, the newest last; a whole number from 1 to 100000. It counts bars, trades or quotes, not milliseconds. */
  readonly history?: number;
}

/**
 * Market data as streams, one per instrument, delivered on the engine's clock.
 * - Hot: what happened before subscription is not repeated, except that `quotes` and `books` start with the latest, if any, and
 *   that `{ history: n }` asks for the last `n` trades, quotes or finished bars first, in order of time. There may be fewer: what a
 *   source lacks is told as an anomaly (`history.short`, `history.gap`, `history.failed` …) once, and the stream begins without.
 * - Never errors; completes when the recording ends or the engine stops.
 * - An instrument without recorded data of a kind emits nothing.
 */
export interface Market {
  trades(instId: string, options?: HistoryOptions): Observable<Trade>;
  quotes(instId: string, options?: HistoryOptions): Observable<Quote>;
  books(instId: string): Observable<BookView>;
  /** Bars of `barMs` milliseconds, recorded ones where the recording holds that length, otherwise built from trades. */
  candles(instId: string, barMs: number, options?: HistoryOptions): Observable<Candle>;
  /** Price of the latest trade or bar delivered; undefined before any. */
  lastPx(instId: string): string | undefined;
}
