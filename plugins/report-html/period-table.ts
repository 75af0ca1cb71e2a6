/**
 * The result of each day of a page, or of what fits the span.
 *
 * Invariants: figures are sums of exact text; a period's result is between the last sample before it and
 * its own last sample, so that the results of all periods add up to that of the run.
 */

import { add, div, isPositive, mul, sub } from "sluice";
import type { FillDetail, RunDetails, RunReport } from "sluice/backtest";
import { amount, grouped, signed } from "sluice/extension";
import { figures, html, type Markup, nothing, signedCell, tableOf } from "sluice/plugins/ui-kit";

export interface Sheet {
  readonly report: RunReport;
  readonly details: RunDetails;
  /** Fraction digits of money. */
  readonly places: number;
  readonly startAt: number;
  readonly endAt: number;
}

/** Results by day, or what fits the span. */
export const periodSection = (sheet: Sheet): Markup => {
  const { details } = sheet;
  if (details.equity.length < 2) return html`<p class="soft">Fewer than two points of equity were recorded.</p>`;
  return html`<h3>Result by ${periodName(sheet)}</h3>${periodTable(sheet)}`;
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

/** Day and minute, the nearest one: recordings end a moment before the hour. */
const minuteOf = (at: number): string =>
  new Date(Math.round(at / minute) * minute).toISOString().slice(0, 16).replace("T", " ");

const nameOf = (at: number, ms: number | undefined, { startAt, endAt }: Sheet): string => {
  const iso = new Date(at).toISOString();
  if (ms === undefined) return iso.slice(0, 7);
  const text = ms >= day ? iso.slice(0, 10) : minuteOf(at);
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
