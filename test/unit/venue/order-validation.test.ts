/**
 * Amounts as text, and the checks an order passes before it meets the book.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { add, compare, mul } from "../../../src/decimal.ts";
import { cover, cut, readAmount, spell } from "../../../src/venue/money.ts";
import { setting, swap } from "../../support/harness/venue.ts";

describe("Venue amounts:", () => {
  it.each([
    ["0", "0"],
    ["-0", "0"],
    ["001.500", "1.5"],
    ["-0.000000000000000001", "-0.000000000000000001"],
    ["12345678901234567890.123456789012345678", "12345678901234567890.123456789012345678"],
    ["0.1000000000000000000000", "0.1"],
    ["0.0000000000000000001", undefined],
    ["1e3", undefined],
    ["", undefined],
    [7, undefined],
    [undefined, undefined],
  ])("%s reads as %s", (text, expected) => {
    const amount = readAmount(text);
    expect(amount === undefined ? undefined : spell(amount)).toBe(expected);
  });

  it("agree with decimal text about sums and products", () => {
    const text = fc
      .tuple(fc.integer(), fc.integer({ min: 0, max: 8 }))
      .map(([count, places]) => mul(String(count), places === 0 ? "1" : `0.${"0".repeat(places - 1)}1`));
    fc.assert(
      fc.property(text, text, (a, b) => {
        const [x, y] = [readAmount(a) ?? 0n, readAmount(b) ?? 0n];
        expect(spell(x + y)).toBe(add(a, b));
        expect(spell((x * y) / 10n ** 18n)).toBe(mul(a, b));
        expect(x < y ? -1 : x > y ? 1 : 0).toBe(compare(a, b));
      }),
    );
  });

  it("cut down and cover up", () => {
    expect([cut(7n, 1n, 2n), cut(-7n, 1n, 2n), cover(7n, 1n, 2n), cover(8n, 1n, 2n)]).toEqual([3n, -3n, 4n, 4n]);
  });
});

describe("Order validation:", () => {
  it.each([
    ["an unknown product", { instId: "XRP-USDT-SWAP" }, "51001"],
    ["an unknown side", { side: "hold" }, "51000"],
    ["an unknown type", { ordType: "stop" }, "51000"],
    ["a limit order without a price", { px: undefined }, "51000"],
    ["a price off the tick", { px: "60000.05" }, "51006"],
    ["a price of zero", { px: "0" }, "51006"],
    ["a negative price", { px: "-60000" }, "51006"],
    ["a price beyond counting", { px: "9999999999999999999999" }, "51006"],
  ])("%s is refused", (_, order, code) => {
    const it = setting();
    expect(it.place(order).body.code).toBe(code);
    expect(it.venue.truth("ann").orders).toEqual([]);
  });

  it("the minimum size counts in base currency", () => {
    const it = setting({}, { instruments: [{ instId: swap, tickSize: "0.1", lotSize: "0.001", minSize: "0.01" }] });
    expect(it.place({ px: "60000", sz: "599" }).body.code).toBe("51020");
    expect(it.place({ px: "60000", sz: "600" }).body.code).toBe("0");
  });

  it("an amount of money that is no whole number of lots is cut to them", () => {
    const it = setting();
    const ordId = it.placed({ px: "60000", sz: "100" });
    it.trade(swap, "sell", 59999, 1);
    expect(it.order(ordId)).toMatchObject({ state: "filled", sz: "100", accFillSz: "60" });
  });
});
