/**
 * Figures of everyday length are counted in plain numbers: no big integer is made and nothing is worked out digit by digit.
 *
 * Not a matter of results, which are the same either way, but of the hot path, where the long way costs two hundred times as much.
 */
import Big from "big.js";
import { afterEach, describe, expect, it, vi } from "vitest";
import * as d from "../../src/decimal.ts";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const digitByDigit = ["abs", "cmp", "div", "eq", "gt", "mod", "pow", "round", "times", "toFixed"] as const;

/** What `run` gives while every long way is closed. */
const quickly = (run: () => unknown): unknown => {
  const closed = (): never => {
    throw new Error("went the long way");
  };
  vi.stubGlobal("BigInt", closed);
  for (const way of digitByDigit) vi.spyOn(Big.prototype as Big, way).mockImplementation(closed);
  try {
    return run();
  } finally {
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
  }
};

/** As many characters as still fit, and the greatest whole number that does. */
const longest = "0.0123456789012345";
const greatest = "9007199254740991";
const cent = (): d.Grid => d.grid("0.01");

describe("Decimal arithmetic in plain numbers:", () => {
  it.each<[string, () => unknown, unknown]>([
    ["a sum", () => d.add("60000.1", "0.25"), "60000.35"],
    ["a sum of alike places", () => d.add("0.19", "0.90"), "1.09"],
    ["a sum of one digit each", () => d.add("5", "9"), "14"],
    ["a sum with something below zero", () => d.add("-1.5", "0"), "-1.5"],
    ["a sum of what has as many characters as fit", () => d.add(`${longest}67`.slice(0, 18), "0"), longest],
    ["a sum up to the greatest number", () => d.add("9007199254740990", "1"), greatest],
    ["a sum down to the least", () => d.add("-9007199254740990", "-1"), `-${greatest}`],
    ["a sum spread over eighteen places", () => d.sub("0", "0.0000000000000001"), "-0.0000000000000001"],
    ["a difference", () => d.sub("0.25", "60000.1"), "-59999.85"],
    ["a product", () => d.mul("60000.1", "-0.02"), "-1200.002"],
    ["a sign turned", () => [d.neg("1.50"), d.neg("-3")], ["-1.5", "3"]],
    ["a size without its sign", () => [d.abs("-1.50"), d.abs("7")], ["1.5", "7"]],
    ["a comparison", () => [d.compare("1.5", "1.49"), d.compare("1.5", "1.50"), d.compare("-2", "-1.9")], [1, 0, -1]],
    ["a test for zero", () => [d.isZero("0.00"), d.isZero("0.01")], [true, false]],
    [
      "a test for more than zero",
      () => [d.isPositive("0.01"), d.isPositive("-1"), d.isPositive("0")],
      [true, false, false],
    ],
    ["a test for equal worth", () => [d.equal("1.5", "1.50"), d.equal("1.5", "1.51")], [true, false]],
    ["a test for equal worth of long texts that are alike", () => d.equal("1".repeat(40), "1".repeat(40)), true],
    [
      "a quotient that comes out even",
      () => [d.div("600.001", "60000.1", 12), d.div("-600.001", "0.01", 12)],
      ["0.01", "-60000.1"],
    ],
    ["a quotient", () => [d.div("10", "3", 2), d.div("-1", "0.3", 0), d.div("6", "2", 15)], ["3.33", "-3", "3"]],
    ["a step taken", () => [d.toStep("1.26", "0.1", "nearest"), d.toStep("-1.21", "0.1", "up")], ["1.3", "-1.3"]],
    ["a step taken at the greatest number", () => d.toStep(greatest, "1", "down"), greatest],
    [
      "a shorter spelling",
      () => [d.plain("1.500"), d.plain("007"), d.plain("0.1230"), d.plain("0.012340")],
      ["1.5", "7", "0.123", "0.01234"],
    ],
    ["a figure of floats", () => d.fromApproximate(1.23456, 3), "1.234"],
    [
      "a count on a grid",
      () => [cent().parse("12.34"), cent().parseTo("12.34", "down"), cent().format(1_234)],
      [1_234, 1_234, "12.34"],
    ],
  ])("%s", (_, run, expected) => {
    expect(quickly(run)).toEqual(expected);
  });
});

it("Goes the long way beyond that, so that closing it is noticed", () => {
  expect(() => quickly(() => d.add(greatest, "1"))).toThrow("went the long way");
  expect(() => quickly(() => d.abs(`-${greatest}0.0`))).toThrow("went the long way");
  expect(d.add(greatest, "1")).toBe("9007199254740992");
});

it.each([
  ["0", "0"],
  ["-0", "0"],
  ["0.0", "0"],
  ["-0.50", "0.5"],
  ["10", "-10"],
  ["10.05", "-10.05"],
  ["-007.10", "7.1"],
  ["1234567890123456789012345.6789", "-1234567890123456789012345.6789"],
])("Spells %s with the opposite sign as %s, however it was spelled", (text, opposite) => {
  expect(d.neg(text)).toBe(opposite);
  expect(d.plain(d.neg(d.neg(text)))).toBe(d.plain(text));
  expect(d.abs(text)).toBe(opposite.replace("-", ""));
  expect(d.add("0", text)).toBe(d.plain(text));
});

it("Leaves text alone that has its shortest spelling already, of any length up to the longest", () => {
  const long = `-${"9".repeat(30)}.5`;
  expect(quickly(() => d.plain(long))).toBe(long);
  expect(() => d.plain("9".repeat(41))).toThrow("is not a decimal");
});
