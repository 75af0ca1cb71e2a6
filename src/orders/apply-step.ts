/**
 * Execution of a slot's next step: calls the part of the order manager that the plan names.
 *
 * Invariants: a slot is looked at as a whole each time, so that looking once too often changes nothing; a slot without a wanted order
 * and without an order is dropped.
 * Not here: which step is next (plan.ts), wanted orders that need none yet (conflation.ts).
 */
import type { ActionClass } from "../journal/events.ts";
import type { Cancellation } from "./cancellation.ts";
import type { Exits } from "./exits.ts";
import type { Placement } from "./placement.ts";
import { planSlot } from "./plan.ts";
import type { Refusals } from "./refusals.ts";
import { type Mode, mayPlace, modeOf, type TradingModes, wishWithin } from "./risk/trading-mode.ts";
import type { Slot, Slots } from "./slots.ts";
import { isOver, isResting } from "./tracked-order.ts";
import { isSettled, type Specified, type WantedOrder, wishMark } from "./wanted-order.ts";

interface Stepping {
  readonly slots: Slots;
  readonly placement: Placement;
  readonly cancellation: Cancellation;
  readonly refusals: Refusals;
  readonly exits: Exits;
  readonly dropSpare: (slot: Slot) => void;
  readonly specify: (wish: WantedOrder) => Specified;
}

export const applyStep = (parts: Stepping, modes: TradingModes, slot: Slot): void => {
  const { placement, cancellation, slots, refusals, exits, specify } = parts;
  const mode = modeOf(modes, slot.strategy);
  const wish = wishWithin(modes, slot.strategy, slot.wish);
  if (slot.queued !== undefined && wish !== undefined && slot.queued.lane !== placement.laneOf(wish)) placement.unqueue(slot);
  const { order, settledMark } = slot;
  const isFree = order === undefined || isOver(order);
  const waits = isFree && wish !== undefined && !isSettled(wish, settledMark) && exits.holds(slot, wish);
  const view = { wish, order, queued: slot.queued !== undefined, settledMark, mayPlace: mayPlace(mode, wish) && !waits };
  const step = planSlot(view, specify);
  if (wish !== undefined && order !== undefined && isResting(order) && step.kind !== "cancel") order.mark = wishMark(wish);
  switch (step.kind) {
    case "place":
      placement.queue(slot);
      return;
    case "unqueue":
      placement.unqueue(slot);
      break;
    case "keep-cancel-off":
      if (order !== undefined) cancellation.recall(order);
      return;
    case "cancel":
      if (order !== undefined) cancellation.request(order, urgencyOf(mode, step.reason), step.reason);
      return;
    case "nothing":
  }
  if (slot.wish !== undefined && mode !== "halted") return;
  parts.dropSpare(slot);
  if (slot.wish !== undefined) return;
  refusals.forget(slot);
  exits.forget(slot);
  slots.dropIfIdle(slot);
};

// A replacement needs ordinary quota for its placement anyway; an order nobody wants is an exit.
const urgencyOf = (mode: Mode, reason: "unwanted" | "replaced"): ActionClass =>
  mode === "halted" ? "emergency" : reason === "replaced" ? "place" : "cancel";
