/**
 * Lays a user's overrides over the default profile.
 *
 * Invariants: unknown groups and rows are refused with the nearest known name; a value keeps its row's type.
 */
import { didYouMean, SluiceError } from "../errors.ts";
import { defaultProfile, type Profile, type ProfileOverrides, type Row } from "./profile.ts";

type Group = Readonly<Record<string, Row<unknown>>>;

const groups = defaultProfile as unknown as Readonly<Record<string, Group>>;

const kindOf = (value: unknown): string => (Array.isArray(value) ? "array" : value === null ? "null" : typeof value);

export const resolveProfile = (overrides: ProfileOverrides = {}): Profile => {
  const issues: string[] = [];
  const given = overrides as Readonly<Record<string, unknown>>;
  const profile: Record<string, Record<string, unknown>> = {};
  for (const [name, rows] of Object.entries(groups)) {
    profile[name] = Object.fromEntries(Object.entries(rows).map(([key, { value }]) => [key, value]));
  }
  for (const [name, part] of Object.entries(given)) {
    const rows = groups[name];
    const target = profile[name];
    if (rows === undefined || target === undefined) {
      issues.push(`profile.${name}: unknown group.${didYouMean(name, Object.keys(groups))}`);
      continue;
    }
    if (kindOf(part) !== "object") {
      issues.push(`profile.${name}: expected an object of rows, got ${kindOf(part)}.`);
      continue;
    }
    for (const [key, value] of Object.entries(part as object)) {
      const place = `profile.${name}.${key}`;
      const known = rows[key];
      if (known === undefined) {
        issues.push(`${place}: unknown row.${didYouMean(key, Object.keys(rows))}`);
      } else if (kindOf(known.value) !== kindOf(value)) {
        issues.push(`${place}: expected ${kindOf(known.value)}, got ${kindOf(value)} (${JSON.stringify(value)}).`);
      } else if (typeof value === "number" && !(Number.isFinite(value) && value >= 0)) {
        issues.push(`${place}: expected a number of at least 0, got ${value}.`);
      } else {
        target[key] = value;
      }
    }
  }
  if (issues.length > 0) throw new SluiceError("PROFILE_INVALID", "The service profile is not valid:", issues);
  return profile as unknown as Profile;
};

/** Every row as a line of a table: for documents and `--help`. */
export const profileRows = (): readonly { path: string; value: unknown; gap: string; why: string }[] =>
  Object.entries(groups).flatMap(([name, rows]) =>
    Object.entries(rows).map(([key, { value, gap, why }]) => ({ path: `${name}.${key}`, value, gap, why })),
  );
