/**
 * One order as the service keeps it, and the record it shows of it.
 *
 * Invariants: `filled` and `canceled` are final; a record is a fresh object of thirteen texts; `done` never exceeds
 * `lots`.
 * Not here: the order's place in the book (order-book-side.ts), its effect on money (settlement.ts).
 */
import type { Profile, Side, SzUnit } from "../contract/profile.ts";
import { activeIn, type OrderRecord } from "../contract/schemas.ts";
import type { Order, Sign } from "./account.ts";
import { baseOf } from "./instrument.ts";
import { cut, one, spell, spellSteps } from "./money.ts";

/** Fraction digits of `avgPx`, cut towards zero. */
export const averagePlaces = 12;

export const sideOf = (sign: Sign): Side => (sign === 1 ? "buy" : "sell");
export const signOf = (side: string): Sign => (side === "buy" ? 1 : -1);
export const isOpen = (order: Order): boolean => activeIn[order.state];
export const leftOf = (order: Order): number => order.lots - order.done;

const averageUnit = 10n ** BigInt(18 - averagePlaces);

/** Average price of an order with executions. */
const averageText = ({ product, done, paidPx, value, pxText }: Order): string => {
  // Value over base comes out as the price itself, of which nothing is cut.
  if (paidPx > 0 && product.steps.tick.places <= averagePlaces) return pxText ?? spellSteps(paidPx, product.steps.tick);
  return spell(((value * one) / baseOf(product, done) / averageUnit) * averageUnit);
};

/** Executed size of an order with executions, in a unit of `sz`. */
const filledText = ({ product, done, paidPx, value, valueText }: Order, unit: SzUnit): string => {
  if (unit === "quote_notional" && valueText !== undefined) return valueText;
  if (unit === "base") return spellSteps(done, product.steps.lot);
  if (unit === "contracts") return spell(cut(baseOf(product, done), one, product.contractValue));
  const cells = paidPx * done;
  return cells <= Number.MAX_SAFE_INTEGER ? spellSteps(cells, product.steps.cell) : spell(value);
};

const perMs = { ms: 1, s: 0.001, us: 1000 } as const;
/** A time in the profile's unit. */
export const timeText = (at: number, profile: Profile): string =>
  String(Math.floor(at * perMs[profile.order.timeUnit]));

/** A cost, given as text, in the sign the profile gives to costs. */
export const feeText = (cost: string, profile: Profile): string => {
  if (profile.order.feeSign !== "negative_is_cost" || cost === "0") return cost;
  return cost.startsWith("-") ? cost.slice(1) : `-${cost}`;
};

/** `szUnit` is there only where `sz` is not in the profile's unit; what was executed always is. */
export const orderRecordOf = (order: Order, profile: Profile): OrderRecord & { readonly szUnit?: SzUnit } => {
  const { product, done } = order;
  const { szUnit, emptyDecimal } = profile.order;
  const unit = szUnit[product.instType];
  const record = {
    instId: product.instId,
    ordId: order.ordId,
    clOrdId: order.clOrdId,
    px: order.px === 0 ? emptyDecimal : spellSteps(order.px, product.steps.tick),
    sz: order.szText,
    ordType: order.ordType,
    side: order.sign === 1 ? "buy" : "sell",
    state: order.state,
    avgPx: done === 0 ? emptyDecimal : averageText(order),
    accFillSz: done === 0 ? "0" : filledText(order, unit),
    fee: order.feeText ?? (order.cost === 0n ? "0" : feeText(spell(order.cost), profile)),
    createdAt: order.createdText,
    updatedAt: order.updatedAt === order.createdAt ? order.createdText : timeText(order.updatedAt, profile),
  } as const;
  return order.unit === unit ? record : { ...record, szUnit: order.unit };
};
