/**
 * Slots whose exit is not in force although the strategy holds a position: reported once when it begins, and once when it is over.
 *
 * Not here: what is done about it (exits.ts).
 */
import { isPositive } from "../decimal.ts";
import type { EventLog } from "../journal/event-log.ts";
import type { ExitLimits } from "./exit-limits.ts";
import type { Slot } from "./slot.ts";
import type { WantedOrder } from "./wanted-order.ts";

type Exit = Pick<WantedOrder, "instId" | "side">;

export class UnprotectedPositions {
  readonly #journal: EventLog;
  readonly #limits: Pick<ExitLimits, "held">;
  readonly #slots = new Map<Slot, Exit>();

  /** So many slots. */
  count = 0;

  constructor(journal: EventLog, limits: Pick<ExitLimits, "held">) {
    this.#journal = journal;
    this.#limits = limits;
  }

  /** The exit that the slot wants is not in force. `qty`: base quantity of the position that it leaves open. */
  begin(slot: Slot, { instId, side }: WantedOrder, qty: string, reason: string): void {
    if (this.#slots.has(slot)) return;
    this.#slots.set(slot, { instId, side });
    this.count = this.#slots.size;
    this.#journal.append({
      type: "position.unprotected",
      strategy: slot.strategy,
      slot: slot.name,
      instId,
      side,
      qty,
      reason,
    });
  }

  /** The exit is in force, or nothing is left to reduce. */
  end(slot: Slot): void {
    const exit = this.#slots.get(slot);
    if (exit === undefined) return;
    this.#slots.delete(slot);
    this.count = this.#slots.size;
    const { strategy, name } = slot;
    const { instId, side } = exit;
    const isHeld = isPositive(this.#limits.held(strategy, instId, side));
    this.#journal.append({
      type: "position.protected",
      strategy,
      slot: name,
      instId,
      ...(!isHeld && { closed: true }),
    });
  }

  /** The slot wants no exit any more: what protects a position is withdrawn when nothing is left of it, a strategy may hold on. */
  forget(slot: Slot): void {
    if (slot.reserved) this.end(slot);
    else {
      this.#slots.delete(slot);
      this.count = this.#slots.size;
    }
  }
}
