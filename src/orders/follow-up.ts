/**
 * Remaining quantity of a wanted order whose latest order has ended. Pure.
 *
 * Another order follows in two cases: a market order whose amount of quote currency bought less than the wanted
 * quantity, and a reduce-only order that was rejected, cut or canceled by the service while the strategy still has the
 * position.
 *
 * Invariants: all orders together never exceed the wanted quantity, and exits never exceed what the strategy holds; an
 * order that we canceled needs no follow-up here, because its wanted order is placed again anyway.
 * Not here: when the next order leaves (exits.ts), what a strategy holds (positions.ts).
 */
import type { InstrumentRecord } from "../contract/schemas.ts";
import { abs, compare, type Decimal, equal, isPositive, min, read, spell, sub, toStep } from "../decimal-value.ts";
import { leastQty } from "./exit-size.ts";
import { endingOf, type Order } from "./order-state.ts";
import { canRest, type WantedOrder } from "./wanted-order.ts";

/** Order that is to follow in a slot, for the remaining quantity of its wanted order. */
export interface FollowUp {
  /** Wanted order that the quantity belongs to. */
  readonly wanted: WantedOrder | undefined;
  readonly kind: "rest" | "exit";
  /** Base quantity; undefined while nothing was sent and the whole quantity is left. */
  readonly qty: Decimal | undefined;
  /** Earliest instant at which the order may be placed; infinite until there is something to reduce. */
  at: number;
  /** Number of orders in a row that executed nothing of this quantity. */
  readonly failures: number;
  /** True if it is given up when the entry that it waits for ends without an execution. */
  readonly endsWithEntry?: boolean;
  /** True if another client canceled the exit, or the service did because other strategies had closed the position. */
  readonly isDoubtful?: boolean;
  /** True if other exits of the strategy are about to reduce its whole position. */
  readonly lacksRoom?: boolean;
  /**
   * Reason to wait. `position`: the service accepted the order but does not know it any more, so a read of the
   * account's positions is awaited. `watchdog`: the order was canceled from outside, and the watchdog is still
   * canceling or has not yet reported whether it canceled this order.
   */
  readonly awaits?: "position" | "watchdog" | undefined;
  readonly reason: string;
}

/** End of an order. */
interface OrderEnd {
  readonly order: Order;
  /** Executed base quantity. */
  readonly filled: Decimal;
  readonly instrument: Pick<InstrumentRecord, "lotSize" | "minSize">;
  /** True if the service counts sizes in quote currency. */
  readonly inQuote: boolean;
  /** Part of the strategy's position that an order of this side reduces. */
  readonly reducible: Decimal;
  /** True if other orders of the strategy may still enlarge that position. */
  readonly mayGrow: boolean;
}

export type Remainder =
  | { readonly kind: "none" }
  /** The rest of a quantity. The next order can leave at once. */
  | { readonly kind: "rest"; readonly qty: Decimal }
  /** A position that an exit should have reduced, but did not reduce far enough. */
  | { readonly kind: "exit"; readonly qty: Decimal; readonly uncovered: Decimal }
  /**
   * An exit that came before its entry, or before the rest of the entry. It is placed again when there is something to
   * reduce.
   */
  | { readonly kind: "early"; readonly qty: Decimal }
  /** A final execution that differs from the wanted quantity. */
  | { readonly kind: "differs"; readonly reason: string };

export const noRemainder: Remainder = { kind: "none" };

export const remainderOf = (end: OrderEnd): Remainder => {
  const { wanted, qty, spec } = end.order.terms;
  if (wanted === undefined || qty === undefined) return noRemainder;
  if (spec.reduceOnly) return exitRemainder(end, wanted, qty);
  return wanted.qty === undefined || equal(qty, end.filled) ? noRemainder : marketRemainder(end, qty);
};

const isPlaceable = (qty: Decimal, { instrument }: OrderEnd): boolean => compare(qty, leastQty(instrument)) >= 0;

const exitRemainder = (end: OrderEnd, wanted: WantedOrder, qty: Decimal): Remainder => {
  const { order, filled, instrument, reducible, mayGrow } = end;
  const { wantedQty = qty, withoutFlag, spec } = order.terms;
  const isCut = compare(qty, wantedQty) < 0;
  const ending = endingOf(order);
  if (ending === "filled" && wanted.qty === undefined && !isCut && !withoutFlag) return noRemainder;
  const left = sub(isCut ? wantedQty : qty, filled);
  const uncovered = toStep(min(left, reducible), read(instrument.lotSize), "down");
  if (isPositive(uncovered) && isPlaceable(uncovered, end)) return { kind: "exit", qty: left, uncovered };
  if (isPositive(reducible) || !isPlaceable(left, end)) return noRemainder;
  // Placed again at once, a market order would take the next position. That is wanted only while an entry is under way.
  const isRejected = ending === "rejected" && canRest(spec.ordType);
  return mayGrow || isRejected ? { kind: "early", qty: left } : noRemainder;
};

const marketRemainder = (end: OrderEnd, qty: Decimal): Remainder => {
  const { order, filled, instrument, inQuote } = end;
  const isMarket = order.spec.ordType === "market";
  const isFilled = endingOf(order) === "filled";
  if (!isFilled && !(isMarket && endingOf(order) === "canceled")) return noRemainder;
  const left = sub(qty, filled);
  if (compare(abs(left), read(instrument.lotSize)) < 0) return noRemainder;
  if (isFilled && isMarket && inQuote && isPositive(filled) && isPlaceable(left, end))
    return { kind: "rest", qty: left };
  return { kind: "differs", reason: differenceOf(end, qty, left, isFilled) };
};

const differenceOf = (end: OrderEnd, qty: Decimal, left: Decimal, isFilled: boolean): string => {
  const { minSize, lotSize } = end.instrument;
  const told = `${spell(end.filled)} was executed of ${spell(qty)} wanted`;
  if (!isPositive(left))
    return `${told}: the price improved on the way, and the service sizes market orders by their amount of quote currency`;
  if (!isFilled) return `${told}; ${spell(left)} of it is missing: the book held too little`;
  return isPlaceable(left, end)
    ? `${told}, and the service calls the order filled`
    : `${told}; the rest of ${spell(left)} is below the smallest order (${minSize ?? lotSize})`;
};

export const canceledElsewhere = "canceled by another client or by the service";

/** Reason for which an order ended before its wanted quantity was executed. */
export const reasonOf = (order: Order): string => {
  const ending = endingOf(order);
  if (ending === "filled") return "only a part was executed";
  return ending === "canceled" ? canceledElsewhere : order.reason;
};
