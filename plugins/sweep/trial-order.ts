/**
 * Trials in the order in which a sampler learns from them.
 *
 * Invariants: every trial is in it; finished runs come before those given up, and these before runs without figures.
 * Not here: the ranking that people see (sweep-report.ts).
 */
import { approximate, compare } from "sluice";
import { frontsOf } from "./pareto.ts";
import { type Score, scoreOf } from "./scores.ts";
import type { Done, Result } from "./sweep-report.ts";

export const bestFirst = (trials: readonly Result[], objectives: readonly Score[]): readonly Result[] => {
  const of = <S extends Result["status"]>(status: S) =>
    trials.filter((trial): trial is Extract<Result, { readonly status: S }> => trial.status === status);
  const fronts = frontsOf(of("done"), objectives, ({ figures }) => figures);
  const pruned = of("pruned").sort((a, b) => b.at - a.at || compare(b.pnl, a.pnl));
  return [...fronts.flatMap((front) => spreadOut(front, objectives)), ...pruned, ...of("unaccepted"), ...of("failed")];
};

/** The ends of a front first, then what lies far from its neighbours, so that all of the front is learned from. */
const spreadOut = (front: readonly Done[], objectives: readonly Score[]): readonly Done[] => {
  if (front.length < 3) return front;
  const room = new Map(front.map((run) => [run, 0]));
  for (const by of objectives) {
    const value = (run: Done | undefined): number =>
      run === undefined ? Number.NaN : approximate(scoreOf(run.figures, by));
    const line = [...front].sort((a, b) => value(a) - value(b));
    const reach = value(line.at(-1)) - value(line[0]) || 1;
    for (const [index, run] of line.entries()) {
      const gap = (value(line[index + 1]) - value(line[index - 1])) / reach;
      room.set(run, (room.get(run) ?? 0) + (Number.isNaN(gap) ? Number.POSITIVE_INFINITY : gap));
    }
  }
  const roomOf = (run: Done): number => room.get(run) ?? 0;
  return [...front].sort((a, b) => (roomOf(a) === roomOf(b) ? 0 : roomOf(b) - roomOf(a)));
};
