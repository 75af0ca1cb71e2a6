/**
 * Trades as comma-separated values, one line each.
 *
 * Invariants: the columns are the fields of a trade under their own names; instants are ISO 8601 in UTC, empty where
 * there is none; order ids are separated by blanks.
 */
import { csvLines } from "./csv-lines.ts";
import type { TradeRecord } from "./trade-list.ts";

const money = ["entryPx", "exitPx", "gross", "fees", "funding", "net", "currency", "mfe", "mae"] as const;
const columns = ["strategy", "instId", "side", "qty", "openedAt", "closedAt", ...money, "entries", "exits"] as const;

/** What `sluice backtest --trades` writes. */
export const tradeCsv = (trades: readonly TradeRecord[]): string =>
  csvLines([
    columns,
    ...trades.map((trade) => {
      const { strategy, instId, side, qty, openedAt, closedAt, entries, exits } = trade;
      const at = [timeOf(openedAt), closedAt === undefined ? "" : timeOf(closedAt)];
      return [
        strategy,
        instId,
        side,
        qty,
        ...at,
        ...money.map((name) => trade[name]),
        entries.join(" "),
        exits.join(" "),
      ];
    }),
  ]);

const timeOf = (at: number): string => new Date(at).toISOString();
