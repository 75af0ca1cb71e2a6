/**
 * Exact decimal text: arithmetic for prices, sizes, fees and money at public edges.
 *
 * Invariants: the grammar is digits with an optional sign and an optional fraction, nothing else (`1e3`, `0x10`, `NaN`,
 * ` 5` are refused); results are never rounded unless the caller names the step or the places.
 * Not here: decimals as values, for more than one operation (decimal-value.ts); binary floats; the integer grids at the
 * bottom are counts of a step, exact up to 2^53.
 */
import Big from "big.js";
import * as exact from "./decimal-value.ts";
import { type Decimal, formatCount, type Rounding, read, spell } from "./decimal-value.ts";
import { assert, SluiceError } from "./errors.ts";

export { decimal, isDecimal } from "./decimal-value.ts";

// A private constructor: its settings cannot be changed from outside. 0 = round down.
const Exact = Object.assign(Big(), { DP: 40, RM: 0, NE: -100, PE: 100 });

const digitsMax = 18;

/**
 * Sum of two decimals, exact. Like all arithmetic here it takes and returns decimal text and throws where an argument
 * is none.
 */
export const add = (a: string, b: string): string => spell(exact.add(read(a), read(b)));
/** `a` less `b`, exact. */
export const sub = (a: string, b: string): string => spell(exact.sub(read(a), read(b)));
/** Product, exact. */
export const mul = (a: string, b: string): string => spell(exact.mul(read(a), read(b)));
/** The decimal with the opposite sign. */
export const neg = (a: string): string => spell(exact.neg(read(a)));
/** The decimal without its sign. */
export const abs = (a: string): string => spell(exact.abs(read(a)));
/** -1, 0 or 1 as `a` is below, equal to or above `b`, by value: "1.0" equals "1". */
export const compare = (a: string, b: string): -1 | 0 | 1 => exact.compare(read(a), read(b));
/** True for zero. */
export const isZero = (a: string): boolean => exact.isZero(read(a));
/** True above zero. */
export const isPositive = (a: string): boolean => exact.isPositive(read(a));
export const equal = (a: string, b: string): boolean => a === b || compare(a, b) === 0;
/** Sum of all values, exact; "0" of none. */
export const sum = (values: readonly string[]): string => spell(exact.sum(values.map(read)));
/** Quotient rounded towards zero at `digits` fraction digits. */
export const div = (a: string, b: string, digits: number): string => spell(exact.div(read(a), read(b), digits));
/**
 * The multiple of `step` next to `a`: `down` and `up` are towards and away from zero, `nearest` rounds halves away from
 * zero.
 */
export const toStep = (a: string, step: string, rounding: Rounding): string =>
  spell(exact.toStep(read(a), read(step), rounding));

const shortest = /^(?:0|-?(?:0\.\d*[1-9]|[1-9]\d*(?:\.\d*[1-9])?))$/;
/** Shortest spelling: `1.500` becomes `1.5`, `-0` becomes `0`. */
export const plain = (a: string): string => (exact.isDecimal(a) && shortest.test(a) ? a : spell(read(a)));

/** For indicators and pictures only; never feed the result back into a price or a size. */
export const approximate = (a: string): number => Number(a);

/**
 * A number from arithmetic on floats as decimal text with `digits` fraction digits; for signals that become wanted
 * orders.
 */
export const fromApproximate = (value: number, digits: number): string => {
  assert(Number.isFinite(value), `a finite number was given, not ${value}`);
  const text = String(value);
  const isShort = Number.isInteger(digits) && digits >= 0 && digits <= digitsMax;
  if (!isShort || text.includes("e")) return plain(new Exact(value).toFixed(digits));
  const dot = text.indexOf(".");
  return plain(dot < 0 ? text : text.slice(0, dot + (digits === 0 ? 0 : digits + 1)));
};

/**
 * Counts of one step as integers: prices in ticks, sizes in lots. Exact while the count stays below 2^53.
 * `parse` refuses text that is off the grid, `parseTo` brings it onto the grid; `format` gives the shortest decimal
 * text.
 */
export const grid = (step: string) => {
  const text = plain(exact.decimal(step, "step"));
  assert(isPositive(text), `a step is positive, not ${step}`);
  const { units, places } = read(text);
  assert(typeof units === "number", `the step ${step} has at most 15 digits`);
  const value: Decimal = { units, places };
  const safe = (count: number, source: string): number => {
    if (Number.isSafeInteger(count)) return count;
    throw new SluiceError("DECIMAL_INVALID", `${source} is not a whole number of steps of ${text} below 2^53.`);
  };
  return {
    step: text,
    /** Fraction digits of the step. */
    places,
    parse: (source: string): number => safe(countOf(source, value), `"${source}"`),
    parseTo: (source: string, rounding: Rounding): number => {
      const quick = countOf(source, value);
      return Number.isSafeInteger(quick)
        ? quick
        : safe(quotientOf(exact.toStep(read(source), value, rounding), value), `"${source}"`);
    },
    format: (count: number): string => {
      const scaled = count * units;
      return Number.isSafeInteger(scaled)
        ? formatCount(scaled, places)
        : spell({ units: BigInt(count) * BigInt(units), places });
    },
    approximate: (count: number): number => (count * units) / 10 ** places,
  };
};

/** Conversion between decimal text and whole counts of a step, made by `grid`. */
export type Grid = Readonly<ReturnType<typeof grid>>;

/** Number of steps in decimal text; NaN where it is no whole number of them, or no decimal. */
const countOf = (text: string, step: Decimal): number =>
  exact.isDecimal(text) ? quotientOf(read(text), step) : Number.NaN;

const quotientOf = (value: Decimal, step: Decimal): number => {
  const { units, places } = value;
  // The sums turn -0 into 0.
  if (typeof units === "number" && typeof step.units === "number" && places <= step.places) {
    const scaled = units * 10 ** (step.places - places);
    const count = scaled / step.units;
    if (Number.isSafeInteger(scaled)) return Number.isInteger(count) ? count + 0 : Number.NaN;
  }
  if (!exact.isOnStep(value, step)) return Number.NaN;
  const { units: count } = exact.div(value, step, 0);
  return typeof count === "number" ? count + 0 : Number.NaN;
};
