/**
 * Formats the findings that differ as lines to paste into a config.
 *
 * Invariants: pure text; existing overrides of the config are kept, so that the lines replace its whole `profile`; the
 * order is that of the profile, independent of the order of the findings.
 */
import { defaultProfile, type ProfileOverrides } from "sluice/dialect";
import type { Finding, Override } from "./finding.ts";

type Plain = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export const overridesOf = (findings: readonly Finding[]): readonly Override[] =>
  findings.flatMap(({ override }) => override ?? []);

/** The overrides laid over those a config has. */
export const withOverrides = (given: ProfileOverrides, overrides: readonly Override[]): ProfileOverrides => {
  const merged: Record<string, Record<string, unknown>> = {};
  for (const [group, rows] of Object.entries(given as Plain)) merged[group] = { ...rows };
  for (const { path, value } of overrides) {
    const [group = "", key = ""] = path.split(".");
    merged[group] = { ...merged[group], [key]: value };
  }
  return merged as ProfileOverrides;
};

const plainKey = /^[A-Za-z_$][\w$]*$/;

const spelled = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(spelled).join(", ")}]`;
  if (value !== null && typeof value === "object") {
    const rows = Object.entries(value).map(
      ([key, item]) => `${plainKey.test(key) ? key : JSON.stringify(key)}: ${spelled(item)}`,
    );
    return rows.length === 0 ? "{}" : `{ ${rows.join(", ")} }`;
  }
  return JSON.stringify(value);
};

const inOrder = (
  record: Readonly<Record<string, unknown>>,
  order: readonly string[],
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(record).sort(([a], [b]) => order.indexOf(a) - order.indexOf(b)));

/** `profile: { … },` a group a line. */
export const profileLines = (overrides: ProfileOverrides): string => {
  const table = defaultProfile as unknown as Plain;
  const groups = Object.entries(inOrder(overrides, Object.keys(table)));
  const lines = groups.map(
    ([group, rows]) =>
      `  ${group}: ${spelled(inOrder(rows as Readonly<Record<string, unknown>>, Object.keys(table[group] ?? {})))},`,
  );
  return ["profile: {", ...lines, "},"].join("\n");
};
