/** Figures as decimal text, so that tables show what a reader writes: objects of decimal values in and out. */
import { type Decimal, read, spell } from "../../src/decimal-value.ts";

/** The same object with text in place of decimal values. */
export type Texts<T> = {
  [K in keyof T]: Decimal extends T[K] ? string | Exclude<T[K], Decimal> : T[K];
};

const isDecimalValue = (value: unknown): value is Decimal =>
  typeof value === "object" && value !== null && "units" in value && "places" in value;

/** Spells every decimal value of an object, deeply. */
export const spelled = <T>(value: T): T extends object ? Texts<T> : T => {
  const of = (one: unknown): unknown => {
    if (isDecimalValue(one)) return spell(one);
    if (typeof one !== "object" || one === null || Array.isArray(one)) return one;
    return Object.fromEntries(Object.entries(one).map(([field, inner]: [string, unknown]) => [field, of(inner)]));
  };
  return of(value) as T extends object ? Texts<T> : T;
};

/** Reads the named fields of an object; those that are left out, or empty, stay undefined. */
export const valued = <T>(texts: Texts<T>, fields: readonly (keyof T)[]): T => {
  const values = fields.map((field) => {
    const text = texts[field] as unknown;
    return [field, typeof text === "string" && text !== "" ? read(text) : undefined] as const;
  });
  return { ...texts, ...Object.fromEntries(values) } as T;
};
