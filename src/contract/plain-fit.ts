/**
 * Plain fit: accepts most values that people write correctly, and fills in defaults, without the validator.
 *
 * Invariants: an accepted value is one that the validator accepts, with the same defaults filled in; a refusal proves
 * nothing. A schema is read as a whole: one with a keyword that is not in the tables below, or with a keyword that the
 * validator would refuse, fits no value, so that mistakes in it are reported even where no value reaches them.
 * Not here: what is wrong with a value (validate.ts), records of the service (plain-check.ts).
 */
import { isDecimal } from "../decimal.ts";
import { readInstId } from "./inst-id.ts";

type Type = "object" | "array" | "string" | "number" | "integer" | "boolean";

interface Schema {
  readonly type?: Type | readonly Type[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly propertyNames?: Schema;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
}

type Checks = Readonly<Record<string, (value: unknown) => boolean>>;

const isText = (value: unknown): boolean => typeof value === "string";
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isScalar = (value: unknown): boolean => value === null || ["string", "number", "boolean"].includes(typeof value);
const isSet = (value: unknown): value is readonly unknown[] =>
  Array.isArray(value) && new Set(value).size === value.length;

const bounds: Checks = {
  minimum: Number.isFinite,
  maximum: Number.isFinite,
  exclusiveMinimum: Number.isFinite,
  exclusiveMaximum: Number.isFinite,
};

/** Values of keywords, by the types that they belong to. */
const keywords: Readonly<Record<Type, Checks>> = {
  string: {
    minLength: isCount,
    maxLength: isCount,
    pattern: (value) => isText(value) && isPattern(value as string),
    format: (value) => ["decimal", "decimal-or-empty", "inst-id"].includes(value as string),
  },
  number: bounds,
  integer: bounds,
  boolean: {},
  array: { minItems: isCount, maxItems: isCount, items: (value) => isRead(value) && !hasDefault(value) },
  object: {
    properties: (value) =>
      isPlainObject(value) && !Object.hasOwn(value, "__proto__") && Object.values(value).every(isRead),
    required: (value) => isSet(value) && value.every(isText),
    additionalProperties: (value) => typeof value === "boolean" || (isRead(value) && !hasDefault(value)),
    propertyNames: (value) => isPlainObject(value) && isRead(ofName(value)) && !hasDefault(value),
    minProperties: isCount,
    maxProperties: isCount,
  },
};

/** Keywords of any type. */
const common: Checks = {
  type: (value) => isText(value) || (isSet(value) && value.length > 0),
  description: isText,
  title: isText,
  default: (value) => JSON.stringify(value) !== undefined,
  enum: (value) => isSet(value) && value.length > 0 && value.every(isScalar),
  const: isScalar,
};

const isPattern = (text: string): boolean => {
  try {
    return new RegExp(text, "u") instanceof RegExp;
  } catch {
    return false;
  }
};

const isPlainObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  value !== null && typeof value === "object" && !Array.isArray(value);

/** The validator refuses a default that nothing fills in. */
const hasDefault = (schema: unknown): boolean => Object.hasOwn(schema as object, "default");

const typesOf = ({ type }: Schema): readonly unknown[] =>
  Array.isArray(type) ? type : type === undefined ? [] : [type];

/** True if every keyword of a schema is known here and in order. */
const isRead = (schema: unknown): boolean => {
  if (!isPlainObject(schema)) return false;
  const types = typesOf(schema);
  if (!isSet(types) || !types.every((type) => Object.hasOwn(keywords, type as string))) return false;
  return Object.entries(schema).every(([name, value]) =>
    [common, ...types.map((type) => keywords[type as Type])].some(
      (checks) => Object.hasOwn(checks, name) && checks[name]?.(value) === true,
    ),
  );
};

/** The schema of a name of a property, which is a text without saying so. */
const ofName = (schema: Schema): Schema => ({ type: "string", ...schema });

const isOf: Readonly<Record<Type, (value: unknown) => boolean>> = {
  object: isPlainObject,
  array: Array.isArray,
  string: isText,
  number: Number.isFinite,
  integer: Number.isInteger,
  boolean: (value) => typeof value === "boolean",
};

const hasFormat = (text: string, format: string): boolean => {
  if (format === "inst-id") return readInstId(text) !== undefined;
  return isDecimal(text) || (format === "decimal-or-empty" && text === "");
};

const textFits = (
  text: string,
  { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern, format }: Schema,
): boolean => {
  // In characters, not units, as the validator counts.
  const { length } = Array.from(text);
  if (length < minLength || length > maxLength) return false;
  if (format !== undefined && !hasFormat(text, format)) return false;
  return pattern === undefined || new RegExp(pattern, "u").test(text);
};

const numberFits = (
  value: number,
  { minimum = value, maximum = value, exclusiveMinimum, exclusiveMaximum }: Schema,
): boolean =>
  value >= minimum &&
  value <= maximum &&
  (exclusiveMinimum === undefined || value > exclusiveMinimum) &&
  (exclusiveMaximum === undefined || value < exclusiveMaximum);

const listFits = (list: readonly unknown[], { minItems = 0, maxItems = list.length, items }: Schema): boolean => {
  if (list.length < minItems || list.length > maxItems) return false;
  for (let index = 0; items !== undefined && index < list.length; index++) if (!fits(items, list[index])) return false;
  return true;
};

/** Names fit if their number does, all that are required are there, and every other one is allowed. */
const namesFit = (value: Readonly<Record<string, unknown>>, schema: Schema): boolean => {
  const { properties = {}, required = [], additionalProperties = true, propertyNames } = schema;
  const count = Object.keys(value).length;
  if (count < (schema.minProperties ?? 0) || count > (schema.maxProperties ?? count)) return false;
  if (required.some((name) => value[name] === undefined)) return false;
  for (const name in value) {
    if (propertyNames !== undefined && !fits(ofName(propertyNames), name)) return false;
    if (additionalProperties === true || Object.hasOwn(properties, name)) continue;
    if (additionalProperties === false || !fits(additionalProperties, value[name])) return false;
  }
  return true;
};

const objectFits = (value: Record<string, unknown>, schema: Schema): boolean => {
  const properties = Object.entries(schema.properties ?? {});
  for (const [name, { default: usual }] of properties) {
    if (usual !== undefined && value[name] === undefined) value[name] = JSON.parse(JSON.stringify(usual));
  }
  return (
    namesFit(value, schema) &&
    properties.every(([name, property]) => value[name] === undefined || fits(property, value[name]))
  );
};

/** Compares a value with a schema that is read. Fills in defaults, also in a value that does not fit in the end. */
const fits = (schema: Schema, value: unknown): boolean => {
  const types = typesOf(schema) as readonly Type[];
  if (types.length > 0 && !types.some((type) => isOf[type](value))) return false;
  if (schema.enum !== undefined && !schema.enum.includes(value)) return false;
  if ("const" in schema && value !== schema.const) return false;
  if (typeof value === "string") return textFits(value, schema);
  if (typeof value === "number") return numberFits(value, schema);
  if (Array.isArray(value)) return listFits(value, schema);
  return !isPlainObject(value) || objectFits(value as Record<string, unknown>, schema);
};

/**
 * Checks a value and fills in its defaults.
 *
 * @param schema - JSON Schema
 * @param value - changed in place; a value that is refused may be half filled in
 * @returns true if it certainly fits
 */
export const fitsPlainly = (schema: object, value: unknown): boolean =>
  isRead(schema) && !hasDefault(schema) && fits(schema, value);
