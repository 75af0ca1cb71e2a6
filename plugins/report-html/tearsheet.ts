/**
 * A run as one page for a browser: `(report, details) → HTML`.
 *
 * Invariants: self-contained: nothing is fetched, and a policy on the page forbids it; equal runs give equal bytes on
 * one version of Node, so how long the machine took is not on it; every foreign word is escaped; key figures and tables
 * can be read, printed and listened to without the script, which adds the charts and the list of trades.
 * Not here: the same for a terminal (report-text.ts), what happened (details.ts), the charts (client/).
 */
import { createHash } from "node:crypto";
import type { RunDetails, RunReport } from "sluice/backtest";
import { counted, type ReportSection, type ReportSections, reportSections, signed } from "sluice/extension";
import { chartStyle, explorerStyle, html, type Markup, nothing, pageScript, raw, style } from "sluice/plugins/ui-kit";
import { packed } from "./packing.ts";
import { pageContents } from "./page-contents.ts";
import { periodSection, type Sheet } from "./period-table.ts";
import { blocksOf, pairOf, tiles } from "./report-blocks.ts";
import { returnsSection } from "./returns-section.ts";

/**
 * A backtest's report as one HTML page that loads nothing: charts to zoom and pan with every fill, resting orders and
 * what strategies plotted, the list of trades, and the report's figures.
 */
export const tearsheet = (report: RunReport, details: RunDetails): string => {
  const text = reportSections(report);
  const { places } = text;
  const sheet: Sheet = {
    report,
    details,
    places,
    startAt: Date.parse(report.fixture.startAt),
    endAt: Date.parse(report.fixture.endAt),
  };
  const [look, script] = [`${style}${chartStyle()}${explorerStyle}`, pageScript(new URL("./", import.meta.url))];
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policyOf(look, script)}">
<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="generator" content="sluice">
<title>${text.title}: ${signed(report.pnl, places)} ${report.currency}</title>
<style>${raw(look)}</style></head>
<body><main>
${header(text, sheet)}
${tiles(text.keyFigures)}
<div id="explore"><noscript><p class="soft">The charts and the list of trades need JavaScript; everything else does not.</p></noscript></div>
${text.sections.map((section) => html`<section><h2>${section.name}</h2>${contentOf(section, sheet)}</section>\n`)}${report.run === undefined ? html`<footer><p class="soft">Result hash: the same config, recording and seed give the same.</p><p class="hash">${report.resultHash}</p></footer>` : nothing}
</main><script type="text/plain" id="data">${raw(packed(pageContents(report, details, places)))}</script>
<script>${raw(script)}</script></body></html>
`.markup;
};

/** A section as tables and sentences, with parts that only a page has. */
const contentOf = ({ id, blocks }: ReportSection, sheet: Sheet): Markup => {
  switch (id) {
    case "trades":
      return html`<div id="trades"></div>${blocksOf(blocks)}`;
    case "result":
      return html`${pairOf(blocks)}${periodSection(sheet)}`;
    case "returns":
      return returnsSection(blocks, sheet);
    case "strategies":
    case "quota":
    case "rejections":
    case "recording":
    case "assumptions":
      return blocksOf(blocks);
  }
};

/** Nothing but the page's own style and script, known by their hashes. */
const policyOf = (look: string, script: string): string => {
  const hash = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
  return `default-src 'none'; style-src ${hash(look)}; script-src ${hash(script)}; base-uri 'none'; form-action 'none'`;
};

const header = ({ title, facts, warnings }: ReportSections, { report, details }: Sheet): Markup => {
  const left = details.plotsLeftOut;
  const recording = html`<p class="soft hash">recording ${report.fixture.contentHash}</p>`;
  return html`<header><h1>${title}</h1><p class="soft">${facts}</p>
${report.run === undefined ? recording : nothing}${warnings.map((text) => html`<p class="warn" role="note">${text}</p>`)}${left === 0 ? nothing : html`<p class="warn" role="note">${counted(left, "plotted value")} of further names left out: the page shows 64 names.</p>`}<div id="tools"></div></header>`;
};
