/** Decimals at the bounds: what arithmetic refuses, how it says so, and figures whose digits are many but whose worth is small. */
import { describe, expect, it } from "vitest";
import * as d from "../../src/decimal.ts";

const operations: readonly (readonly [string, (text: string) => unknown])[] = [
  ["add", (text) => d.add(text, "1")],
  ["add, second", (text) => d.add("1", text)],
  ["sub", (text) => d.sub(text, "1")],
  ["mul", (text) => d.mul(text, "1")],
  ["mul, second", (text) => d.mul("1", text)],
  ["neg", d.neg],
  ["abs", d.abs],
  ["compare", (text) => d.compare(text, "1")],
  ["equal", (text) => d.equal(text, "1")],
  ["isZero", d.isZero],
  ["isPositive", d.isPositive],
  ["div", (text) => d.div(text, "1", 2)],
  ["toStep", (text) => d.toStep(text, "1", "down")],
  ["plain", d.plain],
];

describe.each(operations)("The decimal operation %s", (_, run) => {
  it.each(["", "-", ".", "-.5", ".5", "5.", "1.2.3", "1..2", "+1", "1e3", "1/2", "1:2", "1,5", " 1", "0".repeat(41)])(
    "refuses %j",
    (text) => {
      expect(() => run(text)).toThrow(`decimal arithmetic: ${JSON.stringify(text)} is not a decimal`);
    },
  );

  it.each([5, null, undefined, ["1"]])("refuses %j, which is no text", (value) => {
    expect(() => run(value as never)).toThrow(/decimal arithmetic: .*is not a decimal/);
  });
});

describe("A decimal of the greatest length", () => {
  const forty = `0.${"1".repeat(38)}`;

  it("is one, and one character more is not", () => {
    expect([d.isDecimal(forty), d.isDecimal(`${forty}1`)]).toEqual([true, false]);
    expect(d.isDecimal(`-${forty.slice(0, -1)}`)).toBe(true);
  });

  it("is worked with exactly", () => {
    expect(d.add(forty, `-${forty.slice(0, -1)}`)).toBe(`0.${"0".repeat(37)}1`);
    expect(d.neg(forty)).toBe(`-${forty}`);
    expect(d.abs(`-0.${"0".repeat(36)}1`)).toBe(`0.${"0".repeat(36)}1`);
    expect(d.mul(`0.${"0".repeat(37)}1`, "10")).toBe(`0.${"0".repeat(36)}1`);
  });
});

describe("A wrong decimal call is explained:", () => {
  it.each<[string, () => unknown, string]>([
    ["dividing by zero", () => d.div("1", "0.0", 2), "nothing is divided by zero"],
    ["a step of zero", () => d.toStep("1", "0", "down"), "a step is positive, not 0"],
    ["a step below zero", () => d.toStep("1", "-0.1", "down"), "a step is positive, not -0.1"],
    ["a grid below zero", () => d.grid("-0.1"), "a step is positive, not -0.1"],
    ["a grid of no decimal", () => d.grid("x"), 'step: "x" is not a decimal'],
    [
      "a grid of more digits than are counted",
      () => d.grid("0.12345678901234567"),
      "the step 0.12345678901234567 has at most 15 digits",
    ],
    [
      "a figure that is not finite",
      () => d.fromApproximate(Number.POSITIVE_INFINITY, 2),
      "a finite number was given, not Infinity",
    ],
    [
      "an amount off the grid",
      () => d.grid("0.1").parse("0.15"),
      '"0.15" is not a whole number of steps of 0.1 below 2^53.',
    ],
    [
      "an amount too great for the grid",
      () => d.grid("0.1").parseTo("900719925474099.2", "down"),
      '"900719925474099.2" is not a whole number',
    ],
  ])("%s", (_, run, message) => {
    expect(run).toThrow(message);
  });

  it.each([-1, 0.5])("a figure of floats with %s fraction digits", (digits) => {
    expect(() => d.fromApproximate(1.25, digits)).toThrow();
  });
});

describe("Decimal text of floats:", () => {
  it.each<[number, number, string]>([
    [1.23456, 3, "1.234"],
    [1.23456, 1, "1.2"],
    [1.23456, 0, "1"],
    [-1.23456, 4, "-1.2345"],
    [0.5, 20, "0.5"],
    [1e-7, 8, "0.0000001"],
    [1e-7, 6, "0"],
  ])("%s cut to %s fraction digits is %s", (value, digits, text) => {
    expect(d.fromApproximate(value, digits)).toBe(text);
  });

  it("come back as numbers for pictures", () => {
    expect([d.approximate("1.50"), d.approximate("-0.001")]).toEqual([1.5, -0.001]);
  });
});

describe("A decimal grid", () => {
  it.each<[string, string, number]>([
    ["1", "9007199254740991", 9_007_199_254_740_991],
    ["1", "-9007199254740991", -9_007_199_254_740_991],
    ["0.1", "1.50000000000000000000", 15],
    ["0.1", "-1.50000000000000000000", -15],
    ["0.001", "000000000000000000001.5", 1_500],
    ["5", "000000000000000000000010", 2],
    ["1", "7.00000000000000000000", 7],
    ["0.01", "-0", 0],
    ["0.01", "0.000000000000000000000", 0],
  ])("of %s counts %s as %s, however it is spelled", (step, text, count) => {
    expect(d.grid(step).parse(text)).toBe(count);
  });

  it.each([
    ["0.1", "1.50000000000000000001"],
    ["0.1", "1.05000000000000000000"],
    ["1", "9007199254740992"],
    ["1", "-9007199254740992"],
    ["1", "9007199254740993"],
    ["1", "000000000000000000000009007199254740992"],
    ["0.1", "1.5000000000000000000x"],
    ["0.1", "1.5.000000000000000000"],
  ])("of %s refuses %s", (step, text) => {
    expect(() => d.grid(step).parse(text)).toThrow(`"${text}" is not a whole number of steps of ${step} below 2^53.`);
  });

  it("brings what is off it onto it, as asked, and what is on it nowhere else", () => {
    const one = d.grid("0.25");
    expect((["down", "nearest", "up"] as const).map((rounding) => one.parseTo("1.40", rounding))).toEqual([5, 6, 6]);
    expect((["down", "nearest", "up"] as const).map((rounding) => one.parseTo("-1.3", rounding))).toEqual([-5, -5, -6]);
    expect((["down", "nearest", "up"] as const).map((rounding) => one.parseTo("1.5", rounding))).toEqual([6, 6, 6]);
  });

  it("writes counts out in digits, however great", () => {
    expect(d.grid("1000000").format(9_000_000_000_000_000)).toBe("9000000000000000000000");
    expect(d.grid("0.01").format(-5)).toBe("-0.05");
    expect(d.grid("0.0001").format(-12_340)).toBe("-1.234");
    expect(d.grid("0.0001").format(20_000)).toBe("2");
    expect(d.grid("0.1").format(-0)).toBe("0");
  });
});
