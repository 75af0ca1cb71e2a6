/**
 * Prices for protections: one watch for each instrument, kind of price and side, while something is protected by it.
 *
 * Invariants: a protection that is released is not called any more, not even by the price that is being delivered; a
 * watch without protections ends.
 * Not here: where prices come from (engine/price-watch.ts), what they trigger (protection.ts).
 */
import type { Clock, Timer } from "../../clock/clock.ts";
import type { Side } from "../../contract/profile.ts";
import type { Trigger } from "./protect.ts";
import type { PriceRange, Protection } from "./protection.ts";

/** Prices that are watched, until `end`. */
export interface WatchedPrices {
  /** The levels have changed. */
  changed(): void;
  /** No price for a long time is no sign of a fault. */
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
  /** Current level of the nearer one of fixed and trailing stop. */
  readonly stopPx: string | undefined;
  readonly takeProfitPx: string | undefined;
  /**
   * Returns the price at which it is closed on straight lines between these prices, or undefined if none of its levels
   * is reached.
   */
  readonly exitOn: (path: readonly string[]) => string | undefined;
}

/** Source of prices. */
export interface TriggerPrices {
  /**
   * Calls `listener` with the latest price, if there is one, and with every further one. Where a market is only known
   * by bars, the price stops at the levels of `held` on its way, and a pessimistic path depends on its exits.
   */
  watch(
    instId: string,
    trigger: Trigger,
    side: Side,
    listener: (range: PriceRange) => void,
    held: HeldLevels,
  ): WatchedPrices;
  /**
   * The latest price inside a bar that has not closed, where a market is only known by bars and a protection follows
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
  /** Reports a price that has not come for `ms`. */
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

  /** From here on the protection sees its prices, the latest one at once. */
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
    // The first price may have ended it already.
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

  /** While anything is watched, a timer runs to the instant at which the next price is overdue. */
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
