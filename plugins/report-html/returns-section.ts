/**
 * Returns on a page: months as a heat map, the deepest falls, and how single returns are distributed.
 *
 * Invariants: figures are the report's own; a shade only repeats the number of its cell; the picture of the
 * distribution is drawn from the very returns that the statistics come from, and every one of them is in a bar.
 * Not here: words and rows (`reportSections`), equity over time (client/).
 */
import { approximate } from "sluice";
import type { RunDetails, RunReport } from "sluice/backtest";
import { amount, duration, grouped, type ReportBlock, type ReportTable } from "sluice/extension";
import { html, type Markup, nothing, raw } from "sluice/plugins/ui-kit";
import type { Sheet } from "./period-table.ts";
import { blocksOf, reportTable } from "./report-blocks.ts";

type Returns = NonNullable<RunReport["returns"]>;

export const returnsSection = (
  blocks: readonly ReportBlock[],
  { report: { returns }, details }: Pick<Sheet, "report" | "details">,
): Markup => {
  const drawn = blocks.map((block) =>
    block.kind === "table" && block.id === "months" && returns !== undefined
      ? monthTable(block, returns)
      : blocksOf([block]),
  );
  return html`${drawn}\n${returns === undefined ? nothing : distribution(returns, details.returns)}`;
};

const monthTable = (table: ReportTable, { months }: Returns): Markup => {
  const largest = Math.max(...months.map(({ percent }) => Math.abs(approximate(percent))));
  return reportTable(table, (cell, { kind }) => {
    const text = typeof cell === "string" ? cell : cell.text;
    return kind === "word"
      ? text
      : html`<span class="month ${shadeOf(approximate(text || "0"), largest)}">${text.replace(/^-/, "−")}</span>`;
  });
};

/** One of four shades of gain or loss by the share of the largest move. */
const shadeOf = (value: number, largest: number): string =>
  value === 0
    ? ""
    : `${value > 0 ? "up" : "down"}${Math.min(4, Math.max(1, Math.ceil((4 * Math.abs(value)) / largest)))}`;

const bins = 25;
const [width, height] = [600, 120];

const distribution = ({ per, everyMs }: Returns, returns: RunDetails["returns"]): Markup => {
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
