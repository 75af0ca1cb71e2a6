/**
 * Exact decimal text: the only arithmetic for prices, sizes, fees and money outside the matching loops.
 *
 * Invariants: the grammar is digits with an optional sign and an optional fraction, nothing else (`1e3`, `0x10`, `NaN`, ` 5`
 * are refused); results are never rounded unless the caller names the step or the places.
 * Not here: binary floats; the integer grids at the bottom are counts of a step, exact up to 2^53.
 */
import Big from "big.js";
import { assert, SluiceError } from "./errors.ts";

const grammar = /^-?\d+(\.\d+)?$/;
const lengthMax = 40;

// A private constructor: its settings cannot be changed from outside. 0 = round down, used only where a step is named.
const Exact = Big();
Exact.DP = 40;
Exact.RM = 0;
Exact.NE = -100;
Exact.PE = 100;

export const isDecimal = (text: unknown): text is string => typeof text === "string" && text.length <= lengthMax && grammar.test(text);

/** Returns the text unchanged, or throws `DECIMAL_INVALID` naming the place and the value. */
export const decimal = (text: unknown, place: string): string => {
  if (isDecimal(text)) return text;
  throw new SluiceError(
    "DECIMAL_INVALID",
    `${place}: ${JSON.stringify(text)} is not a decimal. Write plain digits in a string, such as "0.001" (no exponent, no hex, at most ${lengthMax} characters).`,
  );
};

const big = (text: string): Big => new Exact(decimal(text, "decimal arithmetic"));
const spell = (value: Big): string => (value.eq(0) ? "0" : value.toFixed());

export const add = (a: string, b: string): string => spell(big(a).plus(big(b)));
export const sub = (a: string, b: string): string => spell(big(a).minus(big(b)));
export const mul = (a: string, b: string): string => spell(big(a).times(big(b)));
export const neg = (a: string): string => spell(big(a).times(-1));
export const abs = (a: string): string => spell(big(a).abs());
export const compare = (a: string, b: string): -1 | 0 | 1 => big(a).cmp(big(b));
export const isZero = (a: string): boolean => big(a).eq(0);
export const isPositive = (a: string): boolean => big(a).gt(0);
export const equal = (a: string, b: string): boolean => a === b || big(a).eq(big(b));
export const sum = (values: readonly string[]): string => values.reduce(add, "0");

/** Quotient rounded towards zero at `places` fraction digits. */
export const div = (a: string, b: string, places: number): string => {
  assert(!isZero(b), "nothing is divided by zero");
  return spell(big(a).div(big(b)).round(places, 0));
};

export type Rounding = "down" | "up" | "nearest";

const modes = { down: 0, nearest: 1, up: 3 } as const;

/** The multiple of `step` next to `a`: `down` and `up` are towards and away from zero, `nearest` rounds halves away from zero. */
export const toStep = (a: string, step: string, rounding: Rounding): string => {
  assert(isPositive(step), `a step is positive, not ${step}`);
  return spell(big(a).div(big(step)).round(0, modes[rounding]).times(big(step)));
};

export const isMultiple = (a: string, step: string): boolean => big(a).mod(big(step)).eq(0);

/** Shortest spelling: `1.500` becomes `1.5`, `-0` becomes `0`. */
export const plain = (a: string): string => spell(big(a));

/** For indicators and pictures only; never feed the result back into a price or a size. */
export const approximate = (a: string): number => Number(a);

/** A number from arithmetic on floats as decimal text with `places` digits; for signals that become wishes. */
export const fromApproximate = (value: number, places: number): string => {
  assert(Number.isFinite(value), `a finite number was given, not ${value}`);
  return plain(new Exact(value).toFixed(places));
};

/**
 * Counts of one step as integers: prices in ticks, sizes in lots. Exact while the count stays below 2^53.
 * `parse` refuses text that is off the grid; `format` gives the shortest decimal text.
 */
export interface Grid {
  readonly step: string;
  /** Fraction digits of the step. */
  readonly places: number;
  parse(text: string): number;
  /** Like `parse`, but off-grid text is brought onto the grid. */
  parseTo(text: string, rounding: Rounding): number;
  format(count: number): string;
  approximate(count: number): number;
}

export const grid = (step: string): Grid => {
  const text = plain(decimal(step, "step"));
  assert(isPositive(text), `a step is positive, not ${step}`);
  const places = text.includes(".") ? text.length - text.indexOf(".") - 1 : 0;
  const unit = Number(text.replace(".", ""));
  const scale = 10 ** places;
  assert(Number.isSafeInteger(unit), `the step ${step} has at most 15 digits`);
  const safe = (count: number, source: string): number => {
    if (Number.isSafeInteger(count)) return count;
    throw new SluiceError("DECIMAL_INVALID", `${source} is not a whole number of steps of ${text} below 2^53.`);
  };
  return {
    step: text,
    places,
    parse: (value) => safe(fastCount(value, places, unit), `"${value}"`),
    parseTo: (value, rounding) => {
      const quick = fastCount(value, places, unit);
      if (Number.isSafeInteger(quick)) return quick;
      return safe(Number(spell(big(value).div(text).round(0, modes[rounding]))), `"${value}"`);
    },
    format: (count) => formatCount(count * unit, places),
    approximate: (count) => (count * unit) / scale,
  };
};

/** Digits of `text` shifted by `places`, divided by `unit`; NaN when it does not come out whole. */
const fastCount = (text: string, places: number, unit: number): number => {
  if (!isDecimal(text)) return Number.NaN;
  let digits = 0;
  let fraction = -1;
  for (let i = text.charCodeAt(0) === 45 ? 1 : 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 46) {
      fraction = 0;
      continue;
    }
    if (fraction >= places) {
      if (code !== 48) return Number.NaN;
      continue;
    }
    digits = digits * 10 + (code - 48);
    if (fraction >= 0) fraction++;
  }
  for (let i = Math.max(fraction, 0); i < places; i++) digits *= 10;
  const count = unit === 1 ? digits : digits / unit;
  if (digits > Number.MAX_SAFE_INTEGER || !Number.isInteger(count)) return Number.NaN;
  return text.charCodeAt(0) === 45 && count !== 0 ? -count : count;
};

const formatCount = (scaled: number, places: number): string => {
  if (!Number.isSafeInteger(scaled)) return spell(new Exact(String(scaled)).div(new Exact(10).pow(places)));
  if (places === 0) return scaled === 0 ? "0" : String(scaled);
  const sign = scaled < 0 ? "-" : "";
  const digits = String(Math.abs(scaled)).padStart(places + 1, "0");
  const whole = digits.slice(0, -places);
  let end = digits.length;
  while (end > digits.length - places && digits.charCodeAt(end - 1) === 48) end--;
  const fraction = digits.slice(digits.length - places, end);
  return fraction === "" ? (whole === "0" ? "0" : sign + whole) : `${sign}${whole}.${fraction}`;
};
