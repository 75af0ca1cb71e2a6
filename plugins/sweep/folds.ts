/**
 * Walk-forward windows: trainings, in which options are chosen, and tests of the chosen options.
 *
 * Invariants: a test begins where its training ends and never overlaps it; tests follow one another without gaps up to
 * the end; every training and every test is as long as the others, to the millisecond.
 * Not here: which rows belong to a window (cutTape of `sluice/extension`).
 */
import { SluiceError } from "sluice";
import type { TimeWindow } from "sluice/extension";

export interface Fold {
  readonly train: TimeWindow;
  readonly test: TimeWindow;
}

/**
 * `count` folds over the time from `startAt` to `endAt`, the share `train` of each being its training. Each fold begins
 * one test later than the one before it.
 */
export const foldsOf = (startAt: number, endAt: number, count: number, train: number): readonly Fold[] => {
  if (!(count >= 1 && train > 0 && train < 1))
    throw new SluiceError(
      "BUG",
      `Invariant violated: at least one fold and a share between 0 and 1, not ${count} and ${train}.`,
    );
  // The last instant belongs to the last window.
  const wholeMs = Math.floor(endAt) + 1 - startAt;
  const testMs = Math.floor((wholeMs * (1 - train)) / (train + count * (1 - train)));
  const trainMs = wholeMs - count * testMs;
  return Array.from({ length: count }, (_, index) => {
    const fromAt = startAt + index * testMs;
    const middle = fromAt + trainMs;
    return { train: { fromAt, toAt: middle }, test: { fromAt: middle, toAt: middle + testMs } };
  });
};
