/**
 * Timers of the server, so that closing it leaves none behind.
 *
 * Invariants: after `clear` nothing added before or later runs.
 */
import type { Clock, Timer } from "sluice/extension";

export class PendingTimers {
  readonly #clock: Clock;
  readonly #waiting = new Set<Timer>();
  #over = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  later(ms: number, run: () => void): void {
    if (this.#over) return;
    const timer = this.#clock.setTimer(this.#clock.now() + ms, () => {
      this.#waiting.delete(timer);
      run();
    });
    this.#waiting.add(timer);
  }

  clear(): void {
    this.#over = true;
    for (const timer of this.#waiting) timer.cancel();
    this.#waiting.clear();
  }
}
