/**
 * Exact decimal numbers as values: a count of units of one decimal place.
 *
 * Invariants: results are never rounded unless the caller names the step or the places; units beyond 2^53, and only
 * these, are a `bigint`, so that no digit is lost; the same number may have several forms (1.5 and 1.50), which compare as equal.
 * Not here: arithmetic on decimal text (decimal.ts).
 */
import { assert, SluiceError } from "./errors.ts";

/** Exact decimal number: `units` divided by ten to the power of `places`. */
export interface Decimal {
  readonly units: number | bigint;
  readonly places: number;
}

export type Rounding = "down" | "up" | "nearest";

const lengthMax = 40;
const [minus, point, nought, nine] = [45, 46, 48, 57];
const safeMax = Number.MAX_SAFE_INTEGER;
/** Length of text whose digits may still fit a number. */
const quickMax = 18;
/** Powers of ten with up to this many digits are exact in all that is done with them here. */
const wholeMax = 15;
const powers = Array.from({ length: quickMax + 1 }, (_, digits) => 10 ** digits);

const fits = (units: number): boolean => units <= safeMax && units >= -safeMax;

/**
 * Returns true for decimal text, such as "-0.05": digits, at most one point, an optional minus sign.
 *
 * @param text - anything
 * @returns false for numbers, exponents and blanks
 */
export const isDecimal = (text: unknown): text is string => {
  if (typeof text !== "string" || text.length > lengthMax) return false;
  const last = text.length - 1;
  const first = text.charCodeAt(0) === minus ? 1 : 0;
  let dot = -1;
  for (let index = first; index <= last; index++) {
    const code = text.charCodeAt(index);
    if (code >= nought && code <= nine) continue;
    if (code !== point || dot >= 0 || index === first || index === last) return false;
    dot = index;
  }
  return last >= first;
};

/**
 * Checks decimal text.
 *
 * @param text - anything
 * @param place - where it was written, for the message
 * @returns the text unchanged
 * @throws DECIMAL_INVALID with place and value
 */
export const decimal = (text: unknown, place: string): string => {
  if (isDecimal(text)) return text;
  throw new SluiceError(
    "DECIMAL_INVALID",
    `${place}: ${JSON.stringify(text)} is not a decimal. Write plain digits in a string, such as "0.001" (no exponent, no hex, at most ${lengthMax} characters).`,
  );
};

export const zero: Decimal = { units: 0, places: 0 };

/**
 * Reads decimal text.
 *
 * @param text - such as "-0.05"
 * @returns the value
 * @throws DECIMAL_INVALID where it is none
 */
export const read = (text: string): Decimal => {
  if (typeof text !== "string" || text.length > quickMax) return readLong(text);
  const last = text.length - 1;
  const first = text.charCodeAt(0) === minus ? 1 : 0;
  let digits = 0;
  let dot = last;
  for (let index = first; index <= last; index++) {
    const code = text.charCodeAt(index);
    if (code >= nought && code <= nine) digits = digits * 10 + (code - nought);
    else if (code !== point || dot !== last || index === first || index === last) return readLong(text);
    else dot = index;
  }
  if (last < first || !fits(digits)) return readLong(text);
  return { units: first === 0 ? digits : -digits, places: last - dot };
};

const readLong = (text: string): Decimal => {
  const dot = decimal(text, "decimal arithmetic").indexOf(".");
  const places = dot < 0 ? 0 : text.length - dot - 1;
  const units = BigInt(dot < 0 ? text : text.slice(0, dot) + text.slice(dot + 1));
  return { units: asNumber(units), places };
};

const asNumber = (units: bigint): number | bigint => (units <= safeMax && units >= -safeMax ? Number(units) : units);

/** A value in as few places as it needs, as a number where it fits one. */
const shortened = (long: bigint, places: number): Decimal => {
  let units = long;
  let left = places;
  while (left > 0 && units % 10n === 0n) {
    units /= 10n;
    left--;
  }
  return { units: asNumber(units), places: left };
};

/** Units of a finer place, or of the same. */
const refined = ({ units, places }: Decimal, to: number): number | bigint => {
  if (places === to) return units;
  if (typeof units === "number") {
    const finer = units * (powers[to - places] ?? Number.NaN);
    if (fits(finer)) return finer;
  }
  return BigInt(units) * 10n ** BigInt(to - places);
};

const finest = (a: Decimal, b: Decimal): number => (a.places > b.places ? a.places : b.places);

export const add = (a: Decimal, b: Decimal): Decimal => {
  if (isZero(b)) return a;
  if (isZero(a)) return b;
  const places = finest(a, b);
  const x = refined(a, places);
  const y = refined(b, places);
  if (typeof x === "number" && typeof y === "number") {
    const units = x + y;
    if (fits(units)) return { units, places };
  }
  return shortened(BigInt(x) + BigInt(y), places);
};

export const sub = (a: Decimal, b: Decimal): Decimal => {
  if (isZero(b)) return a;
  const places = finest(a, b);
  const x = refined(a, places);
  const y = refined(b, places);
  if (typeof x === "number" && typeof y === "number") {
    const units = x - y;
    if (fits(units)) return { units, places };
  }
  return shortened(BigInt(x) - BigInt(y), places);
};

export const neg = (a: Decimal): Decimal => (isZero(a) ? a : { units: -a.units, places: a.places });

export const abs = (a: Decimal): Decimal => (a.units < 0 ? neg(a) : a);

export const mul = (a: Decimal, b: Decimal): Decimal => {
  if (isZero(a) || isZero(b)) return zero;
  const places = a.places + b.places;
  if (typeof a.units === "number" && typeof b.units === "number") {
    const units = a.units * b.units;
    if (fits(units)) return { units, places };
  }
  return shortened(BigInt(a.units) * BigInt(b.units), places);
};

/** -1, 0 or 1 as `a` is below, equal to or above `b`. */
export const compare = (a: Decimal, b: Decimal): -1 | 0 | 1 => {
  const places = finest(a, b);
  const x = refined(a, places);
  const y = refined(b, places);
  return x < y ? -1 : x > y ? 1 : 0;
};

export const equal = (a: Decimal, b: Decimal): boolean => a === b || compare(a, b) === 0;
export const isZero = ({ units }: Decimal): boolean => !units;
export const isPositive = ({ units }: Decimal): boolean => units > 0;
export const min = (a: Decimal, b: Decimal): Decimal => (compare(a, b) <= 0 ? a : b);
export const max = (a: Decimal, b: Decimal): Decimal => (compare(a, b) >= 0 ? a : b);
/** The value, or zero where it is negative. */
export const positive = (a: Decimal): Decimal => (a.units > 0 ? a : zero);

/** Sum of all values; zero of none. */
export const sum = (values: readonly Decimal[]): Decimal => values.reduce(add, zero);

/** Quotient rounded towards zero at `digits` fraction digits. Throws where `b` is zero. */
export const div = (a: Decimal, b: Decimal, digits: number): Decimal => {
  assert(!isZero(b), "nothing is divided by zero");
  const shift = digits + b.places - a.places;
  if (typeof a.units === "number" && typeof b.units === "number") {
    const quick = quotient(a.units, b.units, shift);
    if (quick !== undefined) return trimmed(quick, digits);
    // A quotient that comes out even needs fewer digits: as many as fit are tried.
    const fewer = wholeMax - Math.ceil(Math.log10(Math.abs(a.units)));
    const over = a.units * (powers[fewer] ?? Number.NaN);
    const places = digits + fewer - shift;
    if (fewer < shift && places >= 0 && over % b.units === 0) return trimmed(over / b.units, places);
  }
  const over = BigInt(a.units) * 10n ** BigInt(Math.max(shift, 0));
  return shortened(over / (BigInt(b.units) * 10n ** BigInt(Math.max(-shift, 0))), digits);
};

/** `a` times ten to the power of `shift` over `b`, rounded towards zero; undefined where that may not be exact. */
const quotient = (a: number, b: number, shift: number): number | undefined => {
  const over = a * (powers[Math.max(shift, 0)] ?? Number.NaN);
  const under = b * (powers[Math.max(-shift, 0)] ?? Number.NaN);
  return fits(over) && fits(under) ? (over - (over % under)) / under : undefined;
};

const trimmed = (count: number, digits: number): Decimal => {
  let units = count;
  let places = digits;
  while (places > 0 && units % 10 === 0) {
    units /= 10;
    places--;
  }
  return { units, places };
};

/**
 * The multiple of `step` next to `a`: `down` and `up` are towards and away from zero, `nearest` rounds halves away from
 * zero. Throws where the step is not positive.
 */
export const toStep = (a: Decimal, step: Decimal, rounding: Rounding): Decimal => {
  assert(isPositive(step), `a step is positive, not ${spell(step)}`);
  const places = finest(a, step);
  const x = refined(a, places);
  const unit = refined(step, places);
  if (typeof x === "number" && typeof unit === "number") {
    const over = Math.abs(x % unit);
    if (over === 0) return a;
    const size = Math.abs(x) - over + (rounding === "up" || (rounding === "nearest" && over * 2 >= unit) ? unit : 0);
    if (fits(size)) return { units: x < 0 ? -size : size, places };
  }
  return shortened(longToStep(BigInt(x), BigInt(unit), rounding), places);
};

const longToStep = (units: bigint, step: bigint, rounding: Rounding): bigint => {
  const over = units % step < 0n ? -(units % step) : units % step;
  const isAway = over > 0n && (rounding === "up" || (rounding === "nearest" && over * 2n >= step));
  const size = (units < 0n ? -units : units) - over + (isAway ? step : 0n);
  return units < 0n ? -size : size;
};

/** Returns true for a whole number of positive steps. */
export const isOnStep = (a: Decimal, step: Decimal): boolean => isPositive(step) && equal(toStep(a, step, "down"), a);

/**
 * Shortest decimal text of a value, such as "-0.05".
 *
 * @param value - made by `readDecimal`
 * @returns decimal text
 */
export const spell = ({ units, places }: Decimal): string => {
  if (typeof units === "number") return formatCount(units, places);
  return units < 0n ? `-${spelled(String(-units), places)}` : spelled(String(units), places);
};

/** Fraction digits of up to three places with the point, without trailing zeros: the ends of most prices. */
const endings = [1, 2, 3].map((places) =>
  Array.from({ length: 10 ** places }, (_, digits) =>
    digits === 0 ? "" : `.${String(digits).padStart(places, "0").replace(/0+$/, "")}`,
  ),
);

/** Decimal text of a whole number of units of the `places`-th fraction digit. */
export const formatCount = (scaled: number, places: number): string => {
  if (scaled === 0) return "0";
  if (places === 0) return String(scaled);
  const size = scaled < 0 ? -scaled : scaled;
  const sign = scaled < 0 ? "-" : "";
  const ending = endings[places - 1];
  const scale = powers[places];
  if (scale === undefined || places > wholeMax) return sign + spelled(String(size), places);
  const whole = Math.floor(size / scale);
  const rest = size - whole * scale;
  if (ending !== undefined) return sign + whole + (ending[rest] as string);
  if (rest === 0) return sign + whole;
  // With a one before it, the rest has all its digits.
  const digits = String(rest + scale);
  let end = digits.length;
  while (digits.charCodeAt(end - 1) === nought) end--;
  return `${sign}${whole}.${digits.slice(1, end)}`;
};

const spelled = (units: string, places: number): string => {
  const digits = units.padStart(places + 1, "0");
  const dot = digits.length - places;
  let end = digits.length;
  while (end > dot && digits.charCodeAt(end - 1) === nought) end--;
  return end === dot ? digits.slice(0, dot) : `${digits.slice(0, dot)}.${digits.slice(dot, end)}`;
};
