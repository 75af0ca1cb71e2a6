/**
 * Backoff with jitter: the wait before the next try, longer each time and different for two clients that failed
 * together.
 *
 * Invariants: a wait is between its bounds for every number of tries.
 */
import type { Random } from "../../random.ts";

export interface BackoffBounds {
  readonly baseMs: number;
  readonly msMax: number;
  /** The part of a wait that is certain; the rest is drawn. 0 spreads a crowd best, more keeps a distance. */
  readonly certain: number;
}

/** Milliseconds before try `tries + 1`; `tries` counts the failures so far, from 0. */
export const backoffMs = ({ baseMs, msMax, certain }: BackoffBounds, tries: number, random: Random): number => {
  const ceiling = Math.min(msMax, baseMs * 2 ** Math.min(tries, 30));
  return ceiling * (certain + (1 - certain) * random.next());
};
