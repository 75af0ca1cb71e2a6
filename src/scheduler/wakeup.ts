/**
 * One alarm: set, moved, brought forward.
 *
 * Invariants: at most one timer exists; it is touched only when its instant changes.
 */
import type { Clock, Timer } from "../clock/clock.ts";

interface Wakeup {
  /** Rings at `instant` and at no other; infinity turns it off. */
  at(instant: number): void;
  /** Rings at `instant` at the latest. */
  by(instant: number): void;
}

export const createWakeup = (clock: Clock, run: () => void): Wakeup => {
  let timer: Timer | undefined;
  let armedAt = Number.POSITIVE_INFINITY;
  const at = (instant: number): void => {
    if (instant === armedAt) return;
    timer?.cancel();
    timer = undefined;
    armedAt = instant;
    if (instant === Number.POSITIVE_INFINITY) return;
    timer = clock.setTimer(instant, () => {
      timer = undefined;
      armedAt = Number.POSITIVE_INFINITY;
      run();
    });
  };
  return {
    at,
    by: (instant) => {
      if (instant < armedAt) at(instant);
    },
  };
};
