/**
 * Prices that trigger stops and take-profits, from market data and, for the mark price, from the account's positions.
 *
 * Invariants: an instrument is read and subscribed to only while a position in it is protected; one unknown to the market has no price.
 * Not here: what they trigger (orders/protection).
 */
import { Subscription } from "rxjs";
import type { Clock } from "../clock/clock.ts";
import type { Side } from "../contract/profile.ts";
import { isDecimal, isPositive } from "../decimal.ts";
import { type Print, printOf, printsOf } from "../market/last-quotes.ts";
import type { Market } from "../market/market-data.ts";
import type { TriggerPrices } from "../orders/protection/price-triggers.ts";
import type { Trigger } from "../orders/protection/protect.ts";
import type { Resources } from "../orders/state/resources.ts";

type Listener = (range: Print) => void;

export class PriceWatch implements TriggerPrices {
  readonly #market: Market;
  readonly #clock: Clock;
  readonly #positions: Resources["positions"];

  constructor(market: Market, clock: Clock, positions: Resources["positions"]) {
    this.#market = market;
    this.#clock = clock;
    this.#positions = positions;
  }

  watch(instId: string, trigger: Trigger, side: Side, listener: Listener): () => void {
    const all = new Subscription();
    try {
      if (trigger === "best") this.#best(all, instId, side, listener);
      else if (trigger === "last") this.#last(all, instId, listener);
      else this.#mark(all, instId, listener);
    } catch {
      // Of an instrument that the market does not know nothing is traded: orders in it are refused in their own words.
    }
    return () => {
      all.unsubscribe();
    };
  }

  #best(all: Subscription, instId: string, side: Side, listener: Listener): void {
    let quoted = false;
    all.add(
      this.#market.quotes(instId).subscribe(({ bidPx, askPx }) => {
        quoted = true;
        listener(this.#now(side === "sell" ? bidPx : askPx));
      }),
    );
    this.#last(all, instId, (print) => {
      if (!quoted) listener(print);
    });
  }

  #last(all: Subscription, instId: string, listener: Listener): void {
    const known = this.#market.lastPx(instId);
    if (known !== undefined) listener(this.#now(known));
    all.add(printsOf(this.#market, instId).subscribe(listener));
  }

  #mark(all: Subscription, instId: string, listener: Listener): void {
    all.add(
      this.#positions.value$.subscribe(({ value, stale }) => {
        const px = value.find((position) => position.instId === instId)?.markPx;
        if (!stale && isDecimal(px) && isPositive(px)) listener(this.#now(px));
      }),
    );
  }

  #now(px: string): Print {
    return printOf(px, this.#clock.now());
  }
}
