/**
 * Return of a run and its risk: what it made, compounded over a year, and the statistics of its returns.
 *
 * Invariants: a run of at least seven days is reported by days and scaled to years of 365 of them, a shorter one by its
 * samples and never scaled beyond itself; the risk-free rate is 0; a loss is never more than everything; figures are
 * percentages of four digits.
 * Not here: the series (return-series.ts), the formulas (return-statistics.ts), powers (growth.ts).
 */

import { approximate, div, fromApproximate, isPositive, mul, sub } from "../decimal.ts";
import { type DrawdownPeriod, drawdownPeriods } from "./drawdowns.ts";
import type { EquityPoint } from "./equity.ts";
import { compounded } from "./growth.ts";
import { dayMs, isAnnualised, type ReturnPoint, returnSeries } from "./return-series.ts";
import { type ReturnStatistics, rollingOf, statisticsOf } from "./return-statistics.ts";

/** Return, volatility and ratios of a run. Formulas are those of QuantStats; percentages have four digits. */
export interface Returns {
  /** Time that volatility and ratios are scaled to: 365 days, or the run itself where it is shorter than seven. */
  readonly per: "year" | "run";
  /** Equity at the start, of which `percent` is a percentage. */
  readonly startEquity: string;
  /** Change of equity, not annualised. */
  readonly percent: string;
  /**
   * Compound annual growth rate of `samples` days; absent in a run shorter than seven days, and beyond
   * `cagrPercentMax`.
   */
  readonly cagrPercent?: string;
  readonly volatilityPercent: string;
  /** Absent where returns never varied, or never fell. */
  readonly sharpe?: string;
  readonly sortino?: string;
  /** Gains over losses of returns; absent where none fell. */
  readonly omega?: string;
  /** Compound annual growth rate over the deepest fall between closes; absent without either. */
  readonly calmar?: string;
  /** Returns that these figures come from, and the time over which each was made. */
  readonly samples: number;
  readonly everyMs: number;
  /** Figures of single returns: of days where the run is reported by days. */
  readonly single: SingleReturns;
  /** The five deepest falls between closes, the deepest first. */
  readonly drawdowns: readonly DrawdownPeriod[];
  /** By months in UTC, those included of which the run has a part; empty in a run shorter than seven days. */
  readonly months: readonly MonthReturn[];
  /** Over the last 30 days each, at most 200 points; empty in a run shorter than that. */
  readonly rolling: readonly RollingFigures[];
}

/** Distribution of single returns, in percent. */
export interface SingleReturns {
  readonly averagePercent: string;
  readonly bestPercent: string;
  readonly worstPercent: string;
  /** Share of those that rose, of those that rose or fell. */
  readonly risingPercent?: string;
  /** 5 % quantile and mean of what lies below it, of a normal distribution with this mean and spread (QuantStats). */
  readonly varPercent: string;
  readonly cvarPercent: string;
  /** The same of the returns as they were (empyrical). */
  readonly historicalVarPercent: string;
  readonly historicalCvarPercent: string;
  /** Unbiased skewness; absent for fewer than three returns that vary. */
  readonly skew?: string;
  readonly kurtosis?: string;
}

/** Return of a month, such as "2024-01". */
export interface MonthReturn {
  readonly month: string;
  readonly percent: string;
}

/** Annualised figures of the 30 days that end at an instant. */
export interface RollingFigures {
  readonly at: number;
  readonly volatilityPercent: string;
  readonly sharpe?: string;
}

const daysInYear = 365;
/** A week compounded over a year can grow without bound; beyond this it is left out. */
const cagrPercentMax = 1_000_000;
const rollingDays = 30;
const rollingPointsMax = 200;

/**
 * A Sharpe ratio of so many milliseconds brought to a day, so that parts of different lengths can be compared.
 *
 * @param sharpe - of the period
 * @param per - whether it is annualised already
 * @param ms - length of the period
 * @returns the ratio of one day
 */
export const perDay = (sharpe: number, per: Returns["per"], ms: number): number =>
  sharpe * Math.sqrt(per === "year" ? 1 / daysInYear : dayMs / ms);

/** Undefined when the run began with nothing. `equity` holds every sample of a run of `ms`, not the thinned ones. */
export const returnsOf = (equity: readonly EquityPoint[], ms: number): Returns | undefined => {
  const series = returnSeries(equity, ms);
  const [first] = equity;
  const last = equity[equity.length - 1];
  if (first === undefined || last === undefined || series.length === 0 || !(ms > 0) || !isPositive(first.equity))
    return undefined;
  const annualised = isAnnualised(ms);
  const changes = series.map(({ change }) => approximate(change));
  const statistics = statisticsOf(changes, annualised ? daysInYear : changes.length);
  const drawdowns = drawdownPeriods([first, ...series]);
  return {
    per: annualised ? "year" : "run",
    startEquity: first.equity,
    percent: div(mul(sub(last.equity, first.equity), "100"), first.equity, 4),
    ...(annualised && yearly(first.equity, last.equity, series.length, drawdowns)),
    volatilityPercent: percentOf(statistics.volatility),
    ...ratiosOf(statistics),
    samples: series.length,
    everyMs: annualised ? dayMs : Math.round(ms / series.length),
    single: singleOf(changes, statistics),
    drawdowns: drawdowns.map((period) => ({ ...period, percent: div(period.percent, "1", 4) })),
    months: annualised ? monthsOf(first.equity, series) : [],
    rolling: annualised ? rolling(series, changes) : [],
  };
};

/** Nearest of four digits. */
const ratio = (value: number): string => fromApproximate(Math.round(value * 10_000) / 10_000, 4);
const percentOf = (share: number): string => ratio(100 * share);

const ratiosOf = ({ sharpe, sortino, omega }: ReturnStatistics): Pick<Returns, "sharpe" | "sortino" | "omega"> => ({
  ...(sharpe !== undefined && { sharpe: ratio(sharpe) }),
  ...(sortino !== undefined && { sortino: ratio(sortino) }),
  ...(omega !== undefined && { omega: ratio(omega) }),
});

/** An account without funds has lost everything, however much it owes. */
const yearly = (
  start: string,
  end: string,
  days: number,
  [deepest]: readonly DrawdownPeriod[],
): Pick<Returns, "cagrPercent" | "calmar"> => {
  const growth = isPositive(end)
    ? compounded(approximate(div(end, start, 18)), daysInYear / days, 1 + cagrPercentMax / 100)
    : 0;
  if (growth === undefined) return {};
  const depth = deepest === undefined ? 0 : approximate(deepest.percent) / 100;
  return { cagrPercent: percentOf(growth - 1), ...(depth > 0 && { calmar: ratio((growth - 1) / depth) }) };
};

const singleOf = (changes: readonly number[], of: ReturnStatistics): SingleReturns => {
  const rose = changes.filter((change) => change > 0).length;
  const moved = changes.filter((change) => change !== 0).length;
  return {
    averagePercent: percentOf(of.mean),
    bestPercent: percentOf(of.best),
    worstPercent: percentOf(of.worst),
    ...(moved > 0 && { risingPercent: div(String(100 * rose), String(moved), 2) }),
    varPercent: percentOf(of.valueAtRisk),
    cvarPercent: percentOf(of.shortfall),
    historicalVarPercent: percentOf(of.historicalValueAtRisk),
    historicalCvarPercent: percentOf(of.historicalShortfall),
    ...(of.skew !== undefined && { skew: ratio(of.skew) }),
    ...(of.kurtosis !== undefined && { kurtosis: ratio(of.kurtosis) }),
  };
};

const monthsOf = (start: string, series: readonly ReturnPoint[]): readonly MonthReturn[] => {
  const closes = new Map(series.map(({ day = "", equity }) => [day.slice(0, 7), equity]));
  let before = start;
  return [...closes].map(([month, equity]) => {
    const percent = isPositive(before) ? div(mul(sub(equity, before), "100"), before, 4) : "0";
    before = equity;
    return { month, percent };
  });
};

const rolling = (series: readonly ReturnPoint[], changes: readonly number[]): readonly RollingFigures[] => {
  const all = rollingOf(changes, rollingDays, daysInYear);
  const step = Math.ceil(all.length / rollingPointsMax);
  return all
    .filter((_, index) => (all.length - 1 - index) % step === 0)
    .map(({ index, volatility, sharpe }) => ({
      at: series[index]?.at ?? 0,
      volatilityPercent: percentOf(volatility),
      ...(sharpe !== undefined && { sharpe: ratio(sharpe) }),
    }));
};
