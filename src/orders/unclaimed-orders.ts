/**
 * Executed orders of previous runs whose strategy is not known yet: they wait for a slot whose hash is in their client
 * order id.
 *
 * Invariants: an order is claimed once; the orders of one claim come in the order in which they were sent.
 * Not here: what a claim leads to (unrecorded-orders.ts).
 */
import { isLater } from "./client-order-id.ts";
import type { Order } from "./order-state.ts";

interface Unclaimed {
  readonly order: Order;
  readonly slotHash: string;
  readonly generation: number;
}

/** An order whose slot is known now. */
interface ClaimedOrder extends Unclaimed {
  readonly strategy: string;
  /** Name of the slot it was sent for. */
  readonly slot: string;
}

/**
 * Suffixes of the engine's own slots that close what a slot opened: `<slot>.exit`, and numbered ones if that is taken.
 */
const exitSuffixes = [".exit", ...Array.from({ length: 8 }, (_, index) => `.exit${index + 2}`)];
const exitsOf = (names: readonly string[]): readonly string[] =>
  names.flatMap((name) => exitSuffixes.map((suffix) => name + suffix));

/** Slots of orders placed by hand without a name. They have the same names in every run, but are not the same slots. */
export const numberedSlots = Array.from({ length: 1_000 }, (_, index) => `#${index}`);

export class UnclaimedOrders {
  readonly #hashOf: (strategy: string, slot: string) => string;
  readonly #waiting = new Map<string, Unclaimed>();
  /** Orders whose strategy is in the journal. Its position contains their executions even while they have no slot. */
  readonly #owned = new Set<string>();
  #claimed: ClaimedOrder[] = [];

  constructor(hashOf: (strategy: string, slot: string) => string) {
    this.#hashOf = hashOf;
  }

  own(clOrdId: string): void {
    this.#owned.add(clOrdId);
    this.drop(clOrdId);
  }

  keep(order: Order, slotHash: string, generation: number): void {
    if (this.#owned.has(order.clOrdId)) return;
    this.#waiting.set(order.clOrdId, { order, slotHash, generation });
  }

  /**
   * Called when an order is booked elsewhere, even if a slot has claimed it meanwhile. Returns false if it was not
   * here.
   */
  drop(clOrdId: string): boolean {
    const before = this.#claimed.length;
    this.#claimed = this.#claimed.filter(({ order }) => order.clOrdId !== clOrdId);
    return this.#waiting.delete(clOrdId) || this.#claimed.length < before;
  }

  /** All unclaimed orders, oldest first. */
  all(): readonly Order[] {
    return [...this.#waiting.values()].sort(byAge).map(({ order }) => order);
  }

  /** Returns true while an order of the instrument has no strategy. */
  has(instId: string): boolean {
    if (this.#waiting.size === 0) return false;
    return [...this.#waiting.values()].some(({ order }) => order.spec.instId === instId);
  }

  /**
   * Called when a strategy uses this slot name. Its orders are now known, and so are those that closed what they
   * opened.
   */
  claim(strategy: string, name: string): void {
    if (this.#waiting.size > 0) this.#claim(strategy, [name, ...exitsOf([name])]);
  }

  /**
   * Called with a strategy of the config. Claims the orders of slots that the framework names: by hand, or to close a
   * position.
   */
  claimNamed(strategy: string): void {
    if (this.#waiting.size === 0) return;
    const orders = this.all();
    const instIds = [...new Set(orders.map(({ spec }) => spec.instId))];
    const closing = instIds.flatMap((instId) => [
      `${instId}.close`,
      ...exitsOf([instId, `${instId} long`, `${instId} short`]),
    ]);
    const names = [...numberedSlots, ...exitsOf(orders.map(({ clOrdId }) => clOrdId))];
    this.#claim(strategy, [...names, ...closing]);
  }

  /** Orders that were claimed since the last call, oldest first. */
  takeClaimed(): readonly ClaimedOrder[] {
    const claimed = this.#claimed.sort(byAge);
    this.#claimed = [];
    return claimed;
  }

  get hasClaimed(): boolean {
    return this.#claimed.length > 0;
  }

  #claim(strategy: string, names: readonly string[]): void {
    const byHash = new Map(names.map((slot) => [this.#hashOf(strategy, slot), slot]));
    for (const [clOrdId, one] of this.#waiting) {
      const slot = byHash.get(one.slotHash);
      if (slot === undefined) continue;
      this.#waiting.delete(clOrdId);
      this.#claimed.push({ ...one, strategy, slot });
    }
  }
}

const byAge = (a: Unclaimed, b: Unclaimed): number =>
  a.generation === b.generation ? 0 : isLater(a.generation, b.generation) ? 1 : -1;
