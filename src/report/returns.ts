/**
 * Return of a run and its risk: total, compounded over a year, volatility, Sharpe and Sortino ratio.
 *
 * Invariants: returns are percentages of the equity at the start; ratios come from the returns between equally spaced samples of
 * equity over a risk-free rate of 0; a run of at least seven days is scaled to years of 365 days, a shorter one never: its ratios
 * are those of the run as it stands; a loss is never more than everything; only arithmetic that every machine rounds alike is used.
 */

import { approximate, div, fromApproximate, isPositive, mul, sub } from "../decimal.ts";
import type { EquityPoint } from "./equity.ts";

/** Return, volatility and ratios of a run. */
export interface Returns {
  /** What volatility and ratios are scaled to: 365 days, or the run itself where it is shorter than seven. */
  readonly per: "year" | "run";
  /** Equity at the start, of which `percent` and `cagrPercent` are percentages. */
  readonly startEquity: string;
  /** Change of equity, not annualised. */
  readonly percent: string;
  /** Compound annual growth rate; absent in a run shorter than seven days, and beyond `cagrPercentMax`. */
  readonly cagrPercent?: string;
  readonly volatilityPercent: string;
  /** Absent where returns never varied, or never fell. */
  readonly sharpe?: string;
  readonly sortino?: string;
  /** Returns that these figures come from, and the time over which each was made. */
  readonly samples: number;
  readonly everyMs: number;
}

const dayMs = 86_400_000;
const daysMin = 7;
const yearMs = 365 * dayMs;
/** A week compounded over a year can grow beyond all measure; from here on it says nothing. */
const cagrPercentMax = 1_000_000;

/** Recordings end a moment before the full day. */
export const isAnnualised = (ms: number): boolean => ms >= daysMin * dayMs - 60_000;

/** A Sharpe ratio of so many milliseconds brought to a day, so that parts of different lengths can be compared. */
export const perDay = (sharpe: number, per: Returns["per"], ms: number): number =>
  sharpe * Math.sqrt(dayMs / (per === "year" ? yearMs : ms));

/** Undefined when the run began with nothing. `equity` holds every sample, not the thinned ones. */
export const returnsOf = (equity: readonly EquityPoint[], ms: number): Returns | undefined => {
  const [first] = equity;
  const last = equity[equity.length - 1];
  if (first === undefined || last === undefined || equity.length < 2 || !(ms > 0) || !isPositive(first.equity)) return undefined;
  const returns = changesOf(equallySpaced(equity));
  const everyMs = ms / returns.length;
  const annualised = isAnnualised(ms);
  const scale = Math.sqrt(annualised ? yearMs / everyMs : returns.length);
  const mean = total(returns) / returns.length;
  const spread = Math.sqrt(total(returns.map((value) => (value - mean) * (value - mean))) / Math.max(1, returns.length - 1));
  const below = Math.sqrt(total(returns.map((value) => Math.min(0, value) * value)) / returns.length);
  const ratio = (risk: number): string => fromApproximate((mean / risk) * scale, 4);
  const cagr = annualised ? cagrOf(first.equity, last.equity, yearMs / ms) : undefined;
  return {
    per: annualised ? "year" : "run",
    startEquity: first.equity,
    percent: div(mul(sub(last.equity, first.equity), "100"), first.equity, 4),
    ...(cagr !== undefined && { cagrPercent: cagr }),
    volatilityPercent: fromApproximate(100 * spread * scale, 4),
    ...(spread > 0 && { sharpe: ratio(spread) }),
    ...(below > 0 && { sortino: ratio(below) }),
    samples: returns.length,
    everyMs: Math.round(everyMs),
  };
};

/** What had nothing left has lost everything, whatever it owed. */
const cagrOf = (start: string, end: string, perYear: number): string | undefined => {
  if (!isPositive(end)) return "-100";
  const power = perYear * logarithm(approximate(div(end, start, 18)));
  if (power > logarithm(1 + cagrPercentMax / 100)) return undefined;
  return fromApproximate(100 * (exponential(power) - 1), 4);
};

/** From halvings, which are exact, and a series: the platform's own may differ in the last digit from version to version. */
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

/** Without a last sample that lies closer to the one before it: it waits only for what is under way at the end. */
const equallySpaced = (equity: readonly EquityPoint[]): readonly EquityPoint[] => {
  const spacing = (index: number): number => (equity[index]?.at ?? 0) - (equity[index - 1]?.at ?? 0);
  return equity.length > 2 && spacing(equity.length - 1) < spacing(1) / 2 ? equity.slice(0, -1) : equity;
};

const changesOf = (equity: readonly EquityPoint[]): readonly number[] => {
  const values = equity.map(({ equity: value }) => approximate(value));
  return values.slice(1).map((value, index) => {
    const before = values[index] as number;
    return before > 0 ? value / before - 1 : 0;
  });
};

const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
