/**
 * Plays a tape on a clock that moves by itself: each row to the service at its instant, then to the strategies after
 * the feed's delay.
 *
 * Invariants: one timer waits for the next row; deliveries keep the order of the rows, and those of an instant come
 * before the order updates its rows caused that are due with them; bars built from trades close on time even when
 * nothing is delivered; after `stop` nothing is played and no timer is left.
 * Not here: a clock that is moved (player.ts).
 */
import type { ServiceEnv } from "../client/service-port.ts";
import type { Clock, Timer } from "../clock/clock.ts";
import { type Tape, timeAt } from "../market/tape/tape.ts";
import type { OpenPaper } from "./paper-account.ts";
import { createSimulated, type Simulated, type SimulatedOptions } from "./simulated-service.ts";

/** Continuation of a tape, with the same instruments and kinds of rows; undefined at the end. */
export interface More {
  (): Tape | undefined;
  /** Called whenever rows were played, to create some of the following rows in advance. */
  readonly prepare?: () => void;
}

/** The market begins when the engine has read the service's state. */
const leadMs = 1_500;

/** The embedded service on a tape that plays from now on, and on what comes after it. */
export const openPlayed = (
  tape: Tape,
  more: More,
  options: SimulatedOptions,
  env: ServiceEnv,
  clock: Clock,
): OpenPaper => {
  const shiftMs = clock.now() + leadMs - tape.startAt;
  const simulated = createSimulated(tape, clock, options, env, shiftMs);
  const player = new PaperPlayer(tape, simulated, shiftMs, more);
  const stop = (): void => {
    player.stop();
    simulated.stopFunding();
  };
  const embedded = { venue: simulated.venue, instruments: tape.instruments };
  return { ...simulated, embedded: () => embedded, start: () => player.start(), stop };
};

export class PaperPlayer {
  readonly #simulated: Simulated;
  readonly #shiftMs: number;
  readonly #more: More;
  readonly #waiting = new Set<Timer>();
  #tape: Tape;
  #next = 0;
  #lastDue = Number.NEGATIVE_INFINITY;
  /** Instant of the timer for bars. */
  #barAt = Number.POSITIVE_INFINITY;
  #stopped = false;

  /** `shiftMs` is added to recorded instants. */
  constructor(first: Tape, simulated: Simulated, shiftMs: number, more: More = () => undefined) {
    this.#tape = first;
    this.#simulated = simulated;
    this.#shiftMs = shiftMs;
    this.#more = more;
  }

  start(): void {
    this.#step();
  }

  /** Plays rows that have just happened, of the same products and series as the tape before. */
  push(rows: Tape): void {
    if (this.#stopped) return;
    this.#tape = rows;
    this.#next = 0;
    this.#simulated.follow(rows);
    this.#playTo(this.#simulated.clock.now());
  }

  stop(): void {
    this.#stopped = true;
    for (const timer of this.#waiting) timer.cancel();
    this.#waiting.clear();
  }

  #step(): void {
    const now = this.#simulated.clock.now();
    this.#playTo(now);
    while (!this.#stopped && !this.#isOver() && this.#timeOf(this.#next) <= now) this.#playTo(now);
    if (this.#stopped) return;
    this.#more.prepare?.();
    if (this.#isOver()) this.#later(this.#lastDue, () => this.#simulated.feed.complete());
    else this.#later(this.#timeOf(this.#next), () => this.#step());
  }

  #playTo(now: number): void {
    const tape = this.#tape;
    const begin = this.#next;
    for (; this.#next < tape.length && this.#timeOf(this.#next) <= now; this.#next++) {
      const index = this.#next;
      this.#lastDue = Math.max(this.#lastDue, now + this.#simulated.feedMs());
      this.#later(this.#lastDue, () => {
        this.#simulated.feed.deliver(tape, index, this.#simulated.clock.now());
        this.#closeBars();
      });
    }
    // Afterwards, because of timers of one instant the one that was set first runs first: what a row causes is
    // delivered after the row.
    for (let index = begin; index < this.#next && !this.#stopped; index++) this.#simulated.apply(index, now);
  }

  /** Continues with the tape that follows one that was played. Returns true when there is none. */
  #isOver(): boolean {
    while (this.#next === this.#tape.length) {
      const following = this.#more();
      if (following === undefined) return true;
      this.#tape = following;
      this.#next = 0;
      this.#simulated.follow(following);
    }
    return false;
  }

  #closeBars(): void {
    const { feed, clock } = this.#simulated;
    if (feed.nextBarAt === this.#barAt || feed.nextBarAt === Number.POSITIVE_INFINITY) return;
    this.#barAt = feed.nextBarAt;
    this.#later(this.#barAt, () => {
      feed.tick(clock.now());
      this.#closeBars();
    });
  }

  #timeOf(index: number): number {
    return timeAt(this.#tape, index) + this.#shiftMs;
  }

  #later(at: number, run: () => void): void {
    const timer = this.#simulated.clock.setTimer(at, () => {
      this.#waiting.delete(timer);
      run();
    });
    this.#waiting.add(timer);
  }
}
