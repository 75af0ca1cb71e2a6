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
import type { Tape } from "../market/tape.ts";
import type { Simulated } from "./simulated.ts";

export interface LivePlayer {
  readonly start: () => void;
  readonly stop: () => void;
}

export const createLivePlayer = (tape: Tape, simulated: Simulated, shiftMs: number): LivePlayer => {
  const { clock, feed } = simulated;
  const { series: seriesIn, row: rowIn } = tape.order;
  const waiting = new Set<Timer>();
  let next = 0;
  let lastDue = Number.NEGATIVE_INFINITY;
  let barAt = Number.POSITIVE_INFINITY;
  let stopped = false;

  const timeOf = (index: number): number =>
    ((tape.series[seriesIn[index] as number] as { at: Float64Array }).at[rowIn[index] as number] as number) + shiftMs;
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
  const deliver = (index: number): void => {
    feed.deliver(tape, index, clock.now());
    closeBars();
  };
  const step = (): void => {
    const now = clock.now();
    const first = next;
    for (; next < tape.length && timeOf(next) <= now; next++) {
      const index = next;
      lastDue = Math.max(lastDue, now + simulated.feedMs());
      later(lastDue, () => {
        deliver(index);
      });
    }
    // Afterwards, because of timers of one instant the one that was set first runs first: what a row causes is told after the row.
    for (let index = first; index < next && !stopped; index++) simulated.apply(index, now);
    if (stopped) return;
    if (next < tape.length) later(timeOf(next), step);
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
