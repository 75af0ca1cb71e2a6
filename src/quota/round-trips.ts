/**
 * How long answers take: a low and a high mark that follow the traffic.
 *
 * Invariants: both start at values that are safe before anything was measured.
 */

export interface RoundTrips {
  observe(ms: number): void;
  /** About the shortest seen lately. */
  readonly low: number;
  /** About the 95th percentile, at most 200 ms: rarer answers are waited for, not planned for. */
  readonly high: number;
}

export const createRoundTrips = (): RoundTrips => {
  let low = 0;
  let high = 60;
  let seen = false;
  return {
    get low() {
      return low;
    },
    get high() {
      return Math.min(high, 200);
    },
    observe: (ms) => {
      low = seen ? Math.min(ms, low + 0.01 * (ms - low)) : ms;
      // A step up of 19 against a step down of 1 settles where one answer in twenty is slower.
      high = ms > high ? high + Math.min(ms - high, 19) * 0.2 : high - Math.min(high - ms, 1) * 0.2;
      seen = true;
    },
  };
};
