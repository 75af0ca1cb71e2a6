/**
 * Plays a tape on a clock: each row to the service at its instant, then to the strategies after the feed's delay.
 *
 * Invariants: within one instant rows come first, then the bars that end, then deliveries, and timers last: requests
 * that arrive, answers, pushes of orders, what strategies wait for; deliveries keep the order of the rows and never
 * fall in time; bars built from trades close on time even when nothing is delivered; delays are drawn in the order of
 * the rows. While the service is idle its rows may reach it later than their instant, but before anything else could
 * notice.
 */
import type { VirtualClock } from "../clock/virtual-clock.ts";
import { stretch } from "../host/execution-context.ts";
import type { Route } from "../market/channel.ts";
import type { Tape } from "../market/tape/tape.ts";
import type { Simulated } from "./simulated-service.ts";

interface Player {
  /**
   * Plays until `untilAt`, at most `rows` rows. Returns true if it stopped early and has more to play, because the rows
   * were used up or a pause was requested after a step. Time advances only with the next call.
   */
  play(untilAt: number, rows: number, pause?: Pause): boolean;
  readonly rowsApplied: number;
  /** Number of rows of the tape that strategies have seen, including the one being delivered. */
  readonly rowsDelivered: number;
}

/** Read after each step. A function call would be the most expensive part of many steps. */
interface Pause {
  readonly asked: boolean;
}

const never: Pause = { asked: false };
const infinity = Number.POSITIVE_INFINITY;

export const createPlayer = (tape: Tape, clock: VirtualClock, simulated: Simulated): Player =>
  new TapePlayer(tape, clock, simulated);

class TapePlayer implements Player {
  rowsApplied = 0;
  #delivered = 0;
  readonly #tape: Tape;
  readonly #clock: VirtualClock;
  readonly #simulated: Simulated;
  readonly #routes: readonly Route[];
  readonly #times: readonly Float64Array[];
  /** Recorded instant of the row to be applied next. */
  readonly #rowAt: Float64Array;
  /** Instant at which the next row is delivered; a message does not overtake the one before it. */
  readonly #due: Float64Array;
  /** The latest instant at which something was delivered. */
  readonly #reached = new Float64Array([Number.NEGATIVE_INFINITY]);

  constructor(tape: Tape, clock: VirtualClock, simulated: Simulated) {
    this.#tape = tape;
    this.#clock = clock;
    this.#simulated = simulated;
    this.#routes = simulated.feed.routesOf(tape);
    this.#times = tape.series.map(({ at }) => at);
    this.#rowAt = new Float64Array([this.#timeOf(0)]);
    this.#due = new Float64Array([this.#timeOf(0) + simulated.feedMs()]);
  }

  get rowsDelivered(): number {
    return this.#delivered;
  }

  play(untilAt: number, rows: number, pause = never): boolean {
    const clock = this.#clock;
    const { feed } = this.#simulated;
    const stop = Math.min(this.#tape.length, this.rowsApplied + rows);
    let stopped = false;
    const pass = (): void => {
      stopped = this.#glideAll(untilAt, stop, pause) || this.#walk(untilAt, stop, pause);
    };
    for (;;) {
      const rowsAt = Math.min(this.#rowAt[0] as number, this.#due[0] as number, feed.nextBarAt);
      if (!clock.step(untilAt, rowsAt)) {
        // No timer is due before.
        if (rowsAt <= untilAt) stretch(pass);
        if (stopped) return true;
        if (!clock.step(untilAt)) break;
      }
      if (pause.asked) return true;
    }
    clock.advanceTo(Math.max(untilAt, clock.now()));
    return false;
  }

  #timeOf(index: number): number {
    const { length, order } = this.#tape;
    return index < length
      ? ((this.#times[order.series[index] as number] as Float64Array)[order.row[index] as number] as number)
      : infinity;
  }

  /** Plays up to the instant of the next timer, that instant included; true when it has to stop before. */
  #walk(untilAt: number, stop: number, pause: Pause): boolean {
    const clock = this.#clock;
    const simulated = this.#simulated;
    const { feed } = simulated;
    const due = this.#due;
    const next = this.#rowAt;
    for (;;) {
      const rowAt = next[0] as number;
      const feedAt = due[0] as number;
      const barAt = feed.nextBarAt;
      const nextAt = rowAt <= feedAt ? rowAt : feedAt;
      const at = nextAt <= barAt ? nextAt : barAt;
      if (at > untilAt || at === infinity) return false;
      if (at === rowAt && this.rowsApplied === stop) return clock.nextAt() >= at;
      if (!clock.reach(at)) return false;
      if (at === rowAt) {
        const index = this.rowsApplied++;
        next[0] = this.#timeOf(index + 1);
        simulated.apply(index, at);
      } else if (at === barAt) feed.tick(at);
      else this.#deliver(at);
      if (pause.asked) return true;
    }
  }

  #deliver(at: number): void {
    const { order } = this.#tape;
    const index = this.#delivered++;
    const next = this.#timeOf(index + 1) + this.#simulated.feedMs();
    this.#due[0] = next > at ? next : at;
    (this.#routes[order.series[index] as number] as Route).take(order.row[index] as number, at);
  }

  /** Advances while rows are quiet and no timer is due. Returns true if it was paused before the end. */
  #glideAll(untilAt: number, stop: number, pause: Pause): boolean {
    for (;;) {
      const from = this.rowsApplied;
      // A caller that plays the rows of the first instant stops among them.
      const quiet = (this.#rowAt[0] as number) > this.#tape.startAt ? this.#simulated.quietUntil(from, stop) : from;
      if (quiet === from) return false;
      if (this.#glide(untilAt, quiet, pause)) return true;
      if (this.rowsApplied < quiet || quiet === stop) return false;
    }
  }

  /**
   * Delivers up to the next timer and applies the rows up to there afterwards. Returns true if it was paused before.
   */
  #glide(untilAt: number, stop: number, pause: Pause): boolean {
    const clock = this.#clock;
    // Applying rows may start timers. These come before the timers of subscribers that get their values afterwards.
    clock.beforeTimer = this.#catchUp;
    const stopped = this.#deliverUntil(untilAt, this.#timeOf(stop), pause);
    clock.beforeTimer = undefined;
    const reachedAt = Math.min(untilAt, clock.nextAt());
    let applied = this.#happened();
    if (!stopped) while (applied < stop && this.#timeOf(applied) <= reachedAt) applied++;
    this.#applyTo(applied);
    return stopped;
  }

  readonly #catchUp = (): void => {
    this.#applyTo(this.#happened());
  };

  /** Number of rows that have happened: delivered ones, and all of the instant of a delivery. */
  #happened(): number {
    let applied = Math.max(this.rowsApplied, this.#delivered);
    while (this.#timeOf(applied) <= (this.#reached[0] as number)) applied++;
    return applied;
  }

  #applyTo(applied: number): void {
    const from = this.rowsApplied;
    if (applied === from) return;
    this.rowsApplied = applied;
    this.#rowAt[0] = this.#timeOf(applied);
    this.#simulated.applyLate(from, applied);
  }

  /**
   * Delivers what is due until `untilAt`, before `stopAt` and up to the instant of the next timer. Returns true if it
   * was paused. It contains only the loop: the function is seldom entered and runs long, and the platform optimises it
   * while it runs.
   */
  #deliverUntil(untilAt: number, stopAt: number, pause: Pause): boolean {
    const clock = this.#clock;
    const simulated = this.#simulated;
    const { feed } = simulated;
    const due = this.#due;
    const reached = this.#reached;
    const routes = this.#routes;
    const times = this.#times;
    const { length } = this.#tape;
    const { series: seriesIn, row: rowIn } = this.#tape.order;
    for (;;) {
      const feedAt = due[0] as number;
      const barAt = feed.nextBarAt;
      const at = feedAt < barAt ? feedAt : barAt;
      if (at > untilAt || at >= stopAt || at === infinity || !clock.reach(at)) return false;
      reached[0] = at;
      if (at === barAt) feed.tick(at);
      else {
        const index = this.#delivered;
        const after = index + 1;
        this.#delivered = after;
        const next =
          after < length
            ? ((times[seriesIn[after] as number] as Float64Array)[rowIn[after] as number] as number) +
              simulated.feedMs()
            : infinity;
        due[0] = next > at ? next : at;
        (routes[seriesIn[index] as number] as Route).take(rowIn[index] as number, at);
      }
      if (pause.asked) return true;
    }
  }
}
