/**
 * What the server still has to do, so that closing it leaves nothing behind.
 *
 * Invariants: after `clear` nothing added before or later runs.
 */
import type { Clock, Timer } from "../../clock/clock.ts";

export interface PendingTimers {
  later(ms: number, run: () => void): void;
  clear(): void;
}

export const createPendingTimers = (clock: Clock): PendingTimers => {
  const waiting = new Set<Timer>();
  let over = false;
  return {
    later: (ms, run) => {
      if (over) return;
      const timer = clock.setTimer(clock.now() + ms, () => {
        waiting.delete(timer);
        run();
      });
      waiting.add(timer);
    },
    clear: () => {
      over = true;
      for (const timer of waiting) timer.cancel();
      waiting.clear();
    },
  };
};
