/**
 * One order as the service keeps it, and the record it shows of it.
 *
 * Invariants: `filled` and `canceled` are final; a record is a fresh object of thirteen texts; `done` never exceeds `lots`.
 * Not here: where the order stands in the book (order-book-side.ts), what it does to money (settlement.ts).
 */
import type { OrdType, Profile, Side, SzUnit } from "../contract/profile.ts";
import type { OrderRecord, OrderState } from "../contract/schemas.ts";
import type { Account } from "./account.ts";
import { baseOf, type Product, priceOf } from "./instrument.ts";
import { type Amount, cut, one, spell } from "./money.ts";

/** 1 buys, -1 sells: also the sign that makes a better price of that side the larger number. */
export type Sign = 1 | -1;

export interface Order {
  /** Position in the service's sequence of all orders; `ordId` is this number from the first id on. */
  readonly seq: number;
  readonly ordId: string;
  readonly clOrdId: string;
  readonly account: Account;
  readonly product: Product;
  readonly sign: Sign;
  readonly ordType: OrdType;
  readonly reduceOnly: boolean;
  readonly unit: SzUnit;
  readonly sz: Amount;
  /** Ticks; 0 for market orders, which have no price. */
  readonly px: number;
  /** Lots wanted. Market orders sized in quote currency have no number of lots, only a budget. */
  readonly lots: number;
  readonly budget: Amount | undefined;
  /** Lots that would open or enlarge a position, for which margin is set aside. */
  readonly openingLots: number;
  readonly createdAt: number;
  updatedAt: number;
  state: OrderState;
  done: number;
  value: Amount;
  cost: Amount;
  hold: Amount;
  /** Outside quantity in front of this order at its price; infinite while nobody has shown that price yet. */
  ahead: number;
  /** Outside quantity behind it, as far as the displayed quantity tells; counts only where cancels are shared out. */
  behind: number;
}

/** Fraction digits of `avgPx`, cut towards zero. */
export const averagePlaces = 12;

export const sideOf = (sign: Sign): Side => (sign === 1 ? "buy" : "sell");
export const signOf = (side: string): Sign => (side === "buy" ? 1 : -1);
export const isOpen = (order: Order): boolean => order.state === "live" || order.state === "partially_filled";
export const leftOf = (order: Order): number => order.lots - order.done;

const averageOf = (order: Order): string => {
  const base = baseOf(order.product, order.done);
  const unit = 10n ** BigInt(18 - averagePlaces);
  return spell((cut(order.value, one, base) / unit) * unit);
};

const filledOf = (order: Order): Amount => {
  if (order.unit === "quote_notional") return order.value;
  const base = baseOf(order.product, order.done);
  return order.unit === "base" ? base : cut(base, one, order.product.contractValue);
};

const perMs = { ms: 1, s: 0.001, us: 1000 } as const;

export const timeText = (at: number, profile: Profile): string => String(Math.floor(at * perMs[profile.order.timeUnit]));

/** A cost in the sign the profile gives to costs. */
export const feeText = (cost: Amount, profile: Profile): string => spell(profile.order.feeSign === "negative_is_cost" ? -cost : cost);

export const orderRecordOf = (order: Order, profile: Profile): OrderRecord => ({
  instId: order.product.instId,
  ordId: order.ordId,
  clOrdId: order.clOrdId,
  px: order.px === 0 ? profile.order.emptyDecimal : priceOf(order.product, order.px),
  sz: spell(order.sz),
  ordType: order.ordType,
  side: sideOf(order.sign),
  state: order.state,
  avgPx: order.done === 0 ? profile.order.emptyDecimal : averageOf(order),
  accFillSz: spell(filledOf(order)),
  fee: feeText(order.cost, profile),
  createdAt: timeText(order.createdAt, profile),
  updatedAt: timeText(order.updatedAt, profile),
});
