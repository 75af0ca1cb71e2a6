/** What a strategy holds: quantity, entry value, realised result, to the last digit. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { abs, add, compare, div, isPositive, isZero, mul, neg, sub } from "../../../src/decimal.ts";
import { read, spell } from "../../../src/decimal-value.ts";
import { averagePxOf, type Holding, noHolding, unrealisedOf, withFill } from "../../../src/orders/average-cost.ts";
import { spelled, type Texts } from "../../support/decimal-texts.ts";

type Trade = readonly [side: "buy" | "sell", px: string, qty: string];

const holdingAfter = (...trades: readonly Trade[]): Holding =>
  trades.reduce((held, [side, px, qty]) => withFill(held, { side, px: read(px), qty: read(qty) }), noHolding);

describe("A holding", () => {
  it.each<[string, readonly Trade[], Partial<Texts<Holding>>]>([
    ["opens long", [["buy", "100", "2"]], { qty: "2", entry: "200", realised: "0" }],
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
      { qty: "3", entry: "300", realised: "10" },
    ],
    [
      "closes a short",
      [
        ["sell", "100", "2"],
        ["buy", "90", "2"],
      ],
      { qty: "0", entry: "0", realised: "20" },
    ],
    [
      "crosses to the other side",
      [
        ["buy", "100", "1"],
        ["sell", "120", "3"],
      ],
      { qty: "-2", entry: "-240", realised: "20" },
    ],
  ])("%s", (_, trades, expected) => {
    expect(spelled(holdingAfter(...trades))).toMatchObject(expected);
  });

  it("is told with its average price and what it would bring", () => {
    const held = holdingAfter(["buy", "100", "1"], ["buy", "101", "2"]);
    expect(spell(averagePxOf(held))).toBe("100.666666666666");
    expect(spell(unrealisedOf(held, read("110")))).toBe("28");
  });

  it("adds up: realised and unrealised are what was received less what was paid, whatever was traded", () => {
    const trade = fc.tuple(
      fc.constantFrom("buy" as const, "sell" as const),
      fc.integer({ min: 1, max: 999_999 }).map((ticks) => (ticks / 10).toFixed(1)),
      fc.integer({ min: 1, max: 7_000 }).map((lots) => (lots / 1_000).toFixed(3)),
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
        expect(compare(spell(held.qty), qty)).toBe(0);
        const profit = add(spell(held.realised), spell(unrealisedOf(held, read(mark))));
        expect(sub(profit, add(cash, mul(qty, mark)))).toBe("0");
      }),
      { numRuns: 100 },
    );
  });

  it("is what the rule gives step by step in decimals, however fine the prices and sizes", () => {
    const fine = (max: number) =>
      fc
        .tuple(fc.integer({ min: 1, max }), fc.integer({ min: 0, max: 11 }))
        .map(([count, places]) => div(String(count), `1${"0".repeat(places)}`, places));
    const side = fc.constantFrom("buy" as const, "sell" as const);
    const trade = fc.tuple(side, fine(99_999), fine(9_999));
    fc.assert(
      fc.property(fc.array(trade, { minLength: 1, maxLength: 30 }), (trades) => {
        expect(spelled(holdingAfter(...trades))).toEqual(inDecimals(trades));
      }),
      { numRuns: 300 },
    );
  });
});

/** The rule in decimal text: a fill closes its share of the entry value, cut at the 18th place, and its rest opens the other side. */
const inDecimals = (trades: readonly Trade[]) => {
  const held = { qty: "0", entry: "0", realised: "0" };
  const open = (bought: boolean, px: string, size: string): void => {
    held.qty = (bought ? add : sub)(held.qty, size);
    held.entry = (bought ? add : sub)(held.entry, mul(px, size));
  };
  for (const [side, px, size] of trades) {
    const bought = side === "buy";
    if (isZero(held.qty) || isPositive(held.qty) === bought) {
      open(bought, px, size);
      continue;
    }
    const owned = abs(held.qty);
    const against = compare(size, owned);
    const closed = against > 0 ? owned : size;
    const removed = against < 0 ? div(mul(held.entry, closed), owned, 18) : held.entry;
    held.realised = add(held.realised, sub((bought ? neg : abs)(mul(px, closed)), removed));
    held.entry = sub(held.entry, removed);
    held.qty = (bought ? add : sub)(held.qty, closed);
    if (against > 0) open(bought, px, sub(size, closed));
  }
  return held;
};
