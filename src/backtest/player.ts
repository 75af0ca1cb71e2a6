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
  /**
   * Plays until `untilAt`, at most `rows` rows. True when it stopped early and has more to play: the rows were used up, or
   * `paused` said so after a step. Time moves on only with the next call.
   */
  play(untilAt: number, rows: number, paused?: () => boolean): boolean;
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
    play: (untilAt, rows, paused = never) => {
      const stop = Math.min(tape.length, applied + rows);
      for (;;) {
        const rowAt = applied < tape.length ? timeOf(applied) : Number.POSITIVE_INFINITY;
        const feedAt = delivered < applied ? (due[delivered] as number) : Number.POSITIVE_INFINITY;
        const barAt = feed.nextBarAt;
        const at = Math.min(rowAt, feedAt, barAt);
        const timerAt = clock.nextAt();
        if (Math.min(timerAt, at) > untilAt || Math.min(timerAt, at) === Number.POSITIVE_INFINITY) break;
        if (timerAt <= at) clock.step(untilAt);
        else if (at === rowAt && applied === stop) return true;
        else {
          clock.advanceTo(at);
          if (at === rowAt) {
            simulated.apply(applied, at);
            lastDue = Math.max(lastDue, at + simulated.feedMs());
            due[applied++] = lastDue;
          } else if (at === barAt) feed.tick(at);
          else feed.deliver(tape, delivered++, at);
        }
        if (paused()) return true;
      }
      clock.advanceTo(Math.max(untilAt, clock.now()));
      return false;
    },
  };
};

const never = (): boolean => false;
