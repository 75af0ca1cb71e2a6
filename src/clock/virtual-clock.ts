/**
 * Time that moves when told: a heap of timers and a hand to turn it.
 *
 * Invariants: timers run in (instant, order set); a timer set by a timer runs at its own instant, not at the end of the step;
 * `now` during a timer is that timer's instant.
 */
import { assert } from "../errors.ts";
import type { Clock, Timer } from "./clock.ts";

export interface VirtualClock extends Clock {
  /** Instant of the next timer, or Infinity. */
  nextAt(): number;
  /** Moves to `at`, running every timer due on the way. */
  advanceTo(at: number): void;
  /** Moves to `at` if no timer is due before it; tells whether it did. Timers of `at` itself stay for `step`. */
  reach(at: number): boolean;
  /** Runs the next timer, if there is one at or before `limit`; tells whether it did. */
  step(limit?: number): boolean;
  /** Sets the calendar apart from the steady scale, as an operator or a bad time server would. */
  stepWall(byMs: number): void;
  readonly pending: number;
}

/** A timer in the heap, and what its owner holds of it: one object, because a run sets millions of them. */
class Entry implements Timer {
  readonly at: number;
  readonly order: number;
  /** Undefined once it has run or was cancelled. */
  run: (() => void) | undefined;
  readonly #clock: { pending: number };

  constructor(at: number, order: number, run: () => void, clock: { pending: number }) {
    this.at = at;
    this.order = order;
    this.run = run;
    this.#clock = clock;
  }

  cancel(): void {
    if (this.run === undefined) return;
    this.run = undefined;
    this.#clock.pending--;
  }
}

const before = (a: Entry, b: Entry): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);

export const createVirtualClock = (startAt = 0): VirtualClock => {
  const heap: Entry[] = [];
  // In a column of one, because a number kept by a closure is allocated anew with every change.
  const instant = new Float64Array([startAt]);
  let wallOffset = 0;
  let order = 0;

  const siftUp = (entry: Entry): void => {
    let index = heap.length;
    heap.push(entry);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const other = heap[parent] as Entry;
      if (!before(entry, other)) break;
      heap[index] = other;
      index = parent;
    }
    heap[index] = entry;
  };
  const pop = (): Entry => {
    const top = heap[0] as Entry;
    const last = heap.pop() as Entry;
    const size = heap.length;
    if (size > 0) {
      let index = 0;
      for (;;) {
        let child = 2 * index + 1;
        if (child >= size) break;
        if (child + 1 < size && before(heap[child + 1] as Entry, heap[child] as Entry)) child++;
        const other = heap[child] as Entry;
        if (!before(other, last)) break;
        heap[index] = other;
        index = child;
      }
      heap[index] = last;
    }
    return top;
  };
  const dropCancelled = (): void => {
    while (heap.length > 0 && (heap[0] as Entry).run === undefined) pop();
  };
  // Without getters: each would give every clock a shape of its own, and the player's loop one more to tell apart.
  const clock: { -readonly [K in keyof VirtualClock]: VirtualClock[K] } = {
    pending: 0,
    now: () => instant[0] as number,
    wallNow: () => clock.now() + wallOffset,
    setTimer: (at, run): Timer => {
      assert(!Number.isNaN(at), "a timer's instant is a number");
      const entry = new Entry(Math.max(at, clock.now()), order++, run, clock);
      siftUp(entry);
      clock.pending++;
      return entry;
    },
    nextAt: () => {
      dropCancelled();
      return heap.length === 0 ? Number.POSITIVE_INFINITY : (heap[0] as Entry).at;
    },
    step: (limit = Number.POSITIVE_INFINITY) => {
      if (clock.nextAt() > limit || heap.length === 0) return false;
      const entry = pop();
      const run = entry.run as () => void;
      // A cancel after the run must not be counted.
      entry.run = undefined;
      clock.pending--;
      instant[0] = entry.at;
      run();
      return true;
    },
    advanceTo: (at) => {
      if (!(at >= clock.now())) backwards(clock.now(), at);
      while (heap.length > 0 && clock.step(at)) {
        // every timer due on the way has run
      }
      instant[0] = at;
    },
    reach: (at) => {
      if (heap.length > 0 && (heap[0] as Entry).at < at && clock.nextAt() < at) return false;
      // Asked first, because spelling the two instants costs more than moving.
      if (!(at >= (instant[0] as number))) backwards(instant[0] as number, at);
      instant[0] = at;
      return true;
    },
    stepWall: (byMs) => {
      wallOffset += byMs;
    },
  };
  return clock;
};

const backwards = (now: number, at: number): void => {
  assert(false, `the clock does not go backwards: ${now} to ${at}`);
};
