/**
 * Gaps of a recording in which an instrument has no price: weekends of bars, outages of a recorder.
 *
 * A gap is longer than five minutes without a row of any series that its fills are read from; for bars, time that no
 * bar covers. Before the first row and after the last one there is none, as no price follows.
 *
 * Invariants: gaps are in time order and do not overlap; both ends are instants at which a price is known.
 * Not here: the coverage of each series in a report (report/coverage.ts), what happens to orders in a gap
 * (venue/order-entry.ts).
 */
import { isTerms, openingsOf, type Series, type Tape } from "../market/tape/tape.ts";
import type { Silence } from "../venue/venue.ts";

export const silenceMsMin = 5 * 60_000;

const gapsOf = (series: Series): readonly Silence[] => {
  const { at } = series;
  const openedAt = series.kind === "candle" ? openingsOf(series) : (row: number) => at[row] as number;
  const gaps: Silence[] = [];
  for (let row = 1; row < at.length; row++) {
    const from = at[row - 1] as number;
    const until = openedAt(row);
    if (until - from > silenceMsMin) gaps.push({ from, until });
  }
  return gaps;
};

/** Time that is in both. */
const common = (a: readonly Silence[], b: readonly Silence[]): readonly Silence[] => {
  const both: Silence[] = [];
  for (let [left, right] = [0, 0]; left < a.length && right < b.length; ) {
    const [one, other] = [a[left] as Silence, b[right] as Silence];
    const from = Math.max(one.from, other.from);
    const until = Math.min(one.until, other.until);
    if (until - from > silenceMsMin) both.push({ from, until });
    if (one.until < other.until) left++;
    else right++;
  }
  return both;
};

/** Gaps of each instrument that has any, moved by `shiftMs`. */
export const silencesOf = (
  { series, instruments }: Tape,
  plays: (series: Series) => boolean,
  shiftMs: number,
): ReadonlyMap<string, readonly Silence[]> => {
  const all = new Map<string, readonly Silence[]>();
  for (const [index, { instId }] of instruments.entries()) {
    const played = series.filter((one) => one.instrument === index && !isTerms(one) && plays(one) && one.at.length > 0);
    const [first, ...rest] = played.map(gapsOf);
    const gaps = rest.reduce(common, first ?? []);
    if (gaps.length === 0) continue;
    all.set(
      instId,
      gaps.map(({ from, until }) => ({ from: from + shiftMs, until: until + shiftMs })),
    );
  }
  return all;
};
