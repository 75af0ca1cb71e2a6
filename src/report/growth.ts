/**
 * Growth compounded over time.
 *
 * Invariants: only arithmetic that every machine rounds alike is used, because the platform's own logarithm and power
 * may differ in the last digit from version to version.
 */

/** `factor` to the power of `times`; undefined where that is more than `most`. */
export const compounded = (factor: number, times: number, most: number): number | undefined => {
  const power = times * logarithm(factor);
  return power > logarithm(most) ? undefined : exponential(power);
};

/** From halvings, which are exact, and a series. */
const logarithm = (value: number): number => {
  if (!(value > 0)) return Number.NEGATIVE_INFINITY;
  let rest = value;
  let halvings = 0;
  for (; rest > 1.5; rest /= 2) halvings++;
  for (; rest < 0.75; rest *= 2) halvings--;
  const share = (rest - 1) / (rest + 1);
  let power = share;
  let sum = 0;
  for (let odd = 1; odd < 60; odd += 2) {
    sum += power / odd;
    power *= share * share;
  }
  return 2 * sum + halvings * Math.LN2;
};

const exponential = (value: number): number => {
  // Below this nothing is left of the first digit shown.
  if (value < -50) return 0;
  const doublings = Math.round(value / Math.LN2);
  const rest = value - doublings * Math.LN2;
  let term = 1;
  let sum = 1;
  for (let step = 1; step < 30; step++) {
    term *= rest / step;
    sum += term;
  }
  for (let left = Math.abs(doublings); left > 0; left--) sum = doublings > 0 ? sum * 2 : sum / 2;
  return sum;
};
