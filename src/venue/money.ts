/**
 * Money and quantities inside the embedded service: bigint counts of 10^-18.
 *
 * Invariants: sums and differences are exact; a division names the direction it rounds in; text with more than 18 significant
 * fraction digits is refused, never cut.
 * Not here: ticks and lots, the plain integers the books match in (instrument.ts).
 */
import { grid, isDecimal } from "../decimal.ts";

export type Amount = bigint;

export const places = 18;
export const one: Amount = 10n ** BigInt(places);

/** The amount a text names, or undefined when it is no plain decimal or finer than the scale. */
export const readAmount = (text: unknown): Amount | undefined => {
  if (!isDecimal(text)) return undefined;
  const quick = quickAmount(text);
  if (quick !== undefined) return quick;
  const negative = text.startsWith("-");
  const [whole = "", fraction = ""] = (negative ? text.slice(1) : text).split(".");
  if (/[1-9]/.test(fraction.slice(places))) return undefined;
  const size = BigInt(whole + fraction.slice(0, places).padEnd(places, "0"));
  return negative ? -size : size;
};

/** Text with so many characters has digits that a number holds exactly. */
const quickMax = 15;
const units = Array.from({ length: quickMax }, (_, digits) => 10n ** BigInt(places - digits));

const quickAmount = (text: string): Amount | undefined => {
  if (text.length > quickMax) return undefined;
  const dot = text.indexOf(".");
  if (dot < 0) return BigInt(Number(text)) * one;
  return BigInt(Number(text.slice(0, dot) + text.slice(dot + 1))) * (units[text.length - dot - 1] as Amount);
};

/** Most amounts are whole millionths, and few enough for a plain number. */
const millionth = 10n ** BigInt(places - 6);
const millionths = grid("0.000001");

/** Shortest decimal text of an amount. */
export const spell = (value: Amount): string => {
  const count = value / millionth;
  if (count * millionth === value && Number.isSafeInteger(Number(count))) return millionths.format(Number(count));
  const digits = String(value < 0n ? -value : value).padStart(places + 1, "0");
  const fraction = digits.slice(-places).replace(/0+$/, "");
  const text = digits.slice(0, -places) + (fraction === "" ? "" : `.${fraction}`);
  return value < 0n ? `-${text}` : text;
};

export const magnitude = (value: bigint): bigint => (value < 0n ? -value : value);
export const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b);
export const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/** `a × b ÷ c` cut towards zero: for what is paid out of a whole, so that the parts never exceed it. */
export const cut = (a: bigint, b: bigint, c: bigint): bigint => (a * b) / c;

/** `a × b ÷ c` rounded up, for what is set aside; all three are positive or zero. */
export const cover = (a: bigint, b: bigint, c: bigint): bigint => (a * b + c - 1n) / c;
