/**
 * Consequences of a change of an order.
 *
 * After an execution, for example, in this sequence:
 *   1. Its increase is booked to its strategy's position (positions.ts) and covered by a protection (protection/).
 *   2. The order is counted against the limits (risk/).
 *   3. The follow-up of the order, and exits that are now too large or may leave, are decided (exits.ts, exit-limits.ts).
 *      A closed order then gives its slot back.
 *   4. perform.ts performs restrictions and records of protections, journals the change, performs what was decided,
 *      journals the fill, and calls the listeners of orders and then those of positions.
 *   5. Protections act on what they cover now. The slot of a closed order takes its next step, and then the slots that
 *      waited for the order.
 *
 * Invariants: executions are booked, and the open remainder is counted, before the change is journalled; a closed order
 * has given its slot back before it is published, so that a listener may use the slot; a wanted order is settled when
 * its order was completed or rejected, and is not settled when its order was canceled by us or never existed.
 * Not here: why an order changes (order-state.ts and the parts that raise its events), publication (perform.ts).
 */
import { type Effects, joined } from "./effects.ts";
import type { Execution } from "./executions.ts";
import type { ManagerState } from "./manager-state.ts";
import { endingOf, isClosed, isCutByUs, type Order } from "./order-state.ts";
import type { FillBody } from "./positions.ts";
import type { Slot } from "./slot.ts";

/** Consequences of a change of an order after booking and counting. */
export interface Change {
  readonly executed: Execution;
  readonly fill: FillBody | undefined;
  /** Restrictions, and records to write, before the change. */
  readonly before: Effects;
  /** Events and timers between the change and its fill. */
  readonly notes: Effects;
  /** True if the order is closed and its slot places another one for the rest of the wanted quantity. */
  readonly isFollowed: boolean;
  /** Slot that the closed order leaves; undefined if it leaves none. */
  readonly freed: Slot | undefined;
}

export const followChange = (state: ManagerState, order: Order): Change => {
  state.changes++;
  const executed = state.executed(order);
  const owner = state.risk.ownerOf(order);
  const fill = state.positions.take(order, owner, executed);
  const records = state.protections.take(order, owner, executed);
  if (isClosed(order)) state.slots.close(order);
  const own = state.slotOf(order);
  const before = joined(state.risk.take(order, executed), records);
  const notes = state.follow(order, executed, own);
  const freed = isClosed(order) ? own : undefined;
  const isFollowed = own?.followUp !== undefined && !isLeftToUs(order);
  if (freed !== undefined) free(state, freed, order);
  return { executed, fill, before, notes, isFollowed, freed };
};

/** Returns true if we ended the order or it never existed. Its wanted order then counts as not yet placed. */
const isLeftToUs = (order: Order): boolean => {
  const ending = endingOf(order);
  // An order that the service accepted did exist and may have been executed. If it was lost, it is not placed again.
  return ending === "neverExisted" || ((ending === "canceled" || ending === "lost") && isCutByUs(order));
};

/** Frees the slot of a closed order, or gives it to a surplus order. */
const free = (state: ManagerState, slot: Slot, order: Order): void => {
  if (!isLeftToUs(order) && slot.followUp === undefined) slot.settled = order.serves;
  state.slots.vacate(slot);
  // The order is of a previous run, and no wanted order of this run has claimed it.
  if (order.serves === undefined) state.slots.inherit(order, slot.hash);
};
