/**
 * The price a market order would meet, as far as the market data tells.
 *
 * Invariants: an instrument is watched from the first question about it; one that the market does not know has no price.
 */
import type { Market } from "./market-data.ts";

export interface LastQuotes {
  of(instId: string, side: "buy" | "sell"): string | undefined;
  /** The first quote of an instrument has come that was asked about before it was known. */
  onFirst(listener: (instId: string) => void): void;
}

export const createLastQuotes = (market: Market): LastQuotes => {
  const last = new Map<string, { readonly bid: string; readonly ask: string } | undefined>();
  const known = new Set<string>();
  const listeners: ((instId: string) => void)[] = [];
  const watch = (instId: string): void => {
    last.set(instId, undefined);
    try {
      market.quotes(instId).subscribe(({ bidPx, askPx }) => {
        const isFirst = last.get(instId) === undefined && known.has(instId);
        last.set(instId, { bid: bidPx, ask: askPx });
        if (isFirst) for (const listener of listeners) listener(instId);
      });
      known.add(instId);
    } catch {
      // The rules refuse an unknown instrument in their own words.
    }
  };
  return {
    onFirst: (listener) => {
      listeners.push(listener);
    },
    of: (instId, side) => {
      if (!last.has(instId)) watch(instId);
      const quote = last.get(instId);
      if (quote !== undefined) return side === "buy" ? quote.ask : quote.bid;
      return known.has(instId) ? market.lastPx(instId) : undefined;
    },
  };
};
