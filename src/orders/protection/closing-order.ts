/**
 * Closing order of a protection: the one slot through which a position is closed at every level.
 *
 * Invariants: one slot for stop and take-profit, so that a stop leaves only when a resting take-profit is known to be
 * gone; where that takes too long a second slot is used, if nothing can be closed twice; never more is asked for than
 * is covered; what was refused or forgotten is not asked for again by itself.
 * Not here: when it is due (protections.ts), follow-up of a rejected or cut one (orders/exits.ts).
 */
import { compare, type Decimal, equal, isPositive, positive, spell, sub, zero } from "../../decimal-value.ts";
import { endingOf, isClosed, isCutByUs, type Order } from "../order-state.ts";
import { lateSlotOf, type Slot } from "../slot.ts";
import type { Slots } from "../slots.ts";
import type { WantedOrder } from "../wanted-order.ts";
import type { Protection } from "./protection.ts";

export class ClosingOrder {
  readonly #protection: Protection;
  readonly #slots: Slots;
  #wanted: WantedOrder | undefined;
  /** Remaining wanted quantity. */
  #left: Decimal = zero;
  #round = 0;
  /** It does not wait for the order that its first slot holds. */
  #isLate = false;

  constructor(protection: Protection, slots: Slots) {
    this.#protection = protection;
    this.#slots = slots;
  }

  get slot(): Slot | undefined {
    return this.#slots.find(this.#protection.name.strategy, this.#slotName);
  }

  /** An order of the slot that is not what is wanted now, and not over. */
  get obstacle(): Order | undefined {
    const order = this.slot?.order;
    return order === undefined || isClosed(order) || order.spec.ordType === this.#wanted?.ordType ? undefined : order;
  }

  /** Uses the second slot from here on. The first one that has to be considered is returned. */
  leaveObstacle(): Slot | undefined {
    const left = this.#withdraw();
    this.#isLate = true;
    return left;
  }

  get #slotName(): string {
    const { exitSlot } = this.#protection.name;
    return this.#isLate ? lateSlotOf(exitSlot) : exitSlot;
  }

  /** An order of the slot executed so much more. */
  executed(qty: Decimal): void {
    this.#left = positive(sub(this.#left, qty));
  }

  /** An order of the slot has ended, and the slot is considered next: what it asks for then is what is left. */
  ended(order: Order, slotName: string): void {
    if (slotName !== this.#slotName) return;
    const { slot } = this;
    const ending = endingOf(order);
    const isGone = ending !== "filled" && ending !== "rejected";
    const isAsked = order.wanted === undefined || (isGone && isCutByUs(order));
    if (slot?.wanted !== undefined && isAsked) this.#ask(slot, slot.wanted.ordType, slot.wanted.px);
  }

  /** At the market, resting at a price, or not at all; the slot that has to be considered, if any. */
  want(kind: "market" | "limit" | "none", px?: string): Slot | undefined {
    const { qty } = this.#protection;
    if (kind === "none") {
      const left = this.#withdraw();
      this.#isLate = false;
      return left;
    }
    const slot = this.slot ?? this.#reserve();
    const isSame =
      slot.wanted !== undefined &&
      slot.wanted === this.#wanted &&
      this.#wanted.ordType === kind &&
      this.#wanted.px === px;
    if (isSame && equal(this.#left, qty)) return undefined;
    // An order at the market is on its way: what has come meanwhile is closed by the next one.
    if (isSame && kind === "market" && slot.order !== undefined && !isClosed(slot.order)) return undefined;
    // A rest that is being followed up covers it.
    if (isSame && slot.followUp !== undefined && compare(this.#left, qty) >= 0) return undefined;
    this.#ask(slot, kind, px);
    return slot;
  }

  #reserve(): Slot {
    return this.#slots.reserve(this.#protection.name.strategy, this.#slotName, this.#isLate ? "late" : "reserved");
  }

  #withdraw(): Slot | undefined {
    const { slot } = this;
    this.#wanted = undefined;
    this.#left = zero;
    if (slot?.wanted === undefined) return undefined;
    slot.wanted = undefined;
    slot.settled = undefined;
    return slot;
  }

  #ask(slot: Slot, ordType: WantedOrder["ordType"], px: string | undefined): void {
    const { name, side, qty } = this.#protection;
    const wanted: WantedOrder = {
      slot: slot.name,
      instId: name.instId,
      side,
      ...(ordType !== undefined && { ordType }),
      ...(px !== undefined && { px }),
      qty: spell(qty),
      reduceOnly: true,
      round: ++this.#round,
    };
    this.#wanted = wanted;
    this.#left = qty;
    slot.wanted = isPositive(qty) ? wanted : undefined;
    slot.settled = undefined;
  }
}
