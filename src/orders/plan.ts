/**
 * Next step of a slot: wanted order against actual order, and conflation of wanted orders. Pure.
 *
 * A strategy that quotes replaces most of its wanted orders before there is quota to send them. While a slot has a
 * queued or in-flight action, a new wanted order only replaces the previous one, and is compared with the order when
 * the slot opens.
 *
 * Invariants: an order that still fits the wanted order is left alone; an order that can be changed into it is changed,
 * with at most one change at a time; a slot never holds two orders: the next one is placed when the last one is known
 * to be closed; an order of unknown outcome blocks its slot; a queued placement that is not wanted is withdrawn, not
 * sent and canceled; an order is compared with the latest wanted order before its cancel leaves and before it changes.
 * Not here: the steps themselves (slot-step.ts).
 */
import { abs, compare, type Decimal, equal, isPositive, mul, read, sub } from "../decimal-value.ts";
import type { ActionClass } from "../journal/events.ts";
import type { Executed } from "./executions.ts";
import { advance, endingOf, isChanging, isClosed, isResting, type Order, replacedReason } from "./order-state.ts";
import { isHalt, type Restriction } from "./risk/trading-mode.ts";
import type { Slot } from "./slot.ts";
import { canRest, type Specified, sameWanted, type WantedOrder } from "./wanted-order.ts";

type CancelReason = "unwanted" | typeof replacedReason | "more than is held";

export type Step =
  | { readonly kind: "nothing" | "place" | "withdraw" | "keep" | "amend" }
  | { readonly kind: "cancel"; readonly reason: CancelReason };

interface SlotView {
  readonly wanted: WantedOrder | undefined;
  readonly order: Order | undefined;
  /** True if a placement waits in the queue. */
  readonly isQueued: boolean;
  readonly settled: WantedOrder | undefined;
  /** True if new orders may be placed. */
  readonly mayPlace: boolean;
  /** True if the order is an exit that may execute more than its strategy holds. */
  readonly isExcess?: boolean;
  /** True if the service can change the order into the wanted one, judged by product, side and type. */
  readonly mayAmend?: boolean;
}

/**
 * Converts a wanted order into the service's terms, by the instruments and prices of now. With `onlyAt`, an order at
 * another limit price may be refused.
 */
type Specify = (wanted: WantedOrder, onlyAt?: string) => Specified;

const nothing: Step = { kind: "nothing" };
const place: Step = { kind: "place" };
const withdraw: Step = { kind: "withdraw" };
const keep: Step = { kind: "keep" };
const amend: Step = { kind: "amend" };
const cancelUnwanted: Step = { kind: "cancel", reason: "unwanted" };
const cancelExcess: Step = { kind: "cancel", reason: "more than is held" };
const replace: Step = { kind: "cancel", reason: replacedReason };

/** `specify` is called only if the order serves a different wanted order. */
export const planSlot = (slot: SlotView, specify: Specify): Step => {
  const { wanted, order, settled } = slot;
  if (order === undefined || isClosed(order)) return planEmpty(slot);
  if (!isResting(order)) return nothing;
  if (wanted === undefined) return cancelUnwanted;
  if (slot.isExcess === true) return cancelExcess;
  if (isChanging(order) && order.unwanted === undefined && wanted.reduceOnly !== true) return nothing;
  // An order that was canceled on purpose is not kept: its wanted order counts as settled.
  if (suits(wanted, order, specify))
    return order.unwanted === undefined || sameWanted(wanted, settled) ? nothing : keep;
  return slot.mayAmend === true ? amend : replace;
};

/** Step of a slot without an order. */
const planEmpty = ({ wanted, isQueued, settled, mayPlace }: SlotView): Step => {
  if (wanted === undefined || !mayPlace) return isQueued ? withdraw : nothing;
  return isQueued || sameWanted(wanted, settled) ? nothing : place;
};

/** Returns whether a resting order may stay for this wanted order. */
export const suits = (wanted: WantedOrder, order: Order, specify: Specify): boolean =>
  sameWanted(wanted, order.serves) || fits(wanted, order, specify);

/** Returns whether the resting order equals what the wanted order would become, or is within its tolerance. */
const fits = (wanted: WantedOrder, order: Order, specify: Specify): boolean => {
  const { instId, side, ordType, reduceOnly, px, sz } = order.spec;
  const result = specify(wanted, wanted.keepWithin === undefined ? px : undefined);
  if (!result.ok) return false;
  const next = result.spec;
  const isAlike = next.instId === instId && next.side === side && next.ordType === ordType;
  if (!isAlike || next.reduceOnly !== reduceOnly) return false;
  const isSameSize = next.sz === sz || equal(read(next.sz), read(sz));
  if (next.px === px || px === "" || next.px === "") return next.px === px && isSameSize;
  const distance = abs(sub(read(next.px), read(px)));
  if (wanted.keepWithin === undefined) return distance.units === 0 && isSameSize;
  // If the amount was derived from the price, it may differ together with the price.
  return compare(distance, read(wanted.keepWithin)) <= 0 && isSameAmount(wanted, order, specify);
};

/**
 * Compares the wanted sizes. For an order found at the service, the wanted size is converted at that order's own price.
 */
const isSameAmount = (wanted: WantedOrder, { wanted: was, spec }: Order, specify: Specify): boolean => {
  if (was !== undefined) return was.qty === wanted.qty && was.notional === wanted.notional && was.sz === wanted.sz;
  const then = specify({ ...wanted, px: spec.px });
  return then.ok && equal(read(then.spec.sz), read(spec.sz));
};

/** Part by which the execution of a market order may differ from its wanted quantity. */
const nearShare = read("0.02");

const isNear = (text: string, executed: Decimal): boolean => {
  const wanted = read(text);
  return compare(abs(sub(wanted, executed)), mul(wanted, nearShare)) <= 0;
};

/**
 * Returns true if the service ended the order: it is filled, or it is of a type that never rests and the market had no
 * more liquidity.
 */
export const isConcluded = (order: Order): boolean => {
  const ending = endingOf(order);
  return ending === "filled" || (ending === "canceled" && !canRest(order.spec.ordType));
};

/**
 * Returns whether an order of a previous run has settled this wanted order, judged by its terms and its execution
 * alone. An exit is judged by the position instead.
 */
export const isSettledBy = (
  wanted: WantedOrder,
  order: Order,
  { filled, value }: Pick<Executed, "filled" | "value">,
  specify: Specify,
): boolean => {
  const { instId, side, ordType = "limit", qty, notional, sz = "", reduceOnly } = wanted;
  const { spec } = order;
  if (reduceOnly === true || spec.reduceOnly) return false;
  if (instId !== spec.instId || side !== spec.side || ordType !== spec.ordType) return false;
  if (spec.px !== "") return endingOf(order) === "filled" && suits(wanted, order, specify);
  if (endingOf(order) === "canceled") return isPositive(filled);
  if (qty !== undefined) return isNear(qty, filled);
  return notional === undefined ? sz === spec.sz : isNear(notional, value);
};

/**
 * Urgency of a cancel. A replacement needs ordinary quota for its placement anyway. The cancel of an unwanted order, or
 * of one that an exit waits for, is more urgent.
 */
export const urgencyOf = (mode: Restriction, reason: CancelReason, wanted: WantedOrder | undefined): ActionClass => {
  if (isHalt(mode)) return "emergency";
  return reason === replacedReason && wanted?.reduceOnly !== true ? "place" : "cancel";
};

/** Returns whether a wanted order may replace the slot's present one without any action now. */
export const mayWait = ({ wanted: before, order, queued }: Slot, wanted: WantedOrder): boolean => {
  if (before === undefined) return false;
  if (sameWanted(before, wanted)) return true;
  if (order === undefined) return queued !== undefined && sharesQueue(before, wanted);
  if (queued !== undefined) return false;
  if (!isResting(order)) return !isClosed(order);
  // A cancel that an exit waits for goes before other replacements.
  return order.unwanted !== undefined && (order.unwanted.urgency !== "place" || wanted.reduceOnly !== true);
};

const sharesQueue = (a: WantedOrder, b: WantedOrder): boolean =>
  a.instId === b.instId && (a.reduceOnly === true) === (b.reduceOnly === true);

/** Replaces the slot's wanted order. The slot's order is compared with it later. */
export const takeNote = (slot: Slot, wanted: WantedOrder): void => {
  const { wanted: before, order } = slot;
  slot.wanted = Object.freeze(wanted);
  if (slot.settled !== undefined && before !== undefined && !sameWanted(before, wanted)) slot.settled = undefined;
  if (order?.unwanted !== undefined && isResting(order)) slot.isUncompared = true;
};

/** Compares an order with the latest wanted order of its slot. The order stays if it suits it after all. */
export const compareWithLatest = (slot: Slot, wanted: WantedOrder | undefined, specify: Specify): void => {
  const { order } = slot;
  slot.isUncompared = false;
  if (order === undefined || wanted === undefined || !suits(wanted, order, specify)) return;
  advance(order, { type: "suited", wanted });
  advance(order, { type: "cancel", move: "recalled" });
};
