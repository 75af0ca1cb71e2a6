/**
 * Access of a backtest to the real machine: lets promises settle, knows whether there are some, and measures how long
 * it took.
 *
 * Invariants: none of them reaches a decision or the result's hash: settling when nothing waits changes nothing.
 */
import { setImmediate as turn } from "node:timers/promises";
import { hookPromises } from "./promise-hooks.ts";
import { createSystemClock } from "./system-clock.ts";

/**
 * Waits until every promise has settled that can settle without time passing.
 *
 * @returns when they have
 */
export const letPromisesSettle = async (): Promise<void> => {
  await turn();
};

/** Notices that promises are made or settled, until it is stopped. */
export interface PromiseWatch {
  /**
   * True if a promise was made or settled since this was set to false, so that code may be waiting for its turn.
   */
  asked: boolean;
  readonly stop: () => void;
}

/**
 * Notices promises as they are made and settled, anywhere in the process; costs nothing where there are none.
 *
 * @returns whether promises were made or settled, until it is stopped
 */
export const watchPromises = (): PromiseWatch => {
  const note = (): void => {
    watch.asked = true;
  };
  const watch: PromiseWatch = { asked: false, stop: hookPromises({ init: note, settled: note }) };
  return watch;
};

/** Starts now; each call returns the whole milliseconds since. */
export const stopwatch = (): (() => number) => {
  const clock = createSystemClock();
  const startedAt = clock.now();
  return () => Math.round(clock.now() - startedAt);
};
