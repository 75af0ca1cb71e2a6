/**
 * Makes plain RxJS time operators run on the engine's clock inside strangers' code.
 *
 * `timer(100)`, `debounceTime(50)`, `interval`, `delay` … without a scheduler argument use RxJS's default scheduler. That one
 * object is given a switch: while code of an engine runs, its `now` and `schedule` are those of the engine's clock.
 *
 * Invariants: outside an engine's code nothing changes; several engines in one process each have their own time; what was
 * scheduled on a clock runs inside the same engine's time again.
 */
import { asyncScheduler, type SchedulerAction, type SchedulerLike, Subscription } from "rxjs";
import type { Clock, Timer } from "../clock/clock.ts";

let current: Clock | undefined;
let installed = false;

/** Runs `work` with the clock as its time. */
export const inEngineTime = <T>(clock: Clock, work: () => T): T => {
  install();
  const outer = current;
  current = clock;
  try {
    return work();
  } finally {
    current = outer;
  }
};

/** An RxJS action on our clock: runs, and runs again when it asks to from within. */
class ClockAction<T> extends Subscription implements SchedulerAction<T> {
  readonly #clock: Clock;
  readonly #work: (this: SchedulerAction<T>, state?: T) => void;
  #timer: Timer | undefined;

  constructor(clock: Clock, work: (this: SchedulerAction<T>, state?: T) => void) {
    super();
    this.#clock = clock;
    this.#work = work;
    this.add(() => {
      this.#timer?.cancel();
    });
  }

  schedule(state?: T, delay = 0): Subscription {
    if (this.closed) return this;
    this.#timer?.cancel();
    this.#timer = this.#clock.setTimer(this.#clock.now() + Math.max(0, delay), () => {
      this.#timer = undefined;
      inEngineTime(this.#clock, () => {
        this.#work.call(this, state as T);
      });
      // Like RxJS's own: an action that did not ask for more from within is over.
      if (this.#timer === undefined) this.unsubscribe();
    });
    return this;
  }
}

const install = (): void => {
  if (installed) return;
  installed = true;
  const native: SchedulerLike = asyncScheduler;
  const schedule = native.schedule.bind(native);
  const now = native.now.bind(native);
  native.now = () => (current === undefined ? now() : current.now());
  native.schedule = <T>(work: (this: SchedulerAction<T>, state?: T) => void, delay = 0, state?: T): Subscription =>
    current === undefined ? schedule(work, delay, state as T) : new ClockAction(current, work).schedule(state, delay);
};
