/**
 * Where the service's time stands against ours, as an interval that only evidence narrows.
 *
 * A request sent at `t` arrives at service time `t + phi`; everything the ledger needs is a bound on `phi` from below (a
 * request cannot arrive earlier) and on the service's time at an instant from above (a window cannot have begun later).
 *
 * Invariants: the true offset lies inside `[lo, hi]` as long as our clock drifts less than the bound and the stamps are within
 * the stated slack of the limiter's clock; contradiction starts the estimate over instead of averaging it away; the calendar
 * of this machine is never consulted.
 * Not here: what is spent (ledger.ts), reading headers (headers.ts).
 */

export interface ServerClock {
  /** Bounds of service time minus client time at client instant `at`. Infinite until something was heard. */
  lo(at: number): number;
  hi(at: number): number;
  readonly known: boolean;
  /** An answer stamped `dateMs` (whole seconds, cut off) to a request sent and received at these client instants. */
  observeDate(sentAt: number, receivedAt: number, dateMs: number): void;
  /** Counters prove that a window of `windowMs` began between these client instants. True when it could be named. */
  observeBoundary(afterAt: number, byAt: number, windowMs: number): boolean;
  /** Our clock was disturbed: nothing learned before holds. */
  forget(): void;
  /** How often evidence contradicted the estimate. */
  readonly conflicts: number;
}

export interface ServerClockOptions {
  /** Worst drift of our steady clock, parts per million. Crystals are within 100. */
  readonly driftPpm?: number;
  /** How far the clock that stamps `Date` may be off the one that counts. An edge in front of the limiter is within 150 ms. */
  readonly dateSlackMs?: number;
}

/** Twice what a crystal is off. */
export const driftPpmMost = 200;
const dateStepMs = 1_000;

interface Interval {
  lo: number;
  hi: number;
  asOf: number;
}

export const createServerClock = ({ driftPpm = driftPpmMost, dateSlackMs = 150 }: ServerClockOptions = {}): ServerClock => {
  const drift = driftPpm / 1e6;
  let stamps: Interval | undefined;
  let counters: Interval | undefined;
  let conflicts = 0;

  // Many questions are asked of one instant. In one object, because numbers kept by a closure are allocated anew with every change.
  const told = { lowAt: Number.NaN, low: Number.NaN, highAt: Number.NaN, high: Number.NaN };
  const learned = (): void => {
    told.lowAt = Number.NaN;
    told.highAt = Number.NaN;
  };
  /** Keeps of `known` what evidence as of `at` agrees with; false, and nothing changed, when they contradict each other. */
  const narrow = (known: Interval, lo: number, hi: number, at: number): boolean => {
    const slack = drift * Math.abs(at - known.asOf);
    const from = Math.max(known.lo - slack, lo);
    const to = Math.min(known.hi + slack, hi);
    if (from > to) return false;
    learned();
    known.lo = from;
    known.hi = to;
    known.asOf = at;
    return true;
  };
  const boundLo = (at: number): number => {
    let lo = Number.NEGATIVE_INFINITY;
    if (stamps !== undefined) lo = stamps.lo - drift * Math.abs(at - stamps.asOf) - dateSlackMs;
    if (counters !== undefined) lo = Math.max(lo, counters.lo - drift * Math.abs(at - counters.asOf));
    return lo;
  };
  const boundHi = (at: number): number => {
    let hi = Number.POSITIVE_INFINITY;
    if (stamps !== undefined) hi = stamps.hi + drift * Math.abs(at - stamps.asOf) + dateSlackMs;
    if (counters !== undefined) hi = Math.min(hi, counters.hi + drift * Math.abs(at - counters.asOf));
    return hi;
  };

  const lowAt = (at: number): number => {
    if (at !== told.lowAt) {
      told.lowAt = at;
      told.low = boundLo(at);
    }
    return told.low;
  };
  const highAt = (at: number): number => {
    if (at !== told.highAt) {
      told.highAt = at;
      told.high = boundHi(at);
    }
    return told.high;
  };

  return {
    lo: lowAt,
    hi: highAt,
    get known() {
      return stamps !== undefined;
    },
    get conflicts() {
      return conflicts;
    },
    observeDate: (sentAt, receivedAt, dateMs) => {
      // The offset may have drifted on since the earliest instant it can have been true at.
      const lo = dateMs - receivedAt;
      const hi = dateMs + dateStepMs - sentAt + drift * (receivedAt - sentAt);
      if (stamps === undefined || !narrow(stamps, lo, hi, receivedAt)) {
        if (stamps !== undefined) {
          conflicts++;
          counters = undefined;
        }
        stamps = { lo, hi, asOf: receivedAt };
        learned();
      }
      if (lowAt(receivedAt) > highAt(receivedAt)) {
        conflicts++;
        counters = undefined;
        learned();
      }
    },
    observeBoundary: (afterAt, byAt, windowMs) => {
      if (stamps === undefined || byAt - afterAt >= windowMs) return false;
      const slack = drift * Math.abs(byAt - stamps.asOf) + dateSlackMs;
      const first = Math.ceil((stamps.lo - slack + afterAt) / windowMs);
      const last = Math.floor((stamps.hi + slack + byAt) / windowMs);
      // Accepted only when a single boundary can be meant: guessing the nearest has cost whole minutes.
      if (first !== last) return false;
      const boundary = first * windowMs;
      const lo = boundary - byAt;
      const hi = boundary - afterAt + drift * (byAt - afterAt);
      if (counters === undefined || !narrow(counters, lo, hi, byAt)) {
        if (counters !== undefined) conflicts++;
        counters = { lo, hi, asOf: byAt };
        learned();
      }
      return true;
    },
    forget: () => {
      stamps = undefined;
      counters = undefined;
      learned();
    },
  };
};
