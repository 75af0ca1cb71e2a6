/**
 * Instruments of a run on a page, what was held of them over time, and how strategies went together.
 *
 * Invariants: left out where one instrument was traded; a correlation that does not exist is a dash.
 * Not here: the figures (portfolio.ts), the same as text (portfolio-text.ts).
 */
import { amount, grouped, signed } from "../number-format.ts";
import { exposureLine } from "../portfolio-text.ts";
import type { RunReport } from "../report.ts";
import { figures, html, type Markup, nothing, signedCell, tableOf } from "./markup.ts";
import type { Sheet } from "./period-table.ts";

export const portfolioTables = ({ report, places }: Sheet): Markup => {
  const traded = Object.entries(report.perInstrument);
  if (traded.length < 2) return nothing;
  const money = (value: string): Markup => signedCell(signed(value, places));
  const rows = traded.map(([instId, { fills, volume, pnl, realised, unrealised, fees }]) => [
    instId,
    grouped(fills),
    money(pnl),
    money(realised),
    money(unrealised),
    amount(fees, places),
    amount(volume, places),
  ]);
  const columns = figures("fills", "result", "realised", "unrealised", "fees", "volume");
  return html`<h3>Instruments</h3>${tableOf(`Result of each instrument in ${report.currency}`, [{ name: "instrument" }, ...columns], rows)}
<p class="soft">In ${report.currency}, ${exposureLine(report, places).replace(/(?<= )-(?=\d)/g, "−")}.</p>${correlations(report)}`;
};

const correlations = ({ correlation }: RunReport): Markup => {
  const { names = [], values = [] } = correlation?.strategies ?? {};
  if (names.length < 2) return nothing;
  const cell = (value: string | null): string => (value === null ? "–" : amount(value, 2).replace(/^-/, "−"));
  const rows = names.map((name, row) => [name, ...(values[row] ?? []).map(cell)]);
  return html`<h3>Correlation of strategies</h3>${tableOf("Correlation of the strategies' returns", [{ name: "strategy" }, ...figures(...names)], rows)}`;
};
