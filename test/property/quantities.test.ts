/**
 * Market orders of any quantity, on any lot and tick, with the price anywhere when they arrive: what is executed is what was
 * wanted, or the difference is told.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createContract } from "../../src/contract/contract.ts";
import type { SzUnit } from "../../src/contract/profile.ts";
import { compare, div, equal, fromApproximate, mul, sub, toStep } from "../../src/decimal.ts";
import { specify, type WantedOrder } from "../../src/orders/wanted-order.ts";
import { ready, swap } from "../support/harness/orders.ts";

const sized = (qty: string, lotSize: string, px: string): string => {
  const { profile } = createContract();
  const wanted: WantedOrder = { slot: "m", instId: swap, side: "buy", ordType: "market", qty };
  const result = specify(wanted, { instId: swap, tickSize: "0.1", lotSize }, profile, px);
  if (!result.ok) throw new Error(result.reason);
  return result.spec.sz;
};

describe("The amount of a market order in quote currency", () => {
  it("buys exactly its lots at any price within half a lot, and never more at a price 0.04 % better", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("0.00001", "0.001", "0.5", "1", "10"),
        fc.integer({ min: 1, max: 2_000_000 }),
        fc.integer({ min: 100, max: 10_000_000 }),
        fc.integer({ min: -40, max: 40 }),
        (lotSize, lots, ticks, drift) => {
          const qty = mul(String(lots), lotSize);
          const px = mul(String(ticks), "0.1");
          const paid = mul(px, fromApproximate(1 + drift / 100_000, 5));
          const bought = toStep(div(sized(qty, lotSize, px), paid, 18), lotSize, "down");
          const short = div(sub(qty, bought), lotSize, 0);
          expect(compare(bought, qty)).toBeLessThanOrEqual(0);
          // Up to a thousand lots exactly; beyond it a second order has less than a thousandth left to bring.
          if (lots <= 1_000) expect(short).toBe("0");
          else expect(compare(short, String(Math.ceil(lots / 1_000) + 1))).toBeLessThanOrEqual(0);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});

describe("A market order by quantity", () => {
  it.each<SzUnit>(["quote_notional", "base", "contracts"])(
    "executes what was wanted, or tells the difference, in %s",
    (unit) => {
      fc.assert(
        fc.property(
          fc.integer({ min: 1, max: 40_000 }),
          fc.integer({ min: -600, max: 600 }),
          fc.boolean(),
          fc.oneof(fc.constant(10_000_000), fc.integer({ min: 1, max: 40_000 })),
          (lots, drift, buys, shown) => {
            const rig = ready({ profile: { order: { szUnit: { SPOT: unit, SWAP: unit } } } });
            const qty = mul(String(lots), "0.001");
            // Sized at 60,000; on arrival anywhere within 0.1 % of it, and perhaps not enough of it.
            const ticks = 600_000 + drift;
            rig.venue.quote(swap, ticks, shown, ticks + 1, shown, rig.clock.now());
            rig.want({ slot: "m", instId: swap, side: buys ? "buy" : "sell", ordType: "market", qty });
            rig.run(2_000);
            const held = rig.venue.truth("ann").positions[0]?.pos ?? "0";
            const done = held.replace("-", "");
            const [told, ...more] = rig.journalled("order.inexact");
            expect(more).toEqual([]);
            if (told === undefined) expect(done).toBe(qty);
            else expect(told).toMatchObject({ qty, filledQty: done });
            if (shown >= lots && (unit !== "quote_notional" || lots <= 500)) expect(equal(done, qty)).toBe(true);
          },
        ),
        { numRuns: 60 },
      );
    },
  );
});
