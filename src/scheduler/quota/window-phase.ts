/**
 * Where the windows of one scope of one layer begin, on the client's time: as an interval that evidence narrows and revises.
 *
 * A window `index` begins when `at + phi` reaches `index * windowMs`; `lo` and `hi` bound `phi`. The service's calendar is a first
 * guess. A count that fell proves that a window began; as soon as one did, the scope goes by its own counts, and by the
 * calendar only as long as the two have never disagreed. While nothing tells, one window is taken to run on.
 *
 * Invariants: the number of the window that runs never falls; what one scope was told changes no other's windows.
 * Not here: what is spent (window-usage.ts), which answers prove something (limit-window.ts).
 */
import type { ServerClock } from "./server-clock.ts";

interface Interval {
  lo: number;
  hi: number;
  asOf: number;
}

/** A window that runs until a count falls. */
interface OpenEnded {
  readonly index: number;
  readonly since: number;
}

/** Our clock may be turned by 500 parts per million by a time daemon, besides being off by as much as a crystal is. */
const driftPpmOwn = 650;
/** A fall seen across a longer silence may be of more than one window. */
const spanShare = 0.9;
/** Where falls alone say as much, the calendar cannot be far off. */
const narrowMs = 100;
/** Nor where so many windows began when it said. */
const proofsSure = 4;

export class WindowPhase {
  /** Windows seen to begin, one after the other, where they were expected. */
  proofs = 0;
  readonly #windowMs: number;
  readonly #calendar: ServerClock;
  readonly #drift = driftPpmOwn / 1e6;
  #own: Interval | undefined;
  #openEnded: OpenEnded | undefined;
  /** The last window that was seen to begin. */
  #named: number | undefined;
  #trustsCalendar = true;
  #conflictsThen = 0;
  // Many questions are asked of one instant.
  #at = Number.NaN;
  #lo = 0;
  #hi = 0;

  constructor(windowMs: number, calendar: ServerClock) {
    this.#windowMs = windowMs;
    this.#calendar = calendar;
  }

  get known(): boolean {
    return this.#own !== undefined || this.#openEnded !== undefined || this.#calendar.known;
  }

  /** Since when one window has been taken to run on, and which; undefined while it is known where windows begin. */
  get openEnded(): OpenEnded | undefined {
    return this.#openEnded;
  }

  lo(at: number): number {
    this.#look(at);
    return this.#lo;
  }

  hi(at: number): number {
    this.#look(at);
    return this.#hi;
  }

  /** The earliest window a call that leaves at `at` can land in; 0 before anything was told. */
  first(at: number): number {
    return this.#openEnded?.index ?? (this.known ? Math.floor((at + this.lo(at)) / this.#windowMs) : 0);
  }

  /** The latest window that can run at `at`. */
  last(at: number): number {
    return this.#openEnded?.index ?? (this.known ? Math.floor((at + this.hi(at)) / this.#windowMs) : 0);
  }

  /** Falls by themselves, without the calendar, say about as well that a call that leaves at `at` lands in `index` or later. */
  proves(index: number, at: number): boolean {
    const own = this.#own;
    if (own === undefined) return false;
    if (this.#trustsCalendar && this.proofs >= proofsSure) return true;
    const drifted = this.#drift * Math.abs(at - own.asOf);
    return own.hi - own.lo + 2 * drifted < narrowMs || Math.floor((at + own.lo - drifted) / this.#windowMs) >= index;
  }

  /** The first instant from which a call surely lands in `index` or later, as far as `at` tells. */
  begins(index: number, at: number): number {
    if (this.#openEnded === undefined) return index * this.#windowMs - this.lo(at);
    return this.#openEnded.since + (index - this.#openEnded.index) * this.#windowMs;
  }

  /** How far the earliest and the latest possible instant of a beginning are apart. */
  widthMs(at: number): number {
    return this.#openEnded === undefined ? this.hi(at) - this.lo(at) : 0;
  }

  /**
   * A count fell between a call sent at `afterAt`, which landed in one of `from..to`, and an answer read at `byAt`. Returns false
   * when this contradicts what was taken for certain.
   */
  fell(afterAt: number, byAt: number, from: number, to: number): boolean {
    const { index } = this.#openEnded ?? {};
    if (byAt - afterAt >= this.#windowMs * spanShare) {
      if (index !== undefined) this.runOn(index + 1, byAt);
      return true;
    }
    if (index !== undefined) {
      this.#begin(index + 1, afterAt, byAt);
      return true;
    }
    let named: number | undefined;
    for (let next = from + 1; next <= to + 1; next++) {
      if (!this.#mayBegin(next, afterAt, byAt)) continue;
      // Of two that can be meant neither is taken: guessing has cost whole windows.
      if (named !== undefined) return true;
      named = next;
    }
    if (named !== undefined) {
      this.#narrow(named, afterAt, byAt);
      return true;
    }
    this.#begin(Math.max(to + 1, this.first(byAt)), afterAt, byAt);
    return false;
  }

  /** From `at` on window `index` runs until a count falls: what was thought of its end is no longer believed. */
  runOn(index: number, at: number): void {
    this.#openEnded = { index, since: at };
    this.#own = undefined;
    this.proofs = 0;
    this.#trustsCalendar = false;
    this.#at = Number.NaN;
  }

  /** Our clock was disturbed: nothing learned before holds. */
  forget(): void {
    this.#own = undefined;
    this.#openEnded = undefined;
    this.proofs = 0;
    this.#trustsCalendar = true;
    this.#at = Number.NaN;
  }

  #begin(index: number, afterAt: number, byAt: number): void {
    const { lo, hi } = this.#proven(index, afterAt, byAt);
    this.#own = { lo, hi, asOf: byAt };
    this.#openEnded = undefined;
    this.#trustsCalendar = false;
    this.proofs = 1;
    this.#named = index;
    this.#at = Number.NaN;
  }

  #mayBegin(index: number, afterAt: number, byAt: number): boolean {
    const { lo, hi } = this.#proven(index, afterAt, byAt);
    return lo <= this.hi(byAt) && hi >= this.lo(byAt);
  }

  #narrow(index: number, afterAt: number, byAt: number): void {
    const proven = this.#proven(index, afterAt, byAt);
    const own = this.#own;
    if (index !== this.#named) this.proofs++;
    this.#named = index;
    this.#at = Number.NaN;
    if (own === undefined) {
      this.#conflictsThen = this.#calendar.conflicts;
      this.#own = { ...proven, asOf: byAt };
      return;
    }
    const drifted = this.#drift * Math.abs(byAt - own.asOf);
    const lo = Math.max(own.lo - drifted, proven.lo);
    const hi = Math.min(own.hi + drifted, proven.hi);
    // The calendar alone made it look possible.
    if (lo > hi) {
      this.#own = { ...proven, asOf: byAt };
      return;
    }
    own.lo = lo;
    own.hi = hi;
    own.asOf = byAt;
  }

  #proven(index: number, afterAt: number, byAt: number): { readonly lo: number; readonly hi: number } {
    const beginsAt = index * this.#windowMs;
    return { lo: beginsAt - byAt, hi: beginsAt - afterAt + this.#drift * (byAt - afterAt) };
  }

  #distrust(): void {
    this.#trustsCalendar = false;
    this.#at = Number.NaN;
  }

  #look(at: number): void {
    const calendar = this.#calendar;
    const own = this.#own;
    if (own === undefined) {
      this.#lo = calendar.lo(at);
      this.#hi = calendar.hi(at);
      return;
    }
    if (this.#trustsCalendar && calendar.conflicts !== this.#conflictsThen) this.#distrust();
    if (at === this.#at && !this.#trustsCalendar) return;
    const drifted = this.#drift * Math.abs(at - own.asOf);
    this.#at = at;
    this.#lo = own.lo - drifted;
    this.#hi = own.hi + drifted;
    if (!this.#trustsCalendar || !calendar.known) return;
    const lo = calendar.lo(at);
    const hi = calendar.hi(at);
    if (lo > this.#hi || hi < this.#lo) {
      this.#distrust();
      return;
    }
    this.#lo = Math.max(this.#lo, lo);
    this.#hi = Math.min(this.#hi, hi);
  }
}
