/**
 * Finds a short window that calls wait for although less of it is spent than on its floor: neither its counts nor the
 * round trips show where windows begin, and even spending needs neither.
 *
 * Invariants: a window is found only if calls wait for it; the yield of the floor is computed for the present round trips.
 * Needed by: `weighed-key`, `swell-key`.
 * Not here: what is spent on the floor, and for how long (floor.ts).
 */
import type { RoundTripTime } from "./server-clock.ts";

/** Number of windows that are compared with the floor, and the part of this time in which calls have to wait. */
const comparedWindows = 60;
const waitingShare = 1 / 2;
/** Part of what the floor would yield; less is poor. */
const poorShare = 0.9;
/** Number of comparisons in a row after which the floor is better. */
const poorMost = 4;

export class YieldWatch {
  readonly #windowMs: number;
  readonly #trips: Pick<RoundTripTime, "low" | "slow">;
  #from = Number.NEGATIVE_INFINITY;
  #begunThen = 0;
  #waitedTo = Number.NEGATIVE_INFINITY;
  #waitedMs = 0;
  #poorInRow = 0;

  constructor(windowMs: number, trips: Pick<RoundTripTime, "low" | "slow">) {
    this.#windowMs = windowMs;
    this.#trips = trips;
  }

  /** Called when a call has to wait for the window until `until`. */
  noteWaiting(at: number, until: number): void {
    const from = Math.max(at, this.#waitedTo);
    if (until <= from) return;
    this.#waitedMs += until - from;
    this.#waitedTo = until;
  }

  /** Called when the floor was left: what was spent before shows nothing. */
  restart(): void {
    this.#from = Number.NEGATIVE_INFINITY;
    this.#poorInRow = 0;
  }

  /**
   * Returns true if the windows since the last comparison yielded less than a floor of `capacity`. `begun` are all units
   * that were ever spent.
   */
  isPoor(at: number, begun: number, capacity: number): boolean {
    const windows = (at - this.#from) / this.#windowMs;
    if (windows < comparedWindows) return false;
    const { low, slow } = this.#trips;
    const spent = begun - this.#begunThen;
    // Without waiting calls another layer may be the limit.
    const wanted = Math.min(windows, this.#waitedMs / this.#windowMs);
    this.#from = at;
    this.#begunThen = begun;
    this.#waitedMs = 0;
    // A slot of the floor is taken until a window's length after the answer, less the shortest round trip.
    const yielded = (capacity * this.#windowMs) / (this.#windowMs + slow - low);
    const isPoor = wanted >= windows * waitingShare && spent < yielded * wanted * poorShare;
    this.#poorInRow = isPoor ? this.#poorInRow + 1 : 0;
    return this.#poorInRow >= poorMost;
  }
}
