/**
 * Attribution: funding, liquidations and closings of a user's position, divided among the strategies that hold it.
 *
 * Invariants: parts of a whole that strategies hold alone add up to it to the last digit; a part of a position that
 * belongs to no strategy stays unassigned. Strategies may hold against each other: then one's part is of the other
 * sign.
 * Not here: who holds what (trade-statistics.ts).
 */
import { abs, add, compare, equal, isPositive, isZero, mul, neg, sub, sum, toStep } from "../decimal.ts";
import type { Fill, Funding, Liquidation } from "../venue/venue.ts";
import { mulDiv } from "./proportion.ts";

const finest = "0.000000000000000001";

/**
 * Parts of `total` by `weights` of `whole`, cut at the 18th place; the last one takes what cutting left where no other
 * holder has any.
 */
export const sharesOf = (total: string, weights: readonly string[], whole: string): readonly string[] => {
  const parts = weights.map((weight) => mulDiv(total, weight, whole));
  return equal(sum(weights), whole) ? settled(parts, total) : parts;
};

const settled = (parts: readonly string[], total: string): readonly string[] => {
  const last = parts.length - 1;
  return parts.map((part, index) => (index === last ? add(part, sub(total, sum(parts))) : part));
};

/** Funding paid by the strategies of a user with these quantities; negative where it was received. */
export const fundingShares = (
  { px, rate, held, paid }: Funding,
  uid: string,
  quantities: readonly string[],
): readonly string[] => {
  if (quantities.length === 0) return [];
  const owed = quantities.map((qty) => toStep(mul(mul(qty, px), rate), finest, "down"));
  // Positions of two strategies that cancel each other are none to the service.
  return equal(sum(quantities), held[uid] ?? "0") ? settled(owed, paid[uid] ?? "0") : owed;
};

/** A fill of a strategy's share of a closing order. */
interface ClosedPart extends Pick<Fill, "side" | "px" | "qty" | "cost"> {
  /** Index among the quantities given. */
  readonly holder: number;
}

/**
 * Shares a fill of a close of the account's position among holders of these quantities: each closes a part in
 * proportion to what it holds, and pays for the size of its part. What other clients hold stays unassigned; so does a
 * fill that does not reduce what they hold together.
 */
export const shareClose = (fill: Fill, quantities: readonly string[]): readonly ClosedPart[] => {
  const held = sum(quantities);
  const closed = fill.side === "sell" ? fill.qty : neg(fill.qty);
  if (isZero(held) || isPositive(held) !== isPositive(closed)) return [];
  const whole = compare(abs(closed), abs(held)) > 0 ? closed : held;
  const sizes = quantities.map(abs);
  const [size, gross] = [abs(whole), sum(sizes)];
  const costs = sharesOf(fill.cost, sizes, compare(gross, size) > 0 ? gross : size);
  return partsOf(fill, sharesOf(closed, quantities, whole), costs);
};

/** Shares the fills of a liquidation's order among holders of these quantities. */
export const shareClosing = (
  { side, qty }: Liquidation,
  quantities: readonly string[],
): ((fill: Fill) => readonly ClosedPart[]) => {
  let left = [...quantities];
  let open = side === "sell" ? qty : neg(qty);
  return (fill) => {
    const closed = fill.side === "sell" ? fill.qty : neg(fill.qty);
    const parts = sharesOf(closed, left, open);
    const costs = sharesOf(fill.cost, left, open);
    left = left.map((own, index) => sub(own, parts[index] ?? "0"));
    open = sub(open, closed);
    return partsOf(fill, parts, costs);
  };
};

/** `parts` are positive where the holder sold. */
const partsOf = ({ px }: Fill, parts: readonly string[], costs: readonly string[]): readonly ClosedPart[] =>
  parts.flatMap((part, holder) => {
    if (isZero(part)) return [];
    const side = isPositive(part) ? "sell" : "buy";
    return [{ holder, side, px, qty: abs(part), cost: costs[holder] ?? "0" }];
  });
