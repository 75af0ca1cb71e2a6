/**
 * Orders that rest at the service now, as the service itself lists them.
 *
 * Invariants: an order is known from its first active record to its first final one; what is left of it is exact.
 */
import { instTypeOf } from "../contract/inst-id.ts";
import type { Profile } from "../contract/profile.ts";
import type { OrderRecord } from "../contract/schemas.ts";
import { activeIn } from "../contract/schemas.ts";
import { isPositive, mul, sub, sum } from "../decimal.ts";
import { inCurrency } from "./converted-money.ts";
import type { OpenOrders } from "./report.ts";
import type { RateOf } from "./trade-statistics.ts";

export class RestingOrders {
  readonly #open = new Map<string, OrderRecord>();
  readonly #profile: Profile;

  constructor(profile: Profile) {
    this.#profile = profile;
  }

  onOrder(record: OrderRecord): void {
    if (activeIn[record.state]) this.#open.set(record.ordId, record);
    else this.#open.delete(record.ordId);
  }

  /** Counts the orders for which `counts` is true; notional of those whose quote currency has a rate. */
  of(rateOf: RateOf, counts: (clOrdId: string) => boolean): OpenOrders {
    const own = [...this.#open.values()].filter(({ clOrdId }) => counts(clOrdId));
    const worth = own.map((record) => inCurrency(leftOf(record, this.#profile), rateOf(record.instId) ?? "0"));
    return { count: own.length, notional: sum(worth) };
  }
}

/** Contracts of the embedded service count one unit of base currency each. */
const leftOf = ({ instId, px, sz, accFillSz }: OrderRecord, { order }: Profile): string => {
  const left = sub(sz, accFillSz);
  if (order.szUnit[instTypeOf(instId)] === "quote_notional") return left;
  return isPositive(px) ? mul(left, px) : "0";
};
