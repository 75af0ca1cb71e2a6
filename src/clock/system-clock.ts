/**
 * The machine's own time. The only file that may touch the platform's clocks and timers.
 *
 * Invariants: delays beyond what the platform can hold are split (a too large one would otherwise fire at once).
 */
import type { Clock, Timer } from "./clock.ts";

const delayMsMax = 2 ** 31 - 1;

// Taken before a strategy's own are laid over the machine's: a clock that asked those would ask itself without end.
const { timeOrigin } = performance;
const sinceOrigin = performance.now.bind(performance);
const calendar = Date.now.bind(Date);
const { setTimeout, clearTimeout, setImmediate } = globalThis;

/** Calls `run` when everything that has arrived on any socket by now was read, in the order of the calls. */
export const afterArrivals = (run: () => void): void => {
  setImmediate(run);
};

export const createSystemClock = (): Clock => {
  const now = (): number => timeOrigin + sinceOrigin();
  return {
    now,
    wallNow: () => calendar(),
    setTimer: (at, run): Timer => {
      let handle: NodeJS.Timeout;
      const arm = (): void => {
        const left = at - now();
        handle = left > delayMsMax ? setTimeout(arm, delayMsMax) : setTimeout(fire, Math.max(0, left));
      };
      // Platform timers may fire up to a millisecond early; firing before `at` would break the promise.
      const fire = (): void => {
        if (now() < at) arm();
        else run();
      };
      arm();
      return {
        cancel: () => {
          clearTimeout(handle);
        },
      };
    },
  };
};
