/**
 * The series of returns that statistics of a run are computed from.
 *
 * Invariants: a run of at least seven days has one return for each day in UTC, from close to close, the first one from
 * the equity at the start; a shorter run has one between each two of its equally spaced samples. Shares are exact to
 * the 18th place.
 * Not here: what is computed from it (returns.ts), when equity is sampled (backtest/equity-samples.ts).
 */
import { div, isPositive, sub } from "../decimal.ts";
import { csvPieces } from "./csv-lines.ts";
import type { EquityPoint } from "./equity.ts";

/** Equity at the end of a stretch of time, and what that changed. */
export interface ReturnPoint extends EquityPoint {
  /** The day in UTC, such as "2024-01-31", that ends with this point; absent in runs shorter than seven days. */
  readonly day?: string;
  /** Change as a share of the equity before: "0.01" for one percent. */
  readonly change: string;
}

export const dayMs = 86_400_000;
const daysMin = 7;
/**
 * A day that is cut shorter than this belongs to the neighbouring day: recordings begin and end a moment beyond
 * midnight.
 */
const partMsMin = 60_000;

/** True if figures may be scaled to a year: recordings end a moment before the full day. */
export const isAnnualised = (ms: number): boolean => ms >= daysMin * dayMs - partMsMin;

/** Midnights in UTC between the days of a run that is long enough to be reported by days; none for a shorter one. */
export const dayEnds = (fromAt: number, untilAt: number): readonly number[] => {
  if (!isAnnualised(untilAt - fromAt)) return [];
  const ends: number[] = [];
  for (let at = Math.ceil((fromAt + partMsMin) / dayMs) * dayMs; at <= untilAt - partMsMin; at += dayMs) ends.push(at);
  return ends;
};

/** `equity` holds every sample of a run of `ms`. */
export const returnSeries = (equity: readonly EquityPoint[], ms: number): readonly ReturnPoint[] => {
  const [first] = equity;
  if (first === undefined || equity.length < 2) return [];
  const ends = dayEnds(first.at, first.at + ms);
  return changesOf(isAnnualised(ms) ? closesOf(equity, ends, first.at + ms) : equallySpaced(equity));
};

type Close = EquityPoint & Pick<ReturnPoint, "day">;

/** Equity at the start, at each end of a day, and at the end. */
const closesOf = (equity: readonly EquityPoint[], ends: readonly number[], untilAt: number): readonly Close[] => {
  const closes: Close[] = [equity[0] as EquityPoint];
  let index = 0;
  for (const end of ends) {
    while ((equity[index + 1]?.at ?? Number.POSITIVE_INFINITY) <= end) index++;
    closes.push({ at: end, equity: (equity[index] as EquityPoint).equity, day: dayOf(end - 1) });
  }
  const last = equity[equity.length - 1] as EquityPoint;
  // The last sample waited for what was under way.
  return [...closes, { at: Math.min(last.at, untilAt), equity: last.equity, day: dayOf(ends.at(-1) ?? untilAt - 1) }];
};

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** Without a last sample that lies closer to the one before it: it waits only for what is under way at the end. */
const equallySpaced = (equity: readonly EquityPoint[]): readonly EquityPoint[] => {
  const spacing = (index: number): number => (equity[index]?.at ?? 0) - (equity[index - 1]?.at ?? 0);
  return equity.length > 2 && spacing(equity.length - 1) < spacing(1) / 2 ? equity.slice(0, -1) : equity;
};

/** An account without funds does not change any more. */
const changesOf = (closes: readonly Close[]): readonly ReturnPoint[] =>
  closes.slice(1).map((close, index) => {
    const before = (closes[index] as Close).equity;
    return { ...close, change: isPositive(before) ? div(sub(close.equity, before), before, 18) : "0" };
  });

/**
 * Text that `sluice backtest --returns` writes.
 *
 * @param series - points of the equity curve
 * @returns lines, one by one
 */
export const returnsCsv = (series: readonly ReturnPoint[]): Iterable<string> =>
  csvPieces([
    ["date", "return", "equity"],
    ...series.map(({ at, day, change, equity }) => [day ?? new Date(at).toISOString(), change, equity]),
  ]);
