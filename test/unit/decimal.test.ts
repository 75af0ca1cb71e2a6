/** Exact decimal text: grammar, arithmetic against fractions of whole numbers, and grids. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as d from "../../src/decimal.ts";
import { isSluiceError } from "../../src/errors.ts";

const codeOf = (run: () => unknown): string => {
  try {
    run();
    return "no error";
  } catch (error) {
    return isSluiceError(error) ? error.code : String(error);
  }
};

const isMultiple = (text: string, step: string): boolean => d.equal(d.mul(d.div(text, step, 0), step), text);

/** A decimal as digits and a count of fraction places: the second opinion, in whole numbers only. */
interface Scaled {
  readonly digits: bigint;
  readonly places: number;
}
/** Also around 2^53, where counting in numbers has to give way. */
const digits = fc.oneof(
  fc.bigInt(-(10n ** 15n), 10n ** 15n),
  fc.bigInt(-2_000n, 2_000n),
  fc.bigInt(2n ** 53n - 40n, 2n ** 53n + 40n),
  fc.bigInt(-(2n ** 53n) - 40n, -(2n ** 53n) + 40n),
  fc.bigInt(-(10n ** 24n), 10n ** 24n),
);
const scaled = fc.record({ digits, places: fc.integer({ min: 0, max: 12 }) });
const spell = ({ digits, places }: Scaled): string => {
  const text = String(digits < 0n ? -digits : digits).padStart(places + 1, "0");
  const fraction = places === 0 ? "" : text.slice(-places).replace(/0+$/, "");
  const whole = places === 0 ? text : text.slice(0, -places);
  const sign = digits < 0n ? "-" : "";
  return `${sign}${whole}${fraction === "" ? "" : `.${fraction}`}`;
};
const at = ({ digits, places }: Scaled, to: number): bigint => digits * 10n ** BigInt(to - places);
const both = (a: Scaled, b: Scaled, join: (x: bigint, y: bigint) => bigint): string => {
  const places = Math.max(a.places, b.places);
  return spell({ digits: join(at(a, places), at(b, places)), places });
};

describe("Decimal grammar:", () => {
  it.each(["0", "-0", "1", "-1", "00.10", "123456789.000000001", "-0.5"])("%j is a decimal", (text) => {
    expect(d.isDecimal(text)).toBe(true);
    expect(d.decimal(text, "px")).toBe(text);
  });

  it.each([
    "",
    " 5",
    "5 ",
    "+1",
    ".5",
    "5.",
    "1e3",
    "0x10",
    "NaN",
    "Infinity",
    "1,000",
    "--1",
    "1.2.3",
    "٣",
    "1\n",
    "1".repeat(41),
  ])("%j is not", (text) => {
    expect(d.isDecimal(text)).toBe(false);
    expect(codeOf(() => d.decimal(text, "px"))).toBe("DECIMAL_INVALID");
  });

  it("what is not text is not a decimal", () => {
    expect([1, null, undefined, 1n, {}, ["1"]].map(d.isDecimal)).toEqual([false, false, false, false, false, false]);
  });

  it("an error names the place, the value and what to write", () => {
    expect(() => d.decimal("1e3", "orders[2].px")).toThrow(
      /orders\[2\]\.px: "1e3" is not a decimal\. Write plain digits/,
    );
  });
});

describe("Exact decimal arithmetic:", () => {
  it("add, sub, mul, neg, abs, compare agree with whole numbers", () => {
    fc.assert(
      fc.property(scaled, scaled, (a, b) => {
        const [x, y] = [spell(a), spell(b)];
        expect(d.add(x, y)).toBe(both(a, b, (m, n) => m + n));
        expect(d.sub(x, y)).toBe(both(a, b, (m, n) => m - n));
        expect(d.mul(x, y)).toBe(spell({ digits: a.digits * b.digits, places: a.places + b.places }));
        expect(d.neg(x)).toBe(spell({ ...a, digits: -a.digits }));
        expect(d.abs(x)).toBe(spell({ ...a, digits: a.digits < 0n ? -a.digits : a.digits }));
        const places = Math.max(a.places, b.places);
        const [m, n] = [at(a, places), at(b, places)];
        expect(d.compare(x, y)).toBe(m < n ? -1 : m > n ? 1 : 0);
        expect(d.equal(x, y)).toBe(m === n);
      }),
      { seed: 1, numRuns: 1_000 },
    );
  });

  it("div rounds towards zero at the places asked for", () => {
    fc.assert(
      fc.property(scaled, scaled, fc.integer({ min: 0, max: 20 }), (a, b, places) => {
        fc.pre(b.digits !== 0n);
        const common = Math.max(a.places, b.places);
        const quotient = (at(a, common) * 10n ** BigInt(places)) / at(b, common);
        expect(d.div(spell(a), spell(b), places)).toBe(spell({ digits: quotient, places }));
      }),
      { seed: 2, numRuns: 1_000 },
    );
  });

  it.each([
    ["1.24", "0.1", "down", "1.2"],
    ["1.25", "0.1", "nearest", "1.3"],
    ["-1.25", "0.1", "nearest", "-1.3"],
    ["1.21", "0.1", "up", "1.3"],
    ["-1.21", "0.1", "up", "-1.3"],
    ["-1.29", "0.1", "down", "-1.2"],
    ["0.07", "0.025", "down", "0.05"],
    ["0.3", "0.1", "up", "0.3"],
    ["-0.04", "0.1", "down", "0"],
  ] as const)("%s on steps of %s, %s, is %s", (value, step, rounding, expected) => {
    expect(d.toStep(value, step, rounding)).toBe(expected);
  });

  it("toStep stays within a step of the value and on the grid", () => {
    const step = fc.record({ digits: fc.bigInt(1n, 10n ** 6n), places: fc.integer({ min: 0, max: 8 }) });
    fc.assert(
      fc.property(
        scaled,
        step,
        fc.constantFrom("down" as const, "up" as const, "nearest" as const),
        (a, s, rounding) => {
          const [value, size] = [spell(a), spell(s)];
          const rounded = d.toStep(value, size, rounding);
          expect(isMultiple(rounded, size)).toBe(true);
          expect(d.compare(d.abs(d.sub(rounded, value)), size)).toBe(-1);
          if (rounding === "down") expect(d.compare(d.abs(rounded), d.abs(value))).toBeLessThanOrEqual(0);
          if (rounding === "up") expect(d.compare(d.abs(rounded), d.abs(value))).toBeGreaterThanOrEqual(0);
        },
      ),
      { seed: 3, numRuns: 600 },
    );
  });

  it("the rest: sums, signs, plain spelling", () => {
    expect(d.sum([])).toBe("0");
    expect(d.sum(["0.1", "0.2", "-0.3"])).toBe("0");
    expect([d.isZero("-0.000"), d.isPositive("0"), d.isPositive("0.0001")]).toEqual([true, false, true]);
    expect([d.plain("1.500"), d.plain("-0"), d.plain("007")]).toEqual(["1.5", "0", "7"]);
    expect(d.fromApproximate(0.1 + 0.2, 8)).toBe("0.3");
    expect([d.fromApproximate(-0.04, 1), d.fromApproximate(123.9, 0), d.fromApproximate(7, 2)]).toEqual([
      "0",
      "123",
      "7",
    ]);
    expect([d.fromApproximate(1e21, 2), d.fromApproximate(5e-7, 8)]).toEqual(["1000000000000000000000", "0.0000005"]);
    expect(codeOf(() => d.fromApproximate(Number.NaN, 2))).toBe("BUG");
    expect(codeOf(() => d.div("1", "0", 2))).toBe("BUG");
    expect(codeOf(() => d.toStep("1", "0", "down"))).toBe("BUG");
  });
});

describe("Decimal grids:", () => {
  const steps = ["1", "10", "0.1", "0.01", "0.05", "0.25", "0.00000001", "0.5", "25"];

  it("parse and format are inverse on the grid", () => {
    fc.assert(
      fc.property(fc.constantFrom(...steps), fc.integer({ min: -(10 ** 9), max: 10 ** 9 }), (step, count) => {
        const one = d.grid(step);
        expect(one.parse(one.format(count))).toBe(count);
        expect(d.equal(one.format(count), d.mul(String(count), step))).toBe(true);
        expect(one.format(count)).toBe(d.plain(one.format(count)));
      }),
      { seed: 4, numRuns: 400 },
    );
  });

  it("text is on the grid exactly when it is a multiple of the step", () => {
    fc.assert(
      fc.property(fc.constantFrom(...steps), scaled, (step, a) => {
        const text = spell({ ...a, digits: a.digits % 10n ** 12n });
        const one = d.grid(step);
        const counted = codeOf(() => one.parse(text));
        const whole = isMultiple(text, step);
        const fits = Number.isSafeInteger(Number(d.div(text, step, 0)) * Number(step.replace(".", "")));
        if (!whole) expect(counted).toBe("DECIMAL_INVALID");
        else if (fits) expect(one.format(one.parse(text))).toBe(d.plain(text));
      }),
      { seed: 5, numRuns: 400 },
    );
  });

  it("parseTo brings text onto the grid as toStep does", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...steps),
        scaled,
        fc.constantFrom("down" as const, "up" as const, "nearest" as const),
        (step, a, rounding) => {
          const text = spell({ digits: a.digits % 10n ** 9n, places: a.places });
          const one = d.grid(step);
          const quotient = Number(d.div(text, step, 0));
          fc.pre(Math.abs(quotient) < 10 ** 14);
          expect(one.format(one.parseTo(text, rounding))).toBe(d.toStep(text, step, rounding));
        },
      ),
      { seed: 6, numRuns: 300 },
    );
  });

  it.each(["abc", "1e3", "", "0.15", "1.01"])("refuses %j on steps of 0.1, by value", (text) => {
    expect(() => d.grid("0.1").parse(text)).toThrow(`"${text}" is not a whole number of steps of 0.1`);
  });

  it.each(["0", "-1", "x"])("refuses %j as a step", (step) => {
    expect(codeOf(() => d.grid(step))).not.toBe("no error");
  });

  it("a count beyond 2^53 is refused, not rounded", () => {
    expect(codeOf(() => d.grid("0.00000001").parse("999999999.99999999"))).toBe("DECIMAL_INVALID");
  });

  it("says its step and places, and approximates", () => {
    const one = d.grid("0.050");
    expect([one.step, one.places, one.format(3), one.approximate(3)]).toEqual(["0.05", 2, "0.15", 0.15]);
  });
});
