/**
 * One timer that can be moved.
 *
 * Invariants: at most one timer is set; it is changed only when its instant changes.
 */
import type { Clock, Timer } from "../clock/clock.ts";

const never = Number.POSITIVE_INFINITY;

export class Wakeup {
  /** Instant at which the timer runs; infinite while it is off. */
  armedAt = never;
  readonly #clock: Clock;
  readonly #run: () => void;
  #timer: Timer | undefined;

  constructor(clock: Clock, run: () => void) {
    this.#clock = clock;
    this.#run = run;
  }

  /** Sets the timer to `instant`. Infinity turns it off. */
  at(instant: number): void {
    if (instant === this.armedAt) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.armedAt = instant;
    if (instant === never) return;
    this.#timer = this.#clock.setTimer(instant, () => {
      this.#timer = undefined;
      this.armedAt = never;
      this.#run();
    });
  }

  /** Sets the timer to run at `instant` at the latest. */
  by(instant: number): void {
    if (instant < this.armedAt) this.at(instant);
  }
}
