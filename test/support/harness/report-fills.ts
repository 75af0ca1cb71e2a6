/** Fills as the service tells them to a report: one by hand, and any. */
import fc from "fast-check";
import { div, neg } from "../../../src/decimal.ts";
import type { Event } from "../../../src/journal/events.ts";
import type { TradeStatistics } from "../../../src/report/trade-statistics.ts";
import type { Fill } from "../../../src/venue/venue.ts";

export const btc = "BTC-USDT-SWAP";
export const eth = "ETH-USDT-SWAP";

/** Prices at the end of runs of `anyFill`. */
export const anyMarks: ReadonlyMap<string, string> = new Map([
  [btc, "4321.125"],
  [eth, "77.7"],
]);

export const makerFill = (
  at: number,
  order: string,
  instId: string,
  side: "buy" | "sell",
  qty: string,
  px: string,
  cost: string,
): Fill => ({
  uid: "u1",
  instId,
  ordId: order,
  clOrdId: order,
  side,
  px,
  qty,
  fee: cost,
  cost,
  liquidity: "maker",
  at,
});

/** Tells a report that these orders are of a strategy. */
export const tellSent = (tally: TradeStatistics, strategy: string, orders: readonly string[]): void => {
  for (const clOrdId of orders) {
    tally.onEvent({
      seq: 1,
      at: 0,
      type: "order.changed",
      strategy,
      slot: "s",
      phase: "sent",
      clOrdId,
    } as unknown as Event);
  }
};

const decimal = (max: number, places: number) =>
  fc.integer({ min: 1, max }).map((count) => div(String(count), `1${"0".repeat(places)}`, places));

/** A fill of one of two strategies, and what is paid for funding after it. */
export const anyFill = {
  strategy: fc.constantFrom("a", "b"),
  order: fc.integer({ min: 0, max: 5 }),
  instId: fc.constantFrom(btc, eth),
  side: fc.constantFrom("buy" as const, "sell" as const),
  px: decimal(9_999_999, 2),
  qty: decimal(99_999, 4),
  cost: fc.tuple(decimal(9_999, 7), fc.boolean()).map(([cost, rebate]) => (rebate ? neg(cost) : cost)),
  paid: fc.option(decimal(999_999, 6)),
} as const;
