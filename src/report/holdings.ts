/**
 * What one strategy holds of one product: quantity, entry value, what was realised, and its round trips.
 *
 * Invariants: realised plus unrealised is to the last digit what was received less what was paid, valued at the mark; a closing
 * fill takes its share of the entry value, so that the average price of the rest stays (beyond 18 digits the rest keeps the
 * remainder). A round trip ends where the quantity returns to zero or changes its side, and is charged its fees.
 */
import { abs, add, compare, div, isPositive, isZero, mul, neg, sub } from "../decimal.ts";
import type { Fill } from "../venue/venue.ts";

export interface RoundTrips {
  readonly count: number;
  /** Those that gained after fees. */
  readonly won: number;
  readonly lost: number;
}

export interface Holding {
  /** Positive when long. */
  qty: string;
  /** What the quantity cost, of its own sign. */
  entry: string;
  /** Before fees. */
  realised: string;
  /** What the open round trip has made so far, after fees. */
  trip: string;
  count: number;
  won: number;
  lost: number;
}

/** A position at the end, valued by the market. */
export interface PositionReport {
  readonly strategy: string;
  readonly instId: string;
  readonly qty: string;
  /** At most twelve fraction digits. */
  readonly averagePx: string;
  readonly markPx: string;
  readonly unrealised: string;
}

const places = 18;
const averagePlaces = 12;

export const createHolding = (): Holding => ({ qty: "0", entry: "0", realised: "0", trip: "0", count: 0, won: 0, lost: 0 });

type Part = Pick<Fill, "side" | "px" | "qty" | "cost">;

export const addToHolding = (held: Holding, fill: Part): void => {
  const bought = fill.side === "buy";
  if (isZero(held.qty) || isPositive(held.qty) === bought) enlarge(held, bought, fill.px, fill.qty, fill.cost);
  else reduce(held, bought, fill);
};

/** Closes what it can, and opens the other side with the rest. */
const reduce = (held: Holding, bought: boolean, { px, qty, cost }: Part): void => {
  const owned = abs(held.qty);
  const crossing = compare(qty, owned) > 0;
  const closing = crossing ? owned : qty;
  // All of it where nothing is left to round; else the share of what is closed.
  const ownFee = crossing ? div(mul(cost, closing), qty, places) : cost;
  const ends = compare(qty, owned) >= 0;
  const removed = ends ? held.entry : div(mul(held.entry, closing), owned, places);
  const value = mul(px, closing);
  const gained = sub(bought ? neg(value) : value, removed);
  held.realised = add(held.realised, gained);
  held.trip = add(held.trip, sub(gained, ownFee));
  held.entry = sub(held.entry, removed);
  held.qty = ends ? "0" : add(held.qty, bought ? closing : neg(closing));
  if (ends) endTrip(held);
  if (crossing) enlarge(held, bought, px, sub(qty, closing), sub(cost, ownFee));
};

const enlarge = (held: Holding, bought: boolean, px: string, qty: string, fee: string): void => {
  const value = mul(px, qty);
  held.qty = add(held.qty, bought ? qty : neg(qty));
  held.entry = add(held.entry, bought ? value : neg(value));
  held.trip = sub(held.trip, fee);
};

const endTrip = (held: Holding): void => {
  held.count++;
  if (isPositive(held.trip)) held.won++;
  else if (!isZero(held.trip)) held.lost++;
  held.trip = "0";
};

export const unrealisedOf = ({ qty, entry }: Holding, markPx: string): string => sub(mul(qty, markPx), entry);

export const positionOf = (strategy: string, instId: string, held: Holding, markPx: string): PositionReport => ({
  strategy,
  instId,
  qty: held.qty,
  averagePx: div(held.entry, held.qty, averagePlaces),
  markPx,
  unrealised: unrealisedOf(held, markPx),
});
