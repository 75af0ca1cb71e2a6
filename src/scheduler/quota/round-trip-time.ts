/**
 * How long answers take: a low and a high mark that follow the traffic.
 *
 * Invariants: both start at values that are safe before anything was measured.
 */

export interface RoundTripTime {
  observe(ms: number): void;
  /** About the shortest seen lately. */
  readonly low: number;
  /** About the 95th percentile, at most 200 ms: rarer answers are waited for, not planned for. */
  readonly high: number;
}

export const createRoundTripTime = (): RoundTripTime => {
  // In one object, because numbers kept by a closure are allocated anew with every change.
  const marks = { low: 0, high: 60, seen: false };
  return {
    get low() {
      return marks.low;
    },
    get high() {
      return Math.min(marks.high, 200);
    },
    observe: (ms) => {
      const { low, high, seen } = marks;
      marks.low = seen ? Math.min(ms, low + 0.01 * (ms - low)) : ms;
      // A step up of 19 against a step down of 1 settles where one answer in twenty is slower.
      marks.high = ms > high ? high + Math.min(ms - high, 19) * 0.2 : high - Math.min(high - ms, 1) * 0.2;
      marks.seen = true;
    },
  };
};
