/**
 * Prices of the instruments that a run trades: best bid and ask, last price, book and candles, taken as often as they
 * are shown.
 *
 * Invariants: at most `rowsMax.markets` instruments, the first ones met; a value that arrives costs one assignment,
 * rows are made when they are taken.
 * Not here: the prices that strategies see, which do not depend on this module.
 */
import type { Subscription } from "rxjs";
import type { BookView, Candle, Market, Quote } from "sluice";
import { type ControlDocument, candleKey, rowsMax } from "./control-document.ts";

const barMs = 60_000;
const levelsMax = 10;

interface Watched {
  readonly instId: string;
  quote: Quote | undefined;
  book: BookView | undefined;
  shownPx: string | undefined;
}

export class WatchedMarkets {
  readonly #document: ControlDocument;
  readonly #market: Market;
  readonly #life: Subscription;
  readonly #watched = new Map<string, Watched>();
  readonly #changed = new Set<Watched>();

  /** Ends with `life`. */
  constructor(document: ControlDocument, market: Market, life: Subscription) {
    this.#document = document;
    this.#market = market;
    this.#life = life;
  }

  watch(instId: string): void {
    if (this.#watched.has(instId) || this.#watched.size >= rowsMax.markets) return;
    const one: Watched = { instId, quote: undefined, book: undefined, shownPx: undefined };
    this.#watched.set(instId, one);
    try {
      this.#life.add(
        this.#market.quotes(instId).subscribe((quote) => {
          one.quote = quote;
          this.#changed.add(one);
        }),
      );
      this.#life.add(this.#market.candles(instId, barMs).subscribe((candle) => this.#takeCandle(candle)));
      this.#life.add(
        this.#market.books(instId).subscribe((book) => {
          one.book = book;
          this.#changed.add(one);
        }),
      );
    } catch {
      // An instrument that the service does not list has no prices.
    }
  }

  /** Returns the rows that have changed since the last call. */
  take(now: number): void {
    for (const one of this.#watched.values()) {
      const lastPx = this.#market.lastPx(one.instId);
      if (lastPx !== one.shownPx) this.#changed.add(one);
      one.shownPx = lastPx;
    }
    for (const { instId, quote, book, shownPx } of this.#changed) {
      const at = quote?.at ?? now;
      this.#document.putChanged("markets", instId, {
        instId,
        bid: quote?.bidPx ?? "",
        ask: quote?.askPx ?? "",
        last: shownPx ?? "",
        at,
      });
      if (book !== undefined)
        this.#document.putChanged("book", instId, {
          instId,
          at: book.at,
          bids: levelsOf(book.bids),
          asks: levelsOf(book.asks),
        });
    }
    this.#changed.clear();
  }

  #takeCandle({ instId, at, open: o, high: h, low: l, close: c }: Candle): void {
    this.#document.put("candles", candleKey(instId, at), { instId, at, o, h, l, c });
  }
}

const levelsOf = (levels: BookView["bids"]): readonly (readonly [string, string])[] =>
  levels.slice(0, levelsMax).map(({ px, qty }) => [px, qty] as const);
