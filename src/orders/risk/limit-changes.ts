/**
 * Compares the limits of a config with those of the previous run, and finds the ones that became wider. Pure.
 *
 * Invariants: removing a limit makes it wider; comparisons are exact; the same limits have the same mark on every
 * machine.
 * Not here: where the earlier limits are kept (journal/decisions.ts), what the limits do (pre-trade-checks.ts,
 * risk-limits.ts).
 */
import { createHash } from "node:crypto";
import { compare, read } from "../../decimal-value.ts";
import type { Limits } from "../../journal/decisions.ts";
import type { RuleSet } from "./pre-trade-checks.ts";

/** Limits in alphabetical order. */
export const limitsOf = (rules: RuleSet): Limits =>
  Object.fromEntries(Object.entries(rules).sort(([a], [b]) => (a < b ? -1 : 1)));

/** Short mark that identifies these limits. The operator types it by hand; it is not a secret. */
export const limitsMark = (limits: Limits): string =>
  createHash("sha256").update(JSON.stringify(limits)).digest("hex").slice(0, 8);

export const sameLimits = (a: Limits | undefined, b: Limits): boolean =>
  a !== undefined && JSON.stringify(a) === JSON.stringify(b);

/**
 * The widened limits in words, one text for each: `lossInAll from 100 to 1000`. A larger limit is wider, and no limit
 * is the widest.
 */
export const widened = (before: Limits, after: Limits): readonly string[] =>
  Object.keys(before).flatMap((name) => {
    const was = before[name];
    const is = after[name];
    if (was === undefined || !isWider(was, is)) return [];
    return [`${name} from ${String(was)} to ${is === undefined ? "no limit" : String(is)}`];
  });

const isWider = (was: string | number | boolean, is: string | number | boolean | undefined): boolean => {
  if (is === undefined) return true;
  return typeof was === "boolean" || typeof is === "boolean"
    ? is === true && was === false
    : compare(read(String(is)), read(String(was))) > 0;
};
