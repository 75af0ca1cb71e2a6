/**
 * Returns and their risk in words: the sentences and rows that the text report and the page for a browser share.
 *
 * Invariants: pure text from the report alone; what has no value is a dash; no annualised figure is given for a run too
 * short for it.
 * Not here: the figures (returns.ts), their place on a page (report-text.ts, plugins/report-html).
 */
import { amount, duration, grouped, signed } from "./number-format.ts";
import type { RunReport } from "./report.ts";
import type { Returns } from "./returns.ts";

const tooShort = "Annualised figures need at least 7 days.";

const ratio = (value: string | undefined): string => (value === undefined ? "-" : amount(value, 2));
const share = (value: string): string => `${signed(value, 2)} %`;

/** Figures of returns, and their source. */
export const returnFacts = (
  returns: Returns | undefined,
  currency: string,
): { readonly said: string; readonly basis: string } => {
  if (returns === undefined) return { said: "No return is stated: there was no equity at the start.", basis: "" };
  const { per, cagrPercent, volatilityPercent, sharpe, sortino, calmar, omega, samples, everyMs, startEquity } =
    returns;
  const ratios = `volatility ${amount(volatilityPercent, 2)} %, Sharpe ${ratio(sharpe)}, Sortino ${ratio(sortino)}`;
  const cagr = cagrPercent === undefined ? "beyond 1,000,000 %" : share(cagrPercent);
  const [counted, scaled] =
    per === "year"
      ? [`${grouped(samples)} days from close to close in UTC`, "annualised over 365 days"]
      : [`${grouped(samples)} returns over ${duration(everyMs)} each`, "not annualised"];
  return {
    said:
      per === "year"
        ? `Annualised: CAGR ${cagr}, ${ratios}, Calmar ${ratio(calmar)}. Omega ${ratio(omega)}.`
        : `${tooShort} Of this run: ${ratios}.`,
    basis: `In percent of the equity at the start, ${amount(startEquity, 2)} ${currency}; ratios from ${counted}, ${scaled}, risk-free rate 0.`,
  };
};

/** Figures of single days; empty for a run that is not reported by days. */
export const dayFacts = ({ per, single }: Returns): readonly string[] => {
  const {
    averagePercent,
    bestPercent,
    worstPercent,
    risingPercent = "0",
    varPercent,
    cvarPercent,
    skew,
    kurtosis,
  } = single;
  if (per === "run") return [];
  return [
    `Days: ${share(averagePercent)} on average, best ${share(bestPercent)}, worst ${share(worstPercent)}; ${amount(risingPercent, 0)} % rose of those that moved.`,
    `One day in twenty is expected below ${share(varPercent)}, those at ${share(cvarPercent)} on average (normal); skew ${ratio(skew)}, kurtosis ${ratio(kurtosis)}.`,
  ];
};

export const benchmarkFact = ({ benchmark, returns }: RunReport): readonly string[] => {
  if (benchmark === undefined || returns === undefined) return [];
  const { instId, percent, drawdownPercent, sharpe } = benchmark;
  return [
    `Buy and hold of ${instId}: ${share(percent)}, Sharpe ${ratio(sharpe)}, drawdown ${amount(drawdownPercent, 2)} %; this run: ${share(returns.percent)}.`,
  ];
};

export const fallColumns = ["", "fell from", "bottom", "back", "depth", "days"] as const;

/** The deepest falls of a run that is reported by days. */
export const fallRows = ({ per, drawdowns }: Returns): readonly (readonly string[])[] =>
  per === "run"
    ? []
    : drawdowns.map(({ startAt, bottomAt, endAt, percent, below }, index) => [
        String(index + 1),
        dayOf(startAt),
        dayOf(bottomAt),
        endAt === undefined ? "not yet" : dayOf(endAt),
        `${amount(percent, 2)} %`,
        grouped(below),
      ]);

/** A close is of the day that ends with it. */
const dayOf = (at: number): string => new Date(at - 1).toISOString().slice(0, 10);

const monthNames = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"] as const;

/** A row for each year: its months in percent. */
export const monthRows = ({ months }: Returns): readonly (readonly string[])[] => {
  const years = [...new Set(months.map(({ month }) => month.slice(0, 4)))];
  const cell = (year: string, index: number): string => {
    const found = months.find(({ month }) => month === `${year}-${String(index + 1).padStart(2, "0")}`);
    return found === undefined ? "" : amount(found.percent, 1);
  };
  return years.map((year) => [year, ...monthNames.map((_, index) => cell(year, index))]);
};

export const monthColumns = ["% by month", ...monthNames] as const;
