/**
 * Plays a tape on a clock: each row to the service at its instant, then to the strategies after the feed's delay.
 *
 * Invariants: timers due at or before a row run before it; deliveries keep the order of the rows and never fall in time; bars
 * built from trades close on time even when nothing is delivered.
 */
import type { VirtualClock } from "../clock/virtual-clock.ts";
import type { Tape } from "../market/tape.ts";
import type { Simulated } from "./simulated.ts";

export interface Player {
  /** Plays until `untilAt`, at most `rows` rows; true while there is more to play before `untilAt`. */
  play(untilAt: number, rows: number): boolean;
  readonly rowsApplied: number;
}

export const createPlayer = (tape: Tape, clock: VirtualClock, simulated: Simulated): Player => {
  const { series: seriesIn, row: rowIn } = tape.order;
  const times = tape.series.map(({ at }) => at);
  const { feed } = simulated;
  const due = new Float64Array(tape.length);
  let applied = 0;
  let delivered = 0;
  let lastDue = Number.NEGATIVE_INFINITY;
  const timeOf = (index: number): number => (times[seriesIn[index] as number] as Float64Array)[rowIn[index] as number] as number;

  return {
    get rowsApplied() {
      return applied;
    },
    play: (untilAt, rows) => {
      const stop = Math.min(tape.length, applied + rows);
      for (;;) {
        const rowAt = applied < tape.length ? timeOf(applied) : Number.POSITIVE_INFINITY;
        const feedAt = delivered < applied ? (due[delivered] as number) : Number.POSITIVE_INFINITY;
        const barAt = feed.nextBarAt;
        const at = Math.min(rowAt, feedAt, barAt);
        const timerAt = clock.nextAt();
        if (timerAt <= at) {
          if (timerAt > untilAt) break;
          clock.step(untilAt);
          continue;
        }
        if (at > untilAt || at === Number.POSITIVE_INFINITY) break;
        if (at === rowAt && applied === stop && applied < tape.length) return true;
        clock.advanceTo(at);
        if (at === rowAt) {
          simulated.apply(applied, at);
          lastDue = Math.max(lastDue, at + simulated.feedMs());
          due[applied++] = lastDue;
        } else if (at === barAt) feed.tick(at);
        else feed.deliver(tape, delivered++, at);
      }
      clock.advanceTo(Math.max(untilAt, clock.now()));
      return false;
    },
  };
};
