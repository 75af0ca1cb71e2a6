/**
 * Statistics over trades in words: the rows and sentences of a report, on a terminal and on pages.
 *
 * Invariants: pure text from the report alone; what has no value is a dash.
 * Not here: the figures (trades.ts), their place on a page (report-text.ts, plugins/report-html).
 */
import { isZero } from "../decimal.ts";
import { amount, duration, grouped, percent, signed } from "./number-format.ts";
import type { RunReport } from "./report.ts";
import type { TradeReport } from "./trades.ts";

/** A statistic: its name, and its value for each column of a table. */
interface TradeFact {
  readonly name: string;
  readonly cells: readonly string[];
}

/**
 * All strategies together where there are several, first because a narrow screen shows the first columns; then each of
 * them.
 */
export const tradeColumns = ({
  perStrategy,
  trades,
}: RunReport): readonly (readonly [name: string, trades: TradeReport])[] => {
  const own = Object.entries(perStrategy).map(([name, strategy]) => [name, strategy.trades] as const);
  return own.length === 1 ? own : [["all", trades], ...own];
};

export const tradeFacts = (columns: readonly TradeReport[], places: number): readonly TradeFact[] => {
  const row = (name: string, cell: (trades: TradeReport) => string): TradeFact => ({ name, cells: columns.map(cell) });
  const gain = (pick: (trades: TradeReport) => string | undefined) => (trades: TradeReport) => {
    const value = pick(trades);
    return value === undefined ? "-" : signed(value, places);
  };
  const even = ({ count, won, lost }: TradeReport): number => count - won - lost;
  return [
    row("trades", ({ count }) => grouped(count)),
    row("won", ({ won, count }) => shareOf(won, count)),
    row("lost", ({ lost, count }) => shareOf(lost, count)),
    ...(columns.some((trades) => even(trades) > 0)
      ? [row("break-even", (trades) => shareOf(even(trades), trades.count))]
      : []),
    row(
      "average win",
      gain(({ averageWin }) => averageWin),
    ),
    row(
      "average loss",
      gain(({ averageLoss }) => averageLoss),
    ),
    row("profit factor", factorOf),
    row(
      "expectancy",
      gain(({ expectancy }) => expectancy),
    ),
    row(
      "best",
      gain(({ best }) => best),
    ),
    row(
      "worst",
      gain(({ worst }) => worst),
    ),
    row(
      "net, closed",
      gain(({ net }) => net),
    ),
    row("still held", ({ held }) => grouped(held)),
    row(
      "net, still held",
      gain(({ open }) => open),
    ),
    row("average time", ({ averageMs }) => (averageMs === undefined ? "-" : duration(averageMs))),
    row("time in market", ({ inMarketPercent }) => `${amount(inMarketPercent, 1)} %`),
  ];
};

const shareOf = (part: number, whole: number): string =>
  whole === 0 ? "-" : `${grouped(part)} (${percent(part, whole)})`;

/** The profit factor; a text where there are only gains, as there is no loss to divide by. */
const factorOf = ({ profitFactor, profit }: TradeReport): string =>
  profitFactor === undefined ? (isZero(profit) ? "-" : "no loss") : amount(profitFactor, 2);

export const tradesMeaning =
  "A trade runs from flat to flat, after fees and funding; expectancy is its average net profit. What is still held is in no other figure.";
