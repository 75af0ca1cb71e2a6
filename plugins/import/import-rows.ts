/**
 * Rows of a recording in the making: trades, quotes, book levels and bars of one instrument.
 *
 * Invariants: rows are in the order in which they were added; values arrive as counts and places, one after the other
 * (import-decimals.ts), and become counts of one step when everything has been read.
 * Not here: parsing of messages (import-messages.ts).
 */
import { type BarGrid, lengthName } from "sluice/extension";
import { append, type Growing, growing } from "./import-columns.ts";
import type { DecimalColumn, DecimalPool, Parts } from "./import-decimals.ts";

interface TradeRows {
  readonly at: Growing<Float64Array>;
  readonly side: Growing<Int8Array>;
  readonly px: DecimalColumn;
  readonly qty: DecimalColumn;
}

interface LevelRows extends TradeRows {
  readonly snapshot: Growing<Uint8Array>;
}

interface QuoteRows {
  readonly at: Growing<Float64Array>;
  readonly bidPx: DecimalColumn;
  readonly bidQty: DecimalColumn;
  readonly askPx: DecimalColumn;
  readonly askQty: DecimalColumn;
}

interface BarRows {
  /** Instants at which the bars ended. */
  readonly at: Growing<Float64Array>;
  /** Open, high, low, close and volume. */
  readonly columns: readonly DecimalColumn[];
  /** Length of the first bar in milliseconds, or its calendar; undefined before it. */
  grid: number | BarGrid | undefined;
}

export interface MessageRows {
  readonly bars: BarRows;
  readonly trades: TradeRows;
  readonly quotes: QuoteRows;
  readonly levels: LevelRows;
}

export const createRows = (prices: DecimalPool, quantities: DecimalPool): MessageRows => {
  const at = () => growing(Float64Array);
  const sided = () => ({ at: at(), side: growing(Int8Array), px: prices.column(), qty: quantities.column() });
  const bar = [prices, prices, prices, prices, quantities].map((pool) => pool.column());
  return {
    bars: { at: at(), columns: bar, grid: undefined },
    trades: sided(),
    levels: { ...sided(), snapshot: growing(Uint8Array) },
    quotes: {
      at: at(),
      bidPx: prices.column(),
      bidQty: quantities.column(),
      askPx: prices.column(),
      askQty: quantities.column(),
    },
  };
};

/** `parts`: price and quantity. */
export const pushTrade = (
  { at: times, side: sides, px, qty }: TradeRows,
  at: number,
  line: number,
  side: 1 | -1,
  parts: Parts,
): void => {
  append(times, at);
  append(sides, side);
  px.add(parts[0] as number, parts[1] as number, line);
  qty.add(parts[2] as number, parts[3] as number, line);
};

/** `parts`: bid, its quantity, ask, its quantity. */
export const pushQuote = (
  { at: times, bidPx, bidQty, askPx, askQty }: QuoteRows,
  at: number,
  line: number,
  parts: Parts,
): void => {
  append(times, at);
  bidPx.add(parts[0] as number, parts[1] as number, line);
  bidQty.add(parts[2] as number, parts[3] as number, line);
  askPx.add(parts[4] as number, parts[5] as number, line);
  askQty.add(parts[6] as number, parts[7] as number, line);
};

/** `parts`: price and quantity of each level. */
export const pushLevels = (
  { at: times, side: sides, snapshot, px, qty }: LevelRows,
  at: number,
  line: number,
  side: 1 | -1,
  parts: Parts,
): void => {
  const rows = parts.length / 4;
  append(times, at, rows);
  append(sides, side, rows);
  append(snapshot, 0, rows);
  px.addEvery(parts, 0, 4, line);
  qty.addEvery(parts, 2, 4, line);
};

/** Name of a bar length, the same for equal ones. */
const gridText = (grid: number | BarGrid): string => (typeof grid === "number" ? `${grid} ms` : lengthName(grid));

/** Adds a bar, or returns the reason for which it is left out. `parts`: open, high, low, close, volume. */
export const pushBar = (
  bars: BarRows,
  { endAt, grid }: { readonly endAt: number; readonly grid: number | BarGrid },
  line: number,
  parts: Parts,
): string | undefined => {
  bars.grid ??= grid;
  if (bars.grid !== grid && gridText(bars.grid) !== gridText(grid))
    return `bars of another length (${gridText(grid)}), dropped`;
  if (endAt <= (bars.at.values[bars.at.length - 1] ?? 0) && bars.at.length > 0) return "repeated bars, dropped";
  append(bars.at, endAt);
  for (const [place, column] of bars.columns.entries())
    column.add(parts[2 * place] as number, parts[2 * place + 1] as number, line);
  return undefined;
};
