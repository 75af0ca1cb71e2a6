/**
 * Plays a tape on a clock that moves by itself: each row to the service at its instant, then to the strategies after the feed's
 * delay.
 *
 * Invariants: one timer waits for the next row; deliveries keep the order of the rows, and those of an instant come before the order
 * updates its rows caused that are due with them; bars built from trades close on time even when nothing is delivered; after `stop`
 * nothing is played and no timer is left.
 * Not here: a clock that is moved (player.ts).
 */
import type { Timer } from "../clock/clock.ts";
import type { Tape } from "../market/tape/tape.ts";
import type { Simulated } from "./simulated-service.ts";

export interface PaperPlayer {
  readonly start: () => void;
  readonly stop: () => void;
}

/** What comes after a tape, of the same products and kinds of rows; undefined at the end. */
export interface More {
  (): Tape | undefined;
  /** Called whenever rows were played, to make a little of it ahead. */
  readonly prepare?: () => void;
}

export const createPaperPlayer = (first: Tape, simulated: Simulated, shiftMs: number, more: More = () => undefined): PaperPlayer => {
  const { clock, feed } = simulated;
  const waiting = new Set<Timer>();
  let tape = first;
  let next = 0;
  let lastDue = Number.NEGATIVE_INFINITY;
  let barAt = Number.POSITIVE_INFINITY;
  let stopped = false;

  const timeOf = (index: number): number => {
    const { series, row } = tape.order;
    return ((tape.series[series[index] as number] as { at: Float64Array }).at[row[index] as number] as number) + shiftMs;
  };
  const later = (at: number, run: () => void): void => {
    const timer = clock.setTimer(at, () => {
      waiting.delete(timer);
      run();
    });
    waiting.add(timer);
  };
  const closeBars = (): void => {
    if (feed.nextBarAt === barAt || feed.nextBarAt === Number.POSITIVE_INFINITY) return;
    barAt = feed.nextBarAt;
    later(barAt, () => {
      feed.tick(clock.now());
      closeBars();
    });
  };
  const deliver = (from: Tape, index: number): void => {
    feed.deliver(from, index, clock.now());
    closeBars();
  };
  const playTo = (now: number): void => {
    const from = tape;
    const begin = next;
    for (; next < tape.length && timeOf(next) <= now; next++) {
      const index = next;
      lastDue = Math.max(lastDue, now + simulated.feedMs());
      later(lastDue, () => {
        deliver(from, index);
      });
    }
    // Afterwards, because of timers of one instant the one that was set first runs first: what a row causes is told after the row.
    for (let index = begin; index < next && !stopped; index++) simulated.apply(index, now);
  };
  /** Goes on with what comes after a tape that was played; true when there is nothing. */
  const isOver = (): boolean => {
    while (next === tape.length) {
      const following = more();
      if (following === undefined) return true;
      tape = following;
      next = 0;
      simulated.follow(tape);
    }
    return false;
  };
  const step = (): void => {
    const now = clock.now();
    playTo(now);
    while (!stopped && !isOver() && timeOf(next) <= now) playTo(now);
    if (stopped) return;
    more.prepare?.();
    if (!isOver()) later(timeOf(next), step);
    else {
      later(lastDue, () => {
        feed.complete();
      });
    }
  };
  return {
    start: step,
    stop: () => {
      stopped = true;
      for (const timer of waiting) timer.cancel();
      waiting.clear();
    },
  };
};
