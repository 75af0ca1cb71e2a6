/**
 * Clock of a recorded engine: does not move during an entry and numbers its timers.
 *
 * Invariants: the promises of a clock; a timer runs as an entry of its own; the n-th timer set has the number n.
 */
import type { Clock } from "sluice/extension";
import type { InputSequencer } from "./input-sequencer.ts";

export const recordingClock = (inner: Clock, turns: InputSequencer): Clock => {
  let count = 0;
  return {
    now: () => turns.now(),
    wallNow: () => turns.wallNow(),
    setTimer: (due, run) => {
      turns.touch();
      const timer = count++;
      let waits = true;
      const held = inner.setTimer(due, () => {
        turns.enter(
          () => (waits ? { in: "timer", timer, due } : undefined),
          () => {
            waits = false;
            run();
          },
        );
      });
      return {
        cancel: () => {
          waits = false;
          held.cancel();
        },
      };
    },
  };
};
