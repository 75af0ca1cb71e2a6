/** System clock on which more time passes than on others: what waits with it waits for a part of that. */
import type { Clock } from "../../../src/clock/clock.ts";
import { createSystemClock } from "../../../src/clock/system-clock.ts";

export const createHurriedClock = (times: number): Clock => {
  const system = createSystemClock();
  const from = system.now();
  return {
    now: () => from + (system.now() - from) * times,
    wallNow: system.wallNow,
    setTimer: (at, run) => system.setTimer(from + (at - from) / times, run),
  };
};
