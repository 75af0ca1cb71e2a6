/**
 * Applies many rows at once at a service where no order rests.
 *
 * Invariants: only the last print of an instrument is made, because only that one is visible afterwards; rows that read
 * prices on the way, such as funding, find those of their own instant; all other rows are applied one by one in their
 * order. Future prints inside a bar are left to the clock.
 * Not here: when that may be done (player.ts).
 */
import type { Clock } from "../clock/clock.ts";
import type { Series, Tape } from "../market/tape/tape.ts";
import type { LateBars } from "./candle-prints.ts";
import type { RowTaker } from "./row-dispatch.ts";

/** Ways to apply the rows of a series: only the last one, each, or each with the prices of its instant. */
const last = 1;
const each = 2;
const priced = 3;

const wayOf = ({ kind }: Series, { bars }: RowTaker): number => {
  if (kind === "trade" || bars !== undefined) return last;
  return kind === "funding" ? priced : each;
};

/** Applies the rows from `from` to before `to` of the tape's order, each as of its own instant. */
export const batchedRows = (
  tape: Tape,
  takers: readonly RowTaker[],
  clock: Clock,
  skewMs: number,
): ((from: number, to: number) => void) => {
  const { series: seriesIn, row: rowIn } = tape.order;
  const ways = Uint8Array.from(tape.series, (series, which) => wayOf(series, takers[which] as RowTaker));
  const prints = ways.reduce((count, way) => count + (way === last ? 1 : 0), 0);
  const bars = takers.flatMap((taker): readonly LateBars[] => (taker.bars === undefined ? [] : [taker.bars]));
  const lastPrint = new Int32Array(tape.series.length).fill(-1);
  const printed: number[] = [];
  const take = (which: number, row: number): void => {
    const taker = takers[which] as RowTaker;
    if (taker.bars === undefined) taker(row, ((tape.series[which] as Series).at[row] as number) + skewMs);
    else taker.bars.closed(row);
  };
  /** Walks from the end until every instrument's last print is found. */
  const lastPrints = (from: number, to: number): void => {
    for (let index = to - 1; index >= from && printed.length < prints; index--) {
      const which = seriesIn[index] as number;
      if (ways[which] !== last || lastPrint[which] !== -1) continue;
      lastPrint[which] = rowIn[index] as number;
      printed.push(which);
    }
  };
  const show = (from: number, to: number, until: number): void => {
    lastPrints(from, to);
    for (const which of printed) {
      const row = lastPrint[which] as number;
      takers[which]?.skipTo?.(row);
      take(which, row);
      lastPrint[which] = -1;
    }
    printed.length = 0;
    for (const one of bars) one.until(until);
  };
  /** Returns up to where prints have been made. */
  const inOrder = (from: number, to: number): number => {
    let shown = from;
    for (let index = from; index < to; index++) {
      const which = seriesIn[index] as number;
      const way = ways[which] as number;
      if (way === last) continue;
      const row = rowIn[index] as number;
      if (way === priced) {
        show(shown, index, (tape.series[which] as Series).at[row] as number);
        shown = index;
      }
      take(which, row);
    }
    return shown;
  };
  return (from, to) => {
    const shown = prints < ways.length ? inOrder(from, to) : from;
    show(shown, to, clock.now());
    for (const one of bars) one.arm();
  };
};
