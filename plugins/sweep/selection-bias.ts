/**
 * Selection bias of the best result: the expected best of this many runs if the options had no effect.
 *
 * Invariants: statistics are approximations for reading, given to four digits; they do not depend on the order of the
 * results.
 */

export interface SelectionBias {
  /** Number of trials, including those that were given up early without a known score. */
  readonly trials: number;
  readonly best: number;
  readonly median: number;
  readonly mean: number;
  /** Standard deviation over the trials. */
  readonly spread: number;
  /** Expected best value of the same number of draws with this mean and spread, by chance alone. */
  readonly bestByChance: number;
}

/**
 * Computes the selection bias. `unknown` is the number of trials without a score; returns undefined if no trial has
 * one.
 */
export const selectionBiasOf = (
  values: readonly number[],
  better: "more" | "less",
  unknown = 0,
): SelectionBias | undefined => {
  const known = values.length;
  if (known === 0) return undefined;
  const sorted = [...values].sort((a, b) => a - b);
  const mean = sorted.reduce((total, value) => total + value, 0) / known;
  const spread =
    known < 2 ? 0 : Math.sqrt(sorted.reduce((total, value) => total + (value - mean) ** 2, 0) / (known - 1));
  const sign = better === "more" ? 1 : -1;
  return {
    trials: known + unknown,
    best: rounded((better === "more" ? sorted.at(-1) : sorted[0]) ?? 0),
    median: rounded(((sorted[Math.floor((known - 1) / 2)] as number) + (sorted[Math.floor(known / 2)] as number)) / 2),
    mean: rounded(mean),
    spread: rounded(spread),
    bestByChance: rounded(mean + sign * spread * expectedMaximum(known + unknown)),
  };
};

const rounded = (value: number): number => Number(value.toPrecision(4));

const euler = 0.5772156649;

/**
 * The mean of the largest of `count` standard normal draws, by the usual approximation with the extreme value
 * distribution.
 */
const expectedMaximum = (count: number): number =>
  count < 2 ? 0 : (1 - euler) * normalQuantile(1 - 1 / count) + euler * normalQuantile(1 - 1 / (count * Math.E));

/** By halving: the distribution function is summed from its series, which is exact enough for four digits. */
const normalQuantile = (share: number): number => {
  let [low, high] = [-8, 8];
  for (let step = 0; step < 50; step++) {
    const middle = (low + high) / 2;
    if (normalShare(middle) < share) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
};

const normalShare = (x: number): number => {
  let term = x;
  let total = x;
  for (let power = 3; Math.abs(term) > 1e-16 * Math.abs(total) && power < 400; power += 2) {
    term *= (x * x) / power;
    total += term;
  }
  return 0.5 + (total * Math.exp((-x * x) / 2)) / Math.sqrt(2 * Math.PI);
};
