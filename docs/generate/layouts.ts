/**
 * The reference of the files that `sluice import` reads, from the table of layouts.
 */
import type { Layout } from "../../plugins/import/table/layout.ts";
import { layouts } from "../../plugins/import/table/layouts.ts";
import { code, prose, table } from "./markdown.ts";

const rows: Readonly<Record<Layout["rows"], string>> = {
  candles: "bars",
  trades: "trades",
  quotes: "best prices",
  book: "books, whole in each row",
  changes: "changes of a book",
};

const columnsOf = ({ columns, order }: Layout): string => {
  const named = Object.entries(columns ?? {}).map(([role, names]) => `${role}: ${names.map(code).join(", ")}`);
  return [
    ...(named.length === 0 ? [] : [named.join("; ")]),
    ...(order === undefined ? [] : [`without a header: ${order.map(code).join(", ")}`]),
  ].join("<br>");
};

const others = [
  [
    "Binance",
    "combined or single streams",
    "trade, aggTrade, bookTicker, depthUpdate and depth snapshots, kline, markPriceUpdate",
  ],
  ["OKX v5", "`{arg, data}`", "trades, trades-all, bbo-tbt, books and its variants, candles"],
  ["Bybit v5", "`{topic, data}`", "publicTrade, orderbook, kline"],
  ["Coinbase", "Exchange and Advanced Trade", "match, ticker, snapshot and l2update; market_trades, l2_data"],
  ["Kraken v2", "`{channel, data}`", "trade, ticker; no book, because levels leave it unannounced"],
  ["BitMEX", "`{table, data}`", "trade, quote, orderBook10; no orderBookL2, whose changes go by ids"],
] as const;

export const layoutsPage = (): string =>
  [
    "# Files that are imported",
    "`sluice import` finds the layout of a file by itself; `--layout NAME` names it where two fit. A layout is the same for CSV, JSON, Parquet, Feather, Arrow and NumPy. [The guide](/guides/markets) shows how to describe one of your own.",
    "## Layouts",
    table(
      ["Name", "Files", "Rows", "Columns"],
      layouts.map((layout) => [code(layout.name), prose(layout.about), rows[layout.rows], columnsOf(layout)]),
    ),
    "## Websocket messages",
    "One message a line, behind the nanoseconds at which it was received and a blank. Lines without them are dated by the exchange. Messages of other kinds are counted and left out.",
    table(
      ["Exchange", "Form", "Kinds"],
      others.map((cells) => cells.map(prose)),
    ),
    "## Events",
    "Arrays of hftbacktest (`npy`, `npz`): trades, depth, snapshots, clears and best prices, on either axis of time. Events of single orders are counted and left out, and so are changes of a book before its first snapshot: put the snapshot of the day before in front of them.",
    "## Not read",
    "Trades without a side, such as those that Kraken offers as CSV; bars without a volume; JSON by columns (pandas: `to_json(orient='records')` writes rows); HDF5, spreadsheets, Feather of the first version and encrypted files. Each is refused.",
  ].join("\n\n");
