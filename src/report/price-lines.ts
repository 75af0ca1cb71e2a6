/**
 * Prices of a recording for charts: bars of one length for each instrument, or every change of price where those are
 * few.
 *
 * Invariants: no extreme is lost; the middle of the best prices where both were known, else trades, else the closes of
 * bars; prices are whole numbers of `unit`, so exact; at most `barsMax` bars over all instruments, and none for a
 * stretch without a price.
 */
import { div } from "../decimal.ts";
import { openingsOf, type Series, type SeriesKind, type Tape } from "../market/tape/tape.ts";

/** Prices of one instrument over time, as columns of equal length. */
export interface PriceLine {
  readonly instId: string;
  readonly of: "quote" | "trade" | "candle";
  /** Milliseconds that a bar covers; 0 where each entry is one price, from its instant on. */
  readonly barMs: number;
  /** Decimal text: value of 1 in the columns of prices. */
  readonly unit: string;
  /** Start of each bar, milliseconds since the epoch. */
  readonly at: readonly number[];
  readonly open: readonly number[];
  readonly high: readonly number[];
  readonly low: readonly number[];
  readonly close: readonly number[];
}

type Bars = { readonly [K in "at" | "open" | "high" | "low" | "close"]: number[] };

const barsMax = 200_000;
const barsMin = 2_000;

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
/** Lengths of bars that people read. */
const lengths = [
  ...[100, 250, 500],
  ...[1, 2, 5, 10, 15, 30].map((count) => count * second),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * minute),
  ...[1, 2, 4, 8, 12].map((count) => count * hour),
  ...[1, 7, 28, 364].map((count) => count * day),
];

const preferred = ["quote", "trade", "candle"] as const satisfies readonly SeriesKind[];

export const priceLines = (tape: Tape): readonly PriceLine[] => {
  const most = Math.max(barsMin, Math.floor(barsMax / Math.max(1, tape.instruments.length)));
  return tape.instruments.flatMap(({ instId, tickSize }, instrument) => {
    const series = priceSeriesOf(tape, instrument);
    return series === undefined
      ? []
      : [{ instId, of: series.kind, unit: div(tickSize, "2", 20), ...barsOf(series, tape, most) }];
  });
};

type PriceSeries = Extract<Series, { kind: PriceLine["of"] }>;

/** The series of an instrument that shows its prices; undefined where none does. */
export const priceSeriesOf = (tape: Tape, instrument: number): PriceSeries | undefined => {
  const own = tape.series.filter((series) => series.instrument === instrument && series.at.length > 0);
  const of = preferred.find((kind) => own.some((one) => one.kind === kind));
  return shortest(own.filter((one): one is PriceSeries => one.kind === of));
};

/** Returns the series of the shortest bars; undefined without bars. */
const shortest = (series: readonly PriceSeries[]): PriceSeries | undefined =>
  series.reduce<PriceSeries | undefined>(
    (best, one) => (best?.kind === "candle" && one.kind === "candle" && one.barMs >= best.barMs ? best : one),
    undefined,
  );

const barsOf = (series: PriceSeries, { startAt, endAt }: Tape, most: number): Bars & { readonly barMs: number } => {
  const own = series.kind === "candle" ? series.barMs : 0;
  if (changesIn(series, most) <= most) return { barMs: own, ...folded(series, own) };
  // A bar more than fit exactly, as the first may begin before the recording.
  const barMs =
    lengths.find((ms) => ms > own && ms % Math.max(1, own) === 0 && (endAt - startAt) / ms <= most - 1) ?? 3_640 * day;
  return { barMs, ...folded(series, barMs) };
};

/** Prices that differ from the one before, counted up to one more than `most`. */
const changesIn = (series: PriceSeries, most: number): number => {
  if (series.kind === "candle") return series.at.length;
  let [count, last] = [0, 0];
  for (let row = 0; row < series.at.length && count <= most; row++) {
    const [, , price] = doublesAt(series, row);
    if (price === 0 || price === last) continue;
    last = price;
    count++;
  }
  return count;
};

/** A bar for each stretch of `barMs`; for each change of price where that is 0. */
const folded = (series: PriceSeries, barMs: number): Bars => {
  const bars: Bars = { at: [], open: [], high: [], low: [], close: [] };
  const openedAt = series.kind === "candle" ? openingsOf(series) : (row: number) => series.at[row] as number;
  let last = -1;
  for (let row = 0; row < series.at.length; row++) {
    const [low, high, close] = doublesAt(series, row);
    if (close === 0) continue;
    const opensAt = Math.round(openedAt(row) * 1_000) / 1_000;
    const at = barMs === 0 ? opensAt : Math.floor(opensAt / barMs) * barMs;
    if (barMs === 0 ? bars.close[last] === close : last >= 0 && bars.at[last] === at) {
      bars.high[last] = Math.max(bars.high[last] as number, high);
      bars.low[last] = Math.min(bars.low[last] as number, low);
      bars.close[last] = close;
      continue;
    }
    last = bars.at.push(at) - 1;
    bars.open.push(series.kind === "candle" ? 2 * (series.open[row] as number) : close);
    bars.high.push(high);
    bars.low.push(low);
    bars.close.push(close);
  }
  return bars;
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
