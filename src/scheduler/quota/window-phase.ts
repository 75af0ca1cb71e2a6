/**
 * Phase of the windows of one layer and scope on the client's time, as an interval that evidence narrows and revises.
 *
 * A window `index` begins when `at + phi` reaches `index * windowMs`; `lo` and `hi` bound `phi`. The service's calendar
 * is a first guess. A count that fell proves that a window began; after that the scope follows its own counts, and the
 * calendar only as long as the two have never disagreed. Without evidence one window is assumed to continue. A refusal
 * at a beginning proves that windows may begin later, so each is then entered later by that much.
 *
 * Invariants: the number of the current window never falls; evidence about one scope changes no other scope's windows.
 * Needed by: `anchor-odd-key`, `drift-key`, `date-steps`; late beginnings by `late-minutes`, taken back by
 * `limits-move-key`.
 * Not here: use (window-usage.ts), how long windows last (window-length.ts), which answers are evidence
 * (count-evidence.ts).
 */
import { isLong } from "./layers.ts";
import type { ServerClock } from "./server-clock.ts";
import { lengthError, WindowLength } from "./window-length.ts";

interface Interval {
  lo: number;
  hi: number;
  asOf: number;
}

/** Bounds of the phase at one instant. */
interface PhaseBounds {
  at: number;
  /** True if windows have numbers: there is evidence of their beginning, or one is assumed to run on. */
  known: boolean;
  lo: number;
  hi: number;
  /**
   * The earliest window in which a call that leaves then can land, and the latest that can be open; 0 before any
   * evidence.
   */
  first: number;
  last: number;
}

/** A window that continues until a count falls. */
export interface OpenEnded {
  readonly index: number;
  readonly since: number;
}

/** Delay of beginnings. */
interface Lateness {
  readonly ms: number;
  /** Instant until which it applies. */
  readonly until: number;
  /** Time for which the next one will apply. */
  readonly keptMs: number;
}

/** A fall seen across a longer silence may involve more than one window. */
const spanShare = 0.9;
/** If falls alone bound a beginning to this width, the calendar is nearly right. */
const narrowMs = 100;
/** Distance from the expected instant, in parts of a window, within which a beginning needs no confirmation. */
const nearShare = 0.05;
/**
 * Falls this part of a window apart, or more, do not show which window began: the calendar is a better guess.
 */
const lostShare = 0.9;
/**
 * Delay, in parts of a window's length, with which windows are entered after a refusal at a beginning, and its maximum.
 */
const lateShare = 1 / 60;
const lateShareMost = 1 / 20;
const lateKeptMs = 3_600_000;
const longerEachTime = 4;
/** The same after this many windows that began when the calendar predicted. */
const proofsSure = 4;

export class WindowPhase {
  /** Number of windows in a row that were seen to begin where they were expected. */
  proofs = 0;
  /** The window that is assumed to continue, and since when; undefined while it is known where windows begin. */
  openEnded: OpenEnded | undefined;
  readonly calendar: ServerClock;
  readonly #windowMs: number;
  readonly #length: WindowLength;
  #own: Interval | undefined;
  /** The last window that was seen to begin. */
  #named: number | undefined;
  #trustsCalendar = true;
  #conflictsThen = 0;
  /** Delay with which windows may begin, known from refusals at beginnings. */
  #late: Lateness = { ms: 0, until: Number.NEGATIVE_INFINITY, keptMs: lateKeptMs };
  /** The delay before the last refusal. */
  #lateBefore = this.#late;
  /**
   * Bounds at the instant asked for last, because one instant is asked for many times. They are valid until the
   * calendar or this scope learns something.
   */
  readonly kept: PhaseBounds = { at: Number.NaN, known: false, lo: 0, hi: 0, first: 0, last: 0 };
  /** Revision of the calendar for which they are valid. */
  revision = 0;

  constructor(windowMs: number, calendar: ServerClock, length = new WindowLength(windowMs)) {
    this.#windowMs = windowMs;
    this.calendar = calendar;
    this.#length = length;
  }

  /** Returns true if it is known at `at` where windows begin, or one is assumed to continue. */
  isKnown(at: number): boolean {
    if (this.calendar.known || this.openEnded !== undefined) return true;
    return this.#own !== undefined && !this.#isLost(this.#own, at);
  }

  /** Returns the bounds at `at`; valid until the next call. */
  at(at: number): Readonly<PhaseBounds> {
    const bounds = this.kept;
    if (bounds.at === at && this.revision === this.calendar.revision) return bounds;
    bounds.at = at;
    this.revision = this.calendar.revision;
    this.#locate(at, bounds);
    this.#number(at, bounds);
    return bounds;
  }

  /** Writes the bounds of beginnings: from own evidence and the calendar, or from the only one of them that exists. */
  #locate(at: number, bounds: PhaseBounds): void {
    const own = this.#own;
    const { calendar } = this;
    if (own === undefined || (calendar.known && this.#isLost(own, at))) {
      const { lo, hi } = this.#calendarAt(at);
      bounds.lo = lo - this.#lateMsAt(at);
      bounds.hi = hi;
      return;
    }
    bounds.lo = own.lo - this.#length.lowered(at - own.asOf);
    bounds.hi = own.hi + this.#length.raised(at - own.asOf);
    if (calendar.conflicts !== this.#conflictsThen) this.#trustsCalendar = false;
    if (this.#trustsCalendar && calendar.known) this.#narrowByCalendar(at, bounds);
    bounds.lo -= this.#lateMsAt(at);
  }

  #narrowByCalendar(at: number, bounds: PhaseBounds): void {
    const { lo, hi } = this.#calendarAt(at);
    if (lo > bounds.hi || hi < bounds.lo) {
      this.#trustsCalendar = false;
      return;
    }
    bounds.lo = Math.max(bounds.lo, lo);
    bounds.hi = Math.min(bounds.hi, hi);
  }

  /** Most instants were asked for by the windows of another layer immediately before. */
  #calendarAt(at: number): { readonly lo: number; readonly hi: number } {
    const { near, far } = this.calendar;
    if (near.at === at) return near;
    return far.at === at ? far : this.calendar.bounds(at);
  }

  /** Writes the numbers of the windows that may be open. */
  #number(at: number, bounds: PhaseBounds): void {
    const { openEnded } = this;
    bounds.known = openEnded !== undefined || this.#own !== undefined || this.calendar.known;
    bounds.first = 0;
    bounds.last = 0;
    if (openEnded !== undefined) bounds.first = bounds.last = openEnded.index;
    else if (bounds.known) {
      bounds.first = Math.floor((at + bounds.lo) / this.#windowMs);
      bounds.last = Math.floor((at + bounds.hi) / this.#windowMs);
    }
  }

  lo(at: number): number {
    return this.at(at).lo;
  }

  hi(at: number): number {
    return this.at(at).hi;
  }

  first(at: number): number {
    return this.at(at).first;
  }

  last(at: number): number {
    return this.at(at).last;
  }

  /**
   * Returns true if falls alone, without the calendar, show almost as well that a call leaving at `at` lands in `index`
   * or later. They do not show it for a short window while beginnings are known to be late: each may be later still.
   */
  proves(index: number, at: number): boolean {
    const own = this.#own;
    if (own === undefined || (!isLong(this.#windowMs) && this.#lateMsAt(at) > 0)) return false;
    if (this.#trustsCalendar && this.proofs >= proofsSure) return true;
    const ms = at - own.asOf;
    return (
      own.hi - own.lo + this.#length.widened(ms) < narrowMs ||
      Math.floor((at + own.lo - this.#length.lowered(ms)) / this.#windowMs) >= index
    );
  }

  /** The first instant from which a call certainly lands in `index` or later, as known at `at`. */
  begins(index: number, at: number): number {
    const { openEnded } = this;
    if (openEnded === undefined) return index * this.#windowMs - this.at(at).lo;
    return openEnded.since + (index - openEnded.index) * this.#windowMs;
  }

  /**
   * Milliseconds between the earliest and the latest possible instant of a beginning. This function and the next are
   * passed on without their object.
   */
  readonly widthMs = (at: number): number => {
    if (this.openEnded !== undefined) return 0;
    const { lo, hi } = this.kept.at === at && this.revision === this.calendar.revision ? this.kept : this.at(at);
    return hi - lo;
  };

  /** Instant at which the current window has certainly ended; `at` before any evidence. */
  readonly endsAt = (at: number): number => {
    const { known, last, lo } =
      this.kept.at === at && this.revision === this.calendar.revision ? this.kept : this.at(at);
    if (!known) return at;
    return Math.max(at, this.openEnded === undefined ? (last + 1) * this.#windowMs - lo : this.begins(last + 1, at));
  };

  /**
   * A count fell between a call sent at `afterAt`, which landed in one of `from..to`, and an answer read at `byAt`.
   * Returns false when this contradicts what was certain before.
   */
  fell(afterAt: number, byAt: number, from: number, to: number): boolean {
    const { index } = this.openEnded ?? {};
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
      // If two windows are possible, neither is chosen, because guessing has cost whole windows.
      if (named !== undefined) return true;
      named = next;
    }
    if (named !== undefined) {
      this.#narrow(named, afterAt, byAt);
      return true;
    }
    const next = Math.max(to + 1, this.first(byAt));
    if (this.#isExplainedByLength(next, afterAt, byAt)) this.#length.doubt();
    this.#begin(next, afterAt, byAt);
    return false;
  }

  /**
   * Returns true if `fell` would agree with the bounds, or nearly so: a clock that drifts moves a beginning only
   * slightly.
   */
  expects(afterAt: number, byAt: number, from: number, to: number): boolean {
    if (this.openEnded !== undefined || byAt - afterAt >= this.#windowMs * spanShare) return true;
    const nearMs = this.#windowMs * nearShare;
    for (let next = from + 1; next <= to + 1; next++)
      if (this.#mayBegin(next, afterAt - nearMs, byAt + nearMs)) return true;
    return false;
  }

  /**
   * Called when a call that left at `sentAt` was refused in window `index`, which had certainly begun by then, and the
   * window before it was full: windows may begin later than expected. Returns false if that delay would be implausible.
   */
  learnLate(index: number, sentAt: number): boolean {
    const pastMs = sentAt - this.begins(index, sentAt) + this.#lateMsAt(sentAt);
    if (pastMs > this.#windowMs * lateShareMost) return false;
    const late = this.#late;
    const own = this.#own;
    const ms = pastMs + this.#windowMs * lateShare;
    this.#lateBefore = late;
    if (own !== undefined && this.#length.suspect()) {
      // Longer windows explain it. The next counts show how far; the calendar knows only windows of the stated length.
      own.lo -= ms;
      this.#trustsCalendar = false;
    } else this.#late = { ms, until: sentAt + late.keptMs, keptMs: late.keptMs * longerEachTime };
    this.kept.at = Number.NaN;
    return true;
  }

  /** Called when the last refusal at a beginning turns out to have another cause. */
  unlearnLate(): void {
    this.#late = this.#lateBefore;
    this.kept.at = Number.NaN;
  }

  /** From `at` on window `index` continues until a count falls. The earlier estimate of its end is no longer used. */
  runOn(index: number, at: number): void {
    this.openEnded = { index, since: at };
    this.#own = undefined;
    this.#length.forget();
    this.proofs = 0;
    this.#trustsCalendar = false;
    this.kept.at = Number.NaN;
  }

  /** Called when our clock was disturbed: earlier knowledge is no longer valid. */
  forget(): void {
    this.#own = undefined;
    this.#length.forget();
    this.openEnded = undefined;
    this.proofs = 0;
    this.#trustsCalendar = true;
    this.kept.at = Number.NaN;
  }

  #lateMsAt(at: number): number {
    return at < this.#late.until ? this.#late.ms : 0;
  }

  #isLost({ lo, hi, asOf }: Interval, at: number): boolean {
    return hi - lo + this.#length.widened(at - asOf) > this.#windowMs * lostShare;
  }

  #begin(index: number, afterAt: number, byAt: number): void {
    const { lo, hi } = this.#proven(index, afterAt, byAt);
    this.#own = { lo, hi, asOf: byAt };
    this.#length.measureAnew({ index, afterAt, byAt });
    this.openEnded = undefined;
    this.#trustsCalendar = false;
    this.proofs = 1;
    this.#named = index;
    this.kept.at = Number.NaN;
  }

  /** Returns true if windows of another length than stated can have begun as observed since the last own evidence. */
  #isExplainedByLength(index: number, afterAt: number, byAt: number): boolean {
    const own = this.#own;
    if (own === undefined) return false;
    const { lo, hi } = this.#proven(index, afterAt, byAt);
    const errorMs = (byAt - own.asOf) * lengthError;
    return lo <= own.hi + errorMs && hi >= own.lo - errorMs;
  }

  #mayBegin(index: number, afterAt: number, byAt: number): boolean {
    const { lo, hi } = this.#proven(index, afterAt, byAt);
    return lo <= this.hi(byAt) && hi >= this.lo(byAt);
  }

  #narrow(index: number, afterAt: number, byAt: number): void {
    this.#length.measure({ index, afterAt, byAt });
    const proven = this.#proven(index, afterAt, byAt);
    const own = this.#own;
    if (index !== this.#named) this.proofs++;
    this.#named = index;
    this.kept.at = Number.NaN;
    if (own === undefined) {
      this.#conflictsThen = this.calendar.conflicts;
      this.#own = { ...proven, asOf: byAt };
      return;
    }
    const lo = Math.max(own.lo - this.#length.lowered(byAt - own.asOf), proven.lo);
    const hi = Math.min(own.hi + this.#length.raised(byAt - own.asOf), proven.hi);
    // Only the calendar made it look possible.
    if (lo > hi) {
      this.#length.doubt();
      this.#length.measure({ index, afterAt, byAt });
      this.#own = { ...proven, asOf: byAt };
      return;
    }
    own.lo = lo;
    own.hi = hi;
    own.asOf = byAt;
  }

  #proven(index: number, afterAt: number, byAt: number): { readonly lo: number; readonly hi: number } {
    const beginsAt = index * this.#windowMs;
    return { lo: beginsAt - byAt, hi: beginsAt - afterAt + this.#length.raised(byAt - afterAt) };
  }
}
