/**
 * Restart policy of strategies: a failed strategy is restarted after a pause, or quarantined. Pure, except for a list
 * of instants.
 *
 * Invariants: the pause doubles with each failure in a row, up to a minute; a strategy that failed too often within the
 * window is not restarted; jitter comes from the run's seed, so that a run can be repeated.
 * Not here: starting and stopping (strategy-host.ts).
 * A strategy that never returns from one call cannot be stopped from within its process: see engine/stall-detector.ts.
 */
import type { Random } from "../random.ts";

/** Number of failures within a time after which a strategy is not started again: the last of them quarantines it. */
export interface RestartPolicy {
  /** Number of failures within `withinMs` that end it; the earlier ones restart it. */
  readonly attempts: number;
  /** Milliseconds for which a failure counts. */
  readonly withinMs: number;
}

export type Fate =
  | { readonly kind: "restart"; readonly inMs: number; readonly failures: number }
  | { readonly kind: "quarantine" };

const firstMs = 1_000;
const mostMs = 60_000;
/** Largest part of the waiting time that is left out at random, so that several strategies do not restart together. */
const jitter = 0.25;

/** The waiting time after this many failures in a row. */
export const backoffMs = (failures: number, random: Random): number =>
  Math.round(Math.min(firstMs * 2 ** (failures - 1), mostMs) * (1 - jitter * random.next()));

/** Decides at each failure; one for each strategy. */
export const createFates = ({ attempts, withinMs }: RestartPolicy, random: Random): ((now: number) => Fate) => {
  let failedAt: readonly number[] = [];
  return (now) => {
    failedAt = [...failedAt.filter((at) => at > now - withinMs), now];
    const failures = failedAt.length;
    return failures >= attempts
      ? { kind: "quarantine" }
      : { kind: "restart", inMs: backoffMs(failures, random), failures };
  };
};
