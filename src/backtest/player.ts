/**
 * Plays a tape on a clock: each row to the service at its instant, then to the strategies after the feed's delay.
 *
 * Invariants: timers due at or before a row run before it; deliveries keep the order of the rows and never fall in time; bars
 * built from trades close on time even when nothing is delivered; delays are drawn in the order of the rows. While the service
 * is idle its rows may reach it later than their instant, but before anything else could notice.
 */
import type { VirtualClock } from "../clock/virtual-clock.ts";
import { stretch } from "../host/engine-time.ts";
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

const never = (): boolean => false;
const infinity = Number.POSITIVE_INFINITY;

export const createPlayer = (tape: Tape, clock: VirtualClock, simulated: Simulated): Player => {
  const { series: seriesIn, row: rowIn } = tape.order;
  const { length } = tape;
  const times = tape.series.map(({ at }) => at);
  const { feed } = simulated;
  let applied = 0;
  let delivered = 0;
  const timeOf = (index: number): number =>
    index < length ? ((times[seriesIn[index] as number] as Float64Array)[rowIn[index] as number] as number) : infinity;
  /** When the row to be delivered next is due; a message does not overtake the one before it. */
  const due = new Float64Array([timeOf(0) + simulated.feedMs()]);
  const deliver = (at: number): number => {
    const index = delivered++;
    const next = timeOf(delivered) + simulated.feedMs();
    const nextAt = next > at ? next : at;
    due[0] = nextAt;
    feed.deliver(tape, index, at);
    return nextAt;
  };

  /** Plays up to the next timer; true when it has to stop before. Instants are local, where they are not boxed. */
  const walk = (untilAt: number, stop: number, paused: () => boolean): boolean => {
    let rowAt = timeOf(applied);
    let feedAt = due[0] as number;
    for (;;) {
      const barAt = feed.nextBarAt;
      const nextAt = rowAt <= feedAt ? rowAt : feedAt;
      const at = nextAt <= barAt ? nextAt : barAt;
      if (at > untilAt || at === infinity || clock.nextAt() <= at) return false;
      if (at === rowAt && applied === stop) return true;
      clock.advanceTo(at);
      if (at === rowAt) {
        simulated.apply(applied++, at);
        rowAt = timeOf(applied);
      } else if (at === barAt) feed.tick(at);
      else feedAt = deliver(at);
      if (paused()) return true;
    }
  };

  /** Delivers up to the next timer and applies the rows up to there afterwards; true when it was paused before. */
  const glide = (untilAt: number, stop: number, paused: () => boolean): boolean => {
    const stopAt = timeOf(stop);
    let feedAt = due[0] as number;
    let reachedAt = Number.NEGATIVE_INFINITY;
    let stopped = false;
    while (!stopped) {
      const barAt = feed.nextBarAt;
      const at = feedAt < barAt ? feedAt : barAt;
      if (at > untilAt || at >= stopAt || at === infinity || clock.nextAt() <= at) break;
      clock.advanceTo(at);
      if (at === barAt) feed.tick(at);
      else feedAt = deliver(at);
      reachedAt = at;
      stopped = paused();
    }
    const from = applied;
    const timerAt = clock.nextAt();
    // What was delivered has happened, and so has everything of the instant of a delivery.
    applied = Math.max(applied, delivered);
    while (timeOf(applied) <= reachedAt) applied++;
    if (!stopped) while (applied < stop && timeOf(applied) <= untilAt && timeOf(applied) < timerAt) applied++;
    simulated.applyLate(from, applied);
    return stopped;
  };

  return {
    get rowsApplied() {
      return applied;
    },
    play: (untilAt, rows, paused = never) => {
      const stop = Math.min(length, applied + rows);
      let stopped = false;
      const pass = (): void => {
        // Whoever plays the rows of the first instant wants to stop among them.
        const late = simulated.idle() && timeOf(applied) > tape.startAt;
        stopped = (late && glide(untilAt, stop, paused)) || walk(untilAt, stop, paused);
      };
      for (;;) {
        if (Math.min(timeOf(applied), due[0] as number, feed.nextBarAt) < clock.nextAt()) stretch(pass);
        if (stopped) return true;
        if (!clock.step(untilAt)) break;
        if (paused()) return true;
      }
      clock.advanceTo(Math.max(untilAt, clock.now()));
      return false;
    },
  };
};
