/**
 * Money and quantities inside the embedded service: bigint counts of 10^-18.
 *
 * Invariants: sums and differences are exact; a division names the direction it rounds in; text with more than 18
 * significant fraction digits is refused, never cut.
 * Not here: ticks and lots, the plain integers the books match in (instrument.ts).
 */
import { formatCount, isDecimal } from "../decimal-value.ts";

export type Amount = bigint;

/** Fee rates as amounts per one of value; a negative maker rate is a rebate. */
export interface Rates {
  readonly maker: Amount;
  readonly taker: Amount;
}

export const places = 18;
export const one: Amount = 10n ** BigInt(places);

const [minus, point, zero, nine] = [45, 46, 48, 57];
/** A text of at most this many characters has digits that a number represents exactly. */
const quickMax = 15;
const units = Array.from({ length: quickMax }, (_, digits) => 10n ** BigInt(places - digits));

/** The amount a text names, or undefined when it is no plain decimal or finer than the scale. */
export const readAmount = (text: unknown): Amount | undefined => {
  if (typeof text !== "string" || text.length > quickMax) return readLong(text);
  const last = text.length - 1;
  const first = text.charCodeAt(0) === minus ? 1 : 0;
  let digits = 0;
  let dot = last;
  for (let index = first; index <= last; index++) {
    const code = text.charCodeAt(index);
    if (code >= zero && code <= nine) digits = digits * 10 + (code - zero);
    else if (code !== point || dot !== last || index === first || index === last) return undefined;
    else dot = index;
  }
  return last < first ? undefined : BigInt(first === 0 ? digits : -digits) * (units[last - dot] as Amount);
};

const readLong = (text: unknown): Amount | undefined => {
  if (!isDecimal(text)) return undefined;
  const negative = text.startsWith("-");
  const [whole = "", fraction = ""] = (negative ? text.slice(1) : text).split(".");
  if (/[1-9]/.test(fraction.slice(places))) return undefined;
  const size = BigInt(whole + fraction.slice(0, places).padEnd(places, "0"));
  return negative ? -size : size;
};

/** Text before the digits of an amount below one, by their number. */
const leading = Array.from({ length: places + 1 }, (_, digits) => `0.${"0".repeat(places - digits)}`);

/** Shortest decimal text of an amount. */
export const spell = (value: Amount): string => (value < 0n ? `-${digitsOf(-value)}` : digitsOf(value));

/** Text of an amount that is not negative. */
const digitsOf = (value: Amount): string => {
  if (value === 0n) return "0";
  const digits = String(value);
  const dot = digits.length - places;
  let end = digits.length;
  while (end > dot && digits.charCodeAt(end - 1) === zero) end--;
  if (dot <= 0) return leading[digits.length] + digits.slice(0, end);
  return end === dot ? digits.slice(0, dot) : `${digits.slice(0, dot)}.${digits.slice(dot, end)}`;
};

/** A step, and its size in units of its last decimal place: infinity if a number cannot represent it. */
export interface Step {
  readonly amount: Amount;
  readonly units: number;
  readonly places: number;
}

export const stepOf = (amount: Amount): Step => {
  let units = amount;
  let digits: number = places;
  for (; digits > 0 && units % 10n === 0n; digits--) units /= 10n;
  return { amount, units: units <= Number.MAX_SAFE_INTEGER ? Number(units) : Number.POSITIVE_INFINITY, places: digits };
};

/** Decimal text of so many steps, a whole number that is not negative. */
export const spellSteps = (count: number, step: Step): string => {
  const units = count * step.units;
  return units <= Number.MAX_SAFE_INTEGER ? formatCount(units, step.places) : spell(BigInt(count) * step.amount);
};

const shortestForm = /^(?:0|[1-9]\d*)(?:\.\d*[1-9])?$/;

/** `spell(value)` of a value that was read from `text`. */
export const spellAgain = (value: Amount, text: string): string => (shortestForm.test(text) ? text : spell(value));

export const magnitude = (value: bigint): bigint => (value < 0n ? -value : value);
export const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/** `a × b ÷ c` cut towards zero: for what is paid out of a whole, so that the parts never exceed it. */
export const cut = (a: bigint, b: bigint, c: bigint): bigint => (a * b) / c;

/** `a × b ÷ c` rounded up, for what is set aside; all three are positive or zero. */
export const cover = (a: bigint, b: bigint, c: bigint): bigint => (a * b + c - 1n) / c;
