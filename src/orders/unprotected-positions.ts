/**
 * Slots whose exit is not in force although the strategy holds a position: reported once when it begins, and once when
 * it is over.
 *
 * Not here: what is done about it (exits.ts).
 */
import { isPositive } from "../decimal.ts";
import { type Effects, noEffects, record } from "./effects.ts";
import type { ExitLimits } from "./exit-limits.ts";
import type { Slot } from "./slot.ts";
import type { WantedOrder } from "./wanted-order.ts";

type Exit = Pick<WantedOrder, "instId" | "side">;

export class UnprotectedPositions {
  readonly #limits: Pick<ExitLimits, "held">;
  readonly #slots = new Map<Slot, Exit>();

  constructor(limits: Pick<ExitLimits, "held">) {
    this.#limits = limits;
  }

  /** The exit that the slot wants is not in force. `qty`: base quantity of the position that it leaves open. */
  begin(slot: Slot, { instId, side }: Exit, qty: string, reason: string): Effects {
    if (this.#slots.has(slot)) return noEffects;
    this.#slots.set(slot, { instId, side });
    const { strategy, name } = slot;
    return [record({ type: "position.unprotected", strategy, slot: name, instId, side, qty, reason })];
  }

  /** The exit is in force, or nothing is left to reduce. */
  end(slot: Slot): Effects {
    const exit = this.#slots.get(slot);
    if (exit === undefined) return noEffects;
    this.#slots.delete(slot);
    const { strategy, name } = slot;
    const { instId, side } = exit;
    const isHeld = isPositive(this.#limits.held(strategy, instId, side));
    return [
      record({ type: "position.protected", strategy, slot: name, instId, ...(!isHeld && { closed: true as const }) }),
    ];
  }

  /** The slot wants no exit any more: an order that protects a position is withdrawn when nothing is left of it. */
  forget(slot: Slot): Effects {
    if (slot.reserved) return this.end(slot);
    this.#slots.delete(slot);
    return noEffects;
  }
}
