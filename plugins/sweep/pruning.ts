/**
 * Runs that are given up early: at a share of the recording, behind most runs that came so far.
 *
 * Invariants: the bars of a run depend on finished batches alone, so that they are the same for any number of threads;
 * no run is given up before enough runs have reached the same share; a run that was given up keeps its results so far.
 * Not here: batches (sampling.ts), ranking and report of runs that were given up (trial-order.ts, sweep-report.ts).
 */
import { compare } from "sluice";
import type { Progress } from "sluice/extension";

/** Shares of the traded time at which runs are compared. */
const rungs = [0.25, 0.5, 0.75] as const;

/** Smallest number of runs at a rung from which a bar is computed. */
const runsLeast = 8;

/** Profit that a run has to reach at each rung; null where there is no bar yet. */
export type Bars = readonly (string | null)[];

/**
 * Computes the median profit of the runs that reached each rung, given up there or not. `runs` holds the profit of each
 * run at its rungs.
 */
export const barsOf = (runs: readonly (readonly string[])[]): Bars =>
  rungs.map((_, rung) => {
    const reached = runs.flatMap((run) => run[rung] ?? []).sort(compare);
    return reached.length < runsLeast ? null : (reached[Math.floor((reached.length - 1) / 2)] ?? null);
  });

/** Thrown out of a run that fell behind. */
export class FellBehind extends Error {
  /** Share of the traded time. */
  readonly at: number;
  readonly bar: string;

  constructor(at: number, bar: string) {
    super("fell behind the other runs");
    this.at = at;
    this.bar = bar;
  }
}

/** Follows a run: records its profit at each rung. Throws `FellBehind` at a rung whose bar it does not reach. */
export const watchRungs = (bars: Bars) => {
  const reached: string[] = [];
  return {
    reached,
    onProgress: ({ at, tradesAt, endAt, pnl }: Progress): void => {
      const share = rungs[reached.length];
      // The steps of a run fall on the rungs, but for a rounding.
      if (share === undefined || at < tradesAt + share * (endAt - tradesAt) - 1e-3) return;
      const bar = bars[reached.length] ?? null;
      reached.push(pnl);
      if (bar !== null && compare(pnl, bar) < 0) throw new FellBehind(share, bar);
    },
  };
};
