/**
 * Clock on which time passes several times as fast as on the machine's, for services and clients that are joined by real sockets.
 */
import type { Clock } from "../../../src/clock/clock.ts";
import { createSystemClock } from "../../../src/clock/system-clock.ts";

export const hastyClock = (times: number): Clock => {
  const machine = createSystemClock();
  const [beganAt, wallBeganAt] = [machine.now(), machine.wallNow()];
  const now = () => beganAt + (machine.now() - beganAt) * times;
  return {
    now,
    wallNow: () => wallBeganAt + (machine.now() - beganAt) * times,
    setTimer: (at, run) => machine.setTimer(beganAt + (at - beganAt) / times, run),
  };
};
