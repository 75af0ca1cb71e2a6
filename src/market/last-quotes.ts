/**
 * Prices that the engine follows: the price a market order would meet by the market data, and prices of trades.
 *
 * Invariants: an instrument is watched from the first question about it, and while anything acts on its quotes; each
 * quote is known here before it is delivered to those subscribers, so that what it triggers is sized by it; an
 * instrument that the market does not know has no price.
 * Not here: the streams of strategies (market-data.ts).
 */

import { map, Observable, type Subscription } from "rxjs";
import type { Market, Quote } from "./market-data.ts";

interface Watched {
  quote: Quote | undefined;
  /** Quotes that were there before do not count as the first one. */
  isOpen: boolean;
  /** Its price was asked for: it is watched from then on. */
  isAsked: boolean;
  /** Number of subscribers to its quotes. */
  holds: number;
  subscription: Subscription | undefined;
}

export class LastQuotes {
  readonly #market: Market;
  readonly #watched = new Map<string, Watched>();
  readonly #listeners: ((instId: string) => void)[] = [];
  readonly #followers: ((instId: string) => void)[] = [];

  constructor(market: Market) {
    this.#market = market;
  }

  of(instId: string, side: "buy" | "sell"): string | undefined {
    const watched = this.#watched.get(instId) ?? this.#watch(instId);
    watched.isAsked = true;
    const { quote, isOpen } = watched;
    if (quote !== undefined) return side === "buy" ? quote.askPx : quote.bidPx;
    return isOpen ? this.#market.lastPx(instId) : undefined;
  }

  /**
   * Watches an instrument until the returned function is called. Subscribers receive in the order they joined: call it
   * before subscribing.
   */
  hold(instId: string): () => void {
    const watched = this.#watched.get(instId) ?? this.#watch(instId);
    watched.holds++;
    return () => {
      watched.holds--;
      if (watched.holds > 0 || watched.isAsked) return;
      watched.subscription?.unsubscribe();
      this.#watched.delete(instId);
    };
  }

  /** The market with quotes that are known here before their subscribers receive them. */
  inFront(market: Market): Market {
    return {
      trades: (instId, options) => market.trades(instId, options),
      quotes: (instId, options) => {
        const stream = market.quotes(instId, options);
        return new Observable((subscriber) => {
          const release = this.hold(instId);
          subscriber.add(stream.subscribe(subscriber));
          return release;
        });
      },
      books: (instId) => market.books(instId),
      candles: (instId, length, options) => market.candles(instId, length, options),
      lastPx: (instId) => market.lastPx(instId),
    };
  }

  /** The first quote of an instrument has come that was asked about before it was known. */
  onFirst(listener: (instId: string) => void): void {
    this.#listeners.push(listener);
  }

  /** A quote has come of an instrument that was asked about. */
  onQuote(listener: (instId: string) => void): void {
    this.#followers.push(listener);
  }

  #watch(instId: string): Watched {
    const watched: Watched = { quote: undefined, isOpen: false, isAsked: false, holds: 0, subscription: undefined };
    this.#watched.set(instId, watched);
    try {
      watched.subscription = this.#market.quotes(instId).subscribe((quote) => {
        const isFirst = watched.quote === undefined && watched.isOpen;
        watched.quote = quote;
        if (!watched.isAsked) return;
        if (isFirst) for (const listener of this.#listeners) listener(instId);
        // One for each user: an iterator for every quote would cost more than they do.
        const followers = this.#followers;
        for (let index = 0; index < followers.length; index++) (followers[index] as (instId: string) => void)(instId);
      });
      watched.isOpen = true;
    } catch {
      // The rules refuse an unknown instrument in their own words.
    }
    return watched;
  }
}

/** A traded price, or those of a bar that has closed. Decimal text. */
export interface Print {
  readonly px: string;
  readonly low: string;
  readonly high: string;
  /** Earliest possible time of the first trade, on the engine's clock. */
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
