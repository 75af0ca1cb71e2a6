/**
 * Receive times of lines, and the order in which lines are read.
 *
 * Invariants: times are whole microseconds, exact; lines of equal time keep their order, and so do the rows that are
 * made of them; a line that is earlier than one before it by more than the tolerance is refused by both.
 */
import { excerpt } from "sluice/extension";
import { importInvalid } from "./import-decimals.ts";
import type { Dated } from "./import-exchange.ts";
import { lineAt, type TextLines } from "./import-file.ts";

const digitsOfNanoseconds = 19;

/** Microseconds since the epoch of each line; the nanoseconds below are cut off. */
export const receiveTimes = (lines: TextLines): Float64Array => {
  const { bytes, from } = lines;
  const times = new Float64Array(from.length);
  for (let index = 0; index < from.length; index++) {
    const start = from[index] as number;
    let time = 0;
    let digits = 0;
    for (let code = bytes[start] as number; code >= 48 && code <= 57; code = bytes[start + digits] as number) {
      if (digits < digitsOfNanoseconds - 3) time = time * 10 + (code - 48);
      digits++;
    }
    if (digits !== digitsOfNanoseconds || bytes[start + digits] !== 32) {
      const shown = JSON.stringify(excerpt(lineAt(lines, index), 40));
      const line = lines.number[index] as number;
      throw importInvalid(
        lines.file,
        line,
        `${shown} does not begin with a receive time in nanoseconds (19 digits and a space).`,
      );
    }
    times[index] = time;
  }
  return times;
};

/**
 * Returns microseconds since the epoch of lines without a receive time: the exchange's time, or that of the line before
 * if there is none.
 */
export const timesOfExchange = (lines: TextLines, datedAt: (index: number) => Dated): Float64Array => {
  const times = new Float64Array(lines.from.length).map((_, index) => datedAt(index).us ?? Number.NaN);
  let last = times.find((us) => !Number.isNaN(us));
  if (last === undefined)
    throw importInvalid(
      lines.file,
      lines.number[0] as number,
      "no message has a time, and none follows a receive time in nanoseconds.",
    );
  for (let index = 0; index < times.length; index++) {
    if (Number.isNaN(times[index] as number)) times[index] = last;
    last = times[index] as number;
  }
  return times;
};

/**
 * Rows of one instant are delivered in this order: the book first, then the best prices that follow from it, then
 * trades.
 */
const places = { level: 0, quote: 1, trade: 2 } as const;

/**
 * Instants for rows of several kinds, which come one after the other: a row of the same microsecond as the one before
 * it, which would be delivered before that one, is dated a microsecond later.
 */
export const createInstants = (): ((kind: keyof typeof places, at: number) => number) => {
  let lastUs = 0;
  let lastPlace = 0;
  return (kind, at) => {
    const place = places[kind];
    lastUs = Math.max(Math.round(at * 1_000), place < lastPlace ? lastUs + 1 : lastUs);
    lastPlace = place;
    return lastUs / 1_000;
  };
};

export const linesInOrder = (
  times: Float64Array,
  lines: TextLines,
  disorderMs: number,
  note: (what: string, count?: number) => void,
): Uint32Array => {
  const order = new Uint32Array(times.length).map((_, index) => index);
  let latest = 0;
  let late = 0;
  for (let index = 0; index < times.length; index++) {
    const behind = (times[latest] as number) - (times[index] as number);
    if (behind > disorderMs * 1000) throw tooLate(times, lines, latest, index, disorderMs);
    if (behind > 0) late++;
    else latest = index;
  }
  if (late === 0) return order;
  note("lines out of order by their receive time, sorted", late);
  return order.sort((a, b) => (times[a] as number) - (times[b] as number) || a - b);
};

const tooLate = (times: Float64Array, lines: TextLines, latest: number, index: number, disorderMs: number) => {
  const instant = (at: number): string => new Date((times[at] as number) / 1000).toISOString();
  const behindMs = ((times[latest] as number) - (times[index] as number)) / 1000;
  return importInvalid(
    lines.file,
    lines.number[index] as number,
    `received at ${instant(index)}, which is ${behindMs} ms before line ${lines.number[latest]} (${instant(latest)}); ` +
      `at most ${disorderMs} ms of disorder are sorted. Allow more with --disorder-ms, or repair the recording.`,
  );
};
