/**
 * Money and quantities inside the embedded service: bigint counts of 10^-18.
 *
 * Invariants: sums and differences are exact; a division names the direction it rounds in; text with more than 18 significant
 * fraction digits is refused, never cut.
 * Not here: ticks and lots, the plain integers the books match in (instrument.ts).
 */
import { isDecimal } from "../decimal.ts";

export type Amount = bigint;

export const places = 18;
export const one: Amount = 10n ** BigInt(places);

/** The amount a text names, or undefined when it is no plain decimal or finer than the scale. */
export const readAmount = (text: unknown): Amount | undefined => {
  if (!isDecimal(text)) return undefined;
  const negative = text.startsWith("-");
  const [whole = "", fraction = ""] = (negative ? text.slice(1) : text).split(".");
  if (/[1-9]/.test(fraction.slice(places))) return undefined;
  const size = BigInt(whole + fraction.slice(0, places).padEnd(places, "0"));
  return negative ? -size : size;
};

/** Shortest decimal text of an amount. */
export const spell = (value: Amount): string => {
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
