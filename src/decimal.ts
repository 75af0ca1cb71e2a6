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
 * Sum of two decimals, exact.
 *
 * @param a - decimal text, such as "-0.05"
 * @param b - decimal text
 * @returns decimal text in its shortest spelling
 * @throws DECIMAL_INVALID where an argument is no decimal text; so do the other functions of decimals
 * @example
 * add("0.1", "0.2") // "0.3"
 */
export const add = (a: string, b: string): string => spell(exact.add(read(a), read(b)));
/**
 * `a` less `b`, exact.
 *
 * @param a - decimal text
 * @param b - decimal text
 * @returns decimal text in its shortest spelling
 * @throws DECIMAL_INVALID where an argument is no decimal text
 */
export const sub = (a: string, b: string): string => spell(exact.sub(read(a), read(b)));
/**
 * Product of two decimals, exact.
 *
 * @param a - decimal text
 * @param b - decimal text
 * @returns decimal text in its shortest spelling
 * @throws DECIMAL_INVALID where an argument is no decimal text
 */
export const mul = (a: string, b: string): string => spell(exact.mul(read(a), read(b)));
/**
 * The decimal with the opposite sign.
 *
 * @param a - decimal text
 * @returns decimal text; "0" for zero
 * @throws DECIMAL_INVALID where the argument is no decimal text
 */
export const neg = (a: string): string => spell(exact.neg(read(a)));
/**
 * The decimal without its sign.
 *
 * @param a - decimal text
 * @returns decimal text, never negative
 * @throws DECIMAL_INVALID where the argument is no decimal text
 */
export const abs = (a: string): string => spell(exact.abs(read(a)));
/**
 * Compares two decimals by value: "1.0" equals "1".
 *
 * @param a - decimal text
 * @param b - decimal text
 * @returns -1, 0 or 1 as `a` is below, equal to or above `b`
 * @throws DECIMAL_INVALID where an argument is no decimal text
 */
export const compare = (a: string, b: string): -1 | 0 | 1 => exact.compare(read(a), read(b));
/** True for zero. */
export const isZero = (a: string): boolean => exact.isZero(read(a));
/**
 * Returns true for a decimal above zero.
 *
 * @param a - decimal text
 * @returns false for zero, too
 * @throws DECIMAL_INVALID where the argument is no decimal text
 */
export const isPositive = (a: string): boolean => exact.isPositive(read(a));
export const equal = (a: string, b: string): boolean => a === b || compare(a, b) === 0;
/**
 * Sum of any number of decimals, exact.
 *
 * @param values - decimal texts
 * @returns decimal text; "0" for an empty list
 * @throws DECIMAL_INVALID where a value is no decimal text
 */
export const sum = (values: readonly string[]): string => spell(exact.sum(values.map(read)));
/**
 * Quotient of two decimals.
 *
 * @param a - decimal text
 * @param b - decimal text other than zero, which is refused
 * @param digits - fraction digits of the result, 0 to 18
 * @returns decimal text, rounded towards zero
 * @throws DECIMAL_INVALID where `a` or `b` is no decimal text
 * @example
 * div("1", "3", 4) // "0.3333"
 */
export const div = (a: string, b: string, digits: number): string => spell(exact.div(read(a), read(b), digits));
/**
 * Rounds a decimal to a multiple of a step: a price to ticks, a size to lots.
 *
 * @param a - decimal text
 * @param step - decimal text above zero, such as an instrument's `tickSize`
 * @param rounding - `down` and `up` are towards and away from zero, `nearest` rounds halves away from zero
 * @returns decimal text
 * @throws DECIMAL_INVALID where `a` or `step` is no decimal text
 * @example
 * toStep("0.01234", "0.001", "down") // "0.012"
 */
export const toStep = (a: string, step: string, rounding: Rounding): string =>
  spell(exact.toStep(read(a), read(step), rounding));

const shortest = /^(?:0|-?(?:0\.\d*[1-9]|[1-9]\d*(?:\.\d*[1-9])?))$/;
/**
 * The shortest spelling of a decimal: `1.500` becomes `1.5`, `-0` becomes `0`.
 *
 * @param a - decimal text
 * @returns decimal text of the same value
 * @throws DECIMAL_INVALID where the argument is no decimal text
 */
export const plain = (a: string): string => (exact.isDecimal(a) && shortest.test(a) ? a : spell(read(a)));

/**
 * A decimal as a binary float, for indicators and pictures only: never turn the result back into a price or a size.
 *
 * @param a - decimal text
 * @returns the nearest float, NaN where the argument is no number
 */
export const approximate = (a: string): number => Number(a);

/**
 * A float as decimal text, for signals that become wanted orders.
 *
 * @param value - a finite number
 * @param digits - fraction digits, 0 to 18
 * @returns decimal text, cut to that many digits
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
 * Counts of one step as integers: prices in ticks, sizes in lots. Exact while the count stays below 2^53. `parse`
 * refuses text that is off the grid, `parseTo` brings it onto the grid; `format` gives the shortest decimal text.
 *
 * @param step - tick or lot size, decimal text
 * @returns readers and writers of counts
 * @throws DECIMAL_INVALID where the step is no decimal text
 */
export const grid = (step: string) => {
  const text = plain(exact.decimal(step, "step"));
  assert(isPositive(text), `a step is positive, not ${step}`);
  const { units, places } = read(text);
  assert(typeof units === "number", `the step ${step} has at most 15 digits`);
  const value: Decimal = { units, places };
  const unit = 10 ** places;
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
    approximate: (count: number): number => (count * units) / unit,
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
