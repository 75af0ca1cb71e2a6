/**
 * History before a stream: the request for it, and its source.
 *
 * Invariants: a source answers with what was finished before the instant it is asked for; what it shows beyond is
 * dropped where it is read (host/market-history.ts).
 * Not here: recordings as a source (recorded-history.ts), the seam between history and live.
 */

import { approximate, plain } from "../decimal.ts";
import { SluiceError } from "../errors.ts";
import type { AskedBars } from "./calendar/bar-calendar.ts";
import type { Candle, HistoryOptions, Quote, Trade } from "./market-data.ts";

/**
 * A finished bar as a source gives it. Instants are whole milliseconds since the epoch; prices and volume are decimal
 * text. A bar may be shorter than was asked for: shorter ones are joined.
 */
export interface HistoryCandle {
  readonly openedAt: number;
  /** Time at which it closed; `openedAt` and the length asked for when left out. */
  readonly at?: number;
  readonly open: string;
  readonly high: string;
  readonly low: string;
  readonly close: string;
  readonly volume: string;
}

type Answer<T> = readonly T[] | PromiseLike<readonly T[]>;

/**
 * Reads bars for history. An error is emitted as an anomaly, and the stream begins without history.
 *
 * @param instId - the instrument
 * @param barMs - length of a bar in milliseconds; bars of a length that divides it will do
 * @param from - earliest opening of a bar, milliseconds since the epoch
 * @param to - latest close of a bar, milliseconds since the epoch
 * @param count - bars that are wanted, for a source that can reach behind `from` where quiet times have no bars
 * @returns the bars, in any order
 */
export type CandleHistory = (
  instId: string,
  barMs: number,
  from: number,
  to: number,
  count: number,
) => Answer<HistoryCandle>;

/** Source of history. Its requests are its own: they are not counted against the exchange's limits. */
export interface HistorySource {
  /** Its name in messages. */
  readonly name: string;
  readonly candles: CandleHistory;
  /**
   * The last `count` bars of any grid that were finished by `to`, in order of time, from a source that builds them of
   * rows. Left out: bars of a calendar are joined from those that `candles` gives.
   */
  readonly bars?: (instId: string, asked: AskedBars, to: number, count: number) => Answer<Candle>;
  /** The last `count` trades before the instant `to`, in order of time. */
  readonly trades?: (instId: string, count: number, to: number) => Answer<Trade>;
  /** The last `count` quotes before the instant `to`, in order of time. */
  readonly quotes?: (instId: string, count: number, to: number) => Answer<Quote>;
  /** True where a bar that is not there was a quiet time and nothing else, as in the recording of a backtest. */
  readonly isComplete?: boolean;
  /** Loads code that answers need. Awaited before a run begins, also in virtual time. */
  readonly load?: () => Promise<void>;
}

const countMax = 100_000;

/** Number that is requested, 0 for none. Throws CONFIG_INVALID for anything but such options. */
export const historyCount = (
  what: string,
  options: HistoryOptions | undefined,
  barMs = 0,
  others: readonly string[] = [],
): number => {
  if (options === undefined) return 0;
  if (typeof options !== "object" || options === null) {
    throw invalid(what, `${String(options)} is not an options object; write { history: ${String(options)} }.`);
  }
  const known = ["history", ...others];
  const other = Object.keys(options).find((key) => !known.includes(key));
  if (other !== undefined) throw invalid(what, `there is no option "${other}"; there is ${known.join(", ")}.`);
  const { history = 0 } = options;
  if (history === 0 && options.history === undefined) return 0;
  if (Number.isSafeInteger(history) && history >= 1 && history <= countMax) return history;
  const meant =
    barMs > 0 && history > countMax
      ? ` It counts bars: for ${history} ms of ${barMs} ms bars write ${Math.ceil(history / barMs)}.`
      : "";
  throw invalid(what, `history is ${String(history)}; give a whole number from 1 to ${countMax}.${meant}`);
};

const invalid = (what: string, problem: string): SluiceError =>
  new SluiceError("CONFIG_INVALID", `${what}: ${problem}`);

/** A bar in decimal text, as bars are built and emitted. */
export interface TextBar {
  readonly open: string;
  readonly high: string;
  readonly low: string;
  readonly close: string;
  readonly volume: string;
}

/**
 * The object that strategies receive of a bar: frozen, in the shortest exact spelling, with the fields of a recorded
 * market's.
 */
export const candleOf = (instId: string, at: number, barMs: number, bar: TextBar, partial = false): Candle => {
  const [open, high, low, close, volume] = [bar.open, bar.high, bar.low, bar.close, bar.volume].map(plain) as [
    string,
    string,
    string,
    string,
    string,
  ];
  const [openFloat, highFloat, lowFloat, closeFloat] = [open, high, low, close].map(approximate) as [
    number,
    number,
    number,
    number,
  ];
  return Object.freeze({
    instId,
    at,
    openedAt: at - barMs,
    open,
    high,
    low,
    close,
    volume,
    openFloat,
    highFloat,
    lowFloat,
    closeFloat,
    ...(partial && { partial }),
  });
};
