/**
 * Lays a user's overrides over the default profile.
 *
 * Invariants: unknown groups and rows are refused with the nearest known name; a value keeps its row's type.
 */
import { didYouMean, SluiceError } from "../errors.ts";
import { endpointTable } from "./endpoints.ts";
import { layers } from "./limits.ts";
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
  checkLayers(profile as unknown as Profile, issues);
  checkChanges(profile as unknown as Profile, issues);
  if (issues.length > 0) throw new SluiceError("PROFILE_INVALID", "The service profile is not valid:", issues);
  return profile as unknown as Profile;
};

/** Words that a row may hold, where only some mean anything. */
const words: Readonly<Record<string, readonly string[]>> = {
  "profile.order.timeUnit": ["ms", "s", "us"],
  "profile.order.feeSign": ["negative_is_cost", "positive_is_cost"],
  "profile.order.spotBuyFee": ["quote", "base"],
  "profile.order.szUnit": ["quote_notional", "base", "contracts"],
  "profile.order.emptyDecimal": ["", "0"],
  "profile.order.duplicateClOrdId": ["refused_while_open", "refused", "accepted"],
  "profile.answers.notFound": ["empty", "error", "untold"],
  "profile.answers.dataOnError": ["array", "object", "absent"],
  "profile.paging.afterAndBefore": ["both", "after_wins", "refused"],
  "profile.answers.unknownParameter": ["refused", "ignored"],
  "profile.paging.beforePage": ["newest", "nearest"],
  "profile.paging.limitAboveMax": ["refused", "clamped"],
  "profile.cancelBatch.resultFields": ["sCode", "code"],
  "profile.instruments.fieldNames": ["long", "short"],
  "profile.limits.anchor": ["wall_clock", "first_request", "sliding"],
  "profile.limits.crossingCall": ["refused", "served"],
  "profile.limits.headersWithoutKey": ["ip", "all"],
  "profile.limits.refusedCounts": ["ip", "all", "none"],
  "profile.margin.modeDefault": ["cross", "isolated"],
  "profile.margin.openLoss": ["counted", "ignored"],
  "profile.margin.liquidation": ["market", "never"],
  "profile.margin.shortfall": ["covered", "owed"],
  "profile.margin.fundingFrom": ["margin", "balance"],
  "profile.auth.prehash": ["timestamp", "method", "path", "query", "body"],
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
    issues.push(
      `${at}: ${JSON.stringify(word)} is not one of ${allowed.join(", ")}.${didYouMean(String(word), allowed)}`,
    );
  };
  if (Array.isArray(value)) {
    for (const [index, word] of value.entries()) check(`${place}[${index}]`, word);
    return value;
  }
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

const layerWords = {
  scope: ["ip", "uid", "key", "instrument"],
  unit: ["requests", "weight", "elements"],
  anchor: ["wall_clock", "first_request", "sliding"],
} as const;
const describedLayers: readonly string[] = Object.keys(layers);
const layerFields = ["name", "scope", "unit", "capacity", "windowMs", "anchor", "endpoints", "banMs"];

/** Both sides are built from these, so a slip here would be agreed upon and never show. */
const checkLayers = (profile: Profile, issues: string[]): void => {
  const endpoints = Object.keys(endpointTable(profile));
  const names = new Set(describedLayers);
  profile.limits.extraLayers.forEach((layer, index) => {
    const place = `profile.limits.extraLayers[${index}]`;
    if (kindOf(layer) !== "object") {
      issues.push(`${place}: expected a layer, got ${kindOf(layer)}.`);
      return;
    }
    const { name, capacity, windowMs, banMs, endpoints: counted = [] } = layer;
    const problem = (field: string, text: string): void => {
      issues.push(`${place}.${field}: ${text}`);
    };
    for (const field of Object.keys(layer)) {
      if (!layerFields.includes(field)) problem(field, `unknown field.${didYouMean(field, layerFields)}`);
    }
    if (typeof name !== "string" || name === "" || names.has(name))
      problem("name", `${JSON.stringify(name)} is missing or taken; give each layer a name of its own.`);
    names.add(name);
    for (const [field, allowed] of Object.entries(layerWords)) {
      const word = layer[field as keyof typeof layerWords];
      if (!(allowed as readonly unknown[]).includes(word))
        problem(
          field,
          `${JSON.stringify(word)} is not one of ${allowed.join(", ")}.${didYouMean(String(word), allowed)}`,
        );
    }
    for (const [field, value, least] of [
      ["capacity", capacity, 1],
      ["windowMs", windowMs, 1],
      ["banMs", banMs, 0],
    ] as const) {
      if (!(Number.isSafeInteger(value) && value >= least))
        problem(field, `expected a whole number of at least ${least}, got ${JSON.stringify(value)}.`);
    }
    if (!Array.isArray(counted)) problem("endpoints", `expected a list of endpoint names, got ${kindOf(counted)}.`);
    else
      for (const word of counted)
        if (!endpoints.includes(word))
          problem("endpoints", `${JSON.stringify(word)} is no endpoint.${didYouMean(String(word), endpoints)}`);
  });
};

const changeFields = ["layer", "at", "capacity"];
const utcText = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?Z$/;

const checkChanges = ({ limits }: Profile, issues: string[]): void => {
  const taken = new Set<string>();
  limits.changes.forEach((change, index) => {
    const place = `profile.limits.changes[${index}]`;
    if (kindOf(change) !== "object") {
      issues.push(`${place}: expected a change, got ${kindOf(change)}.`);
      return;
    }
    const { layer, at, capacity } = change;
    for (const field of Object.keys(change))
      if (!changeFields.includes(field))
        issues.push(`${place}.${field}: unknown field.${didYouMean(field, changeFields)}`);
    if (!describedLayers.includes(layer))
      issues.push(`${place}.layer: ${JSON.stringify(layer)} is not one of ${describedLayers.join(", ")}.`);
    if (typeof at !== "string" || !utcText.test(at) || Number.isNaN(Date.parse(at)))
      issues.push(`${place}.at: ${JSON.stringify(at)} is no instant; write it like "2026-11-29T08:00:00Z".`);
    if (!(Number.isSafeInteger(capacity) && capacity >= 1))
      issues.push(`${place}.capacity: expected a whole number of at least 1, got ${JSON.stringify(capacity)}.`);
    if (taken.has(`${layer} ${Date.parse(at)}`))
      issues.push(`${place}: layer "${layer}" has two changes at ${at}; keep one.`);
    taken.add(`${layer} ${Date.parse(at)}`);
  });
};

/**
 * Every row of the service profile as a line of a table, for documents and `--help`.
 *
 * @returns path of the row, its default, the open question that it answers, and the reason for the default
 */
export const profileRows = (): readonly { path: string; value: unknown; gap: string; why: string }[] =>
  Object.entries(groups).flatMap(([name, rows]) =>
    Object.entries(rows).map(([key, { value, gap, why }]) => ({ path: `${name}.${key}`, value, gap, why })),
  );
