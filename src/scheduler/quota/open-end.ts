/**
 * Spending in a window whose end is not known: even, and once the window is full with an occasional look whether it has
 * ended.
 *
 * Invariants: looks that may be refused come at growing intervals; one look comes when the window must have ended.
 * Needed by: `late-minutes`, `date-edges`, `date-up`.
 */

/**
 * Time, in parts of a window, after which a look that may be refused is risked. The next ones follow at longer
 * intervals.
 */
const riskShare = 1 / 54;
const riskGrowth = 5;
/** Interval of looks while there is room, in parts of a window: such a look costs only its weight. */
const lookShare = 1 / 20;
const burstShare = 0.02;
/** Shorter windows end before a look is worth sending. */
const looksMsLeast = 10_000;

interface Instants {
  /** Instant of the last answer. */
  readonly landedAt: number;
  /** Instant since which the window is assumed to continue. */
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

  /** True if looks for the end are sent before a window's length has passed. */
  get looks(): boolean {
    return this.#windowMs >= looksMsLeast;
  }

  enter(at: number, used: number): void {
    this.#usedThen = used;
    this.#riskGapMs = this.#windowMs * riskShare;
    this.#riskAt = at + Math.max(this.#riskGapMs, this.refusedMs);
    this.#riskGapMs *= riskGrowth;
  }

  /** Most units that may be used by `at` in the window that has continued since `since`. */
  paced(at: number, since: number): number {
    return this.#usedThen + Math.max(1, this.capacity * burstShare) + (this.capacity * (at - since)) / this.#windowMs;
  }

  /**
   * Instant at which a call may ask again that would raise the use to `used`, where `most` may be used; undefined when
   * it may leave.
   */
  blockedUntil(used: number, most: number, { landedAt, since, now, isAlone }: Instants): number | undefined {
    if (used <= most) return undefined;
    if (!this.looks || used <= this.capacity / 2 || !isAlone) return Math.max(since, now) + this.#windowMs;
    const looksAt =
      used <= this.capacity ? Math.min(this.#riskAt, landedAt + this.#windowMs * lookShare) : this.#riskAt;
    return now >= looksAt ? undefined : looksAt;
  }

  /**
   * Called when a call was refused at `at`. Returns the instant of the next look: later after each refusal in a row,
   * and at most a window's length later.
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
    // The window has ended at the latest a window's length after it was found to continue.
    this.#riskAt = Math.max(now + 1, Math.min(now + this.#riskGapMs, since + this.#windowMs));
    this.#riskGapMs *= riskGrowth;
  }
}
