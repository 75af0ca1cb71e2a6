/**
 * One order as the service keeps it, and the record it shows of it.
 *
 * Invariants: `filled` and `canceled` are final; a record is a fresh object of thirteen texts; `done` never exceeds `lots`.
 * Not here: where the order stands in the book (order-book-side.ts), what it does to money (settlement.ts).
 */
import type { Profile, Side, SzUnit } from "../contract/profile.ts";
import type { OrderRecord } from "../contract/schemas.ts";
import type { Order, Sign } from "./account.ts";
import { baseOf, priceOf } from "./instrument.ts";
import { type Amount, cut, one, spell } from "./money.ts";

/** Fraction digits of `avgPx`, cut towards zero. */
export const averagePlaces = 12;

export const sideOf = (sign: Sign): Side => (sign === 1 ? "buy" : "sell");
export const signOf = (side: string): Sign => (side === "buy" ? 1 : -1);
export const isOpen = (order: Order): boolean => order.state === "live" || order.state === "partially_filled";
export const leftOf = (order: Order): number => order.lots - order.done;

const averageUnit = 10n ** BigInt(18 - averagePlaces);

const filledOf = (order: Order, unit: SzUnit, base: Amount): Amount => {
  if (unit === "quote_notional") return order.value;
  return unit === "base" ? base : cut(base, one, order.product.contractValue);
};

const perMs = { ms: 1, s: 0.001, us: 1000 } as const;
const lastTime = { at: Number.NaN, perMs: 0, text: "" };

/** Spelled once an instant: most records have the same two times. */
export const timeText = (at: number, profile: Profile): string => {
  const scale = perMs[profile.order.timeUnit];
  if (at !== lastTime.at || scale !== lastTime.perMs) {
    lastTime.at = at;
    lastTime.perMs = scale;
    lastTime.text = String(Math.floor(at * scale));
  }
  return lastTime.text;
};

/** A cost, given as text, in the sign the profile gives to costs. */
export const feeText = (cost: string, profile: Profile): string => {
  if (profile.order.feeSign !== "negative_is_cost" || cost === "0") return cost;
  return cost.startsWith("-") ? cost.slice(1) : `-${cost}`;
};

/** `szUnit` is there only where `sz` is not in the profile's unit; what was executed always is. */
export const orderRecordOf = (order: Order, profile: Profile): OrderRecord & { readonly szUnit?: SzUnit } => {
  const { product, done } = order;
  const unit = profile.order.szUnit[product.instType];
  const { emptyDecimal } = profile.order;
  const base = baseOf(product, done);
  const updatedAt = timeText(order.updatedAt, profile);
  const record = {
    instId: product.instId,
    ordId: order.ordId,
    clOrdId: order.clOrdId,
    px: order.px === 0 ? emptyDecimal : priceOf(product, order.px),
    sz: spell(order.sz),
    ordType: order.ordType,
    side: order.sign === 1 ? "buy" : "sell",
    state: order.state,
    avgPx: done === 0 ? emptyDecimal : spell(((order.value * one) / base / averageUnit) * averageUnit),
    accFillSz: done === 0 ? "0" : spell(filledOf(order, unit, base)),
    fee: feeText(spell(order.cost), profile),
    createdAt: order.createdAt === order.updatedAt ? updatedAt : timeText(order.createdAt, profile),
    updatedAt,
  } as const;
  return order.unit === unit ? record : { ...record, szUnit: order.unit };
};
