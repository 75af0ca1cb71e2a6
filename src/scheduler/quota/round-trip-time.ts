/**
 * How long answers take: a low and a high mark that follow the traffic.
 *
 * Invariants: both start at values that are safe before anything was measured.
 */

const highMsMax = 200;
/** A way that is long for every call is planned for, and so much more. */
const highOverLow = 1.5;
/** A single late answer says nothing of the shortest. */
const raiseMsMax = 50;

export class RoundTripTime {
  /** About the shortest seen lately. */
  low = 0;
  #high = 60;
  #seen = false;

  /** About the 95th percentile, at most 200 ms or half more than the shortest: rarer answers are waited for, not planned for. */
  get high(): number {
    return Math.min(this.#high, Math.max(highMsMax, this.low * highOverLow));
  }

  observe(ms: number): void {
    const { low } = this;
    const high = this.#high;
    this.low = this.#seen ? Math.min(ms, low + 0.01 * Math.min(ms - low, raiseMsMax)) : ms;
    // A step up of 19 against a step down of 1 settles where one answer in twenty is slower.
    this.#high = ms > high ? high + Math.min(ms - high, 19) * 0.2 : high - Math.min(high - ms, 1) * 0.2;
    this.#seen = true;
  }
}
