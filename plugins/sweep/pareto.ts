/**
 * Runs in order when several scores decide: fronts that nothing beats in every score, one behind the other.
 *
 * Invariants: exact in comparing scores; with one score it is the order by that score; runs that are equal keep their
 * order.
 * Not here: what scores there are (scores.ts).
 */
import { compare } from "sluice";
import { type Score, type Scored, scoreOf, scores } from "./scores.ts";

/** Returns true if one run is at least as good as the other in every objective, and better in one. */
const dominates = (a: Scored, b: Scored, objectives: readonly Score[]): boolean => {
  const leads = objectives.map((by) => (scores[by] === "more" ? 1 : -1) * compare(scoreOf(a, by), scoreOf(b, by)));
  return leads.every((lead) => lead >= 0) && leads.some((lead) => lead > 0);
};

/** The best front first; within a front the first objective decides. */
export const frontsOf = <T>(
  runs: readonly T[],
  objectives: readonly Score[],
  figures: (run: T) => Scored,
): readonly (readonly T[])[] => {
  const [by] = objectives as readonly [Score];
  const sign = scores[by] === "more" ? -1 : 1;
  let rest = [...runs].sort((a, b) => sign * compare(scoreOf(figures(a), by), scoreOf(figures(b), by)));
  if (objectives.length === 1) return rest.map((run) => [run]);
  const fronts: (readonly T[])[] = [];
  while (rest.length > 0) {
    const left = rest;
    const front = left.filter((run) => !left.some((other) => dominates(figures(other), figures(run), objectives)));
    fronts.push(front);
    rest = left.filter((run) => !front.includes(run));
  }
  return fronts;
};
