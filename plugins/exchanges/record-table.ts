/**
 * Records of an exchange in the described service's fields, by tables: of each field of ours the name of theirs, or
 * what makes it.
 *
 * Invariants: pure, and total over anything JSON can hold; a value that is not of the expected form is passed on
 * unchanged, so that the check of the record reports it; nothing becomes a number.
 */
import { compare, isDecimal, mul } from "sluice";
import { plain } from "sluice/dialect";

export type Raw = Readonly<Record<string, unknown>>;
type Field = string | ((record: Raw) => unknown);
export type RecordTable = Readonly<Record<string, Field>>;

export const isRaw = (value: unknown): value is Raw =>
  value !== null && typeof value === "object" && !Array.isArray(value);

/** Returns the record with our fields; a value that is no record is returned unchanged. */
export const translated =
  (table: RecordTable) =>
  (item: unknown): unknown => {
    if (!isRaw(item)) return item;
    const fields = Object.entries(table).map(
      ([name, field]) => [name, typeof field === "string" ? item[field] : field(item)] as const,
    );
    return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
  };

/** Returns the shortest spelling of a decimal, without the zeros with which the exchange pads it. */
export const exact = (value: unknown): unknown => (isDecimal(value) ? plain(value) : value);

export const amount =
  (name: string) =>
  (record: Raw): unknown =>
    exact(record[name]);

/** Left out where the exchange has none. */
export const amountIfAny =
  (name: string) =>
  (record: Raw): unknown =>
    isNone(record[name]) ? undefined : exact(record[name]);

/** A price, or empty text where there is none, which exchanges also spell null or zero. */
export const priceIfAny =
  (name: string) =>
  ({ [name]: value }: Raw): unknown =>
    isNone(value) || (isDecimal(value) && compare(value, "0") === 0) ? "" : exact(value);

export const textIfAny =
  (name: string) =>
  ({ [name]: value }: Raw): unknown =>
    value ?? "";

/** The first where either is no decimal. */
export const product = (a: unknown, b: unknown): unknown => (isDecimal(a) && isDecimal(b) ? mul(a, b) : a);

export const isNone = (value: unknown): boolean => value === undefined || value === null || value === "";
