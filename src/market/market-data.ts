/**
 * Market data for strategies: plain read-only objects with exact decimal text, made lazily.
 *
 * Invariants: objects never change after they were emitted; decimal fields are exact; fields ending in `Float` are
 * rounded copies for indicators and must not be turned back into prices without a tick.
 * Not here: columns (market/tape/tape.ts), delivery (feed.ts).
 */
import type { Observable } from "rxjs";
import type { BarGridOptions, BarLength } from "./calendar/bar-calendar.ts";

/** A public trade. `qty` is in base currency; `side` is the aggressor's. `at` is milliseconds on the engine's clock. */
export interface Trade {
  /** Instrument id, such as `BTC-USDT-SWAP`. */
  readonly instId: string;
  /** Time at which it reached the engine: milliseconds on the engine's clock. */
  readonly at: number;
  /** Side of the taker. */
  readonly side: "buy" | "sell";
  /** Price in quote currency, decimal text. */
  readonly px: string;
  /** Quantity in base currency, decimal text. */
  readonly qty: string;
  /** `px` as a rounded number, for indicators. */
  readonly pxFloat: number;
  /** `qty` as a rounded number, for indicators. */
  readonly qtyFloat: number;
}

/** Best bid and ask. Quantities are in base currency. `mid` is exact and may lie between two ticks. */
export interface Quote {
  /** Instrument id, such as `BTC-USDT-SWAP`. */
  readonly instId: string;
  /** Time at which it reached the engine: milliseconds on the engine's clock. */
  readonly at: number;
  /** Best price that buyers offer, in quote currency. */
  readonly bidPx: string;
  /** Quantity offered there, in base currency. */
  readonly bidQty: string;
  /** Best price that sellers ask, in quote currency. */
  readonly askPx: string;
  /** Quantity asked there, in base currency. */
  readonly askQty: string;
  /** Middle of `bidPx` and `askPx`, exact; it may lie between two ticks. */
  readonly mid: string;
  /** `bidPx` as a rounded number, for indicators. */
  readonly bidFloat: number;
  /** `askPx` as a rounded number, for indicators. */
  readonly askFloat: number;
  /** `mid` as a rounded number, for indicators. */
  readonly midFloat: number;
}

/** A finished bar; `at` is the instant it closed, `openedAt` when it began. `volume` is as recorded. */
export interface Candle {
  /** Instrument id, such as `BTC-USDT-SWAP`. */
  readonly instId: string;
  /** Time at which the bar closed: milliseconds on the engine's clock. */
  readonly at: number;
  /** Time at which the bar began: milliseconds on the engine's clock. */
  readonly openedAt: number;
  /**
   * True where the bar began before its first data: the stream was opened within it. Left out or false otherwise.
   */
  readonly partial?: boolean;
  /** First price of the bar, in quote currency. */
  readonly open: string;
  /** Highest price. */
  readonly high: string;
  /** Lowest price. */
  readonly low: string;
  /** Last price. */
  readonly close: string;
  /** Traded volume in the unit of the recording; base currency where bars are built from trades. */
  readonly volume: string;
  /** `open` as a rounded number, for indicators. */
  readonly openFloat: number;
  /** `high` as a rounded number, for indicators. */
  readonly highFloat: number;
  /** `low` as a rounded number, for indicators. */
  readonly lowFloat: number;
  /** `close` as a rounded number, for indicators. */
  readonly closeFloat: number;
}

/** Spelled when it is read, so that only what is looked at costs anything. */
export interface BookLevel {
  /** Price in quote currency, decimal text. */
  readonly px: string;
  /** Quantity displayed there, in base currency. */
  readonly qty: string;
}

/** The book after a change: best levels first. */
export interface BookView {
  /** Instrument id, such as `BTC-USDT-SWAP`. */
  readonly instId: string;
  /** Time at which it reached the engine: milliseconds on the engine's clock. */
  readonly at: number;
  /** Buyers' levels, the highest price first. */
  readonly bids: readonly BookLevel[];
  /** Sellers' levels, the lowest price first. */
  readonly asks: readonly BookLevel[];
}

/** Asks a stream to begin with what came before it. */
export interface HistoryOptions {
  /**
   * Number of past values to begin with, the newest last; a whole number from 1 to 100000. It counts bars, trades or
   * quotes, not milliseconds.
   */
  readonly history?: number;
}

/** Selects the bars and the history they begin with. */
export interface CandleOptions extends HistoryOptions, BarGridOptions {
  /**
   * False leaves out a first bar that began before the stream was opened, as averages and ranges need it: its open,
   * high, low and volume are those of a part of its time. Otherwise it is emitted, marked as `partial`.
   * @default true
   */
  readonly partial?: boolean;
}

/**
 * Market data as streams, one per instrument, delivered on the engine's clock.
 * - Hot: what happened before subscription is not repeated, except that `quotes` and `books` start with the latest, if
 *   any, and that `{ history: n }` asks for the last `n` trades, quotes or finished bars first, in order of time. There
 *   may be fewer: what a source lacks is emitted as an anomaly (`history.short`, `history.gap`, `history.failed` …)
 *   once, and the stream begins without.
 * - Never errors; completes when the recording ends or the engine stops.
 * - An instrument without recorded data of a kind emits nothing.
 */
export interface Market {
  /** Public trades. */
  trades(instId: string, options?: HistoryOptions): Observable<Trade>;
  /** Best bid and ask. */
  quotes(instId: string, options?: HistoryOptions): Observable<Quote>;
  /** The order book after each change, the latest first. */
  books(instId: string): Observable<BookView>;
  /**
   * Bars of a length in milliseconds, or of a day, week or month: recorded ones where the recording holds that length,
   * otherwise built from shorter bars or trades. They begin at multiples of their length since 1970 in UTC, weeks on
   * Monday; `anchor` and `zone` choose another begin.
   */
  candles(instId: string, length: BarLength, options?: CandleOptions): Observable<Candle>;
  /** Price of the latest trade or bar delivered; undefined before any. */
  lastPx(instId: string): string | undefined;
}
