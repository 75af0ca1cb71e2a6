/**
 * Next step of a slot: wanted order against actual order. Pure.
 *
 * Invariants: an order that still fits the wanted order is left alone, one that can be changed into it is changed
 * rather than canceled and placed anew, and none is changed twice at a time; a slot never holds two orders: the next is
 * placed when the last is known to be over; an order of unknown outcome blocks its slot; what is still queued is
 * withdrawn, not sent and canceled.
 */
import { abs, compare, equal, isPositive, mul, sub } from "../decimal.ts";
import type { ActionClass } from "../journal/events.ts";
import { endingOf, isChanging, isClosed, isResting, type Order, replacedReason } from "./order-state.ts";
import { isHalt, type Restriction } from "./risk/trading-mode.ts";
import { canRest, type Specified, sameWanted, type WantedOrder } from "./wanted-order.ts";

type CancelReason = "unwanted" | typeof replacedReason | "more than is held";

export type Step =
  | { readonly kind: "nothing" }
  | { readonly kind: "place" }
  | { readonly kind: "unqueue" }
  | { readonly kind: "keep-cancel-off" }
  | { readonly kind: "amend" }
  | { readonly kind: "cancel"; readonly reason: CancelReason };

interface SlotView {
  readonly wanted: WantedOrder | undefined;
  readonly order: Order | undefined;
  /** A placement waits in the queue. */
  readonly queued: boolean;
  readonly settled: WantedOrder | undefined;
  /** New orders may be placed. */
  readonly mayPlace: boolean;
  /** The order is an exit that may execute more than its strategy holds. */
  readonly isExcess?: boolean;
  /** The service can change the order into what is wanted, as far as its kind goes. */
  readonly mayAmend?: boolean;
}

const nothing: Step = { kind: "nothing" };
const place: Step = { kind: "place" };
const unqueue: Step = { kind: "unqueue" };
const amend: Step = { kind: "amend" };
const unwanted: Step = { kind: "cancel", reason: "unwanted" };
const excess: Step = { kind: "cancel", reason: "more than is held" };

/**
 * `specify` turns the wanted order into the service's words; it is called only when the order serves another wanted
 * one.
 */
export const planSlot = (slot: SlotView, specify: (wanted: WantedOrder) => Specified): Step => {
  const { wanted, order, queued } = slot;
  if (order === undefined || isClosed(order)) {
    if (wanted === undefined || !slot.mayPlace) return queued ? unqueue : nothing;
    const { settled } = slot;
    if (queued || wanted === settled || (settled !== undefined && sameWanted(wanted, settled))) return nothing;
    return place;
  }
  if (!isResting(order)) return nothing;
  if (wanted === undefined) return unwanted;
  if (slot.isExcess === true) return excess;
  // What it will be is not known yet; an exit waits for nothing.
  if (isChanging(order) && order.unwanted === undefined && wanted.reduceOnly !== true) return nothing;
  if (suits(wanted, order, specify)) {
    // One that was canceled on purpose stays wanted only in words.
    const isOrdinary = order.unwanted === undefined || sameWanted(wanted, slot.settled);
    return isOrdinary ? nothing : { kind: "keep-cancel-off" };
  }
  return slot.mayAmend === true ? amend : { kind: "cancel", reason: replacedReason };
};

/** Whether a resting order may stay for this wanted order. */
export const suits = (wanted: WantedOrder, order: Order, specify: (wanted: WantedOrder) => Specified): boolean =>
  wanted === order.serves || sameWanted(wanted, order.serves) || fits(wanted, order, specify);

/** True when the resting order is what the wanted order would become, or near enough by the wanted order's own word. */
const fits = (wanted: WantedOrder, order: Order, specify: (wanted: WantedOrder) => Specified): boolean => {
  const result = specify(wanted);
  if (!result.ok) return false;
  const { spec } = order;
  const next = result.spec;
  if (
    next.instId !== spec.instId ||
    next.side !== spec.side ||
    next.ordType !== spec.ordType ||
    next.reduceOnly !== spec.reduceOnly
  )
    return false;
  if (next.px === spec.px || spec.px === "" || next.px === "") return next.px === spec.px && equal(next.sz, spec.sz);
  if (wanted.keepWithin === undefined) return equal(next.px, spec.px) && equal(next.sz, spec.sz);
  // Within its tolerance the price may differ, and with it an amount that was derived from the price.
  return compare(abs(sub(next.px, spec.px)), wanted.keepWithin) <= 0 && sameSize(wanted, order, specify);
};

/**
 * Of an order found at the service only its own words are known: it is compared with what is wanted now at its own
 * price.
 */
const sameSize = (
  wanted: WantedOrder,
  { wanted: was, spec }: Order,
  specify: (wanted: WantedOrder) => Specified,
): boolean => {
  if (was !== undefined) return was.qty === wanted.qty && was.notional === wanted.notional && was.sz === wanted.sz;
  const then = specify({ ...wanted, px: spec.px });
  return then.ok && equal(then.spec.sz, spec.sz);
};

/** How far what a market order executed may be from what it was to execute. */
const nearShare = "0.02";

const isNear = (wanted: string, executed: string): boolean =>
  compare(abs(sub(wanted, executed)), mul(wanted, nearShare)) <= 0;

/**
 * The service ended it: it is filled, or the market had no more for an order that never rests. Who canceled another is
 * not known later.
 */
export const isConcluded = (order: Order): boolean => {
  const ending = endingOf(order);
  return ending === "filled" || (ending === "canceled" && !canRest(order.spec.ordType));
};

/**
 * Whether an order of a previous run has settled this wanted order: only its own words and what it executed are known.
 * An exit is judged by what is held instead.
 */
export const isSettledBy = (
  wanted: WantedOrder,
  order: Order,
  { filled, value }: { readonly filled: string; readonly value: string },
  specify: (wanted: WantedOrder) => Specified,
): boolean => {
  const { instId, side, ordType = "limit", qty, notional, sz = "", reduceOnly } = wanted;
  const { spec } = order;
  if (
    reduceOnly === true ||
    spec.reduceOnly ||
    instId !== spec.instId ||
    side !== spec.side ||
    ordType !== spec.ordType
  )
    return false;
  if (spec.px !== "") return endingOf(order) === "filled" && suits(wanted, order, specify);
  if (endingOf(order) === "canceled") return isPositive(filled);
  if (qty !== undefined) return isNear(qty, filled);
  return notional === undefined ? sz === spec.sz : isNear(notional, value);
};

/**
 * A replacement needs ordinary quota for its placement anyway. An order that is not wanted is an exit, and so is one
 * that keeps an exit from being placed.
 */
export const urgencyOf = (mode: Restriction, reason: CancelReason, wanted: WantedOrder | undefined): ActionClass => {
  if (isHalt(mode)) return "emergency";
  return reason === replacedReason && wanted?.reduceOnly !== true ? "place" : "cancel";
};
