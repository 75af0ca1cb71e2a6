/**
 * Fetched pages as rows of a fixture: those of one product, and the gaps between its rows.
 *
 * Invariants: rows outside the span are left out, as are those of pages that were fetched for a longer one; steps are
 * the exchange's own, or smaller where a row needs it, so that nothing is rounded; a bar carries the instant it closed.
 * Not here: fetching (fetch-market.ts).
 */
import { mul } from "sluice";
import type { FixtureManifest, FixtureWriter } from "sluice/extension";
import { type BarCursor, type BarRow, beginStep } from "./candle-pages.ts";
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

/** A fetched fixture, and its gaps. */
export interface FetchedFixture extends FixtureManifest {
  readonly gaps: readonly FetchedGap[];
}

interface FetchedRows {
  readonly rows: number;
  readonly gaps: readonly FetchedGap[];
}

interface RowsOf extends Span {
  readonly market: NamedMarket;
  readonly terms: InstrumentTerms;
  readonly place: string;
}

const instant = (at: number): string => new Date(at).toISOString();

/** Adds the bars of a store to the fixture. `unit` is the base currency in one unit of the exchange's volumes. */
export const addBars = async (
  writer: FixtureWriter,
  store: PageStore<BarRow, BarCursor>,
  of: RowsOf & { readonly barMs: number; readonly unit: string },
): Promise<FetchedRows> => {
  const { market, terms, barMs, from, to, unit, place } = of;
  const { instId } = market;
  const { tickSize, lotSize } = terms;
  const bars = writer.series({ kind: "candle", instId, barMs, tickSize, lotSize, place });
  const gaps: FetchedGap[] = [];
  const step = beginStep(barMs);
  let expected = Math.ceil(from / step) * step;
  const missing = (until: number): void => {
    if (until <= expected) return;
    const count = Math.round((until - expected) / barMs);
    if (count === 0) return;
    gaps.push({ instId, from: instant(expected), to: instant(until), bars: count });
    writer.note("gaps between bars");
    writer.note("bars missing in gaps", count);
  };
  for await (const { rows, unusable = 0 } of store.pages()) {
    if (unusable > 0) writer.note(unusableText, unusable);
    for (const [openedAt, open, high, low, close, volume] of rows) {
      if (openedAt < expected || openedAt + barMs > to) continue;
      missing(openedAt);
      expected = openedAt + barMs;
      bars.push(expected, open, high, low, close, mul(volume, unit));
    }
  }
  missing(Math.floor(to / step) * step);
  return { rows: bars.length, gaps };
};

/** Adds the trades of a store to the fixture. */
export const addTrades = async (
  writer: FixtureWriter,
  store: PageStore<TradeRow, TradeCursor>,
  of: RowsOf,
): Promise<FetchedRows> => {
  const { market, terms, from, to, place } = of;
  const { instId, unit } = market;
  const { tickSize, lotSize } = terms;
  const trades = writer.series({ kind: "trade", instId, tickSize, lotSize, place });
  const gaps: FetchedGap[] = [];
  let first: number | undefined;
  for await (const { rows, lost = [], unusable = 0 } of store.pages()) {
    if (unusable > 0) writer.note(unusableText, unusable);
    for (const [since, until] of lost) {
      if (since >= to) continue;
      gaps.push({ instId, from: instant(since), to: instant(Math.min(until, to)) });
      writer.note(lostText);
    }
    for (const [when, side, price, amount] of rows) {
      if (when < from || when >= to) continue;
      first ??= when;
      trades.push(when, side, price, mul(amount, unit));
    }
  }
  // Exchanges that keep few trades return the newest, for any requested span.
  if (first !== undefined && first > from + quietMs) {
    gaps.unshift({ instId, from: instant(from), to: instant(first) });
    writer.note(lostText);
  }
  return { rows: trades.length, gaps };
};

const lostText = "stretches in which the exchange may have had more trades";
const unusableText = "rows without a time, a price or a side, dropped";
const quietMs = 3_600_000;
