/**
 * Fetched pages as a tape: exact columns of one product, and the gaps between its rows.
 *
 * Invariants: rows outside the span are left out, as are those of pages that were fetched for a longer one; steps are the exchange's own,
 * or smaller where a row needs it, so that nothing is rounded; a bar carries the instant it closed.
 * Not here: fetching (fetch-market.ts).
 */
import { mul } from "sluice";
import { createTape, type Tape } from "sluice/backtest";
import {
  append,
  createDecimalPool,
  createNotes,
  type DecimalColumn,
  type FixtureManifest,
  type FixtureNote,
  growing,
  held,
  parseDecimal,
  type Series,
  seriesOf,
} from "sluice/extension";
import type { BarCursor, BarRow } from "./candle-pages.ts";
import type { InstrumentTerms, NamedMarket } from "./ccxt-symbols.ts";
import type { PageStore, Span } from "./page-store.ts";
import type { TradeCursor, TradeRow } from "./trade-pages.ts";

/** A stretch of the span without rows where there should be some, or might be. */
export interface FetchedGap {
  readonly instId: string;
  readonly from: string;
  readonly to: string;
  /** Bars that are missing. */
  readonly bars?: number;
}

/** A fixture that was fetched, and what it lacks. */
export interface FetchedFixture extends FixtureManifest {
  readonly gaps: readonly FetchedGap[];
}

interface FetchedRows {
  readonly tape: Tape;
  readonly gaps: readonly FetchedGap[];
  readonly notes: readonly FixtureNote[];
}

interface RowsOf extends Span {
  readonly market: NamedMarket;
  readonly terms: InstrumentTerms;
  readonly place: string;
}

const instant = (at: number): string => new Date(at).toISOString();

/** Columns on the exchange's steps, as far as they divide what is read. */
const poolsOf = ({ place, terms: { tickSize, lotSize } }: RowsOf) => {
  const [prices, quantities] = [
    createDecimalPool({ file: place, name: "tick size" }),
    createDecimalPool({ file: place, name: "lot size" }),
  ];
  for (const [pool, step] of [
    [prices, tickSize],
    [quantities, lotSize],
  ] as const)
    if (step !== undefined) pool.column().push(parseDecimal(step, place, 0, "step"), 0);
  return { prices, quantities };
};

const pusher =
  (place: string) =>
  (column: DecimalColumn, text: string, row: number): void => {
    column.push(parseDecimal(text, place, row, "value"), row);
  };

/** `unit` is base currency in one of what the exchange counts volumes in. */
export const barTape = async (
  store: PageStore<BarRow, BarCursor>,
  of: RowsOf & { readonly barMs: number; readonly unit: string },
): Promise<FetchedRows> => {
  const { market, barMs, from, to, unit, place } = of;
  const { prices, quantities } = poolsOf(of);
  const at = growing(Float64Array);
  const columns = [prices.column(), prices.column(), prices.column(), prices.column()];
  const volume = quantities.column();
  const push = pusher(place);
  const gaps: FetchedGap[] = [];
  const { note, list } = createNotes();
  const { instId } = market;
  let expected = Math.ceil(from / barMs) * barMs;
  const missing = (until: number): void => {
    if (until <= expected) return;
    const bars = Math.round((until - expected) / barMs);
    gaps.push({ instId, from: instant(expected), to: instant(until), bars });
    note("gaps between bars");
    note("bars missing in gaps", bars);
  };
  for await (const { rows, unusable = 0 } of store.pages()) {
    if (unusable > 0) note(unusableText, unusable);
    for (const [openedAt, ...values] of rows) {
      if (openedAt < expected || openedAt + barMs > to) continue;
      missing(openedAt);
      expected = openedAt + barMs;
      append(at, expected);
      for (const [index, column] of columns.entries()) push(column, values[index] as string, at.length);
      push(volume, mul(values[4], unit), at.length);
    }
  }
  missing(Math.floor(to / barMs) * barMs);
  const counts = [...columns, volume].map((column) => column.counts());
  return {
    tape: tapeOf(instId, prices.step(), quantities.step(), seriesOf("candle", 0, held(at), counts, barMs)),
    gaps,
    notes: list(),
  };
};

export const tradeTape = async (store: PageStore<TradeRow, TradeCursor>, of: RowsOf): Promise<FetchedRows> => {
  const { market, from, to, place } = of;
  const { instId, unit } = market;
  const { prices, quantities } = poolsOf(of);
  const [at, sides] = [growing(Float64Array), growing(Int8Array)];
  const [px, qty] = [prices.column(), quantities.column()];
  const push = pusher(place);
  const gaps: FetchedGap[] = [];
  const { note, list } = createNotes();
  for await (const { rows, lost = [], unusable = 0 } of store.pages()) {
    if (unusable > 0) note(unusableText, unusable);
    for (const [since, until] of lost) {
      if (since >= to) continue;
      gaps.push({ instId, from: instant(since), to: instant(Math.min(until, to)) });
      note("stretches in which the exchange may have had more trades");
    }
    for (const [when, side, price, amount] of rows) {
      if (when < from || when >= to) continue;
      append(at, when);
      append(sides, side);
      push(px, price, at.length);
      push(qty, mul(amount, unit), at.length);
    }
  }
  const first = at.values[0];
  // Exchanges that keep few trades show the newest, whatever is asked for.
  if (at.length > 0 && first !== undefined && first > from + quietMs) {
    gaps.unshift({ instId, from: instant(from), to: instant(first) });
    note("stretches in which the exchange may have had more trades");
  }
  return {
    tape: tapeOf(
      instId,
      prices.step(),
      quantities.step(),
      seriesOf("trade", 0, held(at), [held(sides), px.counts(), qty.counts()]),
    ),
    gaps,
    notes: list(),
  };
};

const unusableText = "rows without a time, a price or a side, dropped";
const quietMs = 3_600_000;

const tapeOf = (instId: string, tickSize: string, lotSize: string, series: Series): Tape =>
  createTape([{ instId, tickSize, lotSize }], [series]);
