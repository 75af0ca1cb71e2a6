/**
 * Statistics of a series of returns: volatility, Sharpe, Sortino, Omega, value at risk, skew, kurtosis, rolling
 * figures.
 *
 * Formulas are those of QuantStats 0.0.86 (`quantstats.stats`) with a risk-free rate of 0; empyrical-reloaded 0.7.1
 * gives the same where it has them, except that its value at risk and shortfall are of the returns as they were: those
 * are the `historical` ones.
 * Invariants: returns are shares, 0.01 for one percent; a figure that needs more or less equal returns is absent,
 * never 0 or infinite; only arithmetic that every machine rounds alike is used.
 * Not here: the returns (return-series.ts), their texts (returns.ts).
 */

/** Figures of a series of returns, as shares and plain ratios. */
export interface ReturnStatistics {
  readonly mean: number;
  /** Standard deviation, of a sample (n - 1), times the root of `periods`. */
  readonly volatility: number;
  readonly sharpe?: number;
  /** Mean over the root of the mean square of negative returns, all returns counted. */
  readonly sortino?: number;
  /** Sum of gains over sum of losses. */
  readonly omega?: number;
  /** The return that one in twenty falls below, were returns normally distributed, and the mean of those below it. */
  readonly valueAtRisk: number;
  readonly shortfall: number;
  /**
   * empyrical's: the 5 % quantile of the returns, interpolated, and the mean of the lowest twentieth, that return
   * included.
   */
  readonly historicalValueAtRisk: number;
  readonly historicalShortfall: number;
  /** Unbiased skewness, as pandas computes it; 0 for a normal distribution. */
  readonly skew?: number;
  readonly kurtosis?: number;
  readonly best: number;
  readonly worst: number;
}

/** A twentieth, and what belongs to it in a standard normal distribution: quantile, and density there. */
const tail = 0.05;
const normalQuantile = -1.6448536269514729;
const normalDensity = 0.10313564037537139;

/**
 * Smallest spread, as a share of the largest return, that is more than the rounding error of equal returns.
 */
const spreadMin = 1e-12;

/** Of one return at least; ratios and volatility are scaled to `periods` of them. */
export const statisticsOf = (returns: readonly number[], periods: number): ReturnStatistics => {
  const { mean, deviation } = momentsOf(returns);
  const below = Math.sqrt(total(returns.map((value) => (value < 0 ? value * value : 0))) / returns.length);
  const gains = total(returns.filter((value) => value > 0));
  const losses = -total(returns.filter((value) => value < 0));
  const sorted = [...returns].sort((a, b) => a - b);
  const worst = sorted[0] as number;
  const best = sorted[sorted.length - 1] as number;
  const scale = Math.sqrt(periods);
  const varies = deviation > spreadMin * Math.max(best, -worst);
  return {
    mean,
    volatility: deviation * scale,
    ...(varies && { sharpe: (mean / deviation) * scale }),
    ...(below > 0 && { sortino: (mean / below) * scale }),
    ...(losses > 0 && { omega: gains / losses }),
    valueAtRisk: mean + deviation * normalQuantile,
    shortfall: mean - (deviation * normalDensity) / tail,
    ...historicalTail(sorted),
    ...(varies && shapeOf(returns, mean)),
    best,
    worst,
  };
};

const momentsOf = (returns: readonly number[]): { readonly mean: number; readonly deviation: number } => {
  const mean = total(returns) / returns.length;
  const squares = total(returns.map((value) => (value - mean) * (value - mean)));
  return { mean, deviation: Math.sqrt(squares / Math.max(1, returns.length - 1)) };
};

const historicalTail = (
  sorted: readonly number[],
): Pick<ReturnStatistics, "historicalValueAtRisk" | "historicalShortfall"> => {
  const place = (sorted.length - 1) * tail;
  const index = Math.floor(place);
  const [low = 0, high = low] = sorted.slice(index, index + 2);
  return {
    historicalValueAtRisk: low + (high - low) * (place - index),
    historicalShortfall: total(sorted.slice(0, index + 1)) / (index + 1),
  };
};

const shapeOf = (returns: readonly number[], mean: number): Pick<ReturnStatistics, "skew" | "kurtosis"> => {
  const n = returns.length;
  const power = (of: (deviation: number) => number): number => total(returns.map((value) => of(value - mean)));
  const second = power((by) => by * by);
  const skew = () => ((n * Math.sqrt(n - 1)) / (n - 2)) * (power((by) => by * by * by) / (second * Math.sqrt(second)));
  const kurtosis = () => {
    const scaled = (n * (n + 1) * (n - 1) * power((by) => by * by * by * by)) / ((n - 2) * (n - 3) * second * second);
    return scaled - (3 * (n - 1) * (n - 1)) / ((n - 2) * (n - 3));
  };
  return { ...(n > 2 && { skew: skew() }), ...(n > 3 && { kurtosis: kurtosis() }) };
};

/** Sharpe ratio and volatility of the `length` returns that end with each, from the first that has so many on. */
export const rollingOf = (
  returns: readonly number[],
  length: number,
  periods: number,
): readonly { readonly index: number; readonly volatility: number; readonly sharpe?: number }[] =>
  returns.slice(length - 1).map((_, first) => {
    const { volatility, sharpe } = statisticsOf(returns.slice(first, first + length), periods);
    return { index: first + length - 1, volatility, ...(sharpe !== undefined && { sharpe }) };
  });

const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
