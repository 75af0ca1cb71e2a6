/** Executed orders of previous runs whose strategy is not known: which wait, and which are booked elsewhere. */
import { describe, expect, it } from "vitest";
import { type Order, recalledOrder } from "../../../src/orders/order-state.ts";
import { UnclaimedOrders } from "../../../src/orders/unclaimed-orders.ts";

const instId = "BTC-USDT-SWAP";
const order = (clOrdId: string): Order =>
  recalledOrder(clOrdId, { instId, side: "sell", ordType: "limit", px: "1", sz: "1", reduceOnly: false }, 0);
const unclaimed = () => new UnclaimedOrders((strategy, slot) => `${strategy} ${slot}`);

describe("An executed order of a previous run", () => {
  it("waits for its slot, and keeps exits of the instrument to the flag meanwhile", () => {
    const orders = unclaimed();
    orders.keep(order("a"), "maker in.exit", 1);
    expect(orders.has(instId)).toBe(true);
    orders.claim("maker", "in");
    expect([orders.has(instId), orders.takeClaimed().map(({ slot }) => slot)]).toEqual([false, ["in.exit"]]);
  });

  it("whose strategy the journal tells never waits, whether it ends before or after it is recalled", () => {
    const orders = unclaimed();
    orders.keep(order("before"), "maker in", 1);
    orders.own("before");
    orders.own("after");
    orders.keep(order("after"), "maker out", 2);
    expect([orders.has(instId), orders.all()]).toEqual([false, []]);
  });

  it("is not booked twice where a slot claimed it before it was recalled", () => {
    const orders = unclaimed();
    orders.keep(order("a"), "maker in.exit", 1);
    orders.claim("maker", "in");
    orders.own("a");
    expect([orders.hasClaimed, orders.takeClaimed()]).toEqual([false, []]);
  });
});
