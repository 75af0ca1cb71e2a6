/**
 * Trades of a tearsheet: statistics of each strategy and of all, and what returns come to.
 *
 * Invariants: figures and words are those of the text report (trade-facts.ts); signs are also colours.
 */
import type { RunReport } from "./report.ts";
import { html, type Markup, nothing, signedCell, tableOf } from "./tearsheet-html.ts";
import type { Sheet } from "./tearsheet-money.ts";
import { returnFacts, tradeColumns, tradeFacts, tradesMeaning } from "./trade-facts.ts";

export const tradeTable = ({ report, places }: Sheet): Markup => {
  const columns = tradeColumns(report);
  const facts = tradeFacts(
    columns.map(([, own]) => own),
    places,
  );
  const rows = facts.map(({ name, cells }) => [name, ...cells.map((cell) => (/^[-+]\d/.test(cell) ? signedCell(cell) : cell))]);
  const names = [{ name: "" }, ...columns.map(([name]) => ({ name, figure: true }))];
  return html`${tableOf(`Trades of each strategy, money in ${report.currency}`, names, rows)}<p class="soft">${tradesMeaning}</p>`;
};

export const returnsOfRun = ({ returns, currency }: RunReport): Markup => {
  const { said, basis } = returnFacts(returns, currency);
  return html`<p>${minus(said)}</p>${basis === "" ? nothing : html`<p class="soft">${basis}</p>`}`;
};

const minus = (text: string): string => text.replace(/(?<=[ (])-(?=\d)/g, "−");
