/**
 * Token bucket: a number of requests at once, and a rate per second after that.
 *
 * Invariants: pure but for its own count; time never runs back for it.
 */
export class TokenBucket {
  readonly #perSecond: number;
  readonly #most: number;
  #left: number;
  #at = Number.NEGATIVE_INFINITY;

  constructor(perSecond: number, most: number) {
    this.#perSecond = perSecond;
    this.#most = most;
    this.#left = most;
  }

  /** Takes one token; returns false if there is none. `now` in milliseconds. */
  take(now: number): boolean {
    if (now > this.#at) {
      const gained = Number.isFinite(this.#at) ? ((now - this.#at) / 1_000) * this.#perSecond : 0;
      this.#left = Math.min(this.#most, this.#left + gained);
      this.#at = now;
    }
    if (this.#left < 1) return false;
    this.#left--;
    return true;
  }
}
