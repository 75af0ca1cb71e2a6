/**
 * Market of a scenario: a part of a recording or a made one, with the scenario's gaps, jumps and thin hours applied.
 *
 * Invariants: the same tape and faults give the same result; prices stay at least one tick; a row in a gap is left out,
 * so that the service and the strategies see the same market.
 */

import { createTape, type Tape } from "sluice/backtest";
import { barsIn, type Column, columnNames, columnsOf, type Series, seriesOf } from "sluice/extension";
import { type Fault, signOf } from "./fault.ts";

const isQuantity = (name: string): boolean => ["qty", "bidQty", "askQty", "volume"].includes(name);
const isPrice = (name: string): boolean => ["px", "bidPx", "askPx", "open", "high", "low", "close"].includes(name);

/** The rows of `tape` within `ms` from `fromAt` on. */
export const excerpt = (tape: Tape, fromAt: number, ms: number): Tape =>
  createTape(
    tape.instruments,
    tape.series.map((series) => keep(series, (at) => at >= fromAt && at < fromAt + ms)),
  );

export const distortTape = (tape: Tape, faults: readonly Fault[], startAt: number): Tape => {
  const gaps = faults.filter(({ kind }) => kind === "gap");
  const jumps = faults.filter(({ kind }) => kind === "jump");
  const thin = faults.filter(({ kind }) => kind === "thin");
  if (gaps.length + jumps.length + thin.length === 0) return tape;
  const isIn = (at: number): boolean => gaps.some((gap) => at - startAt >= gap.at && at - startAt < gap.at + gap.forMs);
  const series = tape.series.map((one) => {
    const whole = gaps.length === 0 ? one : keep(one, (at) => !isIn(at));
    const left = thin.reduce((bent, fault) => thinned(bent, fault, startAt), whole);
    return jumps.reduce(
      (bent, jump) => (jump.pick % tape.instruments.length === one.instrument ? shifted(bent, jump, startAt) : bent),
      left,
    );
  });
  return createTape(tape.instruments, series);
};

const rebuilt = (series: Series, at: Float64Array, columns: readonly Column[]): Series =>
  seriesOf(series.kind, series.instrument, at, columns, barsIn(series));

const keep = (series: Series, wanted: (at: number) => boolean): Series => {
  const rows: number[] = [];
  for (const [row, at] of series.at.entries()) if (wanted(at)) rows.push(row);
  if (rows.length === series.at.length) return series;
  const pick = <C extends Column>(column: C): C => {
    const made = column.slice(0, rows.length) as C;
    for (const [index, row] of rows.entries()) made[index] = column[row] as number;
    return made;
  };
  return rebuilt(series, pick(series.at), columnsOf(series).map(pick));
};

const shifted = (series: Series, jump: Fault, startAt: number): Series => {
  const first = series.at.findIndex((at) => at - startAt >= jump.at);
  if (first < 0) return series;
  const names = columnNames[series.kind];
  const floor = lowest(series, first);
  // Never below a hundred ticks: a price of nothing is not simulated.
  const by = Math.max(signOf(jump) * jump.size, Math.min(0, 100 - floor));
  const columns = columnsOf(series).map((column, index) => {
    if (!isPrice(names[index] ?? "")) return column;
    const made = column.slice() as Column;
    for (let row = first; row < made.length; row++)
      if ((made[row] as number) > 0) made[row] = (made[row] as number) + by;
    return made;
  });
  return rebuilt(series, series.at, columns);
};

/** Divides quantities by the fault's size; at least one lot is left of each. */
const thinned = (series: Series, fault: Fault, startAt: number): Series => {
  const names = columnNames[series.kind];
  const columns = columnsOf(series).map((column, index) => {
    if (!isQuantity(names[index] ?? "")) return column;
    const made = column.slice() as Column;
    for (const [row, at] of series.at.entries()) {
      const ms = at - startAt - fault.at;
      if (ms >= 0 && ms < fault.forMs && (made[row] as number) > 0)
        made[row] = Math.max(1, Math.floor((made[row] as number) / fault.size));
    }
    return made;
  });
  return rebuilt(series, series.at, columns);
};

const lowest = (series: Series, first: number): number => {
  const names = columnNames[series.kind];
  let least = Number.POSITIVE_INFINITY;
  for (const [index, column] of columnsOf(series).entries()) {
    if (!isPrice(names[index] ?? "")) continue;
    for (let row = first; row < column.length; row++)
      if ((column[row] as number) > 0) least = Math.min(least, column[row] as number);
  }
  return least;
};
