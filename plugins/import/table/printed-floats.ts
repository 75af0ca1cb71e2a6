/**
 * Decimals that a program kept as binary floats and printed in full: `64123.200000000004`, or `906.8099975585938` for
 * the 906.81 of 32 bits.
 *
 * Invariants: only a text with more digits than a float holds of a decimal, which is a float to its last digit, is read
 * as another one; so is every price of a file whose prices are all floats of 32 bits.
 * Not here: floats of binary files (binary/cell-text.ts).
 */
import { singleText } from "../binary/cell-text.ts";
import { plainDigits } from "./cell-kinds.ts";

/** A double holds fifteen digits of any decimal. */
const digitsMax = 15;
/** Number of digits above which a float of 32 bits is recognized as such and not as a decimal. */
const singleDigits = 9;

const significant = (text: string): number => {
  const digits = text.replace(".", "").replace(/^0+/, "");
  return (text.includes(".") ? digits.replace(/0+$/, "") : digits).length;
};

const placesIn = (text: string): number => (text.includes(".") ? text.length - text.indexOf(".") - 1 : 0);

/** Returns true if the digits are those of a double: the shortest, seventeen of them, or all to the last place. */
const isPrinted = (text: string, value: number): boolean => {
  const places = placesIn(text);
  const spellings = [String(value), value.toPrecision(17), ...(places <= 100 ? [value.toFixed(places)] : [])];
  return spellings.some((spelling) => plainDigits(spelling) === text);
};

const isSingle = (text: string): boolean => Math.fround(Number(text)) === Number(text);

/** Representation of the prices of a file: decimals, or floats of 64 or 32 bits. */
export type PriceKind = "decimal" | "double" | "single";

/** Largest distance of a computed float from the intended decimal, in its smallest steps. */
const stepsMax = 8;
const shortDigits = 12;

const rounded = (value: number): string => plainDigits(String(Number(value.toPrecision(digitsMax))));

/** Returns true if a printed double is certainly not the decimal that its digits spell. */
const isNoise = (text: string, value: number): boolean => {
  if (!Number.isSafeInteger(Number(text.replace(".", "")))) return true;
  const short = rounded(value);
  const step = 2 ** (Math.floor(Math.log2(value)) - 52);
  return significant(short) <= shortDigits && Math.abs(Number(short) - value) <= stepsMax * step;
};

/** Returns the decimal of a printed float, in plain digits; the text itself if it is not a printed float. */
export const withoutFloat = (text: string, kind: PriceKind): string => {
  if (text.length <= singleDigits || !plain.test(text)) return text;
  const value = Number(text);
  if (kind === "single" && isSingle(text)) return plainDigits(singleText(value));
  if (text.length <= digitsMax || significant(text) <= digitsMax || !isPrinted(text, value)) return text;
  if (isSingle(text)) return plainDigits(singleText(value));
  return kind === "double" || isNoise(text, value) ? rounded(value) : text;
};

const plain = /^\d+(\.\d+)?$/;

/**
 * Detects the representation of prices: floats of 32 bits if all fit one and some has more digits than a decimal would,
 * floats of 64 bits if one certainly is a double.
 */
export const priceKindOf = (cells: readonly string[], isKnownSingle: boolean): PriceKind => {
  const texts = cells.map(plainDigits).filter((text) => plain.test(text));
  const least = isKnownSingle ? singleDigits : digitsMax;
  if (texts.every(isSingle) && texts.some((text) => significant(text) > least)) return "single";
  const long = texts.filter((text) => text.length > digitsMax && significant(text) > digitsMax);
  return long.some((text) => isPrinted(text, Number(text)) && isNoise(text, Number(text))) ? "double" : "decimal";
};
