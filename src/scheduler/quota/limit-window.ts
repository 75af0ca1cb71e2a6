/**
 * One scope of one layer with its windows laid on the client's time: may a call leave now, and if not, when to ask again.
 *
 * Invariants: a call leaves only if it fits in every window it can land in, whatever its latency; an answer is placed by the
 * clock, then by the service's own numbers, and in every window that remains possible when neither decides.
 */

import type { LayerSpec } from "./layers.ts";
import type { ServerClock } from "./server-clock.ts";
import { WindowUsage } from "./window-usage.ts";

/** Most units that may be used, as of `at`, of a window that ends, at the latest, at client instant `endAt`. */
export type Ceiling = (endAt: number, startAt: number, at: number) => number;

export interface WindowTicket {
  readonly units: number;
  readonly first: number;
  /** Use of the first window that was beyond doubt when the call left: ours may be a lost call's, or have landed beside it. */
  readonly knownThen: number;
  /** What had been settled in it by then without the service's word: the answer's count includes it. */
  readonly unheardThen: number;
}

export interface LimitWindow {
  readonly spec: LayerSpec;
  readonly scope: string;
  /** Undefined when the call fits, otherwise the earliest instant at which more could fit. */
  blockedUntil(units: number, now: number, ceiling: Ceiling): number | undefined;
  /** Units that fit now if every window holds what `floor` says: no call of as many is blocked, unless the ceiling is lower. */
  room(now: number, floor: Ceiling): number;
  /** All units that were ever begun. */
  readonly begun: number;
  begin(units: number, now: number): WindowTicket;
  /** One more call that leaves at the same instant and of which the same is known. */
  again(ticket: WindowTicket): void;
  /**
   * Places an answered call. `used` is the service's number, if it gave one; only that of a call it `counted` tells where the
   * call landed. Returns newly seen use by others.
   */
  end(ticket: WindowTicket, sentAt: number, receivedAt: number, used: number | undefined, counted: boolean): number;
  /** The call failed unread: it may have landed in any window until now. */
  lose(ticket: WindowTicket, now: number): void;
  /** The call never left. */
  undo(ticket: WindowTicket): void;
  /** Refused or blocked: nothing more before the window after `at` has surely begun. */
  shut(at: number): number;
  /** The clock was disturbed: windows have to be named again. */
  reset(): void;
  used(now: number): number;
  /** Units of calls that are not answered yet. */
  readonly open: number;
  /** Units of the window's use that are not ours. */
  foreign(now: number): number;
  windowEndsAt(now: number): number;
}

interface Heard {
  sentAt: number;
  receivedAt: number;
  used: number;
}

const heardKept = 16;

/** Windows fixed on the service's clock. */
export class FixedWindow implements LimitWindow {
  readonly spec: LayerSpec;
  readonly scope: string;
  begun = 0;
  readonly #clock: ServerClock;
  readonly #usage = new WindowUsage();
  readonly #heard: Heard[] = [];
  #oldest = 0;

  constructor(spec: LayerSpec, scope: string, clock: ServerClock) {
    this.spec = spec;
    this.scope = scope;
    this.#clock = clock;
  }

  get open(): number {
    return this.#usage.open;
  }

  blockedUntil(units: number, now: number, ceiling: Ceiling): number | undefined {
    const clock = this.#clock;
    const usage = this.#usage;
    const { capacity, windowMs } = this.spec;
    // Whatever window it is, it cannot hold more than this.
    if (!clock.known) return usage.open + units > capacity ? now + windowMs : undefined;
    const lo = clock.lo(now);
    const first = Math.floor((now + lo) / windowMs);
    if (first <= usage.closedThrough) return (usage.closedThrough + 1) * windowMs - lo;
    const last = Math.max(Math.floor((now + clock.hi(now)) / windowMs), Math.min(usage.newest, first + 2));
    for (let index = first; index <= last; index++) {
      const startAt = index * windowMs - lo;
      if (usage.used(index) + units > ceiling(startAt + windowMs, startAt, now)) return startAt + windowMs;
    }
    // A window not begun yet holds what is in flight already; it must hold this call as well.
    return usage.open + units > capacity ? now + windowMs : undefined;
  }

  room(now: number, floor: Ceiling): number {
    const clock = this.#clock;
    const usage = this.#usage;
    const { capacity, windowMs } = this.spec;
    let room = capacity - usage.open;
    if (!clock.known) return room;
    const lo = clock.lo(now);
    const first = Math.floor((now + lo) / windowMs);
    if (first <= usage.closedThrough) return 0;
    const last = Math.max(Math.floor((now + clock.hi(now)) / windowMs), Math.min(usage.newest, first + 2));
    for (let index = first; index <= last; index++) {
      const startAt = index * windowMs - lo;
      room = Math.min(room, floor(startAt + windowMs, startAt, now) - usage.used(index));
    }
    return room;
  }

  begin(units: number, now: number): WindowTicket {
    this.begun += units;
    const clock = this.#clock;
    const first = clock.known ? Math.floor((now + clock.lo(now)) / this.spec.windowMs) : 0;
    const { reported, unheard } = this.#usage.begin(first, units);
    return { units, first, knownThen: reported, unheardThen: unheard };
  }

  again({ units, first }: WindowTicket): void {
    this.begun += units;
    this.#usage.begin(first, units);
  }

  end(ticket: WindowTicket, sentAt: number, receivedAt: number, used: number | undefined, counted: boolean): number {
    if (used !== undefined && counted) this.#learnBoundary(sentAt, receivedAt, used);
    const clock = this.#clock;
    const usage = this.#usage;
    const { units, first: began } = ticket;
    const { windowMs } = this.spec;
    let first = Math.max(began, clock.known ? Math.floor((sentAt + clock.lo(sentAt)) / windowMs) : 0);
    let last = clock.known ? Math.max(first, Math.floor((receivedAt + clock.hi(receivedAt)) / windowMs)) : first;
    if (used !== undefined && counted && first < last) {
      // In the window it was sent in, the count could only have grown by this call.
      if (used < ticket.knownThen + units) first++;
      else if (last === first + 1 && used > usage.used(last) + units) last = first;
    }
    const told = used !== undefined && first === last;
    usage.end(began, first, last, units, told);
    return told ? usage.report(first, used, first === began ? ticket.unheardThen : 0) : 0;
  }

  lose({ units, first }: WindowTicket, now: number): void {
    this.#usage.end(first, first, this.#clock.known ? Math.max(first, this.#latest(now)) : first, units);
  }

  undo({ units, first }: WindowTicket): void {
    this.#usage.undo(first, units);
  }

  shut(at: number): number {
    const usage = this.#usage;
    usage.closedThrough = Math.max(usage.closedThrough, this.#latest(at) + Math.ceil(this.spec.banMs / this.spec.windowMs));
    return this.#gate(usage.closedThrough + 1, at);
  }

  reset(): void {
    this.#usage.reset();
    this.#heard.length = 0;
    this.#oldest = 0;
  }

  used(now: number): number {
    return this.#usage.used(this.#clock.known ? this.#latest(now) : 0);
  }

  foreign(now: number): number {
    return this.#usage.seesOthers ? this.#usage.foreign(this.#clock.known ? this.#latest(now) : 0) : 0;
  }

  windowEndsAt(now: number): number {
    return this.#clock.known ? this.#gate(this.#latest(now) + 1, now) : now;
  }

  #latest(at: number): number {
    return Math.floor((at + this.#clock.hi(at)) / this.spec.windowMs);
  }

  /** First instant from which a call surely lands in window `index` or later. */
  #gate(index: number, at: number): number {
    return index * this.spec.windowMs - this.#clock.lo(at);
  }

  #learnBoundary(sentAt: number, receivedAt: number, used: number): void {
    const heard = this.#heard;
    let after = Number.NEGATIVE_INFINITY;
    for (let index = 0; index < heard.length; index++) {
      const other = heard[index] as Heard;
      // Sent after the other's answer was in, and yet the count did not rise: a window began in between.
      if (other.receivedAt < sentAt && other.used >= used && other.sentAt > after) after = other.sentAt;
    }
    const { windowMs } = this.spec;
    if (receivedAt - after < windowMs * 0.9) this.#clock.observeBoundary(after, receivedAt, windowMs);
    const oldest = heard[this.#oldest];
    if (oldest === undefined) heard[this.#oldest] = { sentAt, receivedAt, used };
    else {
      oldest.sentAt = sentAt;
      oldest.receivedAt = receivedAt;
      oldest.used = used;
    }
    this.#oldest = (this.#oldest + 1) % heardKept;
  }
}
