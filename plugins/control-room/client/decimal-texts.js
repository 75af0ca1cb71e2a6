/**
 * Decimal text for reading: exact digits, grouped, never through a binary float.
 *
 * Invariants: pure; a text that is not rounded keeps all its digits, zeros at the end included; a half is rounded away from zero.
 * Not here: figures that are numbers from the first, such as counts and axes (ui-kit/client/texts.js).
 */

const decimal = /^([-−]?)(\d+)(?:\.(\d*))?$/;

/** Sign, whole digits and fraction; undefined where it is no decimal. @param {string} text */
const partsOf = (text) => {
  const found = decimal.exec(text);
  return found === null ? undefined : { isNegative: found[1] !== "", whole: found[2] ?? "", fraction: found[3] ?? "" };
};

/** Digits after the point. @param {string} text */
export const fractionOf = (text) => partsOf(text)?.fraction.length ?? 0;

/**
 * Formats with grouped digits and a true minus; text that is no decimal is unchanged.
 * @param {string} text @param {number} [places] at most: what is longer is rounded, and ends without zeros @param {number} [least] digits after the point
 */
export const decimalFigure = (text, places = Number.POSITIVE_INFINITY, least = 0) => {
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

/** @param {string} whole @param {string} fraction @param {number} places @returns {[whole: string, fraction: string]} */
const rounded = (whole, fraction, places) => {
  const digits = BigInt(whole + fraction.slice(0, places)) + (fraction.charAt(places) >= "5" ? 1n : 0n);
  const text = String(digits).padStart(places + 1, "0");
  return [text.slice(0, text.length - places), text.slice(text.length - places)];
};

/** Exact sum; zeros at the end are left out. @param {string} a @param {string} b */
export const plus = (a, b) => {
  const places = Math.max(fractionOf(a), fractionOf(b));
  return spelled(scaled(a, places) + scaled(b, places), places);
};

/** Exact difference. @param {string} a @param {string} b */
export const minus = (a, b) => {
  const places = Math.max(fractionOf(a), fractionOf(b));
  return spelled(scaled(a, places) - scaled(b, places), places);
};

/** Returns the same text for equal numbers. @param {string} text */
export const plainDecimal = (text) => plus(text, "0");

/** @param {string} text @param {number} places */
const scaled = (text, places) => {
  const parts = partsOf(text);
  if (parts === undefined) return 0n;
  const digits = BigInt(parts.whole + parts.fraction.padEnd(places, "0"));
  return parts.isNegative ? -digits : digits;
};

/** @param {bigint} value @param {number} places */
const spelled = (value, places) => {
  const text = String(value < 0n ? -value : value).padStart(places + 1, "0");
  const fraction = text.slice(text.length - places).replace(/0+$/, "");
  const whole = text.slice(0, text.length - places);
  return `${value < 0n ? "-" : ""}${whole}${places === 0 || fraction === "" ? "" : `.${fraction}`}`;
};
