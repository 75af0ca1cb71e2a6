/**
 * Next step of a slot, decided from its whole present state. Returns effects.
 *
 * Invariants: a slot is always evaluated as a whole, so that one evaluation too many changes nothing; a slot without a
 * wanted order and without an order is dropped.
 * Not here: the comparison of wanted and actual order (plan.ts), conflation (plan.ts).
 */
import type { Cancellation } from "./cancellation.ts";
import { type Effects, evaluate, joined, next, noEffects } from "./effects.ts";
import { forgetExit } from "./exits.ts";
import type { ManagerState } from "./manager-state.ts";
import type { OrderAmends } from "./order-amends.ts";
import { advance, isChanging, isClosed, isResting } from "./order-state.ts";
import type { Placements } from "./placement.ts";
import { planSlot, type Step, urgencyOf } from "./plan.ts";
import { mayPlace, mayRest } from "./risk/trading-mode.ts";
import type { Slot } from "./slot.ts";
import type { UnrecordedOrders } from "./unrecorded-orders.ts";
import { free } from "./waits.ts";
import { sameWanted, type WantedOrder } from "./wanted-order.ts";

/** The parts of the order manager that take a step. */
export interface StepParts {
  readonly placements: Pick<Placements, "isInQueue">;
  readonly cancellation: Cancellation;
  readonly unrecorded: UnrecordedOrders;
  readonly amends: Pick<OrderAmends, "mayChange">;
}

export const slotStep = (state: ManagerState, parts: StepParts, slot: Slot): Effects => {
  // A new slot may own executed orders of a previous run, and they change what is left to do.
  if (state.slots.unclaimed.hasClaimed) return [...parts.unrecorded.settle(), evaluate(slot)];
  const wanted = state.counted(slot);
  if (wanted !== undefined) {
    state.recognise(slot, wanted);
    if (slot.queued !== undefined && !parts.placements.isInQueue(slot.queued, wanted))
      return [{ kind: "withdraw", slot }, evaluate(slot)];
  }
  if (!isToPlace(slot, wanted)) return stepOf(state, parts, slot, wanted, false);
  // An exit of the strategy goes before a resting take-profit.
  const yields = state.protections.yieldTo(slot, wanted);
  if (yields.length > 0) return [...yields, evaluate(slot)];
  const hold = state.holdOf(slot, wanted);
  if (hold === free) return stepOf(state, parts, slot, wanted, false);
  return joined(hold.effects, stepOf(state, parts, slot, wanted, hold.isHeld));
};

const isToPlace = ({ order, settled }: Slot, wanted: WantedOrder | undefined): wanted is WantedOrder =>
  (order === undefined || isClosed(order)) &&
  wanted !== undefined &&
  (settled === undefined || !sameWanted(wanted, settled));

const stepOf = (
  state: ManagerState,
  parts: StepParts,
  slot: Slot,
  wanted: WantedOrder | undefined,
  isHeld: boolean,
): Effects => {
  const { order, settled, queued } = slot;
  const isExcess = order !== undefined && state.exitLimits.isExcess(order);
  const isAllowed = !isHeld && mayPlace(state.modeOf(slot), wanted);
  const mayAmend = isAllowed && order !== undefined && parts.amends.mayChange(order, wanted);
  const view = { wanted, order, isQueued: queued !== undefined, settled, mayPlace: isAllowed, isExcess, mayAmend };
  const step = planSlot(view, state.specify);
  const stays = step.kind !== "cancel" && step.kind !== "amend";
  if (wanted !== undefined && order !== undefined && isResting(order) && stays && !isChanging(order))
    advance(order, { type: "suited", wanted });
  return take(state, parts, slot, step, wanted);
};

const take = (
  state: ManagerState,
  { cancellation }: StepParts,
  slot: Slot,
  step: Step,
  wanted: WantedOrder | undefined,
): Effects => {
  const { order } = slot;
  switch (step.kind) {
    case "place":
      return place(state, slot);
    case "withdraw":
      return [{ kind: "withdraw", slot }, evaluate(slot)];
    case "amend":
      if (order === undefined) return noEffects;
      advance(order, { type: "change", move: "asked" });
      return [{ kind: "amend", slot, order }];
    case "keep":
      if (order !== undefined) advance(order, { type: "cancel", move: "recalled" });
      return noEffects;
    case "cancel":
      if (order === undefined) return noEffects;
      return cancellation.ask(order, urgencyOf(state.modeOf(slot), step.reason, wanted), step.reason);
    case "nothing":
      return leave(state, slot);
  }
};

const place = (state: ManagerState, slot: Slot): Effects => {
  const wanted = slot.wanted as WantedOrder;
  const ruling = state.rule(slot, wanted);
  if (!ruling.approved) return state.refuse(slot, wanted, ruling);
  return [{ kind: "place", slot, wanted, approval: ruling }];
};

/** Called when nothing is to be done. If the slot wants nothing that may rest, it waits for nothing any more. */
const leave = (state: ManagerState, slot: Slot): Effects => {
  if (slot.wanted !== undefined && mayRest(state.modeOf(slot), slot.wanted)) return noEffects;
  const withdrawn = state.withdrawSpare(slot);
  if (slot.wanted !== undefined) return withdrawn;
  return withdrawn.length === 0 ? forget(state, slot) : [...withdrawn, next(() => forget(state, slot))];
};

const forget = (state: ManagerState, slot: Slot): Effects => {
  if (slot.wanted !== undefined) return noEffects;
  const told = forgetExit(state, slot);
  state.waits.forget(slot);
  state.slots.dropIfIdle(slot);
  return told;
};
