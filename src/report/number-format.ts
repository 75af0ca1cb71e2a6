/**
 * Numbers as people read them: grouped digits, rounded money, durations in two units at most.
 *
 * Invariants: every figure is plain ASCII, so that columns align; money is rounded for show only, half away from zero.
 * Not here: exact figures (they are in the report itself), layout (report-text.ts).
 */
import { abs, compare, isPositive, isZero, toStep } from "../decimal.ts";

/**
 * 1204311 as 1,204,311; the fraction stays as it is.
 *
 * @param value - a number as text
 * @returns text with commas
 */
export const grouped = (value: number | string): string => {
  const [whole = "", fraction] = String(value).split(".");
  const sign = whole.startsWith("-") ? "-" : "";
  const first = (whole.length - sign.length) % 3;
  const groups = whole.slice(sign.length + first).match(/.{3}/g) ?? [];
  const head = whole.slice(sign.length, sign.length + first);
  const digits = sign + [...(head === "" ? [] : [head]), ...groups].join(",");
  return fraction === undefined ? digits : `${digits}.${fraction}`;
};

/** Fraction digits that suit amounts of the size of `reference`: two for hundreds, more where a unit is worth much. */
export const placesFor = (reference: string): number => {
  const size = abs(reference);
  if (isZero(size) || compare(size, "100") >= 0) return 2;
  return compare(size, "1") >= 0 ? 4 : 8;
};

/**
 * Always `places` fraction digits, so that a column of them aligns at the point.
 *
 * @param value - decimal text
 * @param places - fraction digits
 * @returns text with grouped digits
 */
export const amount = (value: string, places: number): string => {
  const [whole = "0", fraction = ""] = toStep(
    value,
    places === 0 ? "1" : `0.${"1".padStart(places, "0")}`,
    "nearest",
  ).split(".");
  return places === 0 ? grouped(whole) : `${grouped(whole)}.${fraction.padEnd(places, "0")}`;
};

/**
 * Formats a number with its sign, also a plus.
 *
 * @param value - decimal text
 * @param places - fraction digits
 * @returns text that begins with a sign
 */
export const signed = (value: string, places: number): string =>
  `${isPositive(value) ? "+" : ""}${amount(value, places)}`;

/**
 * Whole percent of a share; a tenth where that would read 0 or 100 and is neither.
 *
 * @param part - of the whole
 * @param whole - above zero
 * @returns text such as "12 %"
 */
export const percent = (part: number, whole: number): string => {
  if (whole === 0) return "-";
  const share = (100 * part) / whole;
  const digits = (share > 0 && share < 1) || (share > 99 && share < 100) ? 1 : 0;
  return `${share.toFixed(digits)} %`;
};

const units = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1_000, "s"],
] as const;

/**
 * A duration for people: 25 ms, 1.34 s, 12.5 s, 3 min 20 s, 2 d 4 h.
 *
 * @param ms - milliseconds
 * @returns text
 */
export const duration = (ms: number): string => {
  // Rounded first: 999.7 ms is 1 s, and 59.96 s is a minute.
  if (Math.round(ms) < 1_000) return `${ms > 0 && ms < 10 ? trimmed(ms, 1) : Math.round(ms)} ms`;
  if (ms < 59_950) return `${trimmed(ms / 1_000, ms < 9_995 ? 2 : 1)} s`;
  const first = units.findIndex(([size]) => ms >= size);
  // Rounded to what is shown; that may fill the next larger unit.
  const shown = units[Math.min(units.length - 1, Math.max(0, first) + 1)] ?? units[3];
  const rounded = Math.round(ms / shown[0]) * shown[0];
  const index = Math.max(
    0,
    units.findIndex(([size]) => rounded >= size),
  );
  const [size, name] = units[index] ?? units[3];
  const [smaller, smallerName] = units[index + 1] ?? units[3];
  const rest = Math.floor((rounded % size) / smaller);
  return `${Math.floor(rounded / size)} ${name}${rest === 0 ? "" : ` ${rest} ${smallerName}`}`;
};

const trimmed = (value: number, digits: number): string => String(Number(value.toFixed(digits)));

/**
 * `1 order`, `2 orders`.
 *
 * @param count - a whole number
 * @param one - singular, such as "order"
 * @param many - plural; `one` with an s when left out
 * @returns text such as "2 orders"
 */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${grouped(count)} ${count === 1 ? one : many}`;

/** Nearest minute of an ISO instant, such as 2026-01-05 00:00: recordings end a moment before the hour. */
export const minuteOf = (iso: string): string => {
  const minute = Math.round(Date.parse(iso) / 60_000) * 60_000;
  return new Date(minute).toISOString().slice(0, 16).replace("T", " ");
};
