/**
 * The tables of a tearsheet: result, orders, strategies, what is held, refused and rejected orders, the recording.
 *
 * Invariants: figures are those of the report, rounded for show alone; an empty table is a sentence.
 */
import { layers } from "../contract/limits.ts";
import { abs, compare, div, isPositive, isZero, mul } from "../decimal.ts";
import { gapsOf } from "./coverage-text.ts";
import { amount, counted, duration, grouped, percent, placesFor, signed } from "./number-format.ts";
import { feeBpsOf, grossOf, type Liquidity, type RunReport, type StrategyReport } from "./report.ts";
import { html, type Markup, nothing, signedCell, tableOf } from "./tearsheet-html.ts";
import type { Sheet } from "./tearsheet-money.ts";
import type { TradeReport } from "./trades.ts";

const figure = (name: string) => ({ name, figure: true });

export const tiles = ({ report, places }: Sheet): Markup => {
  const { pnl, equity, drawdown, fees, volume, turnover, quota, liquidity, fills, trades, returns } = report;
  const start = equity[0]?.equity ?? "0";
  const share = isPositive(start) ? `${signed(div(mul(pnl, "100"), start, 4), 2)} % of ${amount(start, places)}` : "";
  const tile = (name: string, value: Markup | string, note: string): Markup =>
    html`<div class="tile"><dt>${name}</dt><dd>${value}<small>${note.replace(/^-/, "−")}</small></dd></div>`;
  return html`<dl class="tiles">
${tile(`Result in ${report.currency}`, signedCell(signed(pnl, places)), share)}
${tile("Drawdown", amount(drawdown.max, places), `${amount(drawdown.maxPercent, 2)} % of the high`)}
${tile("Trades won", trades.count === 0 ? "–" : percent(trades.won, trades.count), tradesNote(trades))}
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
  return returns.cagrPercent === undefined ? "annualised" : `annualised; CAGR ${signed(returns.cagrPercent, 2).replace(/^-/, "−")} %`;
};

export const resultTables = ({ report, places }: Sheet): Markup => {
  const money = [
    ["Result", signedCell(signed(report.pnl, places)), ""],
    ["Before fees", signedCell(signed(grossOf(report), places)), ""],
    ["Realised", signedCell(signed(report.realised, places)), "closed, before fees"],
    ["Unrealised", signedCell(signed(report.unrealised, places)), "held at the end, at the last prices"],
    ...(isZero(report.elsewhere) ? [] : [["Elsewhere", signedCell(signed(report.elsewhere, places)), "not of strategies' trades"]]),
    ["Fees", amount(report.fees, places), `${amount(feeBpsOf(report.fees, report.volume), 2)} bp`],
    ...chargedRows(report, places),
    ["Maker", amount(report.liquidity.maker.volume, places), splitOf(report.liquidity.maker, places)],
    ["Taker", amount(report.liquidity.taker.volume, places), splitOf(report.liquidity.taker, places)],
    ["Drawdown", amount(report.drawdown.max, places), `${amount(report.drawdown.maxPercent, 2)} %`],
  ];
  const { placed, filled, canceled, rejected, refused } = report.orders;
  const { open } = report;
  const orders = [
    ["Placed", grouped(placed), counted(report.fills, "fill")],
    ["Filled", grouped(filled), percent(filled, placed)],
    ["Canceled", grouped(canceled), percent(canceled, placed)],
    ["Rejected", grouped(rejected), "by the service"],
    ["Refused", grouped(refused), "before sending, at no cost"],
    ["Open at the end", grouped(open.count), open.count === 0 ? "" : `${amount(open.notional, places)} ${report.currency} left of them`],
  ];
  return html`<div class="pair"><div>${tableOf(`Money in ${report.currency}`, [{ name: "" }, figure(report.currency), { name: "" }], money)}</div>
<div>${tableOf("Orders", [{ name: "" }, figure("count"), { name: "" }], orders)}</div></div>`;
};

/** What the service charged beside fees. */
const chargedRows = ({ funding, liquidations }: RunReport, places: number): readonly (readonly string[])[] => [
  ...(funding === undefined ? [] : [[compare(funding, "0") < 0 ? "Funding received" : "Funding paid", amount(abs(funding), places), ""]]),
  ...(liquidations === undefined
    ? []
    : [
        [
          "Liquidated",
          amount(liquidations.value, places),
          `${counted(liquidations.count, "position")}, fee ${amount(liquidations.fees, places)}, ${amount(liquidations.covered, places)} covered`,
        ],
      ]),
];

const splitOf = ({ fills, volume, fees }: Liquidity, places: number): string =>
  `${counted(fills, "fill")}, fees ${amount(fees, places)}${isPositive(volume) ? ` (${amount(feeBpsOf(fees, volume), 2)} bp)` : ""}`;

export const strategyTables = (sheet: Sheet): Markup => {
  const { report, places } = sheet;
  const strategies = Object.entries(report.perStrategy);
  const money = strategies.map(([name, own]) => [
    nameOf(name, own),
    signedCell(signed(own.pnl, places)),
    signedCell(signed(own.realised, places)),
    signedCell(signed(own.unrealised, places)),
    amount(own.fees, places),
    amount(own.volume, places),
    grouped(own.fills),
    own.trades.count === 0 ? "–" : `${grouped(own.trades.won)} of ${grouped(own.trades.count)}`,
  ]);
  const orders = strategies.map(([name, own]) => [
    nameOf(name, own),
    ...[own.placed, own.filled, own.canceled, own.rejected, own.refused, own.open.count, own.weight].map(grouped),
    own.heldMs === 0 ? "–" : duration(own.heldMs),
  ]);
  const named = (names: string) => [{ name: "strategy" }, ...names.split(",").map(figure)];
  const errors = Object.entries(report.perStrategy).flatMap(([name, { error }]) =>
    error === undefined ? [] : [html`<p class="warn">${name}: ${error}</p>`],
  );
  return html`${tableOf(`Money of each strategy in ${report.currency}`, named("result,realised,unrealised,fees,volume,fills,trades won"), money)}
<h3>Their orders and quota</h3>${tableOf("Orders and quota of each strategy", named("placed,filled,canceled,rejected,refused,open,weight,waited"), orders)}${errors}${heldTable(sheet)}`;
};

const nameOf = (name: string, { state }: StrategyReport): Markup =>
  html`${name}${state === "running" ? nothing : html` <span class="${state === "failed" ? "loss" : "soft"}">(${state})</span>`}`;

const heldTable = ({ report, places }: Sheet): Markup => {
  if (report.positions.length === 0) return html`<p class="soft">No strategy held anything at the end.</p>`;
  const px = (value: string): string => amount(value, Math.max(2, placesFor(value)));
  const rows = report.positions.map(({ strategy, instId, qty, averagePx, markPx, unrealised }) => [
    strategy,
    instId,
    signedCell(isPositive(qty) ? `+${qty}` : qty),
    px(averagePx),
    px(markPx),
    signedCell(signed(unrealised, places)),
  ]);
  const columns = [{ name: "strategy" }, { name: "product" }, ...["quantity", "average price", "mark", "unrealised"].map(figure)];
  return html`<h3>Held at the end</h3>${tableOf("What strategies held at the end", columns, rows)}`;
};

export const turnedDownTable = ({ report }: Sheet): Markup => {
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
    reasons + orders === 0 ? nothing : html`<p class="soft">and ${counted(reasons, "more reason")}, ${counted(orders, "order")} in all</p>`;
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
  const columns = [{ name: "product" }, { name: "series" }, figure("rows"), { name: "gaps" }, figure("both sides quoted")];
  return tableOf("What the recording holds", columns, rows);
};
