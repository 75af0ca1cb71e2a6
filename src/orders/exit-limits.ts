/**
 * What bounds exits: the holding of their strategy, and open orders of their side.
 *
 * Not here: what follows from it (exits.ts), the sums (risk/exposure.ts).
 */
import type { Side } from "../contract/profile.ts";
import { isPositive, neg } from "../decimal.ts";
import type { Exposure } from "./risk/exposure.ts";
import type { Slots } from "./slots.ts";
import { isOver, type TrackedOrder } from "./tracked-order.ts";

/** What an order of this side reduces is positive. */
const against = (side: Side, position: string): string => (side === "sell" ? position : neg(position));

export class ExitLimits {
  readonly #slots: Pick<Slots, "orders" | "of">;
  readonly #exposure: Pick<Exposure, "holding">;

  constructor(slots: Pick<Slots, "orders" | "of">, exposure: Pick<Exposure, "holding">) {
    this.#slots = slots;
    this.#exposure = exposure;
  }

  /** Of what the strategy holds by its own fills, as much as an order of this side reduces. */
  held(strategy: string, instId: string, side: Side): string {
    const held = against(side, this.#exposure.holding(instId, strategy).position);
    return isPositive(held) ? held : "0";
  }

  /** Whether an order of the product and side that may only reduce is on its way out and still counts at the service; of all where no strategy is named. */
  isLeaving(instId: string, side: Side, strategy?: string): boolean {
    return this.#slots.orders().some((order) => {
      if (strategy !== undefined && order.strategy !== strategy) return false;
      const { spec, slot, wish } = order;
      // A record does not say whether an order found at the service only reduces: it may.
      const mayReduce = spec.reduceOnly || wish === undefined;
      return mayReduce && spec.instId === instId && spec.side === side && slot !== "" && this.#leaves(order);
    });
  }

  #leaves(order: TrackedOrder): boolean {
    if (isOver(order) || order.phase === "unknown" || order.denials > 0) return false;
    const slot = this.#slots.of(order);
    return order.cancelClass === "cancel" || order.cancelClass === "emergency" || slot?.wish === undefined || slot.order !== order;
  }
}
