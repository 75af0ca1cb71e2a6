/**
 * Portfolio of a run: positions of its strategies and instruments over time, and the correlation of their returns.
 *
 * Invariants: money is decimal text in the run's currency; coefficients have four digits and are null where one side
 * never moved.
 * Not here: what each made (trade-statistics.ts), the returns (return-series.ts).
 */
import { abs, approximate, compare, div, fromApproximate, sum } from "../decimal.ts";
import type { EquityPoint } from "./equity.ts";
import { returnSeries } from "./return-series.ts";

/** Exposure at an instant: positions in instruments without their signs, and with them. */
export interface ExposurePoint {
  readonly at: number;
  readonly gross: string;
  readonly net: string;
}

/** Largest, mean and last value of what strategies held, as sampled with the equity. */
export interface ExposureReport {
  readonly gross: ExposureFigures;
  /** `max` is the value furthest from zero, of its own sign. */
  readonly net: ExposureFigures;
}

interface ExposureFigures {
  readonly max: string;
  /** Mean of the pairs' correlations, with at most eight fraction digits. */
  readonly mean: string;
  readonly end: string;
}

/**
 * Correlation coefficients (Pearson's) of returns, -1 to 1, by the order of `names`; null where one side never moved.
 */
export interface CorrelationMatrix {
  readonly names: readonly string[];
  readonly values: readonly (readonly (string | null)[])[];
}

/** Correlations of a run's returns: of its strategies, and of the prices of their instruments. */
export interface Correlations {
  readonly strategies?: CorrelationMatrix;
  readonly instruments?: CorrelationMatrix;
}

export const exposureReport = (points: readonly ExposurePoint[]): ExposureReport => {
  const of = (which: "gross" | "net"): ExposureFigures => {
    const values = points.map((point) => point[which]);
    return {
      max: values.reduce((most, value) => (compare(abs(value), abs(most)) > 0 ? value : most), "0"),
      mean: values.length === 0 ? "0" : div(sum(values), String(values.length), 8),
      end: values.at(-1) ?? "0",
    };
  };
  return { gross: of("gross"), net: of("net") };
};

/** A value over time, such as equity with one strategy alone or a price, sampled at the same instants as all others. */
interface Line {
  readonly name: string;
  readonly points: readonly EquityPoint[];
}

/** Undefined of fewer than two; `ms` is the length of the run. */
export const correlationOf = (lines: readonly Line[], ms: number): CorrelationMatrix | undefined => {
  if (lines.length < 2) return undefined;
  const deviations = lines.map(({ points }) => {
    const changes = returnSeries(points, ms).map(({ change }) => approximate(change));
    const mean = total(changes) / changes.length;
    return changes.map((change) => change - mean);
  });
  const spreads = deviations.map((own) => Math.sqrt(total(own.map((by) => by * by))));
  const value = (a: number, b: number): string | null => {
    const spread = (spreads[a] as number) * (spreads[b] as number);
    if (!(spread > 0)) return null;
    const together = total(
      (deviations[a] as readonly number[]).map((by, index) => by * ((deviations[b] as readonly number[])[index] ?? 0)),
    );
    return fromApproximate(Math.round((together / spread) * 10_000) / 10_000, 4);
  };
  return { names: lines.map(({ name }) => name), values: lines.map((_, a) => lines.map((__, b) => value(a, b))) };
};

const total = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);
