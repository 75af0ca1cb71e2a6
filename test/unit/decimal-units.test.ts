import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { add, div, isPositive, mul, sub, toStep } from "../../src/decimal.ts";
import { evenQuotient, RunningSum } from "../../src/decimal-units.ts";

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
  it("is zero without anything added, and what it began with", () => {
    expect(new RunningSum().text).toBe("0");
    expect(new RunningSum("1.50").text).toBe("1.5");
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
    const sum = new RunningSum("2");
    expect(() => sum.add("1e3")).toThrow(/DECIMAL_INVALID|not a decimal/);
    expect(sum.text).toBe("2");
  });
});

describe("An even quotient", () => {
  it.each([
    ["600", "60000", "0.001", "0.01"],
    ["-600", "60000", "0.001", "-0.01"],
    ["630.0105", "0.01", "0.1", undefined],
    ["600.001", "0.01", "0.1", "60000.1"],
    ["1", "3", "0.1", undefined],
    ["1", "0", "0.1", undefined],
    ["1", "-1", "0.1", undefined],
    ["1", "1", "0", undefined],
    ["1", "1", "0.0000000000001", undefined],
    ["9007199254740993", "1", "1", undefined],
    ["0", "5", "0.1", "0"],
  ])("%s over %s in steps of %s is %s", (a, by, step, expected) => {
    expect(evenQuotient(a, by, step)).toBe(expected);
  });

  it("is what the quotient and the step give one after the other", () => {
    const steps = fc.constantFrom("0.1", "0.001", "0.25", "1", "5", "0.00000001");
    const counts = fc.integer({ min: -100_000, max: 100_000 });
    const offsets = fc.constantFrom("0", "0", "0.001", "7");
    let even = 0;
    const isEven = fc.property(counts, decimals.filter(isPositive), steps, offsets, (count, by, step, offset) => {
      const a = add(mul(mul(String(count), step), by), offset);
      const found = evenQuotient(a, by, step);
      if (found === undefined) return;
      even++;
      expect(toStep(div(a, by, 12), step, "nearest")).toBe(found);
      expect(mul(found, by)).toBe(a);
    });
    fc.assert(isEven, { numRuns: 500 });
    expect(even).toBeGreaterThan(50);
  });
});
