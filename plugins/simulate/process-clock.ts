/**
 * Clock of one simulated process: it can be paused, sleep, have its calendar stepped, and die.
 *
 * Invariants: the steady scale never falls; while the process is paused none of its code runs, and due timers run in
 * order when it resumes; while the machine sleeps the steady scale is paused too and the calendar advances; no code of
 * a dead process runs; the number of timers is known, so that a leftover timer is detected.
 */
import type { Clock, Timer, VirtualClock } from "sluice/extension";

export class ProcessClock implements Clock {
  readonly #time: VirtualClock;
  readonly #calendarOffset: () => number;
  #alive = true;
  #behindMs = 0;
  #pausedAt: number | undefined;
  #sleeping = false;
  #backlog: (() => void)[] = [];
  #timers = 0;

  /** `calendarOffset` is the machine's, which outlasts the process. */
  constructor(time: VirtualClock, calendarOffset: () => number) {
    this.#time = time;
    this.#calendarOffset = calendarOffset;
  }

  get alive(): boolean {
    return this.#alive;
  }

  get paused(): boolean {
    return this.#pausedAt !== undefined;
  }

  /** Milliseconds by which the steady scale is behind the environment's. */
  get behindMs(): number {
    return this.#behindMs;
  }

  get timers(): number {
    return this.#timers;
  }

  readonly now = (): number =>
    (this.#pausedAt !== undefined && this.#sleeping ? this.#pausedAt : this.#time.now()) - this.#behindMs;

  readonly wallNow = (): number => this.#time.now() + this.#calendarOffset();

  setTimer(at: number, run: () => void): Timer {
    let timer: Timer;
    let open = true;
    this.#timers++;
    const close = (): void => {
      if (open) this.#timers--;
      open = false;
    };
    const fire = (): void => {
      if (!open) return;
      // It slept through a part of the wait.
      if (this.now() < at) arm();
      else {
        close();
        run();
      }
    };
    const arm = (): void => {
      timer = this.#time.setTimer(at + this.#behindMs, () => this.deliver(fire));
    };
    arm();
    return {
      cancel: () => {
        close();
        timer.cancel();
      },
    };
  }

  /** Runs code for input from outside; it waits while the process is paused. */
  deliver(run: () => void): void {
    if (!this.#alive) return;
    if (this.#pausedAt === undefined) run();
    else this.#backlog.push(run);
  }

  /** `sleeping` stops the steady scale as well. */
  pause(sleeping: boolean): void {
    if (this.#pausedAt !== undefined) return;
    this.#pausedAt = this.#time.now();
    this.#sleeping = sleeping;
  }

  resume(): void {
    if (this.#pausedAt === undefined) return;
    if (this.#sleeping) this.#behindMs += this.#time.now() - this.#pausedAt;
    this.#pausedAt = undefined;
    const waiting = this.#backlog;
    this.#backlog = [];
    for (const run of waiting) this.deliver(run);
  }

  kill(): void {
    this.#alive = false;
    this.#backlog = [];
  }
}
