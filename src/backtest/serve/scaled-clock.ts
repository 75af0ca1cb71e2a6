/**
 * A clock on which a market runs faster or slower than the clock beneath it, and whose timers can all be canceled at
 * once.
 *
 * Invariants: the two agree at the moment of creation; `now` during a timer is at least the timer's instant, also after
 * rounding; after `stop` no timer is left and none is taken.
 */
import type { Clock, Timer } from "../../clock/clock.ts";

export interface ScaledClock extends Clock {
  stop(): void;
}

export const createScaledClock = (clock: Clock, speed: number): ScaledClock => {
  const startAt = clock.now();
  const waiting = new Set<Timer>();
  let reachedAt = startAt;
  let stopped = false;
  const now = (): number => {
    reachedAt = Math.max(reachedAt, startAt + (clock.now() - startAt) * speed);
    return reachedAt;
  };
  return {
    now,
    wallNow: () => clock.wallNow(),
    setTimer: (at, run) => {
      if (stopped) return { cancel: () => undefined };
      const timer = clock.setTimer(startAt + (at - startAt) / speed, () => {
        waiting.delete(timer);
        reachedAt = Math.max(reachedAt, at);
        run();
      });
      waiting.add(timer);
      return {
        cancel: () => {
          waiting.delete(timer);
          timer.cancel();
        },
      };
    },
    stop: () => {
      stopped = true;
      for (const timer of waiting) timer.cancel();
      waiting.clear();
    },
  };
};
