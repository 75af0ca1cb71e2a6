/**
 * Parses timestamps of cells: a count since the epoch, or a calendar date and time.
 *
 * Invariants: instants are whole microseconds, exact, finer digits are cut off; a count is of seconds, milliseconds,
 * microseconds or nanoseconds by its magnitude, from 1973 to 2286; a time without a zone is UTC; a date that does not
 * exist is refused.
 * Not here: other forms of whole columns (time-forms.ts).
 */
import { importInvalid } from "./import-decimals.ts";

export type EpochUnit = "s" | "ms" | "us" | "ns";

/** Words for messages. */
export const unitNames: Readonly<Record<EpochUnit | "dates", string>> = {
  dates: "dates",
  s: "seconds",
  ms: "milliseconds",
  us: "microseconds",
  ns: "nanoseconds",
};

/**
 * Number of digits that a count has before its decimal point, and number of places by which it is shifted to count
 * microseconds.
 */
const units: readonly {
  readonly unit: EpochUnit;
  readonly least: number;
  readonly most: number;
  readonly shift: number;
}[] = [
  { unit: "s", least: 9, most: 10, shift: 6 },
  { unit: "ms", least: 12, most: 13, shift: 3 },
  { unit: "us", least: 15, most: 16, shift: 0 },
  { unit: "ns", least: 18, most: 19, shift: -3 },
];

/** The unit of a count since the epoch; undefined for any other text. */
export const unitOf = (text: string): EpochUnit | undefined => {
  const digits = epoch.exec(text)?.[1]?.length ?? 0;
  return units.find(({ least, most }) => digits >= least && digits <= most)?.unit;
};

const epoch = /^(\d{9,19})(?:\.(\d*))?$/;
const calendar =
  /^(\d{4})[-/.](\d{2})[-/.](\d{2})(?:[TD ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?)?(?:Z| ?(?:UTC|GMT)|([+-]\d{2}):?(\d{2})?)?$/;
const compact = /^((?:19|20)\d{2})(\d{2})(\d{2})(?:(\d{2})(\d{2})(\d{2})(\d{3}|\d{6}|\d{9})?)?$/;

/** Returns microseconds since the epoch; undefined if the text is not an instant. */
export const microsecondsOf = (text: string): number | undefined => {
  const count = epoch.exec(text);
  if (count !== null) {
    const [, whole = "", fraction = ""] = count;
    const row = units.find(({ least, most }) => whole.length >= least && whole.length <= most);
    if (row !== undefined) return Number(shifted(whole, fraction, row.shift));
  }
  const date = calendar.exec(text) ?? compact.exec(text);
  return date === null ? undefined : calendarOf(date);
};

const epochDigits = { s: [10, 1_000], ms: [13, 1], us: [16, 0.001] } as const;

/**
 * Milliseconds of a count in whole units of today's length: most cells, without a pattern. Undefined for all others.
 */
export const epochIn = (unit: keyof typeof epochDigits, text: string): number | undefined => {
  const [length, factor] = epochDigits[unit];
  if (text.length !== length) return undefined;
  let count = 0;
  for (let index = 0; index < length; index++) {
    const digit = text.charCodeAt(index) - 48;
    if (!(digit >= 0 && digit <= 9)) return undefined;
    count = count * 10 + digit;
  }
  // A quotient, as in `instantOf`.
  return factor === 0.001 ? count / 1_000 : count * factor;
};

const shifted = (whole: string, fraction: string, shift: number): string =>
  shift < 0 ? whole.slice(0, shift) : whole + fraction.slice(0, shift).padEnd(shift, "0");

const calendarOf = (match: RegExpExecArray): number | undefined => {
  const [
    ,
    year = "",
    month = "",
    day = "",
    hour = "00",
    minute = "00",
    second = "00",
    fraction = "",
    zoneHour = "0",
    zoneMinute = "0",
  ] = match;
  const whole = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second));
  // A month of 13 or a minute of 60 would silently become another instant.
  const shown = `${year}-${month}-${day}T${hour}:${minute}:${second}`;
  if (Number.isNaN(whole) || !new Date(whole).toISOString().startsWith(shown)) return undefined;
  const zoneMinutes = Number(zoneHour) * 60 + (zoneHour.startsWith("-") ? -1 : 1) * Number(zoneMinute);
  return (whole - zoneMinutes * 60_000) * 1_000 + Number(fraction.padEnd(6, "0").slice(0, 6));
};

/** Returns milliseconds since the epoch, or throws with file, line and value; `column` is the name in the file. */
export const instantOf = (text: string, file: string, line: number, column: string): number => {
  const us = microsecondsOf(text);
  // Divided and not multiplied by 0.001: the quotient is the double nearest to the instant, as when a fixture is read.
  if (us !== undefined) return us / 1_000;
  throw importInvalid(
    file,
    line,
    `"${column}" is ${JSON.stringify(text)}; expected UTC like 2024-01-01 00:01:00, or a count of seconds, ms, us or ns since the epoch.`,
  );
};
