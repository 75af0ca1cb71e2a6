/**
 * Coverage: which part of a position each of its protections covers. Pure.
 *
 * Invariants: together the protections never cover more than the position; any excess is taken from the oldest; the
 * protection of the whole position covers the part that the protections of orders do not.
 * Not here: how orders add to the coverage and reduce it (protection.ts).
 */
import type { Side } from "../../contract/profile.ts";
import { type Decimal, isZero, min, positive, sub, zero } from "../../decimal-value.ts";
import { against } from "../exit-size.ts";
import type { Protection } from "./protection.ts";

/**
 * `protections` are those of one strategy and instrument, oldest first. `qty` is the position in base currency,
 * negative when short.
 */
export const fitCoverage = (
  protections: readonly Protection[],
  { qty, avgPx }: { readonly qty: Decimal; readonly avgPx: Decimal },
): void => {
  for (const side of ["sell", "buy"] as const) {
    const reducible = positive(against(side, qty));
    let left = reducible;
    for (const one of [...protections].reverse()) {
      if (one.name.scope !== "order" || one.side !== side) continue;
      one.qty = min(one.qty, left);
      left = sub(left, one.qty);
    }
    if (isZero(reducible)) continue;
    for (const one of protections) {
      if (one.name.scope !== "position") continue;
      if (isFor(one.name, side)) one.cover(side, left, avgPx);
      else one.qty = zero;
    }
  }
  if (isZero(qty)) for (const one of protections) one.qty = zero;
};

const isFor = ({ instId, name }: Protection["name"], side: Side): boolean =>
  name === instId || name.endsWith(side === "sell" ? " long" : " short");
