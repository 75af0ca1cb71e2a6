/**
 * Prices for protections: one watch for each instrument, kind of price and side, while something is protected by it.
 *
 * Invariants: a protection that is released is not called any more, not even by the price that is being told; a watch without
 * protections ends.
 * Not here: where prices come from (engine/price-watch.ts), what they trigger (protection.ts).
 */
import type { Clock } from "../../clock/clock.ts";
import type { Side } from "../../contract/profile.ts";
import type { Trigger } from "./protect.ts";
import type { PriceRange, Protection } from "./protection.ts";

/** Prices that are watched, until `end`. */
export interface WatchedPrices {
  /** The levels have changed. */
  changed(): void;
  end(): void;
}

/** Where prices come from. */
export interface TriggerPrices {
  /**
   * Calls `listener` with the latest price, if there is one, and with every further one. `levels` are the prices that trigger something
   * now, decimal text: where a market is only known by bars, the price stops at them on its way.
   */
  watch(
    instId: string,
    trigger: Trigger,
    side: Side,
    listener: (range: PriceRange) => void,
    levels: () => readonly string[],
  ): WatchedPrices;
}

interface Watched {
  readonly protection: Pick<Protection, "trigger" | "side" | "name">;
}

interface Watch<T> {
  readonly of: string;
  /** The last trade stays what it is while nothing is traded. */
  readonly mayBeSilent: boolean;
  readonly members: Set<T>;
  heard: boolean;
  latest: PriceRange | undefined;
  prices: WatchedPrices;
}

interface PriceTriggersOptions<T> {
  readonly prices: TriggerPrices;
  readonly onPrice: (protection: T, range: PriceRange) => void;
  readonly levelsOf: (protection: T) => readonly string[];
  /** A price that has not come for `ms` is told. */
  readonly silence?:
    | { readonly clock: Clock; readonly ms: number; readonly tell: (protection: T, reason: string) => void }
    | undefined;
}

const notYet: WatchedPrices = { changed: () => undefined, end: () => undefined };

export class PriceTriggers<T extends Watched> {
  readonly #options: PriceTriggersOptions<T>;
  #looks = false;
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
      return;
    }
    const watch: Watch<T> = {
      of: `${trigger} price of ${name.instId}`,
      mayBeSilent: trigger === "last",
      heard: true,
      members: new Set([protection]),
      latest: undefined,
      prices: notYet,
    };
    this.#watches.set(key, watch);
    this.#lookForSilence();
    const { levelsOf, onPrice } = this.#options;
    const listener = (range: PriceRange): void => {
      watch.latest = range;
      watch.heard = true;
      for (const member of watch.members) onPrice(member, range);
    };
    const levels = (): readonly string[] => [...watch.members].flatMap(levelsOf);
    const prices = this.#options.prices.watch(name.instId, trigger, side, listener, levels);
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
  }

  /** Looks at intervals, while anything is watched, which prices have not come since the last look. */
  #lookForSilence(): void {
    const { silence } = this.#options;
    if (silence === undefined || this.#looks) return;
    this.#looks = true;
    const { clock, ms, tell } = silence;
    clock.setTimer(clock.now() + ms, () => {
      this.#looks = false;
      for (const watch of this.#watches.values()) {
        if (!watch.heard && !watch.mayBeSilent) {
          for (const member of watch.members) tell(member, `no ${watch.of} has come for ${ms / 1_000} s`);
        }
        watch.heard = false;
      }
      if (this.#watches.size > 0) this.#lookForSilence();
    });
  }
}
