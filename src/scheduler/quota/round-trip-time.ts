/**
 * How long answers take: a low and a high mark that follow the traffic.
 *
 * Invariants: both start at values that are safe before anything was measured.
 */

export class RoundTripTime {
  /** About the shortest seen lately. */
  low = 0;
  #high = 60;
  #seen = false;

  /** About the 95th percentile, at most 200 ms: rarer answers are waited for, not planned for. */
  get high(): number {
    return Math.min(this.#high, 200);
  }

  observe(ms: number): void {
    const { low } = this;
    const high = this.#high;
    this.low = this.#seen ? Math.min(ms, low + 0.01 * (ms - low)) : ms;
    // A step up of 19 against a step down of 1 settles where one answer in twenty is slower.
    this.#high = ms > high ? high + Math.min(ms - high, 19) * 0.2 : high - Math.min(high - ms, 1) * 0.2;
    this.#seen = true;
  }
}
