/**
 * Markup that interpolated values cannot break.
 *
 * Invariants: everything interpolated is escaped, except markup made here; controls and marks that reorder text are
 * spelled out.
 */
import { printable } from "sluice/extension";

/** Text that is markup. */
export interface Markup {
  readonly markup: string;
}

type Content = Markup | readonly Markup[] | string | number | undefined;

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const escapeText = (text: string): string => printable(text).replace(/[&<>"']/g, (char) => entities[char] ?? char);

/** Creates markup from a template. Interpolated values are escaped, except markup. */
export const html = (parts: TemplateStringsArray, ...values: readonly Content[]): Markup => ({
  markup: parts.reduce((text, part, index) => `${text}${spell(values[index - 1])}${part}`),
});

const spell = (value: Content): string => {
  if (value === undefined) return "";
  if (typeof value === "string" || typeof value === "number") return escapeText(String(value));
  return "markup" in value ? value.markup : value.map(({ markup }) => markup).join("");
};

/** Markup without content. */
export const nothing: Markup = { markup: "" };

/** Text that is markup already: style and script of this project. */
export const raw = (markup: string): Markup => ({ markup });

interface Column {
  readonly name: string;
  /** True for a column of figures, which are aligned to the right. */
  readonly figure?: boolean;
}

export const figures = (...names: readonly string[]): readonly Column[] =>
  names.map((name) => ({ name, figure: true }));

/** A table with a caption for those who cannot see its place; the first cell of a row is its heading. */
export const tableOf = (
  caption: string,
  columns: readonly Column[],
  rows: readonly (readonly (Markup | string)[])[],
): Markup => {
  const kind = (index: number): Markup => (columns[index]?.figure === true ? raw(' class="n"') : nothing);
  const cell = (value: Markup | string, index: number): Markup =>
    index === 0 ? html`<th scope="row"${kind(0)}>${value}</th>` : html`<td${kind(index)}>${value}</td>`;
  const head = (name: string, index: number): Markup =>
    name === "" ? html`<td></td>` : html`<th scope="col"${kind(index)}>${name}</th>`;
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0"><table><caption>${caption}</caption>
<thead><tr>${columns.map(({ name }, index) => head(name, index))}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${row.map(cell)}</tr>\n`)}</tbody></table></div>`;
};

/** Formats a figure with the colour of its sign; text without a sign is unchanged. */
export const signedCell = (text: string): Markup =>
  html`<span class="${text.startsWith("+") ? "gain" : /^-.*[1-9]/.test(text) ? "loss" : "even"}">${text.replace(/^-/, "−")}</span>`;
