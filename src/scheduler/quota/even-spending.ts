/**
 * Spending of a limit that needs no evidence: no stretch of one window's length holds more than the capacity, and what
 * ordinary actions spend is spread over it, so that quota comes free all the time and exits wait a part of a window at
 * most.
 *
 * Invariants: an answered or lost call counts for a window's length from its answer, so a window holds no more than the
 * capacity wherever it begins, and whether it is fixed or slides.
 * Needed by: `sliding`, `sliding-key`; as the floor of fixed windows by `slides-key`, `cached-key`, `another-user`.
 * Not here: calls that are not answered (the window that owns this counts them).
 */

/**
 * Units that may be spent at once however small the limit is: one call, and a fifth of one for timers that are late.
 */
const burstLeast = 1.2;
/** Calls that are answered within this part of a window are kept as one. */
const partShare = 1 / 64;
/** Part of a window after which quota has come free again. */
const horizonShare = 1 / 10;

export class EvenSpending {
  /** Units a window's length may hold; may be cut. */
  capacity: number;
  /** Time after which spent quota comes free, where it is spent evenly. */
  readonly horizonMs: number;
  readonly #windowMs: number;
  readonly #burstShare: number;
  /** Units that leave the count at an instant; those of a part of a window leave together, with the last of them. */
  readonly #leaving: { at: number; units: number; readonly from: number }[] = [];
  #landed = 0;
  #credit: number;
  #creditAt = Number.NEGATIVE_INFINITY;

  /** `burstShare` of the capacity may be spent at once. */
  constructor(capacity: number, windowMs: number, burstShare: number) {
    this.capacity = capacity;
    this.horizonMs = windowMs * horizonShare;
    this.#windowMs = windowMs;
    this.#burstShare = burstShare;
    this.#credit = this.#burst;
  }

  get #burst(): number {
    return Math.max(burstLeast, this.capacity * this.#burstShare);
  }

  /** Units of calls that were answered within a window's length before `at`, which never falls. */
  landed(at: number): number {
    const leaving = this.#leaving;
    while (leaving.length > 0 && (leaving[0] as { at: number }).at <= at)
      this.#landed -= (leaving.shift() as { units: number }).units;
    return this.#landed;
  }

  /** Instant at which the next units come free; undefined where none count. */
  get freesAt(): number | undefined {
    return this.#leaving[0]?.at;
  }

  /** Instant at which a call may ask again that would make `used`; undefined where that is at most `most`. */
  blockedUntil(used: number, most: number, now: number): number | undefined {
    return used <= most ? undefined : Math.max(this.freesAt ?? now + this.#windowMs, now + 1);
  }

  /**
   * Units ordinary actions may spend at `at`; infinite for one call after a pause, which may be heavier than a part.
   */
  credit(at: number): number {
    const room = this.room(at);
    return room < this.#burst ? room : Number.POSITIVE_INFINITY;
  }

  /** Units that may be spent at `at` for certain, by any number of calls. */
  room(at: number): number {
    const earned = ((at - this.#creditAt) * this.capacity) / this.#windowMs;
    return Math.min(this.#burst, this.#credit + Math.max(0, earned));
  }

  /** From `at` on it is spent evenly; nothing has come free yet. */
  start(at: number): void {
    this.#credit = 0;
    this.#creditAt = at;
  }

  spend(units: number, at: number): void {
    this.#credit = this.room(at) - units;
    this.#creditAt = at;
  }

  /** A call was answered at `at`, or given up. */
  land(units: number, at: number): void {
    this.#landed += units;
    const leavesAt = at + this.#windowMs;
    const last = this.#leaving.at(-1);
    if (last !== undefined && leavesAt - last.from <= this.#windowMs * partShare) {
      last.at = leavesAt;
      last.units += units;
    } else {
      this.landed(at);
      this.#leaving.push({ at: leavesAt, units, from: leavesAt });
    }
  }
}
