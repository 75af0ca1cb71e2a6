/**
 * Checks values against schemas. The only file that knows the validator.
 *
 * Invariants: schemas are compiled on first use (one costs milliseconds); nothing is coerced; what people wrote gets
 * every problem at once with the place, the value and the nearest right word; what the service wrote loses fields that
 * were not asked for.
 */
import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import { isDecimal } from "../decimal.ts";
import { didYouMean, type ErrorCode, SluiceError } from "../errors.ts";
import { readInstId } from "./inst-id.ts";
import { type PlainCheck, plainCheckOf } from "./plain-check.ts";

const formats = {
  decimal: { validate: isDecimal },
  "decimal-or-empty": { validate: (value: string) => value === "" || isDecimal(value) },
  "inst-id": { validate: (value: string) => readInstId(value) !== undefined },
} as const;

const make = (extra: object): Ajv =>
  new Ajv({ strict: true, strictRequired: false, allowUnionTypes: true, formats, verbose: true, ...extra });

let wire: Ajv | undefined;
let human: Ajv | undefined;

const remedies: Readonly<Record<string, string>> = {
  decimal: 'is not a decimal; write plain digits in a string, such as "0.001"',
  "decimal-or-empty": "is not a decimal",
  "inst-id": "is neither BASE-QUOTE nor BASE-QUOTE-SWAP",
};

/** Text of a value; one that is nested too deep to be written is shown by its kind. */
const shown = (value: unknown): string => {
  let text: string;
  try {
    text = JSON.stringify(value) ?? String(value);
  } catch {
    text = Array.isArray(value) ? "an array nested too deeply" : "an object nested too deeply";
  }
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
};

/** For the commonest slips: a number where exact decimal text is wanted, and text where a number is. */
const hintOf = ({ keyword, data, params, parentSchema }: ErrorObject): string => {
  const wanted = keyword === "type" ? String(params["type"]) : "";
  const { format, pattern } = (parentSchema ?? {}) as { readonly format?: string; readonly pattern?: string };
  if (wanted === "string" && typeof data === "number" && (format === "decimal" || pattern?.includes("\\d") === true)) {
    return ` Decimals are text, so that they are exact: write "${fromNumber(data)}".`;
  }
  const digits = typeof data === "string" && /^\s*(-?\d+(?:\.\d+)?)\s*(?:ms)?\s*$/.exec(data)?.[1];
  return digits && /^(number|integer)$/.test(wanted) ? ` Write the number without quotes: ${digits}.` : "";
};

/** Text of a number without an exponent. */
const fromNumber = (value: number): string =>
  /e/.test(String(value)) ? value.toFixed(12).replace(/\.?0+$/, "") : String(value);

const lineOf = (error: ErrorObject, root: string): string => {
  const place = `${root}${error.instancePath.replaceAll("/", ".")}`;
  switch (error.keyword) {
    case "additionalProperties": {
      const known = Object.keys((error.parentSchema as { properties?: object }).properties ?? {});
      const name = String(error.params["additionalProperty"]);
      return `${place}: unknown key "${name}".${didYouMean(name, known)}`;
    }
    case "enum": {
      const allowed = (error.params["allowedValues"] as unknown[]).map(String);
      return `${place}: ${shown(error.data)} is not one of ${allowed.join(", ")}.${didYouMean(String(error.data), allowed)}`;
    }
    case "required":
      return `${place}: "${String(error.params["missingProperty"])}" is missing.`;
    case "format":
      return `${place}: ${shown(error.data)} ${remedies[String(error.params["format"])] ?? error.message}.`;
    default:
      return `${place}: ${error.message ?? error.keyword} (got ${shown(error.data)}).`;
  }
};

const compiled = { wire: new WeakMap<object, ValidateFunction>(), human: new WeakMap<object, ValidateFunction>() };

const checkOf = (kind: "wire" | "human", schema: object): ValidateFunction => {
  const cache = compiled[kind];
  const known = cache.get(schema);
  if (known !== undefined) return known;
  // These schemas are all our own, and a test has them checked: checking them here costs every start as much as
  // compiling them.
  if (kind === "wire") wire ??= make({ removeAdditional: "all", validateSchema: false });
  // What people write is checked a few times, so that making its checks faster takes longer than it saves.
  else human ??= make({ allErrors: true, useDefaults: true, code: { optimize: false } });
  const check = ((kind === "wire" ? wire : human) as Ajv).compile(schema);
  cache.set(schema, check);
  return check;
};

/**
 * Checks what people write.
 *
 * @param schema - JSON Schema
 * @param value - what was written; functions and other values inside that are no JSON are kept as they are
 * @param root - its place, for the message
 * @param code - of the error
 * @returns a copy with defaults filled in
 * @throws an error of that code with every problem
 */
export const parseHuman = <T>(schema: object, value: unknown, root: string, code: ErrorCode = "CONFIG_INVALID"): T => {
  const check = checkOf("human", schema);
  const copy = copyPlain(value);
  if (!check(copy)) {
    throw new SluiceError(
      code,
      `${root} is not valid:`,
      (check.errors ?? []).map((error) => `${lineOf(error, root)}${hintOf(error)}`),
    );
  }
  return copy as T;
};

const none: readonly string[] = [];

const plainChecks = new WeakMap<object, PlainCheck>();

/** The plain check of a schema; one that refuses everything where there is none. */
const plainCheck = (schema: object): PlainCheck => {
  const check = plainCheckOf(schema) ?? (() => false);
  plainChecks.set(schema, check);
  return check;
};

/**
 * Checks what the service wrote. Returns the problems found, empty when it fits. Fields the schema does not name are
 * removed from `value`.
 */
export const wireProblems = (schema: object, value: unknown): readonly string[] => {
  if ((plainChecks.get(schema) ?? plainCheck(schema))(value)) return none;
  const check = compiled.wire.get(schema) ?? checkOf("wire", schema);
  return check(value) ? none : (check.errors ?? []).map((error) => lineOf(error, ""));
};

interface RequestCheck {
  readonly check: ValidateFunction;
  /** Checking fills something in, so that it has to be done on a copy. */
  readonly fills: boolean;
}

const requestChecks = new WeakMap<object, RequestCheck>();

const requestCheckOf = (schema: object): RequestCheck => {
  const made = { check: checkOf("human", schema), fills: JSON.stringify(schema).includes('"default":') };
  requestChecks.set(schema, made);
  return made;
};

/**
 * Checks what was sent to the embedded service. Returns the problems; nothing is removed, unknown keys are problems.
 *
 * @param schema - JSON Schema of an endpoint
 * @param value - what was sent
 * @returns problems; nothing is removed, unknown keys are problems
 */
export const requestProblems = (schema: object, value: unknown): readonly string[] => {
  if ((plainChecks.get(schema) ?? plainCheck(schema))(value)) return none;
  const { check, fills } = requestChecks.get(schema) ?? requestCheckOf(schema);
  return check(fills ? copyPlain(value) : value) ? none : (check.errors ?? []).map((error) => lineOf(error, "request"));
};

const copyPlain = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(copyPlain);
  if (value !== null && typeof value === "object" && Object.getPrototypeOf(value) === Object.prototype) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, copyPlain(item)]));
  }
  return value;
};
