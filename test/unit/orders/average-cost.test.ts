/** What a strategy holds: quantity, entry value, realised result, costs and closed trades, to the last digit. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { abs, add, compare, div, isPositive, isZero, mul, neg, sub, sum } from "../../../src/decimal.ts";
import { addToHolding, averagePxOf, closedTrades, createHolding, type Holding, unrealisedOf } from "../../../src/orders/average-cost.ts";

type Trade = readonly [side: "buy" | "sell", px: string, qty: string, cost?: string, order?: string];

/** Fills that name no order are orders of their own. */
const holdingAfter = (...trades: readonly Trade[]): Holding => {
  const held = createHolding();
  for (const [index, [side, px, qty, cost = "0", ordId = `o${index}`]] of trades.entries()) {
    addToHolding(held, { ordId, side, px, qty, cost });
  }
  closedTrades(held);
  return held;
};

describe("A holding", () => {
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
      { qty: "3", entry: "300", realised: "10", count: 1, won: 1 },
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
      "charges a crossing fill's fee to both trades by quantity",
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
    expect(averagePxOf(held)).toBe("100.666666666666");
    expect(unrealisedOf(held, "110")).toBe("28");
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
      }),
      { numRuns: 100 },
    );
  });

  it("is what the rule gives step by step in decimals, however fine the prices, sizes and fees", () => {
    const fine = (max: number) =>
      fc
        .tuple(fc.integer({ min: 1, max }), fc.integer({ min: 0, max: 11 }))
        .map(([count, places]) => div(String(count), `1${"0".repeat(places)}`, places));
    const side = fc.constantFrom("buy" as const, "sell" as const);
    const trade = fc.tuple(side, fine(99_999), fine(9_999), fine(999), fc.constantFrom("a", "b", "c"));
    fc.assert(
      fc.property(fc.array(trade, { minLength: 1, maxLength: 30 }), (trades) => {
        const held = holdingAfter(...trades);
        const { qty, entry, realised, costs } = held;
        const { nets, ...expected } = inDecimals(trades);
        expect({ qty, entry, realised, costs }).toEqual(expected);
        const sorted = [...nets].sort(compare);
        expect(closedTrades(held)).toEqual({
          count: nets.length,
          won: nets.filter(isPositive).length,
          lost: nets.filter((net) => isPositive(neg(net))).length,
          profit: sum(nets.filter(isPositive)),
          loss: sum(nets.filter((net) => !isPositive(net))),
          ...(sorted.length > 0 && { best: sorted.at(-1), worst: sorted[0] }),
        });
        const fees = sum(trades.map(([, , , fee]) => fee));
        expect(sub(sum(nets), costs)).toBe(sub(realised, fees));
      }),
      { numRuns: 300 },
    );
  });
});

/**
 * The rule in decimal text: a fill closes its share of the entry value and of the costs, cut at the 18th place, and its rest opens
 * the other side; the net profits of one order's fills are one trade until another order closes or nothing is held.
 */
const inDecimals = (trades: readonly Trade[]) => {
  const held = { qty: "0", entry: "0", realised: "0", costs: "0" };
  const nets: string[] = [];
  let closing = "";
  const open = (bought: boolean, px: string, size: string, fee: string): void => {
    held.qty = (bought ? add : sub)(held.qty, size);
    held.entry = (bought ? add : sub)(held.entry, mul(px, size));
    held.costs = add(held.costs, fee);
  };
  for (const [side, px, size, fee = "0", order = ""] of trades) {
    const bought = side === "buy";
    if (isZero(held.qty) || isPositive(held.qty) === bought) {
      open(bought, px, size, fee);
      continue;
    }
    const owned = abs(held.qty);
    const against = compare(size, owned);
    const closed = against > 0 ? owned : size;
    const own = against > 0 ? div(mul(fee, closed), size, 18) : fee;
    const removed = against < 0 ? div(mul(held.entry, closed), owned, 18) : held.entry;
    const costs = against < 0 ? div(mul(held.costs, closed), owned, 18) : held.costs;
    const gained = sub((bought ? neg : abs)(mul(px, closed)), removed);
    held.realised = add(held.realised, gained);
    held.entry = sub(held.entry, removed);
    held.costs = sub(held.costs, costs);
    held.qty = (bought ? add : sub)(held.qty, closed);
    const net = sub(sub(gained, costs), own);
    if (order === closing) nets.push(add(nets.pop() ?? "0", net));
    else nets.push(net);
    closing = against < 0 ? order : "";
    if (against > 0) open(bought, px, sub(size, closed), sub(fee, own));
  }
  return { ...held, nets };
};
