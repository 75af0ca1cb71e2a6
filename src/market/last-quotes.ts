/**
 * The price a market order would meet, as far as the market data tells.
 *
 * Invariants: an instrument is watched from the first question about it; one that the market does not know has no price.
 */
import type { Market } from "./market-data.ts";

export interface LastQuotes {
  of(instId: string, side: "buy" | "sell"): string | undefined;
}

export const createLastQuotes = (market: Market): LastQuotes => {
  const last = new Map<string, { readonly bid: string; readonly ask: string } | undefined>();
  const known = new Set<string>();
  const watch = (instId: string): void => {
    last.set(instId, undefined);
    try {
      market.quotes(instId).subscribe(({ bidPx, askPx }) => {
        last.set(instId, { bid: bidPx, ask: askPx });
      });
      known.add(instId);
    } catch {
      // The rules refuse an unknown instrument in their own words.
    }
  };
  return {
    of: (instId, side) => {
      if (!last.has(instId)) watch(instId);
      const quote = last.get(instId);
      if (quote !== undefined) return side === "buy" ? quote.ask : quote.bid;
      return known.has(instId) ? market.lastPx(instId) : undefined;
    },
  };
};
