/**
 * Closing slots: market orders that close what one strategy holds of an instrument, asked for from outside while it is halted.
 *
 * Invariants: one order at a time for each strategy and instrument; never more is asked for than the strategy holds by its own fills;
 * what resting orders, rejections and unknown outcomes mean for such an order is what they mean for every exit.
 * Not here: the size that is sent (exit-size.ts), follow-up of a rejected or cut one (exits.ts), how long it is tried (engine/close-holdings.ts).
 */
import type { InstrumentRecord } from "../contract/schemas.ts";
import { abs, compare, isPositive, isZero } from "../decimal.ts";
import { leastQty } from "./exit-size.ts";
import type { Positions } from "./positions.ts";
import type { Refusals } from "./refusals.ts";
import type { Slot } from "./slot.ts";
import type { Slots } from "./slots.ts";
import { isOver } from "./tracked-order.ts";

interface ClosingOwner {
  readonly slots: Slots;
  readonly positions: Positions;
  readonly refusals: Pick<Refusals, "reasonOf">;
  consider(slot: Slot): void;
}

export class ClosingSlots {
  readonly #owner: ClosingOwner;
  #round = 0;

  constructor(owner: ClosingOwner) {
    this.#owner = owner;
  }

  /** Asks for what is held to be closed at the market, unless an order that does it is on its way or is followed by another one. */
  ask(strategy: string, instId: string): void {
    const { slots, positions } = this.#owner;
    const { qty } = positions.netOf(strategy, instId);
    if (isZero(qty)) return;
    const slot = slots.reserve(strategy, nameOf(instId), "closing");
    const isUnderWay = slot.queued !== undefined || (slot.order !== undefined && !isOver(slot.order)) || slot.rest !== undefined;
    // One that was refused is ruled on again by itself.
    if (isUnderWay || (slot.wish !== undefined && slot.refused)) return;
    slot.wish = {
      slot: slot.name,
      instId,
      side: isPositive(qty) ? "sell" : "buy",
      ordType: "market",
      qty: abs(qty),
      reduceOnly: true,
      round: ++this.#round,
    };
    slot.settled = undefined;
    this.#owner.consider(slot);
  }

  /** Nothing more is closed. An order that was sent runs on. */
  withdraw(strategy: string, instId: string): void {
    const slot = this.#owner.slots.find(strategy, nameOf(instId));
    if (slot?.closing !== true) return;
    slot.wish = undefined;
    this.#owner.consider(slot);
  }

  /** Why nothing of it could be closed up to now, in words; empty where that is not known. */
  problemOf(strategy: string, instId: string): string {
    const slot = this.#owner.slots.find(strategy, nameOf(instId));
    if (slot === undefined) return "";
    if (slot.order?.phase === "unknown") return "whether the last closing order was executed is not known yet";
    return slot.rest?.reason ?? (slot.refused ? this.#owner.refusals.reasonOf(slot) : "");
  }
}

const nameOf = (instId: string): string => `${instId}.close`;

/** Too little for an order: the service would not take one. */
export const isDust = (qty: string, instrument: InstrumentRecord | undefined): boolean =>
  instrument !== undefined && compare(abs(qty), leastQty(instrument)) < 0;
