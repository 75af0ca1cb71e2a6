/**
 * The two things a backtest needs of the real machine: to let promises settle, and to say how long it took.
 *
 * Invariants: neither reaches a decision or the result's hash.
 */
import { setImmediate as turn } from "node:timers/promises";
import { createSystemClock } from "../clock/system-clock.ts";

/** Every promise that can settle without time passing has settled. */
export const letPromisesSettle = async (): Promise<void> => {
  await turn();
};

/** Starts now; each call tells the whole milliseconds since. */
export const stopwatch = (): (() => number) => {
  const clock = createSystemClock();
  const startedAt = clock.now();
  return () => Math.round(clock.now() - startedAt);
};
