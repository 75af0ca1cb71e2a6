/**
 * Prices that trigger stops and take-profits, from market data and, for the mark price, from the account's positions.
 *
 * Invariants: an instrument is read and subscribed to only while a position in it is protected; one unknown to the
 * market has no price; in real trading a silence of the market data is filled with the mark price; a quote that
 * triggers is the one that closing orders are sized by.
 * Not here: what they trigger (orders/protection), the mark price in a silence (mark-prices.ts).
 */
import { Subscription } from "rxjs";
import type { OpenService } from "../client/service-port.ts";
import type { Clock } from "../clock/clock.ts";
import type { Side } from "../contract/profile.ts";
import { type LastQuotes, type Print, printOf, printsOf } from "../market/last-quotes.ts";
import type { Market } from "../market/market-data.ts";
import type { HeldLevels, TriggerPrices, WatchedPrices } from "../orders/protection/price-triggers.ts";
import type { Trigger } from "../orders/protection/protect.ts";
import type { Resources } from "../orders/state/resources.ts";
import { MarkPrices, markPxOf, watchMarks } from "./mark-prices.ts";

type Listener = (range: Print) => void;

export class PriceWatch implements TriggerPrices {
  readonly #market: Market;
  readonly #clock: Clock;
  readonly #positions: Resources["positions"];
  readonly #quotes: Pick<LastQuotes, "hold">;
  readonly #followBars: OpenService["followBars"];
  /** True in real trading, where market data may be lost. */
  readonly #isWatchful: boolean;
  /** Latest price inside the open bar, by instrument; removed when the bar closes. */
  readonly #insideBars = new Map<string, string>();
  readonly #closings = new Map<string, Subscription>();

  constructor(
    { market, clock, followBars, watchful = false }: Pick<OpenService, "market" | "clock" | "followBars" | "watchful">,
    positions: Resources["positions"],
    quotes: Pick<LastQuotes, "hold">,
  ) {
    this.#market = market;
    this.#clock = clock;
    this.#positions = positions;
    this.#quotes = quotes;
    this.#followBars = followBars;
    this.#isWatchful = watchful;
  }

  watch(instId: string, trigger: Trigger, side: Side, listener: Listener, held: HeldLevels): WatchedPrices {
    const all = new Subscription();
    let changed: WatchedPrices["changed"] = () => undefined;
    try {
      if (trigger === "mark") this.#mark(all, instId, listener, held);
      else if (this.#isWatchful) this.#filled(all, instId, trigger === "best" ? side : undefined, listener);
      else if (trigger === "last") changed = this.#last(all, instId, listener, held);
      else changed = this.#best(all, instId, side, listener, held);
    } catch {
      // An instrument that the market does not know is not traded: orders in it are refused with their own reason.
    }
    return {
      changed,
      // The last trade stays valid while nothing is traded.
      mayBeSilent: trigger === "last" && !this.#isWatchful,
      end: () => {
        all.unsubscribe();
      },
    };
  }

  insideBar(instId: string): string | undefined {
    return this.#insideBars.get(instId);
  }

  /** Best price of a side, or the last price where `side` is undefined, with the mark price in silences. */
  #filled(all: Subscription, instId: string, side: Side | undefined, listener: Listener): void {
    let quoted = false;
    all.add(this.#quotes.hold(instId));
    const onPx = (px: string): void => listener(this.#now(px));
    const marks = new MarkPrices({ clock: this.#clock, positions: this.#positions, instId, onPx });
    all.add(() => marks.end());
    const take = (print: Print): void => {
      marks.received();
      listener(print);
    };
    all.add(
      this.#market.quotes(instId).subscribe(({ bidPx, askPx }) => {
        quoted = true;
        // Tickers also carry the last price. They replace trades that were lost, and show that nothing was traded.
        const px = side === undefined ? this.#market.lastPx(instId) : side === "sell" ? bidPx : askPx;
        if (px !== undefined) take(this.#now(px));
      }),
    );
    const known = quoted ? undefined : this.#market.lastPx(instId);
    if (known !== undefined) take(this.#now(known));
    all.add(
      printsOf(this.#market, instId).subscribe((print) => {
        if (side === undefined || !quoted || marks.isSilent) take(print);
      }),
    );
  }

  #best(all: Subscription, instId: string, side: Side, listener: Listener, held: HeldLevels): () => void {
    let quoted = false;
    all.add(this.#quotes.hold(instId));
    all.add(
      this.#market.quotes(instId).subscribe(({ bidPx, askPx }) => {
        quoted = true;
        listener(this.#now(side === "sell" ? bidPx : askPx));
      }),
    );
    const unlessQuoted = (print: Print): void => {
      if (!quoted) listener(print);
    };
    return this.#last(all, instId, unlessQuoted, held);
  }

  #last(all: Subscription, instId: string, listener: Listener, held: HeldLevels): () => void {
    const known = this.#market.lastPx(instId);
    if (known !== undefined) listener(this.#now(known));
    const passed = (px: string): void => {
      this.#noteInside(instId, px);
      listener(this.#now(px));
    };
    const inBars = this.#followBars?.(instId, { passed, ...held });
    if (inBars === undefined) {
      all.add(printsOf(this.#market, instId).subscribe(listener));
      return () => undefined;
    }
    all.add(inBars.end);
    return inBars.changed;
  }

  /**
   * Stores a price inside a bar. Orders that it triggers are sized by it, because the close of the previous bar may be
   * far off.
   */
  #noteInside(instId: string, px: string): void {
    this.#insideBars.set(instId, px);
    if (this.#closings.has(instId)) return;
    const closings = printsOf(this.#market, instId).subscribe(() => {
      this.#insideBars.delete(instId);
    });
    this.#closings.set(instId, closings);
  }

  #mark(all: Subscription, instId: string, listener: Listener, held: HeldLevels): void {
    // The account's marks come when positions are read. A bar's prices do not trigger, but its path counts what they
    // may close.
    const inBars = this.#followBars?.(instId, { passed: () => undefined, levels: () => [], exits: () => held.exits() });
    if (inBars !== undefined) all.add(inBars.end);
    all.add(
      this.#positions.value$.subscribe(({ value, stale }) => {
        const px = stale ? undefined : markPxOf(value, instId);
        if (px !== undefined) listener(this.#now(px));
      }),
    );
    if (this.#isWatchful)
      all.add(watchMarks({ clock: this.#clock, positions: this.#positions, instId, onPx: () => undefined }));
  }

  #now(px: string): Print {
    return printOf(px, this.#clock.now());
  }
}
