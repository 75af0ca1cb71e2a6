/**
 * Surplus check: an order in excess of its slot, possible after a lost journal, has to be canceled.
 *
 * Invariants: judged by one process's events alone; only orders that this process itself reports as resting count; a
 * process that has requested the cancel of one of the two has done its part; one that continues to place orders could
 * have requested it.
 */
import { instTypeOf } from "sluice/dialect";
import type { EventOf } from "sluice/extension";

type Change = EventOf<"order.changed">;

/**
 * Largest number of placements reported after the surplus was noticed: they were decided before it, and no second has
 * room for more.
 */
const placementsMax = 20;
const resting: readonly string[] = ["acked", "live", "partially_filled"];

export class SurplusCheck {
  /** By strategy and slot: the orders that rest and were never asked to be canceled. */
  readonly #slots = new Map<string, Set<string>>();
  readonly #asked = new Set<string>();
  /** Slots with more than one, and the placements seen since. */
  readonly #crowded = new Map<string, number>();

  /** Returns the current violation, in words. */
  note({ strategy, slot, instId, clOrdId, phase }: Change): string | undefined {
    // An order without a slot crowds none; the service describes no way to cancel spot orders; a numbered name is used
    // again.
    if (slot === "" || slot.startsWith("#") || instTypeOf(instId) === "SPOT") return undefined;
    const name = `${strategy} ${slot}`;
    const orders = this.#slots.get(name) ?? new Set<string>();
    this.#slots.set(name, orders);
    if (phase === "canceling") this.#asked.add(clOrdId);
    if (resting.includes(phase) && !this.#asked.has(clOrdId)) orders.add(clOrdId);
    else orders.delete(clOrdId);
    if (orders.size < 2) this.#crowded.delete(name);
    else if (!this.#crowded.has(name)) this.#crowded.set(name, 0);
    return phase === "sent" ? this.#place() : undefined;
  }

  #place(): string | undefined {
    for (const [name, seen] of this.#crowded) {
      if (seen === placementsMax) {
        const orders = [...(this.#slots.get(name) ?? [])].join(" and ");
        return `"${name}" still holds ${orders}: neither is canceled`;
      }
      this.#crowded.set(name, seen + 1);
    }
    return undefined;
  }
}
