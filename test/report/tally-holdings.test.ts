/** What a strategy holds: quantity, entry value, realised result and round trips, to the last digit. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { abs, add, compare, div, isPositive, isZero, mul, neg, sub } from "../../src/decimal.ts";
import { addToHolding, createHolding, type Holding, positionOf, unrealisedOf } from "../../src/report/holdings.ts";

type Trade = readonly [side: "buy" | "sell", px: string, qty: string, cost?: string];

const holdingAfter = (...trades: readonly Trade[]): Holding => {
  const held = createHolding();
  for (const [side, px, qty, cost = "0"] of trades) addToHolding(held, { side, px, qty, cost });
  return held;
};

describe("a holding", () => {
  it.each<[string, readonly Trade[], Partial<Holding>]>([
    ["opens long", [["buy", "100", "2"]], { qty: "2", entry: "200", realised: "0", count: 0 }],
    ["opens short", [["sell", "100", "2"]], { qty: "-2", entry: "-200", realised: "0" }],
    [
      "grows at the average",
      [
        ["buy", "100", "1"],
        ["buy", "110", "1"],
      ],
      { qty: "2", entry: "210", realised: "0" },
    ],
    [
      "realises the part it closes",
      [
        ["buy", "100", "4"],
        ["sell", "110", "1"],
      ],
      { qty: "3", entry: "300", realised: "10", count: 0 },
    ],
    [
      "closes a short",
      [
        ["sell", "100", "2"],
        ["buy", "90", "2"],
      ],
      { qty: "0", entry: "0", realised: "20", count: 1, won: 1 },
    ],
    [
      "crosses to the other side",
      [
        ["buy", "100", "1"],
        ["sell", "120", "3"],
      ],
      { qty: "-2", entry: "-240", realised: "20", count: 1, won: 1 },
    ],
    [
      "loses by its fees",
      [
        ["buy", "100", "1", "1"],
        ["sell", "101", "1", "1"],
      ],
      { realised: "1", won: 0, lost: 1 },
    ],
    [
      "neither wins nor loses",
      [
        ["buy", "100", "1", "0.5"],
        ["sell", "101", "1", "0.5"],
      ],
      { count: 1, won: 0, lost: 0 },
    ],
    [
      "charges a crossing fill's fee to both trips by quantity",
      [
        ["buy", "100", "1"],
        ["sell", "101", "4", "4"],
        ["buy", "98", "3", "5.9"],
      ],
      // 1 gained less 1 of fees is nothing; 9 gained less 3 and 5.9 is 0.1.
      { qty: "0", count: 2, won: 1, lost: 0 },
    ],
  ])("%s", (_, trades, expected) => {
    expect(holdingAfter(...trades)).toMatchObject(expected);
  });

  it("is told with its average price and what it would bring", () => {
    const held = holdingAfter(["buy", "100", "1"], ["buy", "101", "2"]);
    expect(positionOf("s", "BTC-USDT-SWAP", held, "110")).toEqual({
      strategy: "s",
      instId: "BTC-USDT-SWAP",
      qty: "3",
      averagePx: "100.666666666666",
      markPx: "110",
      unrealised: "28",
    });
  });

  it("adds up: realised and unrealised are what was received less what was paid, whatever was traded", () => {
    const trade = fc.tuple(
      fc.constantFrom("buy" as const, "sell" as const),
      fc.integer({ min: 1, max: 999_999 }).map((ticks) => (ticks / 10).toFixed(1)),
      fc.integer({ min: 1, max: 7_000 }).map((lots) => (lots / 1_000).toFixed(3)),
      fc.integer({ min: -50, max: 50 }).map((cost) => (cost / 7).toFixed(6)),
    );
    fc.assert(
      fc.property(fc.array(trade, { minLength: 1, maxLength: 40 }), (trades) => {
        const held = holdingAfter(...trades);
        const mark = "12345.65";
        let [cash, qty] = ["0", "0"];
        for (const [side, px, size] of trades) {
          cash = add(cash, side === "buy" ? neg(mul(px, size)) : mul(px, size));
          qty = add(qty, side === "buy" ? size : neg(size));
        }
        expect(compare(held.qty, qty)).toBe(0);
        expect(sub(add(held.realised, unrealisedOf(held, mark)), add(cash, mul(qty, mark)))).toBe("0");
        expect(held.won + held.lost).toBeLessThanOrEqual(held.count);
      }),
      { numRuns: 100 },
    );
  });

  it("is what the rule gives step by step in decimals, however fine the prices, sizes and fees", () => {
    const fine = (max: number) =>
      fc
        .tuple(fc.integer({ min: 1, max }), fc.integer({ min: 0, max: 11 }))
        .map(([count, places]) => div(String(count), `1${"0".repeat(places)}`, places));
    const trade = fc.tuple(fc.constantFrom("buy" as const, "sell" as const), fine(99_999), fine(9_999), fine(999));
    fc.assert(
      fc.property(fc.array(trade, { minLength: 1, maxLength: 30 }), (trades) => {
        const { qty, entry, realised, trip, count, won, lost } = holdingAfter(...trades);
        expect({ qty, entry, realised, trip, count, won, lost }).toEqual(inDecimals(trades));
      }),
      { numRuns: 300 },
    );
  });
});

/** The rule in decimal text: a fill closes its share of the entry value, cut at the 18th place, and its rest opens the other side. */
const inDecimals = (trades: readonly Trade[]) => {
  const held = { qty: "0", entry: "0", realised: "0", trip: "0", count: 0, won: 0, lost: 0 };
  const open = (bought: boolean, px: string, size: string, fee: string): void => {
    held.qty = (bought ? add : sub)(held.qty, size);
    held.entry = (bought ? add : sub)(held.entry, mul(px, size));
    held.trip = sub(held.trip, fee);
  };
  for (const [side, px, size, fee = "0"] of trades) {
    const bought = side === "buy";
    if (isZero(held.qty) || isPositive(held.qty) === bought) {
      open(bought, px, size, fee);
      continue;
    }
    const owned = abs(held.qty);
    const order = compare(size, owned);
    const closing = order > 0 ? owned : size;
    const own = order > 0 ? div(mul(fee, closing), size, 18) : fee;
    const removed = order < 0 ? div(mul(held.entry, closing), owned, 18) : held.entry;
    const gained = sub((bought ? neg : abs)(mul(px, closing)), removed);
    held.realised = add(held.realised, gained);
    held.trip = add(held.trip, sub(gained, own));
    held.entry = sub(held.entry, removed);
    held.qty = (bought ? add : sub)(held.qty, closing);
    if (order < 0) continue;
    held.count++;
    if (isPositive(held.trip)) held.won++;
    else if (!isZero(held.trip)) held.lost++;
    held.trip = "0";
    if (order > 0) open(bought, px, sub(size, closing), sub(fee, own));
  }
  return held;
};
