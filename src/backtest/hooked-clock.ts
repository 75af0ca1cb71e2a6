/**
 * A virtual clock that says so before a timer is set.
 *
 * Of two timers of one instant the one that was set first runs first. Who puts off setting timers that nobody can notice yet does it
 * when the clock says that somebody else is about to set one: then the order is as if nothing had been put off.
 */
import type { VirtualClock } from "../clock/virtual-clock.ts";

export interface HookedClock extends VirtualClock {
  /** Called before each timer, also before those that it sets itself. */
  beforeTimer: (() => void) | undefined;
}

/** The clock itself, not a copy: the player's loop tells one shape of clocks apart faster than two. */
export const hookedClock = (clock: VirtualClock): HookedClock => {
  const setTimer = clock.setTimer.bind(clock);
  const own: HookedClock = Object.assign(clock, {
    beforeTimer: undefined,
    setTimer: (at: number, run: () => void) => {
      own.beforeTimer?.();
      return setTimer(at, run);
    },
  });
  return own;
};
