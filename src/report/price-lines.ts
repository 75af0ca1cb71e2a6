/**
 * Prices of a recording thinned to what a picture can show: per stretch of time the lowest, the highest and the last.
 *
 * Invariants: no extreme is lost; the middle of the best prices where both were known, else trades, else the closes of bars;
 * at most `stretchesMax` points an instrument, and none for a stretch in which nothing was recorded.
 */
import { div, type Grid, grid } from "../decimal.ts";
import type { Series, SeriesKind, Tape } from "../market/tape/tape.ts";

/** Prices of one instrument over time, for pictures. */
export interface PriceLine {
  readonly instId: string;
  readonly of: "quote" | "trade" | "candle";
  readonly points: readonly PricePoint[];
}

interface PricePoint {
  /** Of the last price. */
  readonly at: number;
  readonly low: string;
  readonly high: string;
  readonly last: string;
}

const stretchesMax = 600;

const preferred = ["quote", "trade", "candle"] as const satisfies readonly SeriesKind[];

export const priceLines = (tape: Tape): readonly PriceLine[] =>
  tape.instruments.flatMap(({ instId, tickSize }, instrument) => {
    const series = priceSeriesOf(tape, instrument);
    return series === undefined ? [] : [{ instId, of: series.kind, points: pointsOf(series, tape, grid(tickSize)) }];
  });

type PriceSeries = Extract<Series, { kind: PriceLine["of"] }>;

/** The series of an instrument that shows its prices; undefined where none does. */
export const priceSeriesOf = (tape: Tape, instrument: number): PriceSeries | undefined => {
  const own = tape.series.filter((series) => series.instrument === instrument && series.at.length > 0);
  const of = preferred.find((kind) => own.some((one) => one.kind === kind));
  return shortest(own.filter((one): one is PriceSeries => one.kind === of));
};

/** Of bars the shortest. */
const shortest = (series: readonly PriceSeries[]): PriceSeries | undefined =>
  series.reduce<PriceSeries | undefined>(
    (best, one) => (best?.kind === "candle" && one.kind === "candle" && one.barMs >= best.barMs ? best : one),
    undefined,
  );

interface Stretch {
  at: number;
  low: number;
  high: number;
  last: number;
}

const pointsOf = (series: Series, { startAt, endAt }: Tape, steps: Grid): readonly PricePoint[] => {
  const stretches: (Stretch | undefined)[] = [];
  const spanMs = Math.max(1, endAt - startAt);
  for (let row = 0; row < series.at.length; row++) {
    const [low, high, last] = doublesAt(series, row);
    if (last === 0) continue;
    const at = series.at[row] as number;
    const index = Math.min(stretchesMax - 1, Math.floor(((at - startAt) / spanMs) * stretchesMax));
    const known = stretches[index];
    if (known === undefined) stretches[index] = { at, low, high, last };
    else {
      known.at = at;
      known.low = Math.min(known.low, low);
      known.high = Math.max(known.high, high);
      known.last = last;
    }
  }
  const text = (doubled: number): string => div(steps.format(doubled), "2", steps.places + 1);
  return stretches.flatMap((stretch) =>
    stretch === undefined
      ? []
      : [{ at: Math.round(stretch.at), low: text(stretch.low), high: text(stretch.high), last: text(stretch.last) }],
  );
};

/** Twice the lowest, highest and last price of a row in ticks, so that a middle is whole; 0 where none is known. */
export const doublesAt = (series: Series, row: number): readonly [number, number, number] => {
  switch (series.kind) {
    case "quote": {
      const both = series.bidQty[row] !== 0 && series.askQty[row] !== 0;
      const double = both ? (series.bidPx[row] as number) + (series.askPx[row] as number) : 0;
      return [double, double, double];
    }
    case "trade": {
      const double = 2 * (series.px[row] as number);
      return [double, double, double];
    }
    case "candle":
      return [2 * (series.low[row] as number), 2 * (series.high[row] as number), 2 * (series.close[row] as number)];
    case "level":
    case "funding":
    case "mark":
    case "change":
      return [0, 0, 0];
  }
};
