/**
 * Conflation of wanted orders: while a slot has a queued or in-flight action, only the latest wanted order is kept; it is compared
 * with the order when the slot opens.
 *
 * Nearly every wanted order of a strategy that quotes is replaced before quota comes back. As long as a placement is queued, an order
 * is in flight, or a cancel is queued or in flight, a new wanted order changes nothing that could be done now: it only replaces the
 * last one. What is sent is decided when quota is granted.
 *
 * Invariants: whatever is decided about an order is decided by the latest wanted order: an order that was not compared with it is
 * compared before its cancel leaves and before it changes; nothing is converted, compared or published for one that was replaced.
 * Not here: the next step of a slot (plan.ts, order-manager.ts).
 */
import { suits } from "./plan.ts";
import type { Slot } from "./slot.ts";
import { overIn, restsIn, type TrackedOrder } from "./tracked-order.ts";
import { type Specified, sameWish, type WantedOrder } from "./wanted-order.ts";

/** Whether `wish` may take the place of the slot's own without anything being done now. */
export const mayWait = ({ wish: before, order, queued }: Slot, wish: WantedOrder): boolean => {
  if (before === undefined) return false;
  if (sameWish(before, wish)) return true;
  if (order === undefined) return queued !== undefined && isAlike(before, wish);
  if (queued !== undefined) return false;
  if (!restsIn[order.phase]) return !overIn[order.phase];
  // What an exit waits for goes before other replacements.
  return order.cancelClass !== undefined && (order.cancelClass !== "place" || wish.reduceOnly !== true);
};

/** Both would wait in the same queue. */
const isAlike = (a: WantedOrder, b: WantedOrder): boolean =>
  a.instId === b.instId && (a.reduceOnly === true) === (b.reduceOnly === true);

/** The slot wants this now; its order is weighed when it matters. */
export const takeNote = (slot: Slot, wish: WantedOrder): void => {
  const { wish: before, order } = slot;
  slot.wish = Object.freeze(wish);
  if (slot.settled !== undefined && before !== undefined && !sameWish(before, wish)) slot.settled = undefined;
  if (order !== undefined && order.cancelClass !== undefined && restsIn[order.phase]) order.unweighed = true;
};

/** Compares an order with the latest wanted order of its slot, if it was not yet: one that suits it after all may stay. */
export const weigh = (
  order: TrackedOrder,
  wish: WantedOrder | undefined,
  specify: (wish: WantedOrder) => Specified,
): void => {
  order.unweighed = false;
  if (wish === undefined || !suits(wish, order, specify)) return;
  order.serves = wish;
  order.cancelClass = undefined;
};
