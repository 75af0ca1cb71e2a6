/**
 * Instruments of a report, what was held of them over time, and how strategies went together, as text.
 *
 * Invariants: left out where one instrument was traded; correlations only of as many strategies as fit beside each
 * other.
 * Not here: the figures (portfolio.ts, trade-statistics.ts).
 */
import { padStart, printable, wrapped } from "./ansi.ts";
import { amount, grouped, signed } from "./number-format.ts";
import type { RunReport } from "./report.ts";
import { type Page, table, title } from "./text-layout.ts";

const strategiesMax = 8;

export const portfolioText = (page: Page): readonly string[] => {
  const { perInstrument } = page.report;
  const traded = Object.entries(perInstrument);
  if (traded.length < 2) return [];
  const { places } = page;
  const money = (value: string): string => signed(value, places);
  const rows = traded.map(([instId, { fills, volume, pnl, realised, unrealised, fees }]) => [
    instId,
    grouped(fills),
    money(pnl),
    money(realised),
    money(unrealised),
    amount(fees, places),
    amount(volume, 0),
  ]);
  return [
    title(page, "Instruments"),
    ...table(["instrument", "fills", "result", "realised", "unrealised", "fees", "volume"], rows, 1, page),
    ...wrapped(exposureLine(page.report, places), page.width).map(page.paint.dim),
    ...correlationLines(page),
    "",
  ];
};

export const exposureLine = ({ exposure: { gross, net } }: RunReport, places: number): string =>
  `held: gross ${amount(gross.mean, places)} on average, at most ${amount(gross.max, places)}; net ${signed(net.mean, places)}, at the end ${signed(net.end, places)}`;

/** Strategies by number, because names would not fit. */
const correlationLines = (page: Page): readonly string[] => {
  const { names = [], values = [] } = page.report.correlation?.strategies ?? {};
  if (names.length === 0 || names.length > strategiesMax) return [];
  const rows = names.map((name, row) => [
    `${row + 1} ${printable(name)}`,
    ...(values[row] ?? []).map((value) => padStart(value === null ? "-" : amount(value, 2), 5)),
  ]);
  return ["", ...table(["correlation of returns", ...names.map((_, index) => String(index + 1))], rows, 1, page)];
};
