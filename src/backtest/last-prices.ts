/**
 * What each instrument of a tape was worth at its end: the last mid, else the last trade, else the last close.
 *
 * Invariants: the same rule as the embedded service's, so that what strategies made adds up to what the account made.
 */
import { div, grid } from "../decimal.ts";
import type { LevelSeries, QuoteSeries, Series, Tape } from "../market/tape.ts";
import { bidAt } from "./candle-prints.ts";

/** What tells more comes first. */
const worth: Readonly<Record<Series["kind"], number>> = { quote: 4, level: 3, trade: 2, candle: 1 };

export const lastPrices = (tape: Tape): ReadonlyMap<string, string> => {
  const best = new Map<string, { readonly rank: number; readonly px: string }>();
  for (const series of tape.series) {
    const instrument = tape.instruments[series.instrument];
    const rank = worth[series.kind];
    if (instrument === undefined || series.at.length === 0 || rank <= (best.get(instrument.instId)?.rank ?? 0)) continue;
    const doubled = doubleLast(series);
    if (doubled === undefined) continue;
    const ticks = grid(instrument.tickSize);
    // Half a tick has one more digit than the tick.
    best.set(instrument.instId, { rank, px: div(ticks.format(doubled), "2", ticks.places + 1) });
  }
  return new Map([...best].map(([instId, { px }]) => [instId, px]));
};

/** Twice the last price in ticks; undefined where the series shows none. */
const doubleLast = (series: Series): number | undefined => {
  const row = series.at.length - 1;
  switch (series.kind) {
    case "quote":
      return doubleQuote(series, row);
    case "level":
      return doubleTop(series);
    case "trade":
      return 2 * (series.px[row] as number);
    case "candle":
      return 2 * bidAt(series.close[row] as number, series.low[row] as number, series.high[row] as number) + 1;
  }
};

const doubleQuote = ({ bidPx, bidQty, askPx, askQty }: QuoteSeries, row: number): number | undefined =>
  bidQty[row] === 0 || askQty[row] === 0 ? undefined : (bidPx[row] as number) + (askPx[row] as number);

const doubleTop = ({ side, px, qty, snapshot, at }: LevelSeries): number | undefined => {
  const bids = new Set<number>();
  const asks = new Set<number>();
  for (let row = 0; row < at.length; row++) {
    if (snapshot[row] === 1) {
      bids.clear();
      asks.clear();
    }
    const half = side[row] === 1 ? bids : asks;
    if (qty[row] === 0) half.delete(px[row] as number);
    else half.add(px[row] as number);
  }
  if (bids.size === 0 || asks.size === 0) return undefined;
  // A book may hold more prices than a call takes arguments.
  const best = (prices: Set<number>, sign: 1 | -1): number => [...prices].reduce((a, b) => (sign * b > sign * a ? b : a));
  return best(bids, 1) + best(asks, -1);
};
