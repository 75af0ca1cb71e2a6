/**
 * Resting exits that have become larger than the position they reduce: found when something was executed, and taken back.
 *
 * The service cuts a reduce-only order to the account's position. Where other strategies hold the product too, or an exit goes without
 * the flag, that is not what its own strategy holds: another order of the strategy may have reduced the position meanwhile.
 *
 * Not here: which exits are too large (exit-limits.ts), their cancel and what is placed in their stead (order-flow.ts).
 */
import type { Clock } from "../clock/clock.ts";
import type { ExitLimits } from "./exit-limits.ts";
import type { Slot } from "./slot.ts";
import type { Slots } from "./slots.ts";
import { isOver, type TrackedOrder } from "./tracked-order.ts";

export class ExitTrims {
  readonly #clock: Clock;
  readonly #slots: Pick<Slots, "of">;
  readonly #limits: Pick<ExitLimits, "isExcess">;
  readonly #consider: (slot: Slot) => void;
  /** Open exits that were sized by what their strategy held. */
  readonly #open = new Set<TrackedOrder>();

  constructor(clock: Clock, slots: Pick<Slots, "of">, limits: Pick<ExitLimits, "isExcess">, consider: (slot: Slot) => void) {
    this.#clock = clock;
    this.#slots = slots;
    this.#limits = limits;
    this.#consider = consider;
  }

  /** An order changed. */
  take(order: TrackedOrder): void {
    if (order.wantedQty !== "") {
      if (isOver(order)) this.#open.delete(order);
      else this.#open.add(order);
    }
    if (this.#open.size > 0 && (order.record?.accFillSz ?? "") !== "") this.look(order.spec.instId);
  }

  /** What is held of a product has changed. */
  look(instId: string): void {
    for (const order of this.#open) {
      if (order.spec.instId !== instId || order.cancelClass !== undefined || !this.#limits.isExcess(order)) continue;
      const slot = this.#slots.of(order);
      if (slot === undefined) continue;
      this.#clock.setTimer(this.#clock.now(), () => {
        this.#consider(slot);
      });
    }
  }
}
