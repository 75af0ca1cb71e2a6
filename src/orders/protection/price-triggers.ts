/**
 * Prices for protections: one watch for each instrument, kind of price and side, while something is protected by it.
 *
 * Invariants: a protection that is released is not called any more, not even by the price that is being told; a watch without
 * protections ends.
 * Not here: where prices come from (engine/price-watch.ts), what they trigger (protection.ts).
 */
import type { Side } from "../../contract/profile.ts";
import type { Trigger } from "./protect.ts";
import type { PriceRange, Protection } from "./protection.ts";

/** Where prices come from. */
export interface TriggerPrices {
  /** Calls `listener` with the latest price, if there is one, and with every further one; the returned function ends that. */
  watch(instId: string, trigger: Trigger, side: Side, listener: (range: PriceRange) => void): () => void;
}

interface Watched {
  readonly protection: Pick<Protection, "trigger" | "side" | "name">;
}

interface Watch<T> {
  readonly members: Set<T>;
  latest: PriceRange | undefined;
  stop: () => void;
}

export class PriceTriggers<T extends Watched> {
  readonly #prices: TriggerPrices;
  readonly #onPrice: (protection: T, range: PriceRange) => void;
  readonly #watches = new Map<string, Watch<T>>();
  readonly #watchOf = new Map<T, string>();

  constructor(prices: TriggerPrices, onPrice: (protection: T, range: PriceRange) => void) {
    this.#prices = prices;
    this.#onPrice = onPrice;
  }

  /** From here on the protection sees its prices, the latest one at once. */
  hold(protection: T): void {
    const { trigger, side, name } = protection.protection;
    const key = `${name.instId} ${trigger} ${side}`;
    if (this.#watchOf.get(protection) === key) return;
    this.release(protection);
    this.#watchOf.set(protection, key);
    const known = this.#watches.get(key);
    if (known !== undefined) {
      known.members.add(protection);
      if (known.latest !== undefined) this.#onPrice(protection, known.latest);
      return;
    }
    const watch: Watch<T> = { members: new Set([protection]), latest: undefined, stop: () => undefined };
    this.#watches.set(key, watch);
    const stop = this.#prices.watch(name.instId, trigger, side, (range) => {
      watch.latest = range;
      for (const member of watch.members) this.#onPrice(member, range);
    });
    // The first price may have ended it already.
    if (this.#watches.get(key) === watch) watch.stop = stop;
    else stop();
  }

  release(protection: T): void {
    const key = this.#watchOf.get(protection);
    if (key === undefined) return;
    this.#watchOf.delete(protection);
    const watch = this.#watches.get(key);
    watch?.members.delete(protection);
    if (watch === undefined || watch.members.size > 0) return;
    this.#watches.delete(key);
    watch.stop();
  }
}
