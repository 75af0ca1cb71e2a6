/**
 * Remaining quantity of a wanted order whose latest order has ended. Pure.
 *
 * Two kinds are carried on by a further order: a market order whose amount of quote currency bought less than the
 * wanted quantity, and a reduce-only order that was rejected, cut or canceled by the service while the strategy still
 * holds what it should reduce.
 *
 * Invariants: never more than the wanted quantity in all, and of an exit never more than the strategy holds; an order
 * that was canceled by us leaves nothing here, since its wanted order is still there to be placed again.
 * Not here: when the next order leaves (exits.ts), what a strategy holds (orders/risk/exposure.ts).
 */
import type { InstrumentRecord } from "../contract/schemas.ts";
import { compare, isPositive, sub, toStep } from "../decimal.ts";
import { leastQty } from "./exit-size.ts";
import type { Order } from "./order-state.ts";
import { canRest } from "./wanted-order.ts";

/** How an order ended. Quantities are decimal text in base currency. */
interface Ending {
  readonly order: Pick<Order, "phase" | "terms">;
  readonly filledQty: string;
  readonly instrument: Pick<InstrumentRecord, "lotSize" | "minSize">;
  /** The service counts sizes in quote currency. */
  readonly inQuote: boolean;
  /** Of the strategy's position, as much as an order of this side reduces. */
  readonly reducible: string;
  /** Other orders of the strategy may still enlarge the position that it reduces. */
  readonly mayGrow: boolean;
}

export type Remainder =
  | { readonly kind: "none" }
  /** The rest of a quantity: the next order can leave at once. */
  | { readonly kind: "rest"; readonly qty: string }
  /** A position that should be reduced and was not, or not far enough. */
  | { readonly kind: "exit"; readonly qty: string; readonly uncovered: string }
  /**
   * An exit that came before its entry, or before the rest of it: it is placed again when there is something to reduce.
   */
  | { readonly kind: "early"; readonly qty: string }
  /** Executed for good and not what was wanted. */
  | { readonly kind: "differs"; readonly reason: string };

const none: Remainder = { kind: "none" };

const isPlaceable = (qty: string, steps: Ending["instrument"]): boolean => compare(qty, leastQty(steps)) >= 0;

const lesser = (a: string, b: string): string => (compare(a, b) <= 0 ? a : b);

export const remainderOf = (ending: Ending): Remainder => {
  const { order, filledQty, instrument, inQuote } = ending;
  const { phase, terms } = order;
  const { spec, wanted, qty, wantedQty, withoutFlag } = terms;
  if (wanted === undefined || qty === "") return none;
  if (qty === filledQty && !spec.reduceOnly) return none;
  const left = sub(qty, filledQty);
  const byQty = wanted.qty !== undefined;
  if (spec.reduceOnly) {
    const isCut = wantedQty !== "" && compare(qty, wantedQty) < 0;
    const isFollowed = phase !== "filled" || byQty || isCut || withoutFlag;
    return isFollowed ? exitOf(ending, isCut ? sub(wantedQty, filledQty) : left) : none;
  }
  const isCutShort = phase === "canceled" && spec.ordType === "market";
  if (!(phase === "filled" || isCutShort) || !byQty) return none;
  if (compare(left, instrument.lotSize) < 0 && compare(sub(filledQty, qty), instrument.lotSize) < 0) return none;
  if (!isCutShort && spec.ordType === "market" && inQuote && isPositive(filledQty) && isPlaceable(left, instrument))
    return { kind: "rest", qty: left };
  return { kind: "differs", reason: differs(ending, left) };
};

const exitOf = ({ order, instrument, reducible, mayGrow }: Ending, left: string): Remainder => {
  const uncovered = toStep(lesser(left, reducible), instrument.lotSize, "down");
  if (isPositive(uncovered) && isPlaceable(uncovered, instrument)) return { kind: "exit", qty: left, uncovered };
  if (isPositive(reducible) || !isPlaceable(left, instrument)) return none;
  // At the market it would take the next position at once, which is wanted only of what an entry that is under way
  // still brings.
  const isRejected = order.phase === "rejected" && canRest(order.terms.spec.ordType);
  return mayGrow || isRejected ? { kind: "early", qty: left } : none;
};

const differs = ({ filledQty, instrument, order: { phase, terms } }: Ending, left: string): string => {
  const told = `${filledQty} was executed of ${terms.qty} wanted`;
  if (!isPositive(left))
    return `${told}: the price improved on the way, and the service sizes market orders by their amount of quote currency`;
  if (phase === "canceled") return `${told}; ${left} of it is missing: the book held too little`;
  return isPlaceable(left, instrument)
    ? `${told}, and the service calls the order filled`
    : `${told}; the rest of ${left} is below the smallest order (${instrument.minSize ?? instrument.lotSize})`;
};

export const canceledElsewhere = "canceled by another client or by the service";

/** How an order ended that did not do all it should, in words. */
export const wordsOf = ({ phase, reason }: Pick<Order, "phase" | "reason">): string =>
  phase === "canceled" ? canceledElsewhere : phase === "filled" ? "only a part was executed" : reason;
