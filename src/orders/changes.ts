/**
 * Follow-up of a change of an order.
 *
 * Invariants: executions are booked, and the open rest is counted, before the change is journalled; a closed order has
 * given its slot back before it is published, so that a listener may use the slot; a wanted order whose order was
 * completed or rejected is settled, and one whose order was canceled by us or never existed is not.
 * Not here: why an order changes (order-state.ts and the parts that raise its events), publication (perform.ts).
 */
import type { Effects } from "./effects.ts";
import type { Execution } from "./executions.ts";
import type { ManagerState } from "./manager-state.ts";
import { endingOf, isClosed, isCutByUs, type Order } from "./order-state.ts";
import type { FillBody } from "./positions.ts";
import type { Slot } from "./slot.ts";

/** A change of an order that was booked and counted, and what follows from it. */
export interface Change {
  readonly order: Order;
  readonly executed: Execution;
  readonly fill: FillBody | undefined;
  /** Records that are written before the change. */
  readonly records: Effects;
  /** Events and timers between the change and its fill. */
  readonly notes: Effects;
  /** The order is closed, and its slot places another one for what is left of the wanted quantity. */
  readonly isFollowed: boolean;
  readonly isClosed: boolean;
  /** Slot that the closed order left. */
  readonly freed: Slot | undefined;
}

export const followChange = (state: ManagerState, order: Order): Change => {
  state.changes++;
  const executed = state.executed(order);
  const owner = state.risk.ownerOf(order);
  const fill = state.positions.take(order, owner, executed);
  const records = state.protections.take(order, owner, executed);
  const isOver = isClosed(order);
  if (isOver) state.slots.close(order);
  const own = state.slotOf(order);
  const notes = state.count(order, executed, own);
  const isFollowed = own?.followUp !== undefined && !isLeftToUs(order);
  const freed = isOver ? own : undefined;
  if (freed !== undefined) free(state, freed, order);
  return { order, executed, fill, records, notes, isFollowed, isClosed: isOver, freed };
};

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
