/**
 * A run as one page for a browser: `(report, details) → HTML`.
 *
 * Invariants: self-contained: nothing is fetched, and a policy on the page forbids it; equal runs give equal bytes on one version of
 * Node, so how long the machine took is not on it; every foreign word is escaped; key figures and tables can be read, printed and
 * listened to without the script, which adds the charts and the list of trades.
 * Not here: the same for a terminal (report-text.ts), what happened (details.ts), the charts (client/).
 */
import { createHash } from "node:crypto";
import type { RunDetails } from "../details.ts";
import { counted, duration, grouped, minuteOf, signed } from "../number-format.ts";
import { placesIn, type RunReport, titleOf } from "../report.ts";
import { warningsOf } from "../warnings.ts";
import { chartStyle, clientScript } from "./client-script.ts";
import { html, type Markup, nothing, raw } from "./markup.ts";
import { packed } from "./packing.ts";
import { pageContents } from "./page-contents.ts";
import { periodSection, type Sheet } from "./period-table.ts";
import { portfolioTables } from "./portfolio-tables.ts";
import { quotaSection } from "./quota-tables.ts";
import { returnsSection } from "./returns-section.ts";
import { explorerStyle, style } from "./style.ts";
import { coverageTable, rejectionTable, resultTables, strategyTables, tiles, tradeTable } from "./summary-tables.ts";

/**
 * A backtest's report as one HTML page that loads nothing: charts to zoom and pan with every fill, resting orders and what strategies
 * plotted, the list of trades, and the report's figures.
 */
export const tearsheet = (report: RunReport, details: RunDetails): string => {
  const sheet: Sheet = {
    report,
    details,
    places: placesIn(report),
    startAt: Date.parse(report.fixture.startAt),
    endAt: Date.parse(report.fixture.endAt),
  };
  const [look, script] = [`${style}${chartStyle()}${explorerStyle}`, clientScript()];
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policyOf(look, script)}">
<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="generator" content="sluice">
<title>${titleOf(report)}: ${signed(report.pnl, sheet.places)} ${report.currency}</title>
<style>${raw(look)}</style></head>
<body><main>
${header(sheet)}
${tiles(sheet)}
<div id="explore"><noscript><p class="soft">The charts and the list of trades need JavaScript; everything else does not.</p></noscript></div>
${section("Trades", html`<div id="trades"></div>${tradeTable(sheet)}`)}
${section("Result", html`${resultTables(sheet)}${periodSection(sheet)}`)}
${section("Returns", returnsSection(report, details))}
${section("Strategies", html`${strategyTables(sheet)}${portfolioTables(sheet)}`)}
${section("Quota", quotaSection(sheet))}
${section("Refused and rejected orders", rejectionTable(sheet))}
${report.run === undefined ? section("Recording", coverageTable(sheet)) : nothing}
${section("Assumptions", html`<ul>${report.assumptions.map((text) => html`<li>${text}</li>`)}</ul>`)}
${report.run === undefined ? html`<footer><p class="soft">Result hash: the same config, recording and seed give the same.</p><p class="hash">${report.resultHash}</p></footer>` : nothing}
</main><script type="text/plain" id="data">${raw(packed(pageContents(report, details)))}</script>
<script>${raw(script)}</script></body></html>
`.markup;
};

/** Nothing but the page's own style and script, known by their hashes. */
const policyOf = (look: string, script: string): string => {
  const hash = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
  return `default-src 'none'; style-src ${hash(look)}; script-src ${hash(script)}; base-uri 'none'; form-action 'none'`;
};

const header = ({ report, details }: Sheet): Markup => {
  const { fixture, virtualMs, seed, events } = report;
  const [start, end] = [minuteOf(fixture.startAt), minuteOf(fixture.endAt)];
  const until = end.slice(0, 10) === start.slice(0, 10) ? end.slice(11) : end;
  const played = report.run === undefined ? `, ${counted(fixture.rows, "row")}, seed ${seed}` : "";
  const facts = `${start} to ${until} UTC (${duration(virtualMs)})${played}, ${grouped(events)} events`;
  const left = details.plotsLeftOut;
  return html`<header><h1>${titleOf(report)}</h1><p class="soft">${facts}</p>
${report.run === undefined ? html`<p class="soft hash">recording ${fixture.contentHash}</p>` : nothing}${warningsOf(report).map((text) => html`<p class="warn" role="note">${text}</p>`)}${left === 0 ? nothing : html`<p class="warn" role="note">${counted(left, "plotted value")} of further names left out: the page shows 64 names.</p>`}<div id="tools"></div></header>`;
};

const section = (name: string, content: Markup): Markup => html`<section><h2>${name}</h2>${content}</section>`;
