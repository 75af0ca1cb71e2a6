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

const dateStepMs = 1_000;

interface Interval {
  lo: number;
  hi: number;
  asOf: number;
}

export const createServerClock = ({ driftPpm = 200, dateSlackMs = 150 }: ServerClockOptions = {}): ServerClock => {
  const drift = driftPpm / 1e6;
  let stamps: Interval | undefined;
  let counters: Interval | undefined;
  let conflicts = 0;

  const widened = (interval: Interval, at: number): Interval => {
    const slack = drift * Math.abs(at - interval.asOf);
    return { lo: interval.lo - slack, hi: interval.hi + slack, asOf: at };
  };
  /** The part both agree on, or undefined when they contradict each other. */
  const meet = (known: Interval | undefined, fresh: Interval): Interval | undefined => {
    if (known === undefined) return fresh;
    const old = widened(known, fresh.asOf);
    const lo = Math.max(old.lo, fresh.lo);
    const hi = Math.min(old.hi, fresh.hi);
    return lo <= hi ? { lo, hi, asOf: fresh.asOf } : undefined;
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

  return {
    lo: boundLo,
    hi: boundHi,
    get known() {
      return stamps !== undefined;
    },
    get conflicts() {
      return conflicts;
    },
    observeDate: (sentAt, receivedAt, dateMs) => {
      // The offset may have drifted on since the earliest instant it can have been true at.
      const fresh = { lo: dateMs - receivedAt, hi: dateMs + dateStepMs - sentAt + drift * (receivedAt - sentAt), asOf: receivedAt };
      const met = meet(stamps, fresh);
      if (met === undefined) {
        conflicts++;
        counters = undefined;
      }
      stamps = met ?? fresh;
      if (counters !== undefined && boundLo(receivedAt) > boundHi(receivedAt)) {
        conflicts++;
        counters = undefined;
      }
    },
    observeBoundary: (afterAt, byAt, windowMs) => {
      if (stamps === undefined || byAt - afterAt >= windowMs) return false;
      const named = widened(stamps, byAt);
      const first = Math.ceil((named.lo - dateSlackMs + afterAt) / windowMs);
      const last = Math.floor((named.hi + dateSlackMs + byAt) / windowMs);
      // Accepted only when a single boundary can be meant: guessing the nearest has cost whole minutes.
      if (first !== last) return false;
      const boundary = first * windowMs;
      const fresh = { lo: boundary - byAt, hi: boundary - afterAt + drift * (byAt - afterAt), asOf: byAt };
      const met = meet(counters, fresh);
      if (met === undefined) conflicts++;
      counters = met ?? fresh;
      return true;
    },
    forget: () => {
      stamps = undefined;
      counters = undefined;
    },
  };
};
