/**
 * Equity, drawdown, and the result of each day (or what fits the span) of a tearsheet.
 *
 * Invariants: pictures are of rounded copies, tables of exact text; a period's result is between the last sample before it and
 * its own last sample, so that the results of all periods add up to that of the run.
 */

import { add, approximate, compare, div, isPositive, mul, sub } from "../../decimal.ts";
import type { FillDetail, RunDetails } from "../details.ts";
import type { EquityPoint } from "../equity.ts";
import { amount, duration, grouped, minuteOf, signed } from "../number-format.ts";
import type { RunReport } from "../report.ts";
import { valueTicks } from "../ticks.ts";
import { returnFacts } from "../trade-facts.ts";
import { figures, html, type Markup, nothing, signedCell, tableOf } from "./markup.ts";
import { type Frame, lineThrough, path, plotOf, size, unit, xOf, yOf } from "./static-plot.ts";

export interface Sheet {
  readonly report: RunReport;
  readonly details: RunDetails;
  /** Fraction digits of money. */
  readonly places: number;
  readonly startAt: number;
  readonly endAt: number;
}

export const equitySection = (sheet: Sheet): Markup => {
  const { report, details } = sheet;
  if (details.equity.length < 2) return html`<p class="soft">Fewer than two points of equity were recorded.</p>`;
  return html`${equityPlot(sheet)}${fallPlot(sheet)}
<h3>Result by ${periodName(sheet)}</h3>${periodTable(sheet)}
${returnsOfRun(report)}`;
};

const returnsOfRun = ({ returns, currency }: RunReport): Markup => {
  const { said, basis } = returnFacts(returns, currency);
  return html`<p>${said.replace(/(?<=[ (])-(?=\d)/g, "−")}</p>${basis === "" ? nothing : html`<p class="soft">${basis}</p>`}`;
};

const momentOf = (at: number): string => new Date(Math.round(at / 1_000) * 1_000).toISOString().slice(0, 19).replace("T", " ");

const padded = (values: readonly number[]): { low: number; high: number } => {
  const low = values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
  const high = values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
  const room = high > low ? (high - low) * 0.06 : Math.max(Math.abs(high) * 0.0007, 1e-8);
  return { low: low - room, high: high + room };
};

const equityPlot = ({ report, details: { equity }, places, startAt, endAt }: Sheet): Markup => {
  const values = equity.map(({ equity: value }) => approximate(value));
  const frame: Frame = { startAt, endAt, ...padded(values) };
  const points = equity.map(({ at }, index) => [xOf(at, frame), yOf(values[index] as number, frame)] as const);
  const line = lineThrough(points);
  const first = points[0]?.[1] ?? 0;
  return plotOf({
    label: `Equity in ${report.currency}: from ${equity[0]?.equity} to ${equity.at(-1)?.equity}`,
    caption: `Equity in ${report.currency}, sampled every ${duration((endAt - startAt) / Math.max(1, equity.length - 2))}; the dashed line is where it began`,
    height: 240,
    frame,
    ticks: valueTicks(frame.low, frame.high),
    drawing: [
      path("area", `${line}V${size}H${unit(points[0]?.[0] ?? 0)}Z`),
      path("level", `M0 ${unit(first)}H${size}`),
      path("line", line),
    ],
    names: ["", "equity"],
    reads: equity.map(({ at, equity: value }) => ({ at, texts: [momentOf(at), amount(value, places)] })),
  });
};

/** How far below its earlier high equity was, in percent of that high. */
const falls = (equity: readonly EquityPoint[]): readonly string[] => {
  let high = equity[0]?.equity ?? "0";
  return equity.map(({ equity: value }) => {
    if (compare(value, high) > 0) high = value;
    return isPositive(high) ? div(mul(sub(value, high), "100"), high, 4) : "0";
  });
};

const fallPlot = ({ report, details: { equity }, startAt, endAt }: Sheet): Markup => {
  const percents = falls(equity);
  const values = percents.map(approximate);
  const deepest = values.reduce((least, value) => Math.min(least, value), 0);
  if (deepest === 0) return html`<p class="soft">Equity never fell below an earlier high.</p>`;
  const frame: Frame = { startAt, endAt, low: deepest * 1.06, high: 0 };
  const line = lineThrough(equity.map(({ at }, index) => [xOf(at, frame), yOf(values[index] as number, frame)]));
  return plotOf({
    label: `Drawdown: ${report.drawdown.maxPercent} percent at most`,
    caption: "Drawdown in percent of the earlier high",
    height: 110,
    frame,
    ticks: valueTicks(frame.low, 0, 3, " %"),
    drawing: [path("fall", `M0 0${line.replace("M", "L")}V0Z`)],
    names: ["", "drawdown"],
    reads: equity.map(({ at }, index) => ({ at, texts: [momentOf(at), `${amount(percents[index] ?? "0", 3).replace("-", "−")} %`] })),
  });
};

interface Period {
  readonly at: number;
  readonly name: string;
  before: string;
  after: string;
  readonly fills: FillDetail[];
}

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

const lengths = [
  { upTo: 20 * minute, ms: minute, name: "minute" },
  { upTo: 3 * hour, ms: 10 * minute, name: "ten minutes" },
  { upTo: 3 * day + hour, ms: hour, name: "hour" },
  { upTo: 62 * day, ms: day, name: "day" },
] as const;

const lengthOf = ({ startAt, endAt }: Sheet) => lengths.find(({ upTo }) => endAt - startAt <= upTo);
const periodName = (sheet: Sheet): string => lengthOf(sheet)?.name ?? "month";

const beginOf = (at: number, ms: number | undefined): number => {
  if (ms !== undefined) return Math.floor(at / ms) * ms;
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
};

const nameOf = (at: number, ms: number | undefined, { startAt, endAt }: Sheet): string => {
  const iso = new Date(at).toISOString();
  if (ms === undefined) return iso.slice(0, 7);
  const text = ms >= day ? iso.slice(0, 10) : minuteOf(iso);
  // The date is in the headline where there is only one.
  return endAt - startAt < 3 * hour ? text.slice(11) : text;
};

const periodsOf = (sheet: Sheet): readonly Period[] => {
  const ms = lengthOf(sheet)?.ms;
  const { details, startAt, endAt } = sheet;
  const periods = new Map<number, Period>();
  let last = details.equity[0]?.equity ?? "0";
  const periodAt = (at: number): Period => {
    // What arrives after the last row belongs to the last period.
    const begin = beginOf(Math.min(Math.max(at, startAt), endAt), ms);
    let period = periods.get(begin);
    if (period === undefined) {
      period = { at: begin, name: nameOf(begin, ms, sheet), before: last, after: last, fills: [] };
      periods.set(begin, period);
    }
    return period;
  };
  for (const { at, equity } of details.equity) {
    // A sample at the boundary closes the period before it.
    periodAt(at - 1).after = equity;
    last = equity;
  }
  for (const fill of details.fills) periodAt(fill.at).fills.push(fill);
  return [...periods.values()].sort((a, b) => a.at - b.at);
};

const periodTable = (sheet: Sheet): Markup => {
  const { places, report } = sheet;
  const rows = periodsOf(sheet).map(({ name, before, after, fills }) => {
    const change = sub(after, before);
    const valued = fills.filter(({ instId }) => instId.split("-")[1] === report.currency);
    return [
      name,
      amount(after, places),
      signedCell(signed(change, places)),
      isPositive(before) ? signedCell(signed(div(mul(change, "100"), before, 6), 3)) : "-",
      grouped(fills.length),
      amount(
        valued.reduce((total, { px, qty }) => add(total, mul(px, qty)), "0"),
        places,
      ),
      amount(
        valued.reduce((total, { fee }) => add(total, fee), "0"),
        places,
      ),
    ];
  });
  const columns = [{ name: "from (UTC)" }, ...figures("equity at end", "result", "%", "fills", "volume", "fees")];
  return rows.length === 0 ? nothing : tableOf(`Result by ${periodName(sheet)} in ${report.currency}`, columns, rows);
};
