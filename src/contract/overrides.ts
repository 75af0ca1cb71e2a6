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
        const checked = checkedWords(place, known.value, value, issues);
        if (checked !== undefined) target[key] = checked;
      }
    }
  }
  if (issues.length > 0) throw new SluiceError("PROFILE_INVALID", "The service profile is not valid:", issues);
  return profile as unknown as Profile;
};

/** Words that a row may hold, where only some mean anything. */
const words: Readonly<Record<string, readonly string[]>> = {
  "profile.order.timeUnit": ["ms", "s", "us"],
  "profile.order.feeSign": ["negative_is_cost", "positive_is_cost"],
  "profile.order.szUnit": ["quote_notional", "base", "contracts"],
  "profile.order.emptyDecimal": ["", "0"],
  "profile.order.duplicateClOrdId": ["refused_while_open", "refused", "accepted"],
  "profile.answers.notFound": ["empty", "error"],
  "profile.answers.dataOnError": ["array", "object", "absent"],
  "profile.paging.afterAndBefore": ["both", "after_wins", "refused"],
  "profile.paging.limitAboveMax": ["refused", "clamped"],
  "profile.cancelBatch.resultFields": ["sCode", "code"],
  "profile.instruments.fieldNames": ["long", "short"],
  "profile.limits.anchor": ["wall_clock", "first_request", "sliding"],
  "profile.limits.refusedCounts": ["ip", "all", "none"],
  "profile.auth.timestamp": ["iso", "ms", "s"],
  "profile.websocket.szUnit": ["quote_notional", "base", "contracts"],
  "profile.auth.digest": ["base64", "hex", "hex_base64"],
};

/** The value to use, or undefined with what is wrong added to `issues`. */
const checkedWords = (place: string, known: unknown, value: unknown, issues: string[]): unknown => {
  const allowed = words[place];
  if (allowed === undefined) return value;
  const check = (at: string, word: unknown): void => {
    if (typeof word === "string" && allowed.includes(word)) return;
    issues.push(`${at}: ${JSON.stringify(word)} is not one of ${allowed.join(", ")}.${didYouMean(String(word), allowed)}`);
  };
  if (kindOf(known) !== "object") {
    check(place, value);
    return value;
  }
  // One value for each of a few names, such as SPOT and SWAP; those not named keep theirs.
  const names = Object.keys(known as object);
  for (const [name, word] of Object.entries(value as object)) {
    if (names.includes(name)) check(`${place}.${name}`, word);
    else issues.push(`${place}: unknown key "${name}".${didYouMean(name, names)}`);
  }
  return { ...(known as object), ...(value as object) };
};

/** Every row as a line of a table: for documents and `--help`. */
export const profileRows = (): readonly { path: string; value: unknown; gap: string; why: string }[] =>
  Object.entries(groups).flatMap(([name, rows]) =>
    Object.entries(rows).map(([key, { value, gap, why }]) => ({ path: `${name}.${key}`, value, gap, why })),
  );
