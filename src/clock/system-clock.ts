/**
 * The machine's own time. The only file that may touch the platform's clocks and timers.
 *
 * Invariants: delays beyond what the platform can hold are split (a too large one would otherwise fire at once); what
 * is due already waits for no timer of the platform, which takes a millisecond at least, unless a timer that was due
 * set it: a loop of those would take all of the processor.
 */
import type { Clock, Timer } from "./clock.ts";

const delayMsMax = 2 ** 31 - 1;

// Taken before a strategy's own are laid over the machine's: a clock that asked those would ask itself without end.
const { timeOrigin } = performance;
const sinceOrigin = performance.now.bind(performance);
const calendar = Date.now.bind(Date);
const { setTimeout, clearTimeout, setImmediate, clearImmediate } = globalThis;

/** Calls `run` when everything that has arrived on any socket by now was read, in the order of the calls. */
export const afterArrivals = (run: () => void): void => {
  setImmediate(run);
};

/**
 * The machine's clock: real time, and timers of the platform.
 *
 * @returns a clock
 */
export const createSystemClock = (): Clock => {
  const now = (): number => timeOrigin + sinceOrigin();
  let isDueRunning = false;
  const atOnce = (run: () => void): Timer => {
    const handle = setImmediate(() => {
      isDueRunning = true;
      try {
        run();
      } finally {
        isDueRunning = false;
      }
    });
    return { cancel: () => clearImmediate(handle) };
  };
  return {
    now,
    wallNow: () => calendar(),
    setTimer: (at, run): Timer => {
      if (!isDueRunning && at <= now()) return atOnce(run);
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
