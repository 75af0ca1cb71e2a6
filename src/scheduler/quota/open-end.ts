/**
 * Spending in a window whose end is not known: evenly, and once it is full with a look now and then whether it has
 * ended.
 *
 * Invariants: looks come at growing intervals where they may be refused; one comes when the window must have ended.
 */

/** A look that may be refused is risked after so long, in parts of a window, and then at longer intervals. */
const riskShare = 1 / 54;
const riskGrowth = 5;
/** Interval of looks while there is room, in parts of a window: such a look costs only its weight. */
const lookShare = 1 / 20;
const burstShare = 0.02;
/** Shorter windows end before it is worth it to look. */
const looksMsLeast = 10_000;

interface Instants {
  /** Instant of the last answer. */
  readonly landedAt: number;
  /** Since when the window has been taken to run on. */
  readonly since: number;
  readonly now: number;
  /** No other call is under way. */
  readonly isAlone: boolean;
}

export class OpenEnd {
  /** Wait before the last look that was refused, milliseconds; 0 once a call was counted. */
  refusedMs = 0;
  /** Units that a window holds. */
  capacity: number;
  readonly #windowMs: number;
  #usedThen = 0;
  #riskAt = 0;
  #riskGapMs = 0;

  constructor(capacity: number, windowMs: number) {
    this.capacity = capacity;
    this.#windowMs = windowMs;
  }

  /** True if looks for the end are sent before a window's length is over. */
  get looks(): boolean {
    return this.#windowMs >= looksMsLeast;
  }

  enter(at: number, used: number): void {
    this.#usedThen = used;
    this.#riskGapMs = this.#windowMs * riskShare;
    this.#riskAt = at + Math.max(this.#riskGapMs, this.refusedMs);
    this.#riskGapMs *= riskGrowth;
  }

  /** Most units that may be used by `at` of the window that has run on since `since`. */
  paced(at: number, since: number): number {
    return this.#usedThen + Math.max(1, this.capacity * burstShare) + (this.capacity * (at - since)) / this.#windowMs;
  }

  /**
   * Instant at which a call may ask again that would make `used` of the window where `most` may be used; undefined
   * when it may leave.
   */
  blockedUntil(used: number, most: number, { landedAt, since, now, isAlone }: Instants): number | undefined {
    if (used <= most) return undefined;
    if (!this.looks || used <= this.capacity / 2 || !isAlone) return Math.max(since, now) + this.#windowMs;
    const looksAt =
      used <= this.capacity ? Math.min(this.#riskAt, landedAt + this.#windowMs * lookShare) : this.#riskAt;
    return now >= looksAt ? undefined : looksAt;
  }

  /**
   * A call was refused at `at`: the next look, later after each one in a row and after a window's length at the latest.
   */
  refuse(at: number): number {
    if (at >= this.#riskAt) {
      this.refusedMs = Math.min(this.#windowMs, Math.max(this.#windowMs * riskShare, this.refusedMs * riskGrowth));
      this.#riskAt = at + this.refusedMs;
    }
    return this.#riskAt;
  }

  noteBegun(now: number, since: number): void {
    if (now < this.#riskAt) return;
    // A window's length after it was found to run it has ended.
    this.#riskAt = Math.max(now + 1, Math.min(now + this.#riskGapMs, since + this.#windowMs));
    this.#riskGapMs *= riskGrowth;
  }
}
