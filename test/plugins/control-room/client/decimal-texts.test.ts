import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decimalFigure, minus, plainDecimal, plus } from "../../../../plugins/control-room/client/decimal-texts.ts";
import { add, sub } from "../../../../src/decimal.ts";

describe("Decimal text for reading", () => {
  it.each([
    // A float would show 0.30000000000000004 and lose the last digits of the next two.
    ["64000.10", undefined, "64,000.10"],
    ["12345678901234567.891", undefined, "12,345,678,901,234,567.891"],
    ["0.000000012345", undefined, "0.000000012345"],
    ["-1234.5", undefined, "−1,234.5"],
    // 1.005 and 2.675 lie below the half as floats.
    ["1.005", 2, "1.01"],
    ["-2.675", 2, "−2.68"],
    ["999.996", 2, "1,000"],
    ["0.004", 2, "0"],
    ["-0.004", 2, "0"],
    ["5", 2, "5"],
    ["n/a", 2, "n/a"],
  ])("of %s with at most %s places is %s", (text, places, shown) => {
    expect(decimalFigure(text, places)).toBe(shown);
  });

  it("has at least the digits after the point that are asked for", () => {
    expect(decimalFigure("0.5", 2, 2)).toBe("0.50");
    expect(decimalFigure("999.996", 2, 2)).toBe("1,000.00");
  });

  it("is added and subtracted to the last digit, as the engine does it", () => {
    const text = fc
      .tuple(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), fc.integer({ min: 0, max: 18 }))
      .map(([digits, places]) => {
        const plain = String(digits < 0n ? -digits : digits).padStart(places + 1, "0");
        return `${digits < 0n ? "-" : ""}${plain.slice(0, plain.length - places)}${places === 0 ? "" : `.${plain.slice(-places)}`}`;
      });
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(plus(a, b)).toBe(add(a, b));
        expect(minus(a, b)).toBe(sub(a, b));
      }),
    );
    expect([plus("0.1", "0.2"), minus("60000.1", "60000.05"), plainDecimal("60000.10")]).toEqual([
      "0.3",
      "0.05",
      "60000.1",
    ]);
  });
});
