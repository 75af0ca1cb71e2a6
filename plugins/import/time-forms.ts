/**
 * Form of the instants in a column of a file, decided from its first rows: dates, counts since the epoch, or the counts
 * of .NET, Windows and spreadsheets.
 *
 * Invariants: a number that is a date in every row is a date, unless it is a plausible count; where both the order of
 * its parts and the century are open, it is refused; instants are whole microseconds.
 * Not here: dates and counts of one cell (import-instants.ts), the refusal of a cell (table/table-reader.ts).
 */
import { type EpochUnit, microsecondsOf, unitNames, unitOf } from "./import-instants.ts";

export type TimeForm = EpochUnit | "dates" | "ticks" | "filetime" | "serial";

/** Words for messages and explanations. */
export const formNames: Readonly<Record<TimeForm, string>> = {
  ...unitNames,
  ticks: ".NET ticks",
  filetime: "Windows file times",
  serial: "serial dates of a spreadsheet",
};

/** Coins have been traded since then: 2009-01-03. */
export const firstCoinAt = 1_230_940_800_000;

/** Counts of earlier instants are none: 1990-01-01. */
const plausibleFrom = 631_152_000_000;

/** Parts of a date that is written as digits without separators, and whether their order is beyond doubt. */
interface Digits {
  readonly pattern: RegExp;
  readonly parts: readonly Part[];
  readonly isClear: boolean;
}

type Part = "year" | "month" | "day" | "hour" | "minute" | "second";

const digitsOf = (pattern: RegExp, parts: readonly Part[], isClear = true): Digits => ({ pattern, parts, isClear });

const century = /^((?:19|20)\d\d)/.source;
const two = (count: number): string => "(\\d\\d)".repeat(count);

/** Lengths that are those of counts as well. The first that fits all rows is taken. */
const dateDigits: readonly Digits[] = [
  digitsOf(new RegExp(`${century}${two(3)}$`), ["year", "month", "day", "hour"]),
  digitsOf(new RegExp(`${century}${two(4)}$`), ["year", "month", "day", "hour", "minute"]),
  digitsOf(new RegExp(`^${two(5)}$`), ["year", "month", "day", "hour", "minute"]),
  digitsOf(new RegExp(`^${two(6)}$`), ["year", "month", "day", "hour", "minute", "second"]),
  digitsOf(/^(\d\d)(\d\d)((?:19|20)\d\d)(\d\d)(\d\d)$/, ["day", "month", "year", "hour", "minute"], false),
  digitsOf(/^(\d\d)(\d\d)((?:19|20)\d\d)(\d\d)(\d\d)$/, ["month", "day", "year", "hour", "minute"], false),
];

/** Digit forms that people write as a date with hour and minute: the first two of the table. */
const plainDates = dateDigits.slice(0, 2);

/**
 * Returns microseconds since the epoch of a single instant, such as an option; undefined if the text is no instant.
 * Unlike in a column, `202403010930` can only be a date.
 */
export const oneInstant = (text: string): number | undefined =>
  plainDates.map((digits) => dateIn(text, digits)).find((us) => us !== undefined) ?? microsecondsOf(text);

export interface TimeReading {
  readonly form: TimeForm;
  /** Microseconds since the epoch; undefined where the text is no instant of this form. */
  readonly microseconds: (text: string) => number | undefined;
}

/**
 * Returns the form of the instants in `texts`, or the reason for which it is ambiguous. `now` in milliseconds bounds
 * plausible instants.
 */
export const readingOf = (texts: readonly string[], now: number): TimeReading | { readonly problem: string } => {
  const known = texts.filter((text) => text !== "");
  const isPlausible = (us = Number.NaN, from = plausibleFrom): boolean =>
    us / 1_000 >= from && us / 1_000 <= now + dayMs;
  const fits = (microseconds: (text: string) => number | undefined, from?: number): boolean =>
    known.length > 0 && known.every((text) => isPlausible(microseconds(text), from));
  for (const form of ["serial", "ticks", "filetime"] as const)
    if (fits(counts[form])) return { form, microseconds: counts[form] };
  const isCount = known.some((text) => unitOf(text) !== undefined && isPlausible(microsecondsOf(text)));
  const digits = isCount ? undefined : dateDigits.find((one) => fits((text) => dateIn(text, one), 0));
  if (digits === undefined) return plainReading(unitOf(known[0] ?? "") ?? "dates");
  if (digits.isClear) return { form: "dates", microseconds: (text) => dateIn(text, digits) };
  return { problem: "is a date of which day and month cannot be distinguished. Write it as 2024-03-01 09:30" };
};

const dayMs = 86_400_000;

const plainReading = (form: EpochUnit | "dates"): TimeReading => ({
  form,
  microseconds: (text) => ((unitOf(text) ?? "dates") === form ? microsecondsOf(text) : undefined),
});

const dateIn = (text: string, { pattern, parts }: Digits): number | undefined => {
  const match = pattern.exec(text);
  if (match === null) return undefined;
  const part = (name: Part): string => (parts.includes(name) ? match[parts.indexOf(name) + 1] : undefined) ?? "00";
  const year = part("year");
  const date = `${year.length === 2 ? `20${year}` : year}-${part("month")}-${part("day")}`;
  return microsecondsOf(`${date} ${part("hour")}:${part("minute")}:${part("second")}`);
};

/** Ticks of 100 ns. */
const ticksOf = (epoch: bigint) => (text: string) => {
  if (!/^\d{18}$/.test(text)) return undefined;
  return Number((BigInt(text) - epoch) / 10n);
};

/** 1 January 1970 as a serial date. */
const serialOfEpoch = 25_569;
/** Precisions of a serial date, tried in this order: whole minutes, seconds, milliseconds, microseconds. */
const grains = [60_000_000, 1_000_000, 1_000, 1];

/**
 * Days since 30 December 1899. The fraction is a rounded decimal, so the coarsest instant that it can mean is taken.
 */
const serialDate = (text: string): number | undefined => {
  const match = /^(\d{5})(?:\.(\d+))?$/.exec(text);
  if (match === null) return undefined;
  const [, days = "", fraction = ""] = match;
  const us = Number(`0.${fraction || "0"}`) * dayMs * 1_000;
  const slack = fraction === "" ? 0 : 0.5 * 10 ** -fraction.length * dayMs * 1_000 + 1;
  const grain = grains.find((size) => Math.abs(Math.round(us / size) * size - us) <= slack) ?? 1;
  return (Number(days) - serialOfEpoch) * dayMs * 1_000 + Math.round(us / grain) * grain;
};

const counts = {
  serial: serialDate,
  ticks: ticksOf(621_355_968_000_000_000n),
  filetime: ticksOf(116_444_736_000_000_000n),
} as const;
