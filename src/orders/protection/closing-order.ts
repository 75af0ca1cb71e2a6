/**
 * Closing order of a protection: the one slot through which a position is closed at every level.
 *
 * Invariants: stop and take-profit use one slot, so that a stop leaves only when a resting take-profit is known to be
 * gone; if that takes too long and nothing can be closed twice, a second slot is used; never more is requested than is
 * covered; a quantity that was refused or withdrawn is not requested again automatically.
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
  /** True if it does not wait for the order that its first slot holds. */
  #isLate = false;

  constructor(protection: Protection, slots: Slots) {
    this.#protection = protection;
    this.#slots = slots;
  }

  get slot(): Slot | undefined {
    return this.#slots.find(this.#protection.name.strategy, this.#slotName);
  }

  /** An order in the slot that is not over and is not the one that is wanted now. */
  get obstacle(): Order | undefined {
    const order = this.slot?.order;
    return order === undefined || isClosed(order) || order.spec.ordType === this.#wanted?.ordType ? undefined : order;
  }

  /** Uses the second slot from now on. Returns the first slot if it has to be evaluated. */
  leaveObstacle(): Slot | undefined {
    const left = this.#withdraw();
    this.#isLate = true;
    return left;
  }

  get #slotName(): string {
    const { exitSlot } = this.#protection.name;
    return this.#isLate ? lateSlotOf(exitSlot) : exitSlot;
  }

  /** Called when an order of the slot executed this additional quantity. */
  executed(qty: Decimal): void {
    this.#left = positive(sub(this.#left, qty));
  }

  /** Called when an order of the slot has ended. The slot is evaluated next, and requests the remaining quantity. */
  ended(order: Order, slotName: string): void {
    if (slotName !== this.#slotName) return;
    const { slot } = this;
    const ending = endingOf(order);
    const isGone = ending !== "filled" && ending !== "rejected";
    const isAsked = order.wanted === undefined || (isGone && isCutByUs(order));
    if (slot?.wanted !== undefined && isAsked) this.#ask(slot, slot.wanted.ordType, slot.wanted.px);
  }

  /**
   * Requests the closing order: at the market, resting at a price, or none. Returns the slot if it has to be evaluated.
   */
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
    // A market order is on its way. The next one closes what was added meanwhile.
    if (isSame && kind === "market" && slot.order !== undefined && !isClosed(slot.order)) return undefined;
    // A remainder that is being followed up covers the quantity.
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
