/**
 * Tables, sentences and key figures of a report as markup.
 *
 * Invariants: figures are those of the sections, with their sign as a colour too; a minus is the typographic one.
 * Not here: what is in a section (`reportSections`), markup of tables in general (markup.ts).
 */

import type { KeyFigure, ReportBlock, ReportCell, ReportColumn, ReportTable } from "sluice/extension";
import { html, type Markup, nothing, raw, signedCell, tableOf } from "sluice/plugins/ui-kit";

/** The figures above all sections. */
export const tiles = (figures: readonly KeyFigure[]): Markup =>
  html`<dl class="tiles">
${figures.map(({ name, value, note }) => html`<div class="tile"><dt>${name}</dt><dd>${resultCell(value)}<small>${withMinus(note)}</small></dd></div>\n`)}</dl>`;

/** Blocks below each other. */
export const blocksOf = (blocks: readonly ReportBlock[]): Markup =>
  html`${blocks.map((block, index) => html`${raw(index === 0 ? "" : "\n")}${blockOf(block)}`)}`;

/** Two tables side by side. */
export const pairOf = (blocks: readonly ReportBlock[]): Markup =>
  html`<div class="pair">${blocks.map((block, index) => html`${raw(index === 0 ? "" : "\n")}<div>${blockOf(block)}</div>`)}</div>`;

const blockOf = (block: ReportBlock): Markup => {
  if (block.kind === "table") return reportTable(block);
  const kind = block.tone === undefined ? nothing : raw(` class="${block.tone === "bad" ? "warn" : "soft"}"`);
  return html`<p${kind}>${withMinus(block.text)}</p>`;
};

/**
 * A table with its heading.
 *
 * @param draw - draws the cells of a table that has a look of its own
 */
export const reportTable = (
  { heading, caption, columns, rows }: ReportTable,
  draw: (cell: ReportCell, column: ReportColumn) => Markup | string = cellOf,
): Markup => {
  const heads = columns.map(({ name, kind }) => ({ name, figure: kind === "number" || kind === "result" }));
  const drawn = rows.map((row) => row.map((cell, index) => draw(cell, columns[index] ?? { name: "", kind: "word" })));
  return html`${heading === undefined ? nothing : html`<h3>${heading}</h3>`}${tableOf(caption, heads, drawn)}`;
};

const cellOf = (cell: ReportCell, { kind }: ReportColumn): Markup | string => {
  const { text, note } = typeof cell === "string" ? { text: cell, note: "" } : cell;
  if (kind === "sentence")
    return html`<div class="why">${text}${note === "" ? nothing : html`<br><span class="soft">${note}</span>`}</div>`;
  if (note !== "") return html`${text}, <span class="soft">${note}</span>`;
  if (kind === "result") return resultCell(text);
  return kind === "number" ? withMinus(text) : text;
};

const resultCell = (text: string): Markup | string => (/^[-+]\d/.test(text) ? signedCell(text) : text);

/** A hyphen before a number that does not follow one, as it does in a date. */
const withMinus = (text: string): string => text.replace(/(?<=^|[ (])-(?=\d)/g, "−");
