/**
 * Prices that trigger stops and take-profits, from market data and, for the mark price, from the account's positions.
 *
 * Invariants: an instrument is read and subscribed to only while a position in it is protected; one unknown to the market has no price.
 * Not here: what they trigger (orders/protection).
 */
import { Subscription } from "rxjs";
import type { OpenService } from "../client/service-port.ts";
import type { Clock } from "../clock/clock.ts";
import type { Side } from "../contract/profile.ts";
import { isDecimal, isPositive } from "../decimal.ts";
import { type Print, printOf, printsOf } from "../market/last-quotes.ts";
import type { Market } from "../market/market-data.ts";
import type { TriggerPrices, WatchedPrices } from "../orders/protection/price-triggers.ts";
import type { Trigger } from "../orders/protection/protect.ts";
import type { Resources } from "../orders/state/resources.ts";

type Listener = (range: Print) => void;
type Levels = () => readonly string[];

export class PriceWatch implements TriggerPrices {
  readonly #market: Market;
  readonly #clock: Clock;
  readonly #positions: Resources["positions"];
  readonly #followBars: OpenService["followBars"];

  constructor(
    { market, clock, followBars }: Pick<OpenService, "market" | "clock" | "followBars">,
    positions: Resources["positions"],
  ) {
    this.#market = market;
    this.#clock = clock;
    this.#positions = positions;
    this.#followBars = followBars;
  }

  watch(instId: string, trigger: Trigger, side: Side, listener: Listener, levels: Levels): WatchedPrices {
    const all = new Subscription();
    let changed: WatchedPrices["changed"] = () => undefined;
    try {
      if (trigger === "mark") this.#mark(all, instId, listener);
      else if (trigger === "last") changed = this.#last(all, instId, listener, levels);
      else changed = this.#best(all, instId, side, listener, levels);
    } catch {
      // Of an instrument that the market does not know nothing is traded: orders in it are refused in their own words.
    }
    return {
      changed,
      end: () => {
        all.unsubscribe();
      },
    };
  }

  #best(all: Subscription, instId: string, side: Side, listener: Listener, levels: Levels): () => void {
    let quoted = false;
    all.add(
      this.#market.quotes(instId).subscribe(({ bidPx, askPx }) => {
        quoted = true;
        listener(this.#now(side === "sell" ? bidPx : askPx));
      }),
    );
    const unlessQuoted = (print: Print): void => {
      if (!quoted) listener(print);
    };
    return this.#last(all, instId, unlessQuoted, levels);
  }

  #last(all: Subscription, instId: string, listener: Listener, levels: Levels): () => void {
    const known = this.#market.lastPx(instId);
    if (known !== undefined) listener(this.#now(known));
    const inBars = this.#followBars?.(instId, { passed: (px) => listener(this.#now(px)), levels });
    if (inBars === undefined) {
      all.add(printsOf(this.#market, instId).subscribe(listener));
      return () => undefined;
    }
    all.add(inBars.end);
    return inBars.changed;
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
