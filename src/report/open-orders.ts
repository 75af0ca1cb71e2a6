/**
 * Orders that rest at the service now, as the service itself tells.
 *
 * Invariants: an order is known from its first active record to its first final one; what is left of it is exact.
 */
import { instTypeOf } from "../contract/inst-id.ts";
import type { Profile } from "../contract/profile.ts";
import type { OrderRecord } from "../contract/schemas.ts";
import { isActive } from "../contract/schemas.ts";
import { add, isPositive, mul, sub } from "../decimal.ts";
import type { OpenOrders } from "./report.ts";

export class RestingOrders {
  readonly #open = new Map<string, OrderRecord>();
  readonly #profile: Profile;

  constructor(profile: Profile) {
    this.#profile = profile;
  }

  onOrder(record: OrderRecord): void {
    if (isActive(record.state)) this.#open.set(record.ordId, record);
    else this.#open.delete(record.ordId);
  }

  /** Those that `counts` says belong to the question; notional only of what is quoted in `currency`. */
  of(currency: string, counts: (clOrdId: string) => boolean): OpenOrders {
    const own = [...this.#open.values()].filter(({ clOrdId }) => counts(clOrdId));
    const valued = own.filter(({ instId }) => instId.split("-")[1] === currency);
    return { count: own.length, notional: valued.reduce((total, record) => add(total, leftOf(record, this.#profile)), "0") };
  }
}

/** Contracts of the embedded service count one unit of base currency each. */
const leftOf = ({ instId, px, sz, accFillSz }: OrderRecord, { order }: Profile): string => {
  const left = sub(sz, accFillSz);
  if (order.szUnit[instTypeOf(instId)] === "quote_notional") return left;
  return isPositive(px) ? mul(left, px) : "0";
};
