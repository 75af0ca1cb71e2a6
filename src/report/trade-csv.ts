/**
 * Trades as comma-separated values, one line each.
 *
 * Invariants: the columns are the fields of a trade under their own names; instants are ISO 8601 in UTC, empty where
 * there is none; order ids are separated by blanks.
 */
import { csvPieces } from "./csv-lines.ts";
import type { TradeRecord } from "./trade-list.ts";

const money = ["entryPx", "exitPx", "gross", "fees", "funding", "net", "currency", "mfe", "mae"] as const;
const columns = ["strategy", "instId", "side", "qty", "openedAt", "closedAt", ...money, "entries", "exits"] as const;

/**
 * Lines that `sluice backtest --trades` writes, one by one: a run of years has more trades than a string can hold.
 *
 * @param trades - of a run
 * @returns lines, one by one
 */
export const tradeCsv = (trades: readonly TradeRecord[]): Iterable<string> => csvPieces(rowsOf(trades));

const rowsOf = function* (trades: readonly TradeRecord[]): Generator<readonly string[]> {
  yield columns;
  for (const trade of trades) {
    const { strategy, instId, side, qty, openedAt, closedAt, entries, exits } = trade;
    const at = [timeOf(openedAt), closedAt === undefined ? "" : timeOf(closedAt)];
    const sums = money.map((name) => trade[name]);
    yield [strategy, instId, side, qty, ...at, ...sums, entries.join(" "), exits.join(" ")];
  }
};

const timeOf = (at: number): string => new Date(at).toISOString();
