/**
 * Check of values against schemas of common keywords, without the validator: loading it and compiling one schema after
 * another costs a start more than all the values that are checked with them.
 *
 * Invariants: an accepted value is one that the validator accepts, with the same defaults filled in; a refusal proves
 * nothing. A schema with other keywords, or with one that is not well-formed, is never read, so that the validator
 * reports it; this does not depend on the value.
 * Not here: what is wrong with a value (validate.ts), the check of requests and answers (plain-check.ts).
 */
import { isDecimal } from "../decimal.ts";
import { readInstId } from "./inst-id.ts";

type Schema = Readonly<Record<string, unknown>>;
type Kind = "string" | "number" | "boolean" | "object" | "array" | "null";

interface Keyword {
  /** Kinds of values that the keyword applies to; every kind when left out. */
  readonly of?: readonly Kind[];
  readonly isWellFormed: (argument: unknown) => boolean;
}

const isText = (argument: unknown): boolean => typeof argument === "string";
const isNumber = (argument: unknown): boolean => Number.isFinite(argument);
const isCount = (argument: unknown): boolean => Number.isSafeInteger(argument) && (argument as number) >= 0;
const isPrimitive = (argument: unknown): boolean =>
  argument === null || ["string", "number", "boolean"].includes(typeof argument);
const isObject = (argument: unknown): argument is Schema =>
  typeof argument === "object" && argument !== null && !Array.isArray(argument);

const isListOf = (argument: unknown, fits: (item: unknown) => boolean): boolean =>
  Array.isArray(argument) && new Set(argument).size === argument.length && argument.every(fits);

const isPattern = (argument: unknown): boolean => {
  if (typeof argument !== "string") return false;
  try {
    new RegExp(argument, "u").test("");
    return true;
  } catch {
    return false;
  }
};

/** Names that every object has are left to the validator. */
const isOwnName = (name: unknown): boolean => typeof name === "string" && !(name in Object.prototype);

/** Formats of texts, by their names in schemas. */
export const textFormats: Readonly<Record<string, (text: string) => boolean>> = {
  decimal: isDecimal,
  "decimal-or-empty": (text) => text === "" || isDecimal(text),
  "inst-id": (text) => readInstId(text) !== undefined,
};

const kinds: Readonly<Record<string, Kind>> = {
  string: "string",
  number: "number",
  integer: "number",
  boolean: "boolean",
  object: "object",
  array: "array",
  null: "null",
};

const isType = (argument: unknown): boolean => typeof argument === "string" && Object.hasOwn(kinds, argument);

const keywords: Readonly<Record<string, Keyword>> = {
  type: {
    isWellFormed: (argument) =>
      isType(argument) || (Array.isArray(argument) && argument.length > 0 && isListOf(argument, isType)),
  },
  title: { isWellFormed: isText },
  description: { isWellFormed: isText },
  default: { isWellFormed: (argument) => isPrimitive(argument) || typeof argument === "object" },
  const: { isWellFormed: isPrimitive },
  enum: {
    isWellFormed: (argument) => Array.isArray(argument) && argument.length > 0 && isListOf(argument, isPrimitive),
  },
  pattern: { of: ["string"], isWellFormed: isPattern },
  format: {
    of: ["string"],
    isWellFormed: (argument) => typeof argument === "string" && Object.hasOwn(textFormats, argument),
  },
  minLength: { of: ["string"], isWellFormed: isCount },
  maxLength: { of: ["string"], isWellFormed: isCount },
  minimum: { of: ["number"], isWellFormed: isNumber },
  maximum: { of: ["number"], isWellFormed: isNumber },
  exclusiveMinimum: { of: ["number"], isWellFormed: isNumber },
  exclusiveMaximum: { of: ["number"], isWellFormed: isNumber },
  minItems: { of: ["array"], isWellFormed: isCount },
  maxItems: { of: ["array"], isWellFormed: isCount },
  items: { of: ["array"], isWellFormed: (argument) => isRead(argument) },
  required: { of: ["object"], isWellFormed: (argument) => isListOf(argument, isOwnName) },
  minProperties: { of: ["object"], isWellFormed: isCount },
  maxProperties: { of: ["object"], isWellFormed: isCount },
  propertyNames: {
    of: ["object"],
    isWellFormed: (argument) =>
      isObject(argument) && isPattern(argument["pattern"]) && Object.keys(argument).length === 1,
  },
  additionalProperties: {
    of: ["object"],
    isWellFormed: (argument) => typeof argument === "boolean" || isRead(argument),
  },
  properties: {
    of: ["object"],
    isWellFormed: (argument) =>
      isObject(argument) && Object.keys(argument).every(isOwnName) && Object.values(argument).every(isRead),
  },
};

const typesOf = ({ type = [] }: Schema): readonly string[] => (typeof type === "string" ? [type] : (type as string[]));

/** True if the schema has only keywords that are read here, each with a type that it applies to. */
const isRead = (schema: unknown): boolean => {
  if (!isObject(schema)) return false;
  const own = typesOf(schema).map((type) => kinds[type]);
  return Object.entries(schema).every(([name, argument]) => {
    const keyword = Object.hasOwn(keywords, name) ? keywords[name] : undefined;
    if (keyword === undefined || !keyword.isWellFormed(argument)) return false;
    return keyword.of === undefined || keyword.of.some((kind) => own.includes(kind));
  });
};

const kindOf = (value: unknown): Kind | undefined => {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isFinite(value) ? "number" : undefined;
  const kind = typeof value;
  return kind === "string" || kind === "boolean" || kind === "object" ? kind : undefined;
};

const isBetween = (value: number, least: unknown, most: unknown): boolean =>
  !(value < (least as number)) && !(value > (most as number));

const textFits = ({ minLength, maxLength, pattern, format }: Schema, text: string): boolean => {
  // Characters, of which some are two units long.
  if (!isBetween(Array.from(text).length, minLength, maxLength)) return false;
  if (pattern !== undefined && !new RegExp(pattern as string, "u").test(text)) return false;
  return format === undefined || textFormats[format as string]?.(text) === true;
};

const numberFits = (schema: Schema, value: number): boolean =>
  isBetween(value, schema["minimum"], schema["maximum"]) &&
  !(value <= (schema["exclusiveMinimum"] as number)) &&
  !(value >= (schema["exclusiveMaximum"] as number));

const listFits = ({ minItems, maxItems, items }: Schema, list: readonly unknown[]): boolean =>
  isBetween(list.length, minItems, maxItems) &&
  (items === undefined || list.every((item) => valueFits(items as Schema, item)));

type Properties = Readonly<Record<string, Schema>>;

/** Fills in what is missing and has a default. */
const fill = (properties: Properties, object: Record<string, unknown>): void => {
  for (const [name, { default: usual }] of Object.entries(properties)) {
    if (usual !== undefined && object[name] === undefined) object[name] = structuredClone(usual);
  }
};

const namesFit = (
  { propertyNames, additionalProperties: others = true }: Schema,
  properties: Properties,
  object: Schema,
): boolean => {
  const pattern = propertyNames && new RegExp((propertyNames as { readonly pattern: string }).pattern, "u");
  for (const name in object) {
    if (pattern instanceof RegExp && !pattern.test(name)) return false;
    if (Object.hasOwn(properties, name) || others === true) continue;
    if (others === false || !valueFits(others as Schema, object[name])) return false;
  }
  return true;
};

const objectFits = (schema: Schema, object: Record<string, unknown>): boolean => {
  const properties = (schema["properties"] ?? {}) as Properties;
  const required = (schema["required"] ?? []) as readonly string[];
  fill(properties, object);
  return (
    isBetween(Object.keys(object).length, schema["minProperties"], schema["maxProperties"]) &&
    required.every((name) => object[name] !== undefined) &&
    namesFit(schema, properties, object) &&
    Object.entries(properties).every(([name, own]) => object[name] === undefined || valueFits(own, object[name]))
  );
};

const typeFits = (schema: Schema, kind: Kind | undefined, value: unknown): boolean => {
  const types = typesOf(schema);
  return (
    types.length === 0 || types.some((type) => kinds[type] === kind && (type !== "integer" || Number.isInteger(value)))
  );
};

const valueFits = (schema: Schema, value: unknown): boolean => {
  const kind = kindOf(value);
  const { const: only, enum: words } = schema;
  if (!typeFits(schema, kind, value)) return false;
  if (only !== undefined && value !== only) return false;
  if (words !== undefined && !(words as readonly unknown[]).includes(value)) return false;
  if (kind === "string") return textFits(schema, value as string);
  if (kind === "number") return numberFits(schema, value as number);
  if (kind === "array") return listFits(schema, value as readonly unknown[]);
  return kind !== "object" || objectFits(schema, value as Record<string, unknown>);
};

/**
 * True if `value` certainly fits the schema; defaults are filled into it. Where it is false some may have been filled
 * in as well.
 */
export const fitsCommon = (schema: object, value: unknown): boolean =>
  isRead(schema) && !("default" in schema) && valueFits(schema as Schema, value);
