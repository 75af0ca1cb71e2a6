/**
 * Canonical text of a JSON value, from which hashes are made.
 *
 * Invariants: equal values give equal text in any order of their keys; keys without a value are left out; what
 * JSON cannot hold exactly is a bug of the caller.
 */
import { assert } from "../errors.ts";

/** Sorted keys, no blanks. */
export const canonicalJson = (value: unknown): string => {
  if (value === null || typeof value === "string" || typeof value === "boolean") return JSON.stringify(value);
  if (typeof value === "number") {
    assert(Number.isFinite(value), `a report holds finite numbers, not ${value}`);
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) return `[${Array.from(value, canonicalJson).join(",")}]`;
  assert(isPlain(value), `a report holds plain JSON values, not ${typeof value}`);
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`).join(",")}}`;
};

const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" &&
  value !== null &&
  (Object.getPrototypeOf(value) === Object.prototype || Object.getPrototypeOf(value) === null);
