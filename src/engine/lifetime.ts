/**
 * Clock of one engine: its timers end with the engine.
 *
 * Invariants: after the end no timer of the engine runs and none is set; the end itself emits no event.
 * Not here: requests in flight (scheduler/scheduler.ts).
 */
import type { Clock, Timer } from "../clock/clock.ts";

export interface Lifetime {
  readonly clock: Clock;
  end(): void;
}

export const createLifetime = (clock: Clock): Lifetime => {
  const timers = new Set<Timer>();
  let ended = false;
  const idle: Timer = { cancel: () => undefined };

  return {
    clock: {
      now: clock.now.bind(clock),
      wallNow: clock.wallNow.bind(clock),
      setTimer: (at, run) => {
        if (ended) return idle;
        const inner = clock.setTimer(at, () => {
          timers.delete(timer);
          run();
        });
        const timer: Timer = {
          cancel: () => {
            timers.delete(timer);
            inner.cancel();
          },
        };
        timers.add(timer);
        return timer;
      },
    },
    end: () => {
      ended = true;
      for (const timer of timers) timer.cancel();
    },
  };
};
