/**
 * Forecast of exits: rises with each one asked for and fades over minutes, never quite to nothing.
 *
 * Invariants: one instant has one rate, until another exit is asked for.
 */

/** How fast the forecast fades. */
const memoryMs = 300_000;
const rateLeast = 1 / 15_000;

export class ExitRate {
  // One instant is asked about many times over.
  askedAt = Number.NaN;
  /** Exits a millisecond that are to be expected, as of `askedAt`. */
  rate = 0;
  #mean = 0;
  #lastAt: number;

  constructor(startedAt: number) {
    this.#lastAt = startedAt;
  }

  at(now: number): number {
    if (now === this.askedAt) return this.rate;
    this.askedAt = now;
    this.rate = Math.max(this.#mean * Math.exp(-(now - this.#lastAt) / memoryMs), rateLeast);
    return this.rate;
  }

  /** An exit was asked for. */
  note(now: number): void {
    const keep = Math.exp(-1 / 20);
    this.#mean = this.at(now) * keep + (1 - keep) / Math.max(now - this.#lastAt, 1_000);
    this.#lastAt = now;
    this.askedAt = Number.NaN;
  }
}
