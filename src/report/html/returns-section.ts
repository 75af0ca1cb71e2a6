/**
 * Returns on a page: months as a heat map, the deepest falls, and how single returns are distributed.
 *
 * Invariants: figures are the report's own; a shade only repeats what its cell says; the picture of the distribution is drawn from the very
 * returns that the statistics come from, and every one of them is in a bar.
 * Not here: words and rows (return-facts.ts), equity over time (client/).
 */
import { approximate } from "../../decimal.ts";
import type { RunDetails } from "../details.ts";
import { amount, duration, grouped } from "../number-format.ts";
import type { RunReport } from "../report.ts";
import {
  benchmarkFact,
  dayFacts,
  fallColumns,
  fallRows,
  monthColumns,
  monthRows,
  returnFacts,
} from "../return-facts.ts";
import type { Returns } from "../returns.ts";
import { figures, html, type Markup, nothing, raw, tableOf } from "./markup.ts";

export const returnsSection = (report: RunReport, details: RunDetails): Markup => {
  const { returns, currency } = report;
  const { said, basis } = returnFacts(returns, currency);
  const facts = [said, ...(returns === undefined ? [] : dayFacts(returns)), ...benchmarkFact(report)];
  return html`${facts.map((text) => html`<p>${text.replace(/(?<=[ (])-(?=\d)/g, "−")}</p>`)}${basis === "" ? nothing : html`<p class="soft">${basis}</p>`}
${returns === undefined ? nothing : html`${monthTable(returns)}${fallTable(returns)}${distribution(returns, details)}`}`;
};

const monthTable = (returns: Returns): Markup => {
  const rows = monthRows(returns);
  if (rows.length === 0) return nothing;
  const largest = Math.max(...returns.months.map(({ percent }) => Math.abs(approximate(percent))));
  const cell = (text: string): Markup =>
    html`<span class="month ${shadeOf(approximate(text || "0"), largest)}">${text.replace(/^-/, "−")}</span>`;
  const [first, ...months] = monthColumns;
  return html`<h3>Months</h3>${tableOf(
    "Return of each month in percent",
    [{ name: first }, ...figures(...months)],
    rows.map(([year = "", ...cells]) => [year, ...cells.map(cell)]),
  )}`;
};

/** One of four shades of gain or loss by the share of the largest move. */
const shadeOf = (value: number, largest: number): string =>
  value === 0
    ? ""
    : `${value > 0 ? "up" : "down"}${Math.min(4, Math.max(1, Math.ceil((4 * Math.abs(value)) / largest)))}`;

const fallTable = (returns: Returns): Markup => {
  const rows = fallRows(returns);
  if (rows.length === 0) return nothing;
  const [rank, ...columns] = fallColumns;
  return html`<h3>Deepest falls</h3>${tableOf("The deepest falls of equity between daily closes", [{ name: rank }, ...figures(...columns)], rows)}`;
};

const bins = 25;
const [width, height] = [600, 120];

const distribution = ({ per, everyMs }: Returns, { returns }: RunDetails): Markup => {
  const changes = returns.map(({ change }) => 100 * approximate(change));
  const reach = changes.reduce((most, change) => Math.max(most, Math.abs(change)), 0);
  if (changes.length < 10 || reach === 0) return nothing;
  // Zero is in the middle of the middle bar.
  const counts = Array.from({ length: bins }, () => 0);
  for (const change of changes) {
    const bin = Math.min(bins - 1, Math.floor(((change / reach + 1) / 2) * bins));
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  const most = Math.max(...counts);
  const each = width / bins;
  const bars = counts.map((count, bin) => {
    const tall = (height * count) / most;
    const kind = bin === (bins - 1) / 2 ? "even" : bin < bins / 2 ? "down" : "up";
    return `<rect class="${kind}" x="${round(bin * each + 1)}" y="${round(height - tall)}" width="${round(each - 2)}" height="${round(tall)}"/>`;
  });
  const what = per === "year" ? "days" : `returns over ${duration(everyMs)} each`;
  const edge = amount(String(round(reach)), 2);
  const label = `Distribution of ${grouped(changes.length)} ${what}, from −${edge} % to +${edge} %; the tallest bar is ${grouped(most)}`;
  return html`<h3>Distribution of returns</h3><figure class="spread"><svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-label="${label}">${raw(bars.join(""))}</svg>
<figcaption><span>−${edge} %</span><span>${grouped(changes.length)} ${what}; the tallest bar is ${grouped(most)}</span><span>+${edge} %</span></figcaption></figure>`;
};

const round = (value: number): number => Math.round(value * 100) / 100;
