/**
 * Prices that the engine follows: what a market order would meet, as far as the market data tells, and what was traded.
 *
 * Invariants: an instrument is watched from the first question about it; one that the market does not know has no price.
 * Not here: the streams of strategies (market-data.ts).
 */

import { map, type Observable } from "rxjs";
import type { Market, Quote } from "./market-data.ts";

export class LastQuotes {
  readonly #market: Market;
  readonly #last = new Map<string, Quote | undefined>();
  readonly #known = new Set<string>();
  readonly #listeners: ((instId: string) => void)[] = [];
  readonly #followers: ((instId: string) => void)[] = [];

  constructor(market: Market) {
    this.#market = market;
  }

  of(instId: string, side: "buy" | "sell"): string | undefined {
    if (!this.#last.has(instId)) this.#watch(instId);
    const quote = this.#last.get(instId);
    if (quote !== undefined) return side === "buy" ? quote.askPx : quote.bidPx;
    return this.#known.has(instId) ? this.#market.lastPx(instId) : undefined;
  }

  /** The first quote of an instrument has come that was asked about before it was known. */
  onFirst(listener: (instId: string) => void): void {
    this.#listeners.push(listener);
  }

  /** A quote has come of an instrument that was asked about. */
  onQuote(listener: (instId: string) => void): void {
    this.#followers.push(listener);
  }

  #watch(instId: string): void {
    this.#last.set(instId, undefined);
    try {
      this.#market.quotes(instId).subscribe((quote) => {
        const isFirst = this.#last.get(instId) === undefined && this.#known.has(instId);
        this.#last.set(instId, quote);
        if (isFirst) for (const listener of this.#listeners) listener(instId);
        // One for each user: an iterator for every quote would cost more than they do.
        const followers = this.#followers;
        for (let index = 0; index < followers.length; index++) (followers[index] as (instId: string) => void)(instId);
      });
      this.#known.add(instId);
    } catch {
      // The rules refuse an unknown instrument in their own words.
    }
  }
}

/** A traded price, or those of a bar that has closed. Decimal text. */
export interface Print {
  readonly px: string;
  readonly low: string;
  readonly high: string;
  /** When the first of them was traded at the earliest, on the engine's clock. */
  readonly since: number;
}

/** One price, traded or quoted at `at`. */
export const printOf = (px: string, at: number): Print => ({ px, low: px, high: px, since: at });

/** A market that has prints of its own. */
export interface PrintedMarket extends Market {
  prints(instId: string): Observable<Print>;
}

/** From trades or, where a recording has none, from bars. */
export const printsOf = (market: Market | PrintedMarket, instId: string): Observable<Print> =>
  "prints" in market ? market.prints(instId) : market.trades(instId).pipe(map(({ px, at }) => printOf(px, at)));
