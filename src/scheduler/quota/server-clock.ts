/**
 * Offset of the service's time from ours, as an interval that only evidence narrows.
 *
 * A request sent at `t` arrives at service time `t + phi`; everything the ledger needs is a bound on `phi` from below
 * (a request cannot arrive earlier) and on the service's time at an instant from above (a window cannot have begun
 * later).
 *
 * Invariants: the true offset lies inside `[lo, hi]` as long as our clock drifts less than the bound and the stamps are
 * within the stated slack of the limiter's clock; a contradiction restarts the estimate and is not averaged; the
 * calendar of this machine is never consulted.
 * Needed by: `B`, `D`, `E`; round trips by `S500`.
 * Not here: what is spent (ledger.ts), reading headers (headers.ts).
 */

/** Bounds of service time minus client time at client instant `at`. Infinite until something was received. */
interface OffsetBounds {
  at: number;
  lo: number;
  hi: number;
}

export interface ServerClock {
  /** Returns bounds that are valid until the next call. */
  bounds(at: number): Readonly<OffsetBounds>;
  /**
   * Bounds of the two instants asked for most recently that are still valid: every window asks for the instants at
   * which a call left and was answered.
   */
  readonly near: Readonly<OffsetBounds>;
  readonly far: Readonly<OffsetBounds>;
  lo(at: number): number;
  hi(at: number): number;
  readonly known: boolean;
  /** Changes whenever the bounds of some instant may have changed. */
  readonly revision: number;
  /**
   * Observes an answer with the stamp `dateMs` (cut to whole seconds) to a request that was sent and received at these
   * client instants.
   */
  observeDate(sentAt: number, receivedAt: number, dateMs: number): void;
  /**
   * Observes that a window of `windowMs` began between these client instants, as counters prove. Returns true if the
   * window could be identified.
   */
  observeBoundary(afterAt: number, byAt: number, windowMs: number): boolean;
  /** Called when our clock was disturbed: earlier knowledge is no longer valid. */
  forget(): void;
  /** Number of times that evidence contradicted the estimate. */
  readonly conflicts: number;
}

export interface ServerClockOptions {
  /**
   * Largest drift of our steady clock in parts per million, including slews. By default, crystals within 100 and slews
   * are allowed for.
   */
  readonly driftPpm?: number;
  /**
   * Largest difference between the clock that stamps `Date` and the clock that counts. An edge in front of the limiter
   * is within 150 ms.
   */
  readonly dateSlackMs?: number;
}

/** Twice the largest error of a crystal. */
export const driftPpmMost = 200;
/**
 * Additional rate at which a time service may slew our clock. Frequent evidence shows a slew; older evidence does not
 * contain it.
 */
const slewPpm = 450;
const freshMs = 5_000;
const dateStepMs = 1_000;

interface Interval {
  lo: number;
  hi: number;
  asOf: number;
}

export const createServerClock = (options?: ServerClockOptions): ServerClock => new ObservedClock(options);

class ObservedClock implements ServerClock {
  known = false;
  conflicts = 0;
  revision = 0;
  near: OffsetBounds = { at: Number.NaN, lo: 0, hi: 0 };
  far: OffsetBounds = { at: Number.NaN, lo: 0, hi: 0 };
  readonly #drift: number;
  readonly #slew: number;
  readonly #dateSlackMs: number;
  #stamps: Interval | undefined;
  #counters: Interval | undefined;

  constructor({ driftPpm, dateSlackMs = 150 }: ServerClockOptions = {}) {
    this.#drift = (driftPpm ?? driftPpmMost) / 1e6;
    this.#slew = driftPpm === undefined ? slewPpm / 1e6 : 0;
    this.#dateSlackMs = dateSlackMs;
  }

  bounds(at: number): OffsetBounds {
    if (at === this.near.at) return this.near;
    const bounds = this.far;
    this.far = this.near;
    this.near = bounds;
    if (at === bounds.at) return bounds;
    bounds.at = at;
    bounds.lo = Number.NEGATIVE_INFINITY;
    bounds.hi = Number.POSITIVE_INFINITY;
    const stamps = this.#stamps;
    if (stamps !== undefined) {
      const age = Math.abs(at - stamps.asOf);
      const drifted = this.#drift * age + this.#slew * Math.max(0, age - freshMs);
      bounds.lo = stamps.lo - drifted - this.#dateSlackMs;
      bounds.hi = stamps.hi + drifted + this.#dateSlackMs;
    }
    const counters = this.#counters;
    if (counters !== undefined) {
      const drifted = this.#drifted(at - counters.asOf);
      bounds.lo = Math.max(bounds.lo, counters.lo - drifted);
      bounds.hi = Math.min(bounds.hi, counters.hi + drifted);
    }
    return bounds;
  }

  lo(at: number): number {
    return this.bounds(at).lo;
  }

  hi(at: number): number {
    return this.bounds(at).hi;
  }

  observeDate(sentAt: number, receivedAt: number, dateMs: number): void {
    // The offset may have drifted since the earliest instant at which it can have been true.
    const lo = dateMs - receivedAt;
    const hi = dateMs + dateStepMs - sentAt + this.#drift * (receivedAt - sentAt);
    if (this.#stamps === undefined || !this.#narrow(this.#stamps, lo, hi, receivedAt)) {
      if (this.#stamps !== undefined) {
        this.conflicts++;
        this.#counters = undefined;
      }
      this.#stamps = { lo, hi, asOf: receivedAt };
      this.known = true;
      this.#learned();
    }
    // Without counters the two bounds are the stamps' own, which agree.
    if (this.#counters !== undefined && this.lo(receivedAt) > this.hi(receivedAt)) {
      this.conflicts++;
      this.#counters = undefined;
      this.#learned();
    }
  }

  observeBoundary(afterAt: number, byAt: number, windowMs: number): boolean {
    const stamps = this.#stamps;
    if (stamps === undefined || byAt - afterAt >= windowMs) return false;
    const slack = this.#drifted(byAt - stamps.asOf) + this.#dateSlackMs;
    const first = Math.ceil((stamps.lo - slack + afterAt) / windowMs);
    const last = Math.floor((stamps.hi + slack + byAt) / windowMs);
    // Accepted only if a single boundary is possible, because guessing the nearest one has cost whole minutes.
    if (first !== last) return false;
    const boundary = first * windowMs;
    const lo = boundary - byAt;
    const hi = boundary - afterAt + this.#drift * (byAt - afterAt);
    if (this.#counters === undefined || !this.#narrow(this.#counters, lo, hi, byAt)) {
      if (this.#counters !== undefined) this.conflicts++;
      this.#counters = { lo, hi, asOf: byAt };
      this.#learned();
    }
    return true;
  }

  forget(): void {
    this.#stamps = undefined;
    this.#counters = undefined;
    this.known = false;
    this.#learned();
  }

  /**
   * Narrows `known` to the part that agrees with evidence as of `at`. Returns false, and changes nothing, if they
   * contradict each other.
   */
  #narrow(known: Interval, lo: number, hi: number, at: number): boolean {
    const slack = this.#drifted(at - known.asOf);
    const from = Math.max(known.lo - slack, lo);
    const to = Math.min(known.hi + slack, hi);
    if (from > to) return false;
    known.lo = from;
    known.hi = to;
    known.asOf = at;
    this.#learned();
    return true;
  }

  /** Largest change of the offset within `ms`, before or after the evidence. */
  #drifted(ms: number): number {
    const age = Math.abs(ms);
    return this.#drift * age + this.#slew * Math.max(0, age - freshMs);
  }

  #learned(): void {
    this.revision++;
    this.near.at = Number.NaN;
    this.far.at = Number.NaN;
  }
}

const highMsMax = 200;
/** Planning allows for the shortest round trip and this much more. */
const highOverLow = 1.5;
/** Largest rise of the low mark by one answer, because a single late answer is no evidence of the shortest time. */
const raiseMsMax = 50;

/**
 * Round-trip time of answers: a low and a high mark that follow the traffic, both safe before anything was measured.
 */
export class RoundTripTime {
  /** Low mark: about the shortest recent time. */
  low = 0;
  /** About the 95th percentile. */
  slow = 60;
  #seen = false;

  /**
   * High mark: the slow one, at most 200 ms or half more than the shortest. Slower answers are waited for, not planned
   * for.
   */
  get high(): number {
    return Math.min(this.slow, Math.max(highMsMax, this.low * highOverLow));
  }

  observe(ms: number): void {
    const { low } = this;
    const { slow } = this;
    this.low = this.#seen ? Math.min(ms, low + 0.01 * Math.min(ms - low, raiseMsMax)) : ms;
    // Steps up of 19 against steps down of 1 settle at the time that one answer in twenty exceeds.
    this.slow = ms > slow ? slow + Math.min(ms - slow, 19) * 0.2 : slow - Math.min(slow - ms, 1) * 0.2;
    this.#seen = true;
  }
}
