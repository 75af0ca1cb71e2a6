/**
 * Parser of a history source's answer: finished bars of one length, oldest first.
 *
 * Invariants: a bar is returned once, and only if it closed by the time of the query; shorter bars are joined where
 * their last one ends the longer bar; an element that is no bar is an error that names its index.
 * Not here: the query, and the join with live bars (market-history.ts).
 */
import { add, compare, isDecimal } from "../decimal.ts";
import type { BarCalendar } from "../market/calendar/bar-calendar.ts";
import type { HistoryCandle } from "../market/history.ts";
import { candleOf } from "../market/history.ts";
import type { Candle } from "../market/market-data.ts";

interface Piece {
  readonly openedAt: number;
  readonly at: number;
  readonly bar: HistoryCandle;
}

interface ReadCandles {
  readonly bars: readonly Candle[];
  /** Number of bars that close after the instant of the query; they are left out. */
  readonly ahead: number;
}

/** Throws an Error that describes what is wrong with the answer. */
export const readCandles = (instId: string, calendar: BarCalendar, answer: unknown, now: number): ReadCandles => {
  if (!Array.isArray(answer))
    throw new Error(`it answered ${answer === null ? "null" : typeof answer}, not a list of bars`);
  const pieces = answer
    .map((bar, index) => pieceOf(bar, index, calendar))
    .sort((a, b) => a.at - b.at || a.openedAt - b.openedAt);
  const past = pieces.filter(({ at }) => at <= now);
  const byEnd = new Map<number, Piece[]>();
  for (const piece of past) {
    const end = calendar.endOf(piece.openedAt);
    byEnd.set(end, [...(byEnd.get(end) ?? []), piece]);
  }
  const bars = [...byEnd]
    .sort(([a], [b]) => a - b)
    .flatMap(([end, parts]) => wholeBar(instId, calendar, end, parts) ?? []);
  return { bars, ahead: pieces.length - past.length };
};

const pieceOf = (given: unknown, index: number, calendar: BarCalendar): Piece => {
  const bar = given as HistoryCandle;
  const { barMs, isFixed } = calendar;
  const { openedAt, at = isFixed ? openedAt + barMs : calendar.endOf(openedAt) } =
    typeof given === "object" && given !== null ? bar : ({} as HistoryCandle);
  const place = `bar ${index + 1} of its answer`;
  if (!Number.isSafeInteger(openedAt)) throw new Error(`${place} has no openedAt in whole milliseconds`);
  if (openedAt < earliest && openedAt * 1_000 > earliest) {
    throw new Error(
      `${place} opened at ${openedAt}: instants are in milliseconds, and this one seems to be in seconds`,
    );
  }
  const length = at - openedAt;
  const start = calendar.startOf(openedAt);
  const isAligned = !isFixed || (barMs % length === 0 && (openedAt - start) % length === 0);
  if (!(length > 0 && isAligned && at <= calendar.endOf(openedAt))) {
    const begin = `one of them begins at ${new Date(start).toISOString()}`;
    throw new Error(
      `${place} is ${length} ms long from ${openedAt} on (${new Date(openedAt).toISOString()}); ${barMs} ms bars are made of aligned bars of a length that divides it, and ${begin}`,
    );
  }
  for (const name of ["open", "high", "low", "close", "volume"] as const) {
    if (!isDecimal(bar[name])) throw new Error(`${place}: ${name} is ${String(bar[name])}, not decimal text`);
  }
  return { openedAt, at, bar };
};

/** March 1973 in milliseconds. Read as seconds, the same number is a date in the year 5138. */
const earliest = 100_000_000_000;

const wholeBar = (instId: string, calendar: BarCalendar, end: number, parts: readonly Piece[]): Candle | undefined => {
  const start = calendar.openedBy(end);
  const barMs = end - start;
  const whole = parts.findLast(({ openedAt, at }) => openedAt === start && at === end);
  if (whole !== undefined)
    return "closeFloat" in whole.bar ? (whole.bar as Candle) : candleOf(instId, end, barMs, whole.bar);
  // A bar that does not reach the end may still be being written.
  if (parts.at(-1)?.at !== end) return undefined;
  const single = parts.filter((piece, index) => parts[index + 1]?.openedAt !== piece.openedAt);
  return candleOf(instId, end, barMs, single.map(({ bar }) => bar).reduce(joined));
};

const joined = (bar: HistoryCandle, next: HistoryCandle): HistoryCandle => ({
  openedAt: bar.openedAt,
  open: bar.open,
  high: compare(next.high, bar.high) > 0 ? next.high : bar.high,
  low: compare(next.low, bar.low) < 0 ? next.low : bar.low,
  close: next.close,
  volume: add(bar.volume, next.volume),
});
