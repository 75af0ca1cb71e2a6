/**
 * Columns that grow row by row and end as a series.
 *
 * Invariants: a time that falls is refused at the row that brings it; `series()` copies, so building may go on.
 */
import { assert } from "../../errors.ts";
import type { BarGrid } from "../calendar/bar-calendar.ts";
import { type Column, emptyColumns, outOfOrder, type Series, type SeriesKind, seriesOf } from "./tape.ts";

/** The values of one row after its time, in ticks and lots. */
interface RowValues {
  readonly trade: readonly [side: 1 | -1, px: number, qty: number];
  readonly quote: readonly [bidPx: number, bidQty: number, askPx: number, askQty: number];
  readonly level: readonly [side: 1 | -1, px: number, qty: number, snapshot: 0 | 1];
  readonly candle: readonly [open: number, high: number, low: number, close: number, volume: number];
  readonly funding: readonly [sign: 1 | -1, rate: number];
  readonly mark: readonly [px: number, part: number];
  readonly change: readonly [tick: number, lot: number, listed: 0 | 1];
}

/** Rows of one series while they are added. */
export interface SeriesBuilder<K extends SeriesKind> {
  readonly length: number;
  push(at: number, ...values: RowValues[K]): void;
  series(): Extract<Series, { kind: K }>;
}

/**
 * Builds a series row by row.
 *
 * @param kind - of its rows
 * @param instrument - index into the tape's instruments
 * @param bars - length or grid of candles
 * @returns takes rows, and gives the series
 */
export const seriesBuilder = <K extends SeriesKind>(
  kind: K,
  instrument: number,
  bars: number | BarGrid = 0,
): SeriesBuilder<K> => {
  // Small, because hundreds of instruments are made at a time.
  let capacity = 64;
  let length = 0;
  let last = 0;
  let times = new Float64Array(capacity);
  let columns = emptyColumns(kind, capacity);
  const grow = (): void => {
    capacity *= 2;
    times = copied(times, new Float64Array(capacity));
    columns = emptyColumns(kind, capacity).map((column, index) => copied(columns[index] as Column, column));
  };
  return {
    get length() {
      return length;
    },
    push: (at, ...values) => {
      if (!(at >= last && at < Number.POSITIVE_INFINITY))
        throw outOfOrder(`${kind} of instrument ${instrument}`, length, last, at);
      if (length === capacity) grow();
      last = at;
      times[length] = at;
      for (let index = 0; index < columns.length; index++)
        (columns[index] as Column)[length] = whole(values[index] as number);
      length++;
    },
    series: () =>
      seriesOf(
        kind,
        instrument,
        times.slice(0, length),
        columns.map((column) => column.slice(0, length)),
        bars,
      ) as Extract<Series, { kind: K }>,
  };
};

const whole = (value: number): number => {
  assert(Number.isSafeInteger(value), `a column holds whole counts, not ${value}`);
  return value;
};

const copied = <C extends Column>(from: Column, to: C): C => {
  to.set(from);
  return to;
};
