/**
 * Plays bars at the embedded service as quotes and prints inside each bar's own time.
 *
 * A bar becomes four prints: the open when it begins, one extreme after a third, the other after two thirds, the close when it
 * ends; the low comes first when the bar rose, the high first when it fell. Where the path is to be pessimistic, the extreme that
 * fills only buys, or only sells, comes second: whoever reacts to the fill does not have the rest of a favourable bar before him.
 * Strategies see none of these prints, only the finished bar, so an order can be filled by the bar it was placed in, at the prices
 * still to come, but never by what was past.
 *
 * Invariants: no price outside the bar is printed or quoted, except that a bar without a range shows an ask one tick above it;
 * a quarter of the bar's volume, at least one lot, is behind each print.
 */
import type { Clock } from "../clock/clock.ts";
import { type CandleSeries, isTerms, type Series } from "../market/tape.ts";
import type { Venue } from "../venue/venue.ts";
import type { BarPath } from "./fill-models.ts";

export interface CandlePlayer {
  /** Row `row` of the series has just closed. */
  closed(row: number): void;
}

/** Bars are played only where nothing finer was recorded, and of several lengths only the shortest. */
export const isPlayed = (series: CandleSeries, all: readonly Series[]): boolean =>
  all.every(
    (other) =>
      other.instrument !== series.instrument ||
      isTerms(other) ||
      (other.kind === "candle" && (other === series || other.barMs > series.barMs)),
  );

/** The bid around a print of the bar, in ticks; the ask is one above it. */
export const bidAt = (px: number, low: number, high: number): number => (px >= high && low < high ? px - 1 : px);

const lowFirst = (row: number, { open, close }: CandleSeries): boolean => (close[row] as number) >= (open[row] as number);

/** Undefined where both extremes meet resting orders, or none does. */
const pessimistic = (row: number, { high, low }: CandleSeries, { bidPx, askPx }: ReturnType<Venue["resting"]>): boolean | undefined => {
  const buys = bidPx >= (low[row] as number);
  const sells = askPx <= (high[row] as number);
  return buys === sells ? undefined : sells;
};

export const createCandlePlayer = (
  venue: Venue,
  clock: Clock,
  instId: string,
  series: CandleSeries,
  skewMs: number,
  path: BarPath = "shortest",
): CandlePlayer => {
  let before = 0;
  let fromLow = true;
  const print = (row: number, px: number): void => {
    const now = clock.now() + skewMs;
    const qty = Math.max(1, Math.floor((series.volume[row] as number) / 4));
    const bid = bidAt(px, series.low[row] as number, series.high[row] as number);
    venue.quote(instId, bid, qty, bid + 1, qty, now);
    venue.trade(instId, px >= before ? "buy" : "sell", px, qty, now);
    before = px;
  };
  const later = (at: number, row: number, pxOf: () => number | undefined): void => {
    clock.setTimer(at, () => {
      print(row, pxOf() as number);
    });
  };
  /** Decided when the first extreme is due, by what rests then. */
  const first = (row: number): boolean => {
    const asked = path === "pessimistic" ? pessimistic(row, series, venue.resting(instId)) : undefined;
    fromLow = asked ?? lowFirst(row, series);
    return fromLow;
  };
  const within = (row: number): void => {
    const { barMs } = series;
    const { open, low, high } = series;
    // Instants on the clock: the tape may be played later than it was recorded, but bars keep their distance.
    const opensAt = clock.now() + Math.max(0, (series.at[row] as number) - barMs - (series.at[row - 1] as number));
    later(opensAt, row, () => open[row]);
    later(opensAt + barMs / 3, row, () => (first(row) ? low[row] : high[row]));
    later(opensAt + (barMs * 2) / 3, row, () => (fromLow ? high[row] : low[row]));
  };
  return {
    closed: (row) => {
      print(row, series.close[row] as number);
      if (row + 1 < series.at.length) within(row + 1);
    },
  };
};
