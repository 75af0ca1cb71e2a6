/**
 * Decimal text for reading: exact digits, grouped, never through a binary float.
 *
 * Invariants: pure; a text that is not rounded keeps all its digits, zeros at the end included; a half is rounded away from zero.
 * Not here: figures that are numbers from the first, such as counts and axes (ui-kit/client/texts.ts).
 */

const decimal = /^([-−]?)(\d+)(?:\.(\d*))?$/;

/** Sign, whole digits and fraction; undefined where it is no decimal. */
const partsOf = (text: string) => {
  const found = decimal.exec(text);
  return found === null ? undefined : { isNegative: found[1] !== "", whole: found[2] ?? "", fraction: found[3] ?? "" };
};

/** Digits after the point. */
export const fractionOf = (text: string) => partsOf(text)?.fraction.length ?? 0;

/**
 * Formats with grouped digits and a true minus; text that is no decimal is unchanged.
 *
 * @param places - at most: what is longer is rounded, and ends without zeros
 * @param least - digits after the point
 */
export const decimalFigure = (text: string, places: number = Number.POSITIVE_INFINITY, least: number = 0) => {
  const parts = partsOf(text);
  if (parts === undefined) return text;
  let { whole, fraction } = parts;
  if (fraction.length > places) {
    [whole, fraction] = rounded(whole, fraction, places);
    fraction = fraction.replace(/0+$/, "");
  }
  fraction = fraction.padEnd(least, "0");
  const isZero = /^0*$/.test(whole + fraction);
  const grouped = whole.replace(/^0+(?=\d)/, "").replace(/\B(?=(\d{3})+$)/g, ",");
  return `${parts.isNegative && !isZero ? "−" : ""}${grouped}${fraction === "" ? "" : `.${fraction}`}`;
};

const rounded = (whole: string, fraction: string, places: number): [whole: string, fraction: string] => {
  const digits = BigInt(whole + fraction.slice(0, places)) + (fraction.charAt(places) >= "5" ? 1n : 0n);
  const text = String(digits).padStart(places + 1, "0");
  return [text.slice(0, text.length - places), text.slice(text.length - places)];
};

/** Exact sum; zeros at the end are left out. */
export const plus = (a: string, b: string) => {
  const places = Math.max(fractionOf(a), fractionOf(b));
  return spelled(scaled(a, places) + scaled(b, places), places);
};

/** Exact difference. */
export const minus = (a: string, b: string) => {
  const places = Math.max(fractionOf(a), fractionOf(b));
  return spelled(scaled(a, places) - scaled(b, places), places);
};

/** Returns the same text for equal numbers. */
export const plainDecimal = (text: string) => plus(text, "0");

const scaled = (text: string, places: number) => {
  const parts = partsOf(text);
  if (parts === undefined) return 0n;
  const digits = BigInt(parts.whole + parts.fraction.padEnd(places, "0"));
  return parts.isNegative ? -digits : digits;
};

const spelled = (value: bigint, places: number) => {
  const text = String(value < 0n ? -value : value).padStart(places + 1, "0");
  const fraction = text.slice(text.length - places).replace(/0+$/, "");
  const whole = text.slice(0, text.length - places);
  return `${value < 0n ? "-" : ""}${whole}${places === 0 || fraction === "" ? "" : `.${fraction}`}`;
};
