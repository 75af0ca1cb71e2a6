/**
 * Quantiles by nearest rank.
 *
 * Invariants: a quantile is one of the values; the list given is left as it was.
 */
import { assert } from "../errors.ts";

export const ascending = (values: readonly number[]): Float64Array => Float64Array.from(values).sort();

/** The smallest of ascending values that at least the share `q` of all values does not exceed; 0 for none. */
export const quantile = (sorted: Float64Array, q: number): number => {
  assert(q >= 0 && q <= 1, `a quantile is a share from 0 to 1, not ${q}`);
  // 0.07 * 100 is 7.000000000000001 in binary; without the rounding that would be the eighth rank.
  const rank = Math.ceil(Number((q * sorted.length).toFixed(9)));
  return sorted[Math.max(rank, 1) - 1] ?? 0;
};
