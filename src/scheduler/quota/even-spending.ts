/**
 * Spending of a limit without evidence. No stretch of one window's length holds more than the capacity, and ordinary
 * actions are spread over it, so that quota is freed continuously and exits wait at most a part of a window.
 *
 * Invariants: a call counts for a window's length from the instant by which it has landed, so a window holds no more than
 * the capacity wherever it begins, and whether it is fixed or slides.
 * Needed by: `sliding`, `sliding-key`; as the floor of fixed windows by `slides-key`, `cached-key`, `another-user`.
 * Not here: calls that are not answered (the window that owns this counts them).
 */

/**
 * Units that may be spent at once even with a very small limit: one call, and a fifth of one for late timers.
 */
const burstLeast = 1.2;
/** Calls that are answered within this part of a window are stored as one entry. */
const partShare = 1 / 64;
/** Part of a window after which quota has been freed again. */
const horizonShare = 1 / 10;

export class EvenSpending {
  /** Units that a window's length may hold; can be reduced. */
  capacity: number;
  /** Time after which spent quota is freed, with even spending. */
  readonly horizonMs: number;
  readonly #windowMs: number;
  readonly #burstShare: number;
  /**
   * Units with the instants at which they stop counting. Those of a part of a window stop together, with the last of
   * them.
   */
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

  /** Units of calls that landed within a window's length before `at`, which must not decrease. */
  landed(at: number): number {
    const leaving = this.#leaving;
    while (leaving.length > 0 && (leaving[0] as { at: number }).at <= at)
      this.#landed -= (leaving.shift() as { units: number }).units;
    return this.#landed;
  }

  /** Instant at which the next units are freed; undefined if none count. */
  get freesAt(): number | undefined {
    return this.#leaving[0]?.at;
  }

  /** Instant at which a call that would raise the use to `used` may ask again; undefined if that is at most `most`. */
  blockedUntil(used: number, most: number, now: number): number | undefined {
    return used <= most ? undefined : Math.max(this.freesAt ?? now + this.#windowMs, now + 1);
  }

  /**
   * Units that ordinary actions may spend at `at`. Infinite for one call after a pause, which may be heavier than a
   * part.
   */
  credit(at: number): number {
    const room = this.room(at);
    return room < this.#burst ? room : Number.POSITIVE_INFINITY;
  }

  /** Units that may certainly be spent at `at`, by any number of calls. */
  room(at: number): number {
    const earned = ((at - this.#creditAt) * this.capacity) / this.#windowMs;
    return Math.min(this.#burst, this.#credit + Math.max(0, earned));
  }

  /** Begins even spending at `at`, which may be later than now. Nothing has been freed yet. */
  start(at: number): void {
    this.#credit = 0;
    this.#creditAt = at;
  }

  spend(units: number, at: number): void {
    this.#credit = this.room(at) - units;
    this.#creditAt = Math.max(this.#creditAt, at);
  }

  /** Called when a call is over. A call that leaves at `by` or later lands after it. */
  land(units: number, by: number): void {
    this.#landed += units;
    const leavesAt = by + this.#windowMs;
    const last = this.#leaving.at(-1);
    if (last !== undefined && leavesAt - last.from <= this.#windowMs * partShare) {
      last.at = Math.max(last.at, leavesAt);
      last.units += units;
    } else {
      this.landed(by);
      this.#leaving.push({ at: leavesAt, units, from: leavesAt });
    }
  }
}
