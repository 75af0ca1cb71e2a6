/**
 * Protections that were triggered and whose closing order is not in force after some seconds: reported, and closed without waiting for
 * an order that cannot be canceled.
 *
 * Invariants: one timer for each protection that is being closed, none for others; the wait for a cancel is given up only where two
 * exits at a time cannot reduce more than the strategy holds.
 * Not here: the order (closing-order.ts), how rejections are followed up (orders/exits.ts).
 */
import type { Clock, Timer } from "../../clock/clock.ts";
import type { Side } from "../../contract/profile.ts";
import { isResting } from "../order-state.ts";
import type { Slot } from "../slot.ts";
import type { WantedOrder } from "../wanted-order.ts";
import type { HeldProtection } from "./held-protection.ts";

interface LateClosingsOwner {
  consider(slot: Slot): void;
  isStopped(strategy: string): boolean;
  isBounded(strategy: string, instId: string, side: Side): boolean;
  isLate(slot: Slot, wanted: WantedOrder, reason: string): void;
}

const waitMs = 5_000;
const seconds = `${waitMs / 1_000} s`;

export class LateClosings {
  readonly #clock: Clock;
  readonly #owner: LateClosingsOwner;
  /** The closing order has to be asked for again. */
  readonly #changed: (one: HeldProtection) => void;
  readonly #timers = new Map<HeldProtection, Timer>();

  constructor(clock: Clock, owner: LateClosingsOwner, changed: (one: HeldProtection) => void) {
    this.#clock = clock;
    this.#owner = owner;
    this.#changed = changed;
  }

  /** The protection is being closed. */
  watch(one: HeldProtection): void {
    if (this.#timers.has(one)) return;
    const look = (): void => {
      this.#timers.delete(one);
      if (!one.isClosing) return;
      this.#look(one);
      if (one.isClosing) this.watch(one);
    };
    this.#timers.set(one, this.#clock.setTimer(this.#clock.now() + waitMs, look));
  }

  close(): void {
    for (const timer of this.#timers.values()) timer.cancel();
    this.#timers.clear();
  }

  #look(one: HeldProtection): void {
    const { closing, protection } = one;
    const { strategy, instId } = protection.name;
    if (this.#owner.isStopped(strategy)) return;
    const isObstructed = closing.obstacle !== undefined;
    if (isObstructed && this.#owner.isBounded(strategy, instId, protection.side)) {
      const left = closing.leaveObstacle();
      if (left !== undefined) this.#owner.consider(left);
      this.#changed(one);
    }
    const { slot } = closing;
    const reason = isObstructed ? `the take-profit that rests has not been canceled for ${seconds}` : problemOf(slot);
    if (slot?.wanted !== undefined && reason !== undefined) this.#owner.isLate(slot, slot.wanted, reason);
  }
}

/** Why the order of the slot is not in force; undefined where it is. */
const problemOf = (slot: Slot | undefined): string | undefined => {
  if (slot === undefined) return undefined;
  const { order, queued, rest, spare } = slot;
  if (queued !== undefined || spare !== undefined) return `the closing order has waited ${seconds} for the quota`;
  if (order?.state.kind === "unknown") return "it is not known whether the closing order was executed";
  if (order?.state.kind === "submitted") return `the closing order has not been answered for ${seconds}`;
  if (order !== undefined && isResting(order)) return undefined;
  return rest?.reason ?? `the closing order has not left for ${seconds}`;
};
