import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { add, mul, sub } from "../../src/decimal.ts";
import { RunningSum } from "../../src/report/running-sum.ts";

/** Short and long ones, of either sign, with up to 12 fraction digits. */
const decimals = fc
  .tuple(fc.bigInt({ min: -(10n ** 22n), max: 10n ** 22n }), fc.nat({ max: 20 }), fc.nat({ max: 12 }))
  .map(([digits, cut, places]) => {
    const units = digits / 10n ** BigInt(cut);
    return mul(String(units), places === 0 ? "1" : `0.${"0".repeat(places - 1)}1`);
  });

const summed = (values: readonly string[]): string => {
  const sum = new RunningSum();
  for (const value of values) sum.add(value);
  return sum.text;
};

describe("A running sum", () => {
  it("is zero without anything added", () => {
    expect(new RunningSum().text).toBe("0");
  });

  it("has the text that adding one by one gives, of any length", () => {
    const isSum = fc.property(fc.array(decimals, { maxLength: 12 }), (values) => {
      expect(summed(values)).toBe(values.reduce(add, "0"));
    });
    fc.assert(isSum);
  });

  it("takes away what was added, whatever its length", () => {
    const isUndone = fc.property(fc.array(decimals, { maxLength: 8 }), decimals, (values, other) => {
      const sum = new RunningSum();
      for (const value of values) sum.add(value);
      sum.add(other, -1);
      expect(sum.text).toBe(sub(values.reduce(add, "0"), other));
    });
    fc.assert(isUndone);
  });

  it.each([
    ["a finer place than before", ["1", "0.001", "-0.5"], "0.501"],
    ["the last whole number that fits", ["9007199254740990", "1"], "9007199254740991"],
    ["one beyond it", ["9007199254740991", "1", "1"], "9007199254740993"],
    ["a finer place that no longer fits", ["9007199254740991", "0.1"], "9007199254740991.1"],
    ["back from beyond", ["9007199254740993", "-9007199254740992", "0.25"], "1.25"],
  ])("is exact with %s", (_, values, expected) => {
    expect(summed(values)).toBe(expected);
  });

  it("refuses what is no decimal and stays as it was", () => {
    const sum = new RunningSum();
    sum.add("2");
    expect(() => sum.add("1e3")).toThrow(/DECIMAL_INVALID|not a decimal/);
    expect(sum.text).toBe("2");
  });
});
