/**
 * Figures per year from a run that is long enough to say something about one.
 *
 * Invariants: nothing is said of less than a week; years have 365 days; returns are those between equally spaced samples of the
 * equity, simple and not compounded, over a risk-free rate of 0; only arithmetic that every machine rounds alike is used.
 */
import { approximate, div, fromApproximate, isPositive, mul, sub } from "../decimal.ts";
import type { EquityPoint } from "./report.ts";

export interface Yearly {
  /** Change of equity over the first equity, times 365 over the days of the run. */
  readonly returnPercent: string;
  readonly volatilityPercent: string;
  /** Absent where returns never varied, or never fell. */
  readonly sharpe?: string;
  readonly sortino?: string;
  readonly samples: number;
  readonly everyMs: number;
}

const dayMs = 86_400_000;
export const daysMin = 7;
const daysPerYear = 365;

/** Undefined when the run is too short, or began with nothing. `equity` holds every sample, not the thinned ones. */
export const yearlyOf = (equity: readonly EquityPoint[], virtualMs: number): Yearly | undefined => {
  const [first] = equity;
  const last = equity[equity.length - 1];
  // Recordings end a moment before the full day.
  if (first === undefined || last === undefined || virtualMs < daysMin * dayMs - 60_000 || !isPositive(first.equity)) return undefined;
  const returns = returnsOf(equallySpaced(equity));
  const everyMs = virtualMs / returns.length;
  const perYear = (daysPerYear * dayMs) / everyMs;
  const mean = total(returns) / returns.length;
  const spread = Math.sqrt(total(returns.map((value) => (value - mean) * (value - mean))) / Math.max(1, returns.length - 1));
  const below = Math.sqrt(total(returns.map((value) => Math.min(0, value) * value)) / returns.length);
  const ratio = (risk: number): string => fromApproximate((mean / risk) * Math.sqrt(perYear), 2);
  const made = div(mul(sub(last.equity, first.equity), "100"), first.equity, 18);
  return {
    returnPercent: div(mul(made, String(daysPerYear * dayMs)), String(Math.round(virtualMs)), 4),
    volatilityPercent: fromApproximate(100 * spread * Math.sqrt(perYear), 2),
    ...(spread > 0 && { sharpe: ratio(spread) }),
    ...(below > 0 && { sortino: ratio(below) }),
    samples: returns.length,
    everyMs: Math.round(everyMs),
  };
};

/** Without a last sample that lies closer to the one before it: it waits only for what is under way at the end. */
const equallySpaced = (equity: readonly EquityPoint[]): readonly EquityPoint[] => {
  const spacing = (index: number): number => (equity[index]?.at ?? 0) - (equity[index - 1]?.at ?? 0);
  return equity.length > 2 && spacing(equity.length - 1) < spacing(1) / 2 ? equity.slice(0, -1) : equity;
};

const returnsOf = (equity: readonly EquityPoint[]): readonly number[] => {
  const values = equity.map(({ equity: value }) => approximate(value));
  return values.slice(1).map((value, index) => {
    const before = values[index] as number;
    return before > 0 ? value / before - 1 : 0;
  });
};

const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
