/** What one side displays, beside a side that is looked through from end to end every time. */
import fc from "fast-check";
import { expect, it } from "vitest";
import type { Order, Sign } from "../../../src/venue/account.ts";
import { leftOf } from "../../../src/venue/order.ts";
import {
  bestDisplayed,
  consume,
  createOrderBookSide,
  displayedAt,
  join,
  leave,
  offersOf,
  showLevel,
  showQuote,
} from "../../../src/venue/order-book-side.ts";
import { matchingOf } from "../../../src/venue/queue-model.ts";

type Step = readonly [what: "level" | "quote" | "take" | "order" | "cancel", px: number, qty: number];
const step: fc.Arbitrary<Step> = fc.tuple(
  fc.constantFrom("level", "level", "level", "quote", "take", "order", "cancel"),
  fc.oneof(fc.integer({ min: 95, max: 105 }), fc.integer({ min: 1, max: 2_000 })),
  fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 12 })),
);

it.each([1, -1] as const)(
  "The best price and what a taker meets are those of the whole side (sign %i)",
  (sign: Sign) => {
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 60 }),
        fc.constantFrom("unlimited" as const, "traded" as const),
        (steps, volume) => {
          const half = createOrderBookSide(sign, matchingOf("risk-averse", volume));
          const prices = new Set<number>();
          for (const [what, px, qty] of steps) {
            prices.add(px);
            if (what === "level") showLevel(half, px, qty);
            else if (what === "quote") showQuote(half, px, qty);
            else if (what === "take") consume(half, px, Math.min(qty, displayedAt(half, px)));
            else if (what === "order")
              join(half, { sign, px, lots: 3, done: 0, ahead: 0, behind: 0 } as unknown as Order);
            else if (half.orders[0] !== undefined) leave(half, half.orders[0]);
            const sorted = [...prices].sort((a, b) => sign * (b - a));
            expect(bestDisplayed(half)).toBe(sorted.find((one) => displayedAt(half, one) > 0));
            for (const rankMin of [Number.NEGATIVE_INFINITY, sign * px, sign * 100]) {
              const met = sorted.filter((one) => sign * one >= rankMin);
              const offers = offersOf(half, rankMin, leftOf, {});
              const lotsOf = (of: readonly { readonly px: number; readonly lots: number }[], at: number) =>
                of.reduce((sum, { px: own, lots }) => sum + (own === at ? lots : 0), 0);
              const expected = met.map((one) => displayedAt(half, one) + lotsOf(half.orders, one));
              expect(met.map((one) => lotsOf(offers, one))).toEqual(expected);
              const ranks = offers.map((offer) => -sign * offer.px);
              expect(ranks).toEqual([...ranks].sort((a, b) => a - b));
              expect(ranks.every((rank) => -rank >= rankMin)).toBe(true);
            }
          }
        },
      ),
      { numRuns: 300 },
    );
  },
);
