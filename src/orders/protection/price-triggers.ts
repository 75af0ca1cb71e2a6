/**
 * Prices for protections: one watch for each instrument, kind of price and side while a protection needs it.
 *
 * Invariants: a protection that was released is not called any more, not even with the price that is being delivered; a
 * watch without protections ends.
 * Not here: where prices come from (engine/price-watch.ts), what they trigger (protection.ts).
 */
import type { Clock, Timer } from "../../clock/clock.ts";
import type { Side } from "../../contract/profile.ts";
import type { Trigger } from "./protect.ts";
import type { PriceRange, Protection } from "./protection.ts";

/** A watch of prices, until `end` is called. */
export interface WatchedPrices {
  /** Called when the levels have changed. */
  changed(): void;
  /** True if a long time without a price is no sign of a fault. */
  readonly mayBeSilent?: boolean;
  end(): void;
}

/** Levels and positions of all protections of a watch. */
export interface HeldLevels {
  levels(): readonly string[];
  exits(): readonly HeldExit[];
}

/** Position, or part of one, that a protection closes. Decimal text. */
export interface HeldExit {
  /** Side of the closing order. */
  readonly side: Side;
  /** Quantity in base currency. */
  readonly qty: string;
  /** Present level of the stop: the nearer one of fixed and trailing stop. */
  readonly stopPx: string | undefined;
  readonly takeProfitPx: string | undefined;
  /**
   * Returns the price at which the position is closed if the price moves in straight lines between these prices;
   * undefined if no level is reached.
   */
  readonly exitOn: (path: readonly string[]) => string | undefined;
}

/** Source of prices. */
export interface TriggerPrices {
  /**
   * Calls `listener` with the latest price, if there is one, and with every further one. If only bars of the market are
   * known, the price path stops at the levels of `held`, and a pessimistic path depends on their exits.
   */
  watch(
    instId: string,
    trigger: Trigger,
    side: Side,
    listener: (range: PriceRange) => void,
    held: HeldLevels,
  ): WatchedPrices;
  /**
   * The latest price inside a bar that has not closed, if only bars of the market are known and a protection follows
   * them.
   */
  insideBar?(instId: string): string | undefined;
}

interface Watched {
  readonly protection: Pick<Protection, "trigger" | "side" | "name">;
}

interface Watch<T> {
  readonly of: string;
  readonly members: Set<T>;
  /** Instant of the last price, or of the start of the watch. */
  pricedAt: number;
  isReported: boolean;
  latest: PriceRange | undefined;
  prices: WatchedPrices;
}

interface PriceTriggersOptions<T> {
  readonly prices: TriggerPrices;
  readonly onPrice: (protection: T, range: PriceRange) => void;
  readonly levelsOf: (protection: T) => readonly string[];
  readonly exitOf: (protection: T) => HeldExit;
  /** Reports that no price has come for `ms`. */
  readonly silence?:
    | { readonly clock: Clock; readonly ms: number; readonly tell: (protection: T, reason: string) => void }
    | undefined;
}

const notYet: WatchedPrices = { changed: () => undefined, end: () => undefined };

export class PriceTriggers<T extends Watched> {
  readonly #options: PriceTriggersOptions<T>;
  #timer: Timer | undefined;
  readonly #watches = new Map<string, Watch<T>>();
  readonly #watchOf = new Map<T, string>();

  constructor(options: PriceTriggersOptions<T>) {
    this.#options = options;
  }

  /** Delivers prices to the protection from now on, the latest price at once. */
  hold(protection: T): void {
    const { trigger, side, name } = protection.protection;
    const key = `${name.instId} ${trigger} ${side}`;
    const known = this.#watches.get(key);
    if (this.#watchOf.get(protection) === key) {
      known?.prices.changed();
      return;
    }
    this.release(protection);
    this.#watchOf.set(protection, key);
    if (known !== undefined) {
      known.members.add(protection);
      known.prices.changed();
      if (known.latest !== undefined) this.#options.onPrice(protection, known.latest);
      if (known.isReported) this.#report(known, [protection]);
      return;
    }
    const watch: Watch<T> = {
      of: `${trigger} price of ${name.instId}`,
      members: new Set([protection]),
      pricedAt: this.#options.silence?.clock.now() ?? 0,
      isReported: false,
      latest: undefined,
      prices: notYet,
    };
    this.#watches.set(key, watch);
    this.#lookForSilence();
    const { levelsOf, exitOf, onPrice, silence } = this.#options;
    const listener = (range: PriceRange): void => {
      watch.latest = range;
      if (silence !== undefined) watch.pricedAt = silence.clock.now();
      if (watch.isReported) {
        watch.isReported = false;
        this.#lookForSilence();
      }
      for (const member of watch.members) onPrice(member, range);
    };
    const held: HeldLevels = {
      levels: () => [...watch.members].flatMap(levelsOf),
      exits: () => [...watch.members].map(exitOf),
    };
    const prices = this.#options.prices.watch(name.instId, trigger, side, listener, held);
    // The first price may already have ended the watch.
    if (this.#watches.get(key) === watch) watch.prices = prices;
    else prices.end();
  }

  release(protection: T): void {
    const key = this.#watchOf.get(protection);
    if (key === undefined) return;
    this.#watchOf.delete(protection);
    const watch = this.#watches.get(key);
    watch?.members.delete(protection);
    if (watch === undefined || watch.members.size > 0) return;
    this.#watches.delete(key);
    watch.prices.end();
    if (this.#watches.size > 0) return;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** While anything is watched, a timer is set to the instant at which the next price is overdue. */
  #lookForSilence(): void {
    const { silence } = this.#options;
    if (silence === undefined || this.#timer !== undefined) return;
    const { clock, ms } = silence;
    let at = Number.POSITIVE_INFINITY;
    for (const watch of this.#watches.values()) {
      if (!watch.isReported && watch.prices.mayBeSilent !== true) at = Math.min(at, watch.pricedAt + ms);
    }
    if (at === Number.POSITIVE_INFINITY) return;
    this.#timer = clock.setTimer(at, () => {
      this.#timer = undefined;
      for (const watch of this.#watches.values()) {
        if (watch.isReported || watch.prices.mayBeSilent === true || clock.now() < watch.pricedAt + ms) continue;
        watch.isReported = true;
        this.#report(watch, watch.members);
      }
      this.#lookForSilence();
    });
  }

  #report({ of }: Watch<T>, members: Iterable<T>): void {
    const { silence } = this.#options;
    for (const member of members) silence?.tell(member, `no ${of} has come for ${silence.ms / 1_000} s`);
  }
}
