/**
 * Which market data was asked for during a run.
 *
 * Invariants: each stream is noted once, in the order of asking; what the market answers is handed on untouched, refusals
 * included, which are not noted. Quotes that only the engine asked for, to price a market order, are not noted either.
 */
import type { Event } from "../journal/events.ts";
import type { Market } from "../market/market-data.ts";
import type { SeriesKind } from "../market/tape.ts";

export interface Asked {
  readonly kind: SeriesKind;
  readonly instId: string;
  /** Length of bars; 0 for what is not bars. */
  readonly barMs: number;
}

export interface AskedWatch {
  readonly onEvent: (event: Event) => void;
  readonly list: () => readonly Asked[];
}

/** Takes the place of the market's own questions: everybody was handed the one market object before anybody asked. */
export const watchAsked = (market: Market): AskedWatch => {
  const asked = new Map<string, Asked>();
  const atMarket = new Set<string>();
  const note = (kind: SeriesKind, instId: string, barMs = 0): void => {
    const name = `${kind} ${barMs} ${instId}`;
    if (!asked.has(name)) asked.set(name, { kind, instId, barMs });
  };
  const asker: Market = { ...market };
  const watched: Pick<Market, "trades" | "quotes" | "books" | "candles"> = {
    trades: (instId) => noted(asker.trades(instId), () => note("trade", instId)),
    quotes: (instId) => noted(asker.quotes(instId), () => note("quote", instId)),
    books: (instId) => noted(asker.books(instId), () => note("level", instId)),
    candles: (instId, barMs) => noted(asker.candles(instId, barMs), () => note("candle", instId, barMs)),
  };
  Object.assign(market, watched);
  return {
    onEvent: (event) => {
      if (event.type === "order.changed" && event.record?.ordType === "market") atMarket.add(event.record.instId);
    },
    list: () => [...asked.values()].filter(({ kind, instId }) => kind !== "quote" || !atMarket.has(instId)),
  };
};

const noted = <T>(stream: T, note: () => void): T => {
  note();
  return stream;
};
