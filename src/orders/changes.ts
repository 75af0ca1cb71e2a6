/**
 * Follow-up of a change of an order.
 *
 * Invariants: executions are booked, and the open rest is counted, before the change is journalled; a closed order has
 * given its slot back before it is published, so that a listener may use the slot; a wanted order whose order was
 * completed or rejected is settled, and one whose order was canceled by us or never existed is not.
 * Not here: why an order changes (order-state.ts and the parts that raise its events), publication (perform.ts).
 */
import { type Effect, type Effects, evaluate, joined } from "./effects.ts";
import { releaseExits } from "./exits.ts";
import type { ManagerState } from "./manager-state.ts";
import { endingOf, isClosed, isCutByUs, type Order } from "./order-state.ts";
import type { Slot } from "./slot.ts";

/** `at`: for callers that have read the clock; else 0. */
export const followChange = (state: ManagerState, order: Order, at: number): Effects => {
  state.changes++;
  const executed = state.executed(order);
  const { fill, records } = state.book(order, executed);
  const isOver = isClosed(order);
  if (isOver) state.slots.close(order);
  const own = state.slotOf(order);
  const notes = state.count(order, executed, own);
  const isFollowed = own?.followUp !== undefined && !isLeftToUs(order);
  const tell: Effect = { kind: "tell", order, executed, fill, notes, isFollowed, at };
  if (!isOver) return joined(records, [tell]);
  if (own === undefined) return joined(records, [tell, { kind: "ended", order }]);
  free(state, own, order);
  return joined(records, [tell, evaluate(own), { kind: "ended", order }]);
};

/**
 * Decisions once an order is closed and its slot was evaluated: of wanted orders that found no room, of exits, and of
 * protections.
 */
export const afterEnd: readonly ((state: ManagerState, order: Order) => Effects)[] = [
  (state) => state.refusals.retryCrowded(state.risk.retries),
  (state, order) => releaseExits(state, order),
  (state) => state.protections.act(),
];

/** The order was ended by us, or was never there: its wanted order is as new as before. */
const isLeftToUs = (order: Order): boolean => {
  const ending = endingOf(order);
  // An order that the service had accepted existed: it may have been executed, and is not placed again for having been
  // lost.
  return ending === "neverExisted" || ((ending === "canceled" || ending === "lost") && isCutByUs(order));
};

/** The slot of a closed order is free, or has a surplus order. */
const free = (state: ManagerState, slot: Slot, order: Order): void => {
  if (!isLeftToUs(order) && slot.followUp === undefined) slot.settled = order.serves;
  state.slots.vacate(slot);
  // Of a previous run, and no wanted order has taken it for its own.
  if (order.serves === undefined) state.slots.inherit(order, slot.hash);
};
