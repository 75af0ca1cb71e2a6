/**
 * Progress text of a command of several steps, with the estimated time left.
 *
 * Invariants: no estimate before a second has passed and a step is done, nor when all are done.
 * Not here: where it is shown (io.ts), the bar of one backtest (run-progress.ts).
 */
import { duration } from "../report/number-format.ts";

/**
 * `12 of 50 scenarios, 30 s left`.
 *
 * @param done - steps that are done
 * @param all - steps in all
 * @param what - they are, plural
 * @param elapsedMs - time that they took
 * @returns text such as "12 of 50 scenarios, 30 s left"
 */
export const stepsText = (done: number, all: number, what: string, elapsedMs: number): string =>
  `${done} of ${all} ${what}${leftText(done, all, elapsedMs)}`;

/**
 * Time that is left, for a line of progress.
 *
 * @param done - steps that are done
 * @param all - steps in all
 * @param elapsedMs - time that they took
 * @returns text that begins with a comma; empty where nothing is known
 */
export const leftText = (done: number, all: number, elapsedMs: number): string =>
  done <= 0 || done >= all || elapsedMs < 1_000 ? "" : `, ${duration((elapsedMs / done) * (all - done))} left`;
