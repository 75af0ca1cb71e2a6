/**
 * What is kept of a run, and by what runs are compared.
 *
 * Invariants: money stays decimal text; figures depend on the report alone, never on the machine; where two runs are equal, the
 * one that was listed first ranks first.
 * Not here: what a run reports (report/report.ts), what ranks mean (luck.ts).
 */

import { approximate, compare, fromApproximate } from "../decimal.ts";
import type { EquityPoint, RunReport } from "../report/report.ts";

export interface Figures {
  /** What remained, after fees. */
  readonly pnl: string;
  /** Change of equity over the root of its summed squared changes along the run: a Sharpe ratio of the whole run, not of a year. */
  readonly sharpe: string;
  readonly drawdown: string;
  readonly drawdownPercent: string;
  readonly fees: string;
  readonly volume: string;
  readonly fills: number;
  readonly placed: number;
  readonly canceled: number;
  readonly rejected: number;
  readonly refused: number;
  readonly requests: number;
  readonly weight: number;
  readonly rejected429: number;
  readonly blockedMinutes: number;
  readonly heldMs: number;
  readonly currency: string;
}

export const figuresOf = ({ pnl, fees, volume, drawdown, fills, orders, quota, equity, currency }: RunReport): Figures => ({
  pnl,
  sharpe: sharpeOf(equity),
  drawdown: drawdown.max,
  drawdownPercent: drawdown.maxPercent,
  fees,
  volume,
  fills,
  placed: orders.placed,
  canceled: orders.canceled,
  rejected: orders.rejected,
  refused: orders.refused,
  requests: quota.requests,
  weight: quota.weight,
  rejected429: quota.rejected429,
  blockedMinutes: quota.blockedMinutes,
  heldMs: quota.heldMs.p99,
  currency,
});

/** Needs no even spacing of the points, so that a thinned curve serves as well. A curve that never moved has 0. */
export const sharpeOf = (equity: readonly EquityPoint[]): string => {
  const values = equity.map((point) => approximate(point.equity));
  let squares = 0;
  for (let index = 1; index < values.length; index++) squares += ((values[index] as number) - (values[index - 1] as number)) ** 2;
  if (squares === 0) return "0";
  return fromApproximate(((values.at(-1) as number) - (values[0] as number)) / Math.sqrt(squares), 4);
};

/** What may decide, and whether more of it is better. */
export const scores = {
  pnl: "more",
  sharpe: "more",
  drawdown: "less",
  drawdownPercent: "less",
  fees: "less",
  volume: "more",
  fills: "more",
  weight: "less",
  rejected429: "less",
} as const satisfies Partial<Record<keyof Figures, "more" | "less">>;

export type Score = keyof typeof scores;

/** The value of a score as decimal text. */
export const scoreOf = (figures: Figures, by: Score): string => String(figures[by]);

/** The best first. */
export const ranked = <T>(runs: readonly T[], by: Score, figures: (run: T) => Figures): readonly T[] => {
  const sign = scores[by] === "more" ? -1 : 1;
  return [...runs].sort((a, b) => sign * compare(scoreOf(figures(a), by), scoreOf(figures(b), by)));
};
