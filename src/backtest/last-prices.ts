/**
 * What each instrument of a tape was worth at its end: the last mid, else the last trade, else the last close.
 */
import { div, grid } from "../decimal.ts";
import type { Series, Tape } from "../market/tape.ts";

const worth: Readonly<Record<Series["kind"], number>> = { quote: 3, trade: 2, candle: 1, level: 0 };

export const lastPrices = (tape: Tape): ReadonlyMap<string, string> => {
  const best = new Map<string, { rank: number; px: string }>();
  for (const series of tape.series) {
    const instrument = tape.instruments[series.instrument];
    const row = series.at.length - 1;
    if (instrument === undefined || row < 0 || worth[series.kind] <= (best.get(instrument.instId)?.rank ?? 0)) continue;
    const ticks = grid(instrument.tickSize);
    const text = (column: Float64Array): string => ticks.format(column[row] as number);
    // Half a tick has one more digit than the tick.
    const mid = (bid: Float64Array, ask: Float64Array): string =>
      div(ticks.format((bid[row] as number) + (ask[row] as number)), "2", ticks.places + 1);
    const px =
      series.kind === "quote"
        ? mid(series.bidPx, series.askPx)
        : series.kind === "trade"
          ? text(series.px)
          : series.kind === "candle"
            ? text(series.close)
            : undefined;
    if (px !== undefined) best.set(instrument.instId, { rank: worth[series.kind], px });
  }
  return new Map([...best].map(([instId, { px }]) => [instId, px]));
};
