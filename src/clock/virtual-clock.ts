/**
 * Virtual clock: time that moves on request, with a heap of timers.
 *
 * Invariants: timers run in (instant, order set); a timer set by a timer runs at its own instant, not at the end of the
 * step; `now` during a timer is that timer's instant.
 */
import { assert } from "../errors.ts";
import type { Clock, Timer } from "./clock.ts";

/**
 * A clock that moves on request. `startAt`: milliseconds since the epoch.
 *
 * @param startAt - milliseconds since the epoch
 * @returns a clock that moves on request
 */
export const createVirtualClock = (startAt = 0): VirtualClock => new VirtualClock(startAt);

/** A clock that moves on request: timers run in the order of their time, and nothing waits. */
export class VirtualClock implements Clock {
  /** Timers that are set. */
  pending = 0;
  /**
   * Called before each timer is set, also before those that it sets itself: code that delays setting timers which have
   * no effect yet sets them then, and the order of timers is as if none had been delayed.
   */
  beforeTimer: (() => void) | undefined;
  readonly #heap: HeapTimer[] = [];
  #now: number;
  #wallOffset = 0;
  #order = 0;

  constructor(startAt = 0) {
    this.#now = startAt;
  }

  readonly now = (): number => this.#now;

  readonly wallNow = (): number => this.#now + this.#wallOffset;

  setTimer(at: number, run: () => void): Timer {
    this.beforeTimer?.();
    if (Number.isNaN(at)) assert(false, "a timer's instant is a number");
    const timer: HeapTimer = { at: at > this.#now ? at : this.#now, order: this.#order++, run, clock: this, cancel };
    const heap = this.#heap;
    let index = heap.length;
    heap.push(timer);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const other = heap[parent] as HeapTimer;
      // Set last, it runs after all others of its instant.
      if (timer.at >= other.at) break;
      heap[index] = other;
      index = parent;
    }
    heap[index] = timer;
    this.pending++;
    return timer;
  }

  /** Instant of the next timer, or Infinity. */
  nextAt(): number {
    const heap = this.#heap;
    while (heap.length > 0) {
      const top = heap[0] as HeapTimer;
      if (top.run !== undefined) return top.at;
      this.#pop();
    }
    return Number.POSITIVE_INFINITY;
  }

  /** Runs the next timer, if there is one at or before `limit` and before `end`; returns true if it did. */
  step(limit = Number.POSITIVE_INFINITY, end?: number): boolean {
    const heap = this.#heap;
    while (heap.length > 0) {
      const { at, run } = heap[0] as HeapTimer;
      if (run !== undefined && (at > limit || (end !== undefined && at >= end))) return false;
      const timer = this.#pop();
      if (run === undefined) continue;
      // A cancel after the run must not be counted.
      timer.run = undefined;
      this.pending--;
      this.#now = at;
      run();
      return true;
    }
    return false;
  }

  /** Moves to `at`, running every timer due on the way. */
  advanceTo(at: number): void {
    if (!(at >= this.#now)) backwards(this.#now, at);
    while (this.step(at)) {
      // every timer due on the way has run
    }
    this.#now = at;
  }

  /** Moves to `at` if no timer is due before it; returns true if it did. Timers of `at` itself stay for `step`. */
  reach(at: number): boolean {
    const heap = this.#heap;
    if (heap.length > 0 && (heap[0] as HeapTimer).at < at && this.nextAt() < at) return false;
    if (!(at >= this.#now)) backwards(this.#now, at);
    this.#now = at;
    return true;
  }

  /** Sets the calendar apart from the steady scale, as an operator or a bad time server would. */
  stepWall(byMs: number): void {
    this.#wallOffset += byMs;
  }

  #pop(): HeapTimer {
    const heap = this.#heap;
    const top = heap[0] as HeapTimer;
    const last = heap.pop() as HeapTimer;
    const size = heap.length;
    if (size === 0) return top;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= size) break;
      let other = heap[child] as HeapTimer;
      const next = heap[child + 1] as HeapTimer;
      if (child + 1 < size && (next.at < other.at || (next.at === other.at && next.order < other.order))) {
        other = next;
        child++;
      }
      if (other.at > last.at || (other.at === last.at && other.order > last.order)) break;
      heap[index] = other;
      index = child;
    }
    heap[index] = last;
    return top;
  }
}

/** A timer in the heap, and what its owner holds of it: one plain object, because a run sets millions of them. */
interface HeapTimer extends Timer {
  readonly at: number;
  readonly order: number;
  /** Undefined once it has run or was canceled. */
  run: (() => void) | undefined;
  readonly clock: { pending: number };
}

function cancel(this: HeapTimer): void {
  if (this.run === undefined) return;
  this.run = undefined;
  this.clock.pending--;
}

const backwards = (now: number, at: number): void => {
  assert(false, `the clock does not go backwards: ${now} to ${at}`);
};
