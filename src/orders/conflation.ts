/**
 * Wishes that change while their slot waits: taken note of at once, weighed when it matters.
 *
 * Nearly every wish of a strategy that quotes is replaced before quota comes back. As long as a placement waits in the queue, an
 * order is on its way, or a cancel of what rests waits or is under way, a new wish changes nothing that could be done now: it only
 * takes the place of the old one. What leaves is decided when the slot opens.
 *
 * Invariants: whatever is decided about an order is decided by the latest wish: an order that was not weighed against it is weighed
 * before its cancel leaves and before it changes; nothing is converted, compared or told for a wish that did not live so long.
 * Not here: the next step of a slot (plan.ts, order-manager.ts).
 */

import { suits } from "./plan.ts";
import type { Slot, Slots } from "./slots.ts";
import { isOver, isResting, type TrackedOrder } from "./tracked-order.ts";
import { type Specified, sameWish, type WantedOrder, wishMark } from "./wanted-order.ts";

/** Whether `wish` may take the place of the slot's own without anything being done now. */
export const mayWait = ({ wish: before, order, queued }: Slot, wish: WantedOrder): boolean => {
  if (before === undefined) return false;
  if (sameWish(before, wish)) return true;
  if (order === undefined) return queued !== undefined && isAlike(before, wish);
  if (queued !== undefined) return false;
  return isResting(order) ? order.cancelClass !== undefined : !isOver(order);
};

/** Both would wait in the same queue. */
const isAlike = (a: WantedOrder, b: WantedOrder): boolean => a.instId === b.instId && (a.reduceOnly === true) === (b.reduceOnly === true);

/** The slot wants this now; its order is weighed when it matters. */
export const takeNote = (slot: Slot, wish: WantedOrder): void => {
  const { wish: before, order } = slot;
  slot.wish = wish;
  if (slot.settledMark !== undefined && before !== undefined && !sameWish(before, wish)) slot.settledMark = undefined;
  if (order !== undefined && order.cancelClass !== undefined && isResting(order)) order.unweighed = true;
};

/** Makes the function that weighs an order against the latest wish of its slot: one that suits it after all may stay. */
export const createWeighing =
  (slots: Slots, wishOf: (slot: Slot) => WantedOrder | undefined, specify: (wish: WantedOrder) => Specified) =>
  (order: TrackedOrder): void => {
    if (!order.unweighed) return;
    order.unweighed = false;
    const slot = slots.of(order);
    const wish = slot?.order === order ? wishOf(slot) : undefined;
    if (wish === undefined || !suits(wish, order, specify)) return;
    order.mark = wishMark(wish);
    order.cancelClass = undefined;
  };
