/**
 * The tables of a tearsheet: result, orders, strategies, what is held, refused and rejected orders, the recording.
 *
 * Invariants: figures are those of the report, rounded for show alone; an empty table is a sentence.
 */
import { layers } from "../../contract/limits.ts";
import { abs, compare, div, isPositive, mul } from "../../decimal.ts";
import { gapsOf } from "../coverage-text.ts";
import { amount, counted, duration, grouped, percent, signed } from "../number-format.ts";
import { feeBpsOf, type RunReport } from "../report.ts";
import {
  columnsFor,
  type Fact,
  moneyFacts,
  orderFacts,
  positionColumns,
  positionRows,
  strategyName,
} from "../run-facts.ts";
import { tradeColumns, tradeFacts, tradesMeaning } from "../trade-facts.ts";
import type { TradeReport } from "../trades.ts";
import { figures, html, type Markup, nothing, signedCell, tableOf } from "./markup.ts";
import type { Sheet } from "./period-table.ts";

export const tiles = ({ report, places }: Sheet): Markup => {
  const { pnl, equity, drawdown, fees, volume, turnover, quota, liquidity, fills, trades, returns } = report;
  const start = equity[0]?.equity ?? "0";
  const share = isPositive(start) ? `${signed(div(mul(pnl, "100"), start, 4), 2)} % of ${amount(start, places)}` : "";
  const tile = (name: string, value: Markup | string, note: string): Markup =>
    html`<div class="tile"><dt>${name}</dt><dd>${value}<small>${note.replace(/^-/, "−")}</small></dd></div>`;
  return html`<dl class="tiles">
${tile(`Result in ${report.currency}`, signedCell(signed(pnl, places)), share)}
${tile("Drawdown", amount(drawdown.max, places), `${amount(drawdown.maxPercent, 2)} % of the high`)}
${tile("Win rate", trades.count === 0 ? "–" : percent(trades.won, trades.count), tradesNote(trades))}
${tile("Sharpe ratio", returns?.sharpe === undefined ? "–" : signedCell(amount(returns.sharpe, 2)), sharpeNote(returns))}
${tile(compare(fees, "0") < 0 ? "Rebates earned" : "Fees paid", amount(abs(fees), places), `${amount(feeBpsOf(abs(fees), volume), 2)} bp of volume`)}
${tile("Volume", amount(volume, places), `${amount(turnover, 2)} × equity`)}
${tile("Fills", grouped(fills), `${grouped(liquidity.maker.fills)} maker, ${grouped(liquidity.taker.fills)} taker`)}
${tile("Quota, peak minute", percent(quota.perLayerPeak.uid, layers.uid.capacity), quota.heldMs.total === 0 ? "no scheduling delay" : `${duration(quota.heldMs.total)} scheduling delay in all`)}
</dl>`;
};

const tradesNote = ({ count, profitFactor }: TradeReport): string =>
  `${counted(count, "trade")}${profitFactor === undefined ? "" : `, profit factor ${amount(profitFactor, 2)}`}`;

const sharpeNote = (returns: RunReport["returns"]): string => {
  if (returns?.per !== "year") return "of this run, not annualised";
  return returns.cagrPercent === undefined
    ? "annualised"
    : `annualised; CAGR ${signed(returns.cagrPercent, 2).replace(/^-/, "−")} %`;
};

const factTable = (caption: string, unit: string, rows: readonly Fact[]): Markup =>
  tableOf(
    caption,
    [{ name: "" }, ...figures(unit), { name: "" }],
    rows.map(([label, value, note = ""]) => [label, cellOf(value), note]),
  );

const cellOf = (text: string): Markup | string => (/^[-+]\d/.test(text) ? signedCell(text) : text);

export const resultTables = ({ report, places }: Sheet): Markup => {
  const { currency } = report;
  return html`<div class="pair"><div>${factTable(`Money in ${currency}`, currency, moneyFacts(report, places))}</div>
<div>${factTable("Orders", "count", orderFacts(report, places))}</div></div>`;
};

export const strategyTables = (sheet: Sheet): Markup => {
  const { report, places } = sheet;
  const strategies = Object.entries(report.perStrategy);
  const columns = columnsFor(report);
  const rows = strategies.map(([name, own]) => [
    strategyName(name, own),
    ...columns.map(({ cell }) => cellOf(cell(own, places))),
  ]);
  const errors = strategies.flatMap(([name, { error }]) =>
    error === undefined ? [] : [html`<p class="warn">${name}: ${error}</p>`],
  );
  const names = [{ name: "strategy" }, ...figures(...columns.map(({ name }) => name))];
  return html`${tableOf(`Orders, money in ${report.currency} and quota of each strategy`, names, rows)}${errors}${heldTable(sheet)}`;
};

const heldTable = ({ report, places }: Sheet): Markup => {
  const rows = positionRows(report, places).map((row) => row.map(cellOf));
  if (rows.length === 0) return html`<p class="soft">No strategy held anything at the end.</p>`;
  const [strategy, instrument, ...rest] = positionColumns;
  const columns = [{ name: strategy }, { name: instrument }, ...figures(...rest)];
  return html`<h3>Held at the end</h3>${tableOf("What strategies held at the end", columns, rows)}`;
};

/** Statistics of trades, of each strategy and of all. */
export const tradeTable = ({ report, places }: Sheet): Markup => {
  const columns = tradeColumns(report);
  const facts = tradeFacts(
    columns.map(([, own]) => own),
    places,
  );
  const rows = facts.map(({ name, cells }) => [name, ...cells.map(cellOf)]);
  const names = [{ name: "" }, ...figures(...columns.map(([name]) => name))];
  return html`${tableOf(`Trades of each strategy, money in ${report.currency}`, names, rows)}<p class="soft">${tradesMeaning}</p>`;
};

export const rejectionTable = ({ report }: Sheet): Markup => {
  const { turnedDown, turnedDownMore } = report;
  if (turnedDown.length === 0) return html`<p class="soft">No order was refused or rejected.</p>`;
  const rows = turnedDown.map(({ count, by, reason, strategies, example }) => [
    html`${grouped(count)} ×`,
    by === "engine" ? "before sending" : "by the service",
    html`<div class="why">${reason}${example.reason === reason ? nothing : html`<br><span class="soft">such as: ${example.reason}</span>`}</div>`,
    html`${strategies.join(", ")}, <span class="soft">first in slot ${example.slot}</span>`,
  ]);
  const { reasons, orders } = turnedDownMore;
  const more =
    reasons + orders === 0
      ? nothing
      : html`<p class="soft">and ${counted(reasons, "more reason")}, ${counted(orders, "order")} in all</p>`;
  return html`${tableOf("Why orders came to nothing", [{ name: "orders" }, { name: "" }, { name: "reason" }, { name: "strategies" }], rows)}${more}`;
};

export const coverageTable = ({ report: { coverage } }: Sheet): Markup => {
  const rows = coverage.series.map((one: RunReport["coverage"]["series"][number]) => [
    one.instId,
    one.kind,
    grouped(one.rows),
    gapsOf(one, coverage.gapMs),
    one.quotedPercent === undefined ? "–" : `${amount(one.quotedPercent, 1)} %`,
  ]);
  const columns = [
    { name: "instrument" },
    { name: "series" },
    ...figures("rows"),
    { name: "gaps" },
    ...figures("both sides quoted"),
  ];
  return tableOf("What the recording holds", columns, rows);
};
