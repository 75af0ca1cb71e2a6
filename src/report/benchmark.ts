/**
 * Buy and hold: what the equity at the start would have become in one instrument.
 *
 * Invariants: one point for each sample of the equity; bought at the first known price, without costs; cut at the
 * eighth place.
 */
import { div, mul } from "../decimal.ts";
import { drawdownOf, type EquityPoint } from "./equity.ts";
import { returnsOf } from "./returns.ts";

/** Equity over time of one who buys an instrument at the start and does nothing else. */
export interface Benchmark {
  readonly instId: string;
  readonly points: readonly EquityPoint[];
}

/** `prices` are those of the instrument at each point of `equity`; what is not known yet counts as unchanged. */
export const buyAndHold = (
  instId: string,
  equity: readonly EquityPoint[],
  prices: readonly (string | undefined)[],
): Benchmark => {
  const start = equity[0]?.equity ?? "0";
  const first = prices.find((px) => px !== undefined);
  let last = first;
  const points = equity.map(({ at }, index) => {
    last = prices[index] ?? last;
    return { at, equity: first === undefined || last === undefined ? start : div(mul(start, last), first, 8) };
  });
  return { instId, points };
};

/** Figures of buy and hold next to those of a run, as `returns` and `drawdown` have them. */
export interface BenchmarkReport {
  readonly instId: string;
  readonly percent: string;
  readonly volatilityPercent: string;
  readonly sharpe?: string;
  readonly drawdownPercent: string;
}

/** Undefined where the run began with nothing. */
export const benchmarkReport = ({ instId, points }: Benchmark, ms: number): BenchmarkReport | undefined => {
  const returns = returnsOf(points, ms);
  if (returns === undefined) return undefined;
  const { percent, volatilityPercent, sharpe } = returns;
  return {
    instId,
    percent,
    volatilityPercent,
    ...(sharpe !== undefined && { sharpe }),
    drawdownPercent: drawdownOf(points).maxPercent,
  };
};
