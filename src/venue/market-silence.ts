/**
 * Times in which the recorded market of a product has no price. A market order that comes then waits for the first
 * price after it.
 *
 * Invariants: the last price before counts at the first instant of a silence, and the first one after it at its end.
 * Not here: what waits (order-entry.ts), where silences are known from (backtest/silences.ts).
 */

/** Milliseconds of the service's clock. */
export interface Silence {
  readonly from: number;
  readonly until: number;
}

/** True if an instant lies inside one of these spans, which are in time order. */
export const isSilentAt = (silences: readonly Silence[], at: number): boolean => {
  let [low, high] = [0, silences.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((silences[middle] as Silence).until <= at) low = middle + 1;
    else high = middle;
  }
  const next = silences[low];
  return next !== undefined && at > next.from;
};
