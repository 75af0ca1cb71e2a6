/**
 * Conflation of wanted orders: while a slot has a queued or in-flight action, only the latest wanted order is kept; it
 * is compared with the order when the slot opens.
 *
 * Nearly every wanted order of a strategy that quotes is replaced before quota comes back. As long as a placement is
 * queued, an order is in flight, or a cancel is queued or in flight, a new wanted order changes nothing that could be
 * done now: it only replaces the last one. What is sent is decided when quota is granted.
 *
 * Invariants: whatever is decided about an order is decided by the latest wanted order: an order that was not compared
 * with it is compared before its cancel leaves and before it changes; nothing is converted, compared or published for
 * one that was replaced.
 * Not here: the next step of a slot (plan.ts, order-manager.ts).
 */

import { advance, isClosed, isResting } from "./order-state.ts";
import { suits } from "./plan.ts";
import type { Slot } from "./slot.ts";
import { type Specified, sameWanted, type WantedOrder } from "./wanted-order.ts";

/** Whether `wanted order` may take the place of the slot's own without anything being done now. */
export const mayWait = ({ wanted: before, order, queued }: Slot, wanted: WantedOrder): boolean => {
  if (before === undefined) return false;
  if (sameWanted(before, wanted)) return true;
  if (order === undefined) return queued !== undefined && isAlike(before, wanted);
  if (queued !== undefined) return false;
  if (!isResting(order)) return !isClosed(order);
  // What an exit waits for goes before other replacements.
  return order.unwanted !== undefined && (order.unwanted.urgency !== "place" || wanted.reduceOnly !== true);
};

/** Both would wait in the same queue. */
const isAlike = (a: WantedOrder, b: WantedOrder): boolean =>
  a.instId === b.instId && (a.reduceOnly === true) === (b.reduceOnly === true);

/** The slot wants this now; its order is weighed when it matters. */
export const takeNote = (slot: Slot, wanted: WantedOrder): void => {
  const { wanted: before, order } = slot;
  slot.wanted = Object.freeze(wanted);
  if (slot.settled !== undefined && before !== undefined && !sameWanted(before, wanted)) slot.settled = undefined;
  if (order !== undefined && order.unwanted !== undefined && isResting(order)) slot.isUncompared = true;
};

/**
 * Compares an order with the latest wanted order of its slot, if it was not yet: one that suits it after all may stay.
 */
export const compareWithLatest = (
  slot: Slot,
  wanted: WantedOrder | undefined,
  specify: (wanted: WantedOrder) => Specified,
): void => {
  const { order } = slot;
  slot.isUncompared = false;
  if (order === undefined || wanted === undefined || !suits(wanted, order, specify)) return;
  advance(order, { type: "suited", wanted });
  advance(order, { type: "cancelRecalled" });
};
