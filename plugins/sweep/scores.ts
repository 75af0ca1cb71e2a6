/**
 * Stored figures of a run, and the scores by which runs are compared.
 *
 * Invariants: money stays decimal text; figures depend on the report alone, never on the machine; where two runs are
 * equal, the one that was listed first ranks first.
 * Not here: the report of a run (report/report.ts), the meaning of ranks (selection-bias.ts).
 */

import { compare } from "sluice";
import type { Returns, RunReport } from "sluice/backtest";

export interface Figures {
  /** Profit after fees. */
  readonly pnl: string;
  /** Sharpe ratio as in the run's own report, and its scale; absent where equity never moved, and ranked as 0 then. */
  readonly sharpe?: string;
  readonly sharpePer?: Returns["per"];
  readonly drawdown: string;
  readonly drawdownPercent: string;
  readonly fees: string;
  readonly volume: string;
  /** Closed, as in the run's own report; what there were too few for is absent. */
  readonly trades: number;
  readonly winPercent?: string;
  readonly profitFactor?: string;
  readonly expectancy?: string;
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

export const figuresOf = ({
  pnl,
  fees,
  volume,
  drawdown,
  fills,
  orders,
  quota,
  returns,
  trades,
  currency,
}: RunReport): Figures => ({
  pnl,
  ...(returns?.sharpe !== undefined && { sharpe: returns.sharpe, sharpePer: returns.per }),
  drawdown: drawdown.max,
  drawdownPercent: drawdown.maxPercent,
  fees,
  volume,
  ...tradeFiguresOf(trades),
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

const tradeFiguresOf = ({ count, winPercent, profitFactor, expectancy }: RunReport["trades"]) => ({
  trades: count,
  ...(winPercent !== undefined && { winPercent }),
  ...(profitFactor !== undefined && { profitFactor }),
  ...(expectancy !== undefined && { expectancy }),
});

/** Scores by which runs are ranked, each with its better direction. */
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
export const scoreOf = (figures: Scored, by: Score): string => String(figures[by] ?? "0");

/** Object with scores: the figures of a run, or medians over several. */
export type Scored = Readonly<Partial<Record<Score, string | number>>>;

/** The best first. */
export const ranked = <T>(runs: readonly T[], by: Score, figures: (run: T) => Figures): readonly T[] => {
  const sign = scores[by] === "more" ? -1 : 1;
  return [...runs].sort((a, b) => sign * compare(scoreOf(figures(a), by), scoreOf(figures(b), by)));
};
