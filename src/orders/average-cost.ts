/**
 * Position of one strategy in one instrument at average cost: quantity, entry value, realised profit. Pure.
 *
 * Invariants: realised plus unrealised profit is exactly the money received less the money paid, valued at the mark; a
 * reducing fill takes its share of the entry value, so that the average price of the remaining position does not change
 * (the share is cut off at the 18th decimal place, and the position keeps the remainder).
 * Not here: which fills belong to a strategy (positions.ts; for a report, report/trade-statistics.ts), costs, trades
 * (report/round-trips.ts).
 */
import type { Side } from "../contract/profile.ts";
import { abs, add, compare, type Decimal, div, isPositive, isZero, mul, neg, sub, zero } from "../decimal-value.ts";

/** Position in one instrument and its cost. */
export interface Holding {
  /** Base currency, negative when short. */
  readonly qty: Decimal;
  /** Cost of the quantity, with its sign. */
  readonly entry: Decimal;
  /** Before fees. */
  readonly realised: Decimal;
}

/** Executions at one price; `qty` in base currency. */
interface HeldFill {
  readonly side: Side;
  readonly px: Decimal;
  readonly qty: Decimal;
}

const sharePlaces = 18;
const averagePlaces = 12;

/** No position and no trades yet. */
export const noHolding: Holding = { qty: zero, entry: zero, realised: zero };

/**
 * The holding after a fill.
 *
 * @param held - what was held
 * @param fill - what was bought or sold, at which price
 * @returns what is held after it, and the profit it realised
 */
export const withFill = (held: Holding, { side, px, qty }: HeldFill): Holding => {
  const change = side === "buy" ? qty : neg(qty);
  const { entry, realised } = held;
  const isReducing = !isZero(held.qty) && isPositive(held.qty) !== isPositive(change);
  if (!isReducing) return { qty: add(held.qty, change), entry: add(entry, mul(px, change)), realised };
  const isWhole = compare(qty, abs(held.qty)) >= 0;
  const closed = isWhole ? held.qty : neg(change);
  const cost = isWhole ? entry : div(mul(entry, closed), held.qty, sharePlaces);
  return {
    qty: add(held.qty, change),
    entry: add(sub(entry, cost), mul(px, add(change, closed))),
    realised: add(realised, sub(mul(px, closed), cost)),
  };
};

/**
 * Profit before fees that closing the holding at `markPx` would realise.
 *
 * @param holding - what is held, and what it cost
 * @param markPx - price of closing it
 * @returns profit before fees, in quote currency
 */
export const unrealisedOf = ({ qty, entry }: Holding, markPx: Decimal): Decimal => sub(mul(qty, markPx), entry);

/**
 * Average entry price with at most twelve fraction digits; zero without a position.
 *
 * @param holding - what is held, and what it cost
 * @returns a price
 */
export const averagePxOf = ({ qty, entry }: Holding): Decimal => (isZero(qty) ? zero : div(entry, qty, averagePlaces));
