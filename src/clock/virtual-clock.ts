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
  /** Runs the next timer, if there is one at or before `limit`; tells whether it did. */
  step(limit?: number): boolean;
  /** Sets the calendar apart from the steady scale, as an operator or a bad time server would. */
  stepWall(byMs: number): void;
  readonly pending: number;
}

interface Entry {
  at: number;
  order: number;
  run: (() => void) | undefined;
}

const before = (a: Entry, b: Entry): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);

export const createVirtualClock = (startAt = 0): VirtualClock => {
  const heap: Entry[] = [];
  let now = startAt;
  let wallOffset = 0;
  let order = 0;
  let cancelled = 0;

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
    while (heap.length > 0 && (heap[0] as Entry).run === undefined) {
      pop();
      cancelled--;
    }
  };
  const clock: VirtualClock = {
    now: () => now,
    wallNow: () => now + wallOffset,
    setTimer: (at, run): Timer => {
      assert(!Number.isNaN(at), "a timer's instant is a number");
      const entry: Entry = { at: Math.max(at, now), order: order++, run };
      siftUp(entry);
      return {
        cancel: () => {
          if (entry.run === undefined) return;
          entry.run = undefined;
          cancelled++;
        },
      };
    },
    nextAt: () => {
      dropCancelled();
      return heap.length === 0 ? Number.POSITIVE_INFINITY : (heap[0] as Entry).at;
    },
    step: (limit = Number.POSITIVE_INFINITY) => {
      if (clock.nextAt() > limit || heap.length === 0) return false;
      const entry = pop();
      const run = entry.run as () => void;
      // A cancel after the run must not be counted as a dead heap entry.
      entry.run = undefined;
      now = entry.at;
      run();
      return true;
    },
    advanceTo: (at) => {
      assert(at >= now, `the clock does not go backwards: ${now} to ${at}`);
      while (clock.step(at)) {
        // every timer due on the way has run
      }
      now = at;
    },
    stepWall: (byMs) => {
      wallOffset += byMs;
    },
    get pending() {
      return heap.length - cancelled;
    },
  };
  return clock;
};
