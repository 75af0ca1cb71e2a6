/**
 * A run as one page for a browser: `(report, details) → HTML`.
 *
 * Invariants: self-contained, nothing is fetched; equal runs give equal bytes, so how long the machine took is not on it; every
 * foreign word is escaped; it can be read without its script, printed, and listened to.
 * Not here: the same for a terminal (report-text.ts), what happened (details.ts).
 */
import type { RunDetails } from "../details.ts";
import { counted, duration, grouped, minuteOf, placesFor, signed } from "../number-format.ts";
import type { RunReport } from "../report.ts";
import { warningsOf } from "../warnings.ts";
import { equitySection, type Sheet } from "./equity-section.ts";
import { marketSection } from "./market-section.ts";
import { html, type Markup, raw } from "./markup.ts";
import { quotaSection } from "./quota-section.ts";
import { script, style } from "./style.ts";
import { coverageTable, rejectionTable, resultTables, strategyTables, tiles, tradeTable } from "./summary-tables.ts";

/** A backtest's report as one HTML page that loads nothing. */
export const tearsheet = (report: RunReport, details: RunDetails): string => {
  const sheet: Sheet = {
    report,
    details,
    places: placesFor(report.equity[0]?.equity ?? report.volume),
    startAt: Date.parse(report.fixture.startAt),
    endAt: Date.parse(report.fixture.endAt),
  };
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><meta name="generator" content="sluice">
<title>Backtest of ${report.fixture.name}: ${signed(report.pnl, sheet.places)} ${report.currency}</title>
<style>${raw(style)}</style></head>
<body><main>
${header(sheet)}
${tiles(sheet)}
${section("Equity", equitySection(sheet))}
${section("Result", resultTables(sheet))}
${section("Trades", tradeTable(sheet))}
${section("Market and orders", marketSection(sheet))}
${section("Strategies", strategyTables(sheet))}
${section("Quota", quotaSection(sheet))}
${section("Refused and rejected orders", rejectionTable(sheet))}
${section("Recording", coverageTable(sheet))}
${section("Assumptions", html`<ul>${report.assumptions.map((text) => html`<li>${text}</li>`)}</ul>`)}
<footer><p class="soft">Result hash: the same config, recording and seed give the same.</p><p class="hash">${report.resultHash}</p></footer>
</main><script>${raw(script)}</script></body></html>
`.markup;
};

const header = ({ report }: Sheet): Markup => {
  const { fixture, virtualMs, seed, events } = report;
  const [start, end] = [minuteOf(fixture.startAt), minuteOf(fixture.endAt)];
  const until = end.slice(0, 10) === start.slice(0, 10) ? end.slice(11) : end;
  const facts = `${start} to ${until} UTC (${duration(virtualMs)}), ${counted(fixture.rows, "row")}, seed ${seed}, ${grouped(events)} events`;
  return html`<header><h1>Backtest of ${fixture.name}</h1><p class="soft">${facts}</p>
<p class="soft hash">recording ${fixture.contentHash}</p>${warningsOf(report).map((text) => html`<p class="warn" role="note">${text}</p>`)}</header>`;
};

const section = (name: string, content: Markup): Markup => html`<section><h2>${name}</h2>${content}</section>`;
