/**
 * Exact decimal text: the only arithmetic for prices, sizes, fees and money outside the matching loops.
 *
 * Invariants: the grammar is digits with an optional sign and an optional fraction, nothing else (`1e3`, `0x10`, `NaN`,
 * ` 5` are refused); results are never rounded unless the caller names the step or the places.
 * Not here: binary floats; the integer grids at the bottom are counts of a step, exact up to 2^53.
 */
import Big from "big.js";
import { assert, SluiceError } from "./errors.ts";

const lengthMax = 40;
const [minus, point, zero, nine] = [45, 46, 48, 57];

// A private constructor: its settings cannot be changed from outside. 0 = round down, used only where a step is named.
const Exact = Object.assign(Big(), { DP: 40, RM: 0, NE: -100, PE: 100 });

/** Whether a value is decimal text, such as "-0.05": digits, at most one point, an optional minus sign. */
export const isDecimal = (text: unknown): text is string => {
  if (typeof text !== "string" || text.length > lengthMax) return false;
  const last = text.length - 1;
  const first = text.charCodeAt(0) === minus ? 1 : 0;
  let dot = -1;
  for (let index = first; index <= last; index++) {
    const code = text.charCodeAt(index);
    if (code >= zero && code <= nine) continue;
    if (code !== point || dot >= 0 || index === first || index === last) return false;
    dot = index;
  }
  return last >= first;
};

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

export const safeMax = Number.MAX_SAFE_INTEGER;
/** Digits, a sign and a point that may still make a whole number below 2^53. */
const quickMax = 18;
/** Twice ten to this many digits is a whole number below 2^53, too. */
const wholeMax = 15;
const powers = Array.from({ length: quickMax + 1 }, (_, digits) => 10 ** digits);
/** False for what was rounded, which is 2^53 at least, and for what is no number. */
const isExact = (count: number): boolean => count <= safeMax && count >= -safeMax;

// What fits is counted in whole units: two hundred times as fast as digit by digit. Results that need more than one
// number are left in these variables, because an object for each would cost more than reading it.
export let readPlaces = 0;
const pair = new Float64Array(2);

/**
 * All digits of a decimal as one number; `readPlaces` of them are fraction. Beyond 2^53 not exact; NaN where it is too
 * long or no decimal.
 */
export const digitsOf = (text: string): number => {
  if (typeof text !== "string" || text.length > quickMax) return Number.NaN;
  const last = text.length - 1;
  const first = text.charCodeAt(0) === minus ? 1 : 0;
  let digits = 0;
  let dot = last;
  for (let index = first; index <= last; index++) {
    const code = text.charCodeAt(index);
    if (code >= zero && code <= nine) digits = digits * 10 + (code - zero);
    else if (code !== point || dot !== last || index === first || index === last) return Number.NaN;
    else dot = index;
  }
  if (last < first) return Number.NaN;
  readPlaces = last - dot;
  return first === 0 ? digits : -digits;
};

/**
 * Both numbers in the finer unit of the two, into `pair`, its fraction digits into `readPlaces`; false where they do
 * not fit.
 */
const align = (a: string, b: string): boolean => {
  let x = digitsOf(a);
  const xPlaces = readPlaces;
  let y = digitsOf(b);
  if (xPlaces < readPlaces) x *= powers[readPlaces - xPlaces] as number;
  else if (xPlaces > readPlaces) {
    y *= powers[xPlaces - readPlaces] as number;
    readPlaces = xPlaces;
  }
  pair[0] = x;
  pair[1] = y;
  return x <= safeMax && x >= -safeMax && y <= safeMax && y >= -safeMax;
};

/** All digits of a decimal of any length; `readPlaces` of them are fraction. */
const longDigitsOf = (text: string): bigint => {
  const dot = decimal(text, "decimal arithmetic").indexOf(".");
  readPlaces = dot < 0 ? 0 : text.length - dot - 1;
  return BigInt(dot < 0 ? text : text.slice(0, dot) + text.slice(dot + 1));
};
export const spellLong = (digits: bigint, places: number): string =>
  digits < 0n ? `-${spelled(String(-digits), places)}` : spelled(String(digits), places);

/** A sum or difference of any length. */
const joined = (a: string, b: string, join: (x: bigint, y: bigint) => bigint): string => {
  const x = longDigitsOf(a);
  const xPlaces = readPlaces;
  const y = longDigitsOf(b);
  const places = Math.max(xPlaces, readPlaces);
  return spellLong(join(x * 10n ** BigInt(places - xPlaces), y * 10n ** BigInt(places - readPlaces)), places);
};
/**
 * Sum of two decimals, exact. Like all arithmetic here it takes and returns decimal text and throws where an argument
 * is none.
 */
export const add = (a: string, b: string): string => {
  if (a === "0") return plain(b);
  const fits = align(a, b);
  const total = (pair[0] as number) + (pair[1] as number);
  return fits && total <= safeMax && total >= -safeMax ? formatCount(total, readPlaces) : joined(a, b, (x, y) => x + y);
};
/** `a` less `b`, exact. */
export const sub = (a: string, b: string): string => {
  const fits = align(a, b);
  const left = (pair[0] as number) - (pair[1] as number);
  return fits && left <= safeMax && left >= -safeMax ? formatCount(left, readPlaces) : joined(a, b, (x, y) => x - y);
};
/** Product, exact. */
export const mul = (a: string, b: string): string => {
  const x = digitsOf(a);
  const xPlaces = readPlaces;
  const product = x * digitsOf(b);
  if (product <= safeMax && product >= -safeMax) return formatCount(product, xPlaces + readPlaces);
  const long = longDigitsOf(a);
  const longPlaces = readPlaces;
  return spellLong(long * longDigitsOf(b), longPlaces + readPlaces);
};
/** The decimal with the opposite sign. */
export const neg = (a: string): string => {
  const text = plain(a);
  return text === "0" ? text : text.startsWith("-") ? text.slice(1) : `-${text}`;
};
/** The decimal without its sign. */
export const abs = (a: string): string => plain(a).replace("-", "");
/** -1, 0 or 1 as `a` is below, equal to or above `b`, by value: "1.0" equals "1". */
export const compare = (a: string, b: string): -1 | 0 | 1 => {
  if (!align(a, b)) return big(a).cmp(big(b));
  const left = (pair[0] as number) - (pair[1] as number);
  return left < 0 ? -1 : left > 0 ? 1 : 0;
};

/** Whether a decimal is zero. */
export const isZero = (a: string): boolean => {
  const x = digitsOf(a);
  return x === 0 || (Number.isNaN(x) && big(a).eq(0));
};
/** Whether a decimal is above zero. */
export const isPositive = (a: string): boolean => {
  const x = digitsOf(a);
  return x > 0 || (Number.isNaN(x) && big(a).gt(0));
};
export const equal = (a: string, b: string): boolean => a === b || compare(a, b) === 0;
/** Sum of all values, exact; "0" of none. */
export const sum = (values: readonly string[]): string => values.reduce(add, "0");

/** Quotient rounded towards zero at `digits` fraction digits. */
export const div = (a: string, b: string, digits: number): string => {
  const of = align(a, b) ? (pair[0] as number) : Number.NaN;
  const by = pair[1] as number;
  const shifted = of * (powers[digits] ?? Number.NaN);
  if (by !== 0 && shifted <= safeMax && shifted >= -safeMax)
    return formatCount((shifted - (shifted % by)) / by, digits);
  // What was paid for a quantity, divided by its price, comes out even after fewer digits: as many as still fit are
  // tried.
  const fewer = Math.min(digits, wholeMax - Math.ceil(Math.log10(Math.abs(of))));
  const fitting = of * (powers[fewer] ?? Number.NaN);
  if (fitting % by === 0 && fitting <= safeMax && fitting >= -safeMax) return formatCount(fitting / by, fewer);
  assert(!isZero(b), "nothing is divided by zero");
  const x = longDigitsOf(a);
  const xPlaces = readPlaces;
  const y = longDigitsOf(b);
  return spellLong((x * 10n ** BigInt(digits + readPlaces)) / (y * 10n ** BigInt(xPlaces)), digits);
};

type Rounding = "down" | "up" | "nearest";
const modes = { down: 0, nearest: 1, up: 3 } as const;

/**
 * The multiple of `step` next to `a`: `down` and `up` are towards and away from zero, `nearest` rounds halves away from
 * zero.
 */
export const toStep = (a: string, step: string, rounding: Rounding): string => {
  if (align(a, step) && (pair[1] as number) > 0) {
    const x = pair[0] as number;
    const unit = pair[1] as number;
    const over = Math.abs(x % unit);
    const away = over > 0 && (rounding === "up" || (rounding === "nearest" && over * 2 >= unit));
    const size = Math.abs(x) - over + (away ? unit : 0);
    if (size <= safeMax) return formatCount(x < 0 ? -size : size, readPlaces);
  }
  assert(isPositive(step), `a step is positive, not ${step}`);
  return spell(big(a).div(big(step)).round(0, modes[rounding]).times(big(step)));
};

const shortest = /^(?:0|-?(?:0\.\d*[1-9]|[1-9]\d*(?:\.\d*[1-9])?))$/;
/** Shortest spelling: `1.500` becomes `1.5`, `-0` becomes `0`. */
export const plain = (a: string): string => {
  if (typeof a === "string" && a.length <= lengthMax && shortest.test(a)) return a;
  const x = digitsOf(a);
  return isExact(x) ? formatCount(x, readPlaces) : spell(big(a));
};

/** For indicators and pictures only; never feed the result back into a price or a size. */
export const approximate = (a: string): number => Number(a);

/**
 * A number from arithmetic on floats as decimal text with `digits` fraction digits; for signals that become wanted
 * orders.
 */
export const fromApproximate = (value: number, digits: number): string => {
  assert(Number.isFinite(value), `a finite number was given, not ${value}`);
  const text = String(value);
  if (powers[digits] === undefined || text.includes("e")) return plain(new Exact(value).toFixed(digits));
  const dot = text.indexOf(".");
  return plain(dot < 0 ? text : text.slice(0, dot + (digits === 0 ? 0 : digits + 1)));
};

/**
 * Counts of one step as integers: prices in ticks, sizes in lots. Exact while the count stays below 2^53.
 * `parse` refuses text that is off the grid, `parseTo` brings it onto the grid; `format` gives the shortest decimal
 * text.
 */
export const grid = (step: string) => {
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
    /** Fraction digits of the step. */
    places,
    parse: (value: string): number => safe(countOf(value, places, unit), `"${value}"`),
    parseTo: (value: string, rounding: Rounding): number => {
      const quick = countOf(value, places, unit);
      if (Number.isSafeInteger(quick)) return quick;
      return safe(Number(spell(big(value).div(text).round(0, modes[rounding]))), `"${value}"`);
    },
    format: (count: number): string => {
      const scaled = count * unit;
      return isExact(scaled)
        ? formatCount(scaled, places)
        : spell(new Exact(String(scaled)).div(new Exact(10).pow(places)));
    },
    approximate: (count: number): number => (count * unit) / scale,
  };
};

/** Conversion between decimal text and whole counts of a step, made by `grid`. */
export type Grid = Readonly<ReturnType<typeof grid>>;

/** Digits of `text` shifted by `places`, divided by `unit`; NaN when it does not come out whole. */
const countOf = (text: string, places: number, unit: number): number => {
  const digits = digitsOf(text);
  const scaled = digits * (powers[places - readPlaces] ?? Number.NaN);
  return isExact(scaled) ? wholeOf(scaled, unit) : wholeOf(scaledOf(text, places), unit);
};

// The sum turns -0 into 0.
const wholeOf = (scaled: number, unit: number): number => {
  const count = scaled / unit;
  return Number.isInteger(count) ? count + 0 : Number.NaN;
};

/** The same for text of any length, as long as nothing but zeros follows the last place. */
const scaledOf = (text: string, places: number): number => {
  if (!isDecimal(text)) return Number.NaN;
  const [whole = "", fraction = ""] = text.split(".");
  if (/[^0]/.test(fraction.slice(places))) return Number.NaN;
  const scaled = Number(whole + fraction.slice(0, places).padEnd(places, "0"));
  return isExact(scaled) ? scaled : Number.NaN;
};

/** Fraction digits of up to three places with the point, without trailing zeros: the ends of most prices. */
const endings = [1, 2, 3].map((places) =>
  Array.from({ length: 10 ** places }, (_, digits) =>
    digits === 0 ? "" : `.${String(digits).padStart(places, "0").replace(/0+$/, "")}`,
  ),
);

/** `scaled` counts units of the `places`-th fraction digit, exactly. */
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
  while (digits.charCodeAt(end - 1) === zero) end--;
  return `${sign}${whole}.${digits.slice(1, end)}`;
};
/** A whole number of such units, written out: a number of them is beyond 2^53 at times. */
const spelled = (units: string, places: number): string => {
  const digits = units.padStart(places + 1, "0");
  const point = digits.length - places;
  let end = digits.length;
  while (end > point && digits.charCodeAt(end - 1) === zero) end--;
  return end === point ? digits.slice(0, point) : `${digits.slice(0, point)}.${digits.slice(point, end)}`;
};
