/**
 * Plain check: accepts most values that fit a schema of flat objects, without the validator.
 *
 * Invariants: an accepted value is valid as it is, and no validator would remove or fill in anything; a refusal proves
 * nothing. A schema with other keywords than are read here has no plain check.
 * Not here: what is wrong with a value (validate.ts).
 */
import { isDecimal } from "../decimal.ts";
import { readInstId } from "./inst-id.ts";

export type PlainCheck = (value: unknown) => boolean;

interface FieldSchema {
  readonly type?: unknown;
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
}

interface Schema {
  readonly type?: unknown;
  readonly additionalProperties?: unknown;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly minItems?: number;
  readonly items?: Schema;
}

/** Longer texts are checked again each time, so that no sender decides how much is kept. */
const keptMax = 64;

/** One property of a closed object. */
class Field {
  readonly required: boolean;
  readonly #isFlag: boolean;
  /**
   * Length up to which a text certainly fits: schemas count characters, of which it has at most as many as units, and
   * at least half as many.
   */
  readonly #lengthMin: number;
  readonly #lengthMax: number;
  /** True if a text of that length may still not fit. */
  readonly #isRead: boolean;
  readonly #schema: FieldSchema;
  readonly #pattern: RegExp | undefined;
  /** The latest text that was read and fitted: many fields repeat their value. */
  #latest: unknown;

  constructor(schema: FieldSchema, required: boolean) {
    const { type, enum: words, format, pattern, minLength = 0, maxLength = Number.POSITIVE_INFINITY } = schema;
    this.required = required;
    this.#isFlag = type === "boolean";
    this.#lengthMin = 2 * minLength - 1;
    this.#lengthMax = maxLength;
    this.#isRead = words !== undefined || format !== undefined || pattern !== undefined;
    this.#schema = schema;
    this.#pattern = pattern === undefined ? undefined : new RegExp(pattern, "u");
  }

  /** Returns true if the value certainly fits. */
  takes(value: unknown): boolean {
    if (typeof value !== "string") return this.#isFlag && typeof value === "boolean";
    if (value === this.#latest) return true;
    if (this.#isFlag || value.length < this.#lengthMin || value.length > this.#lengthMax) return false;
    return !this.#isRead || this.#reads(value);
  }

  #reads(text: string): boolean {
    const { enum: words, format } = this.#schema;
    if (words !== undefined && !words.includes(text)) return false;
    if (format !== undefined && !hasFormat(text, format)) return false;
    if (this.#pattern !== undefined && !this.#pattern.test(text)) return false;
    if (text.length <= keptMax) this.#latest = text;
    return true;
  }
}

const hasFormat = (text: string, format: string): boolean => {
  if (format === "inst-id") return readInstId(text) !== undefined;
  return isDecimal(text) || (format === "decimal-or-empty" && text === "");
};

const formats: readonly unknown[] = [undefined, "decimal", "decimal-or-empty", "inst-id"];
const fieldKeys = new Set(["type", "enum", "format", "pattern", "minLength", "maxLength"]);
const objectKeys = new Set(["type", "additionalProperties", "required", "properties"]);
const arrayKeys = new Set(["type", "minItems", "items"]);

const saysOnly = (schema: object, known: ReadonlySet<string>): boolean =>
  Object.keys(schema).every((key) => known.has(key));

const isFieldRead = (schema: FieldSchema): boolean => {
  if (!saysOnly(schema, fieldKeys) || !formats.includes(schema.format)) return false;
  return schema.type === "string" || (schema.type === "boolean" && Object.keys(schema).length === 1);
};

const objectCheck = (schema: Schema): PlainCheck | undefined => {
  const { properties = {}, required = [] } = schema;
  const names = new Set(Object.keys(properties));
  if (schema.type !== "object" || schema.additionalProperties !== false || !saysOnly(schema, objectKeys))
    return undefined;
  if (!required.every((name) => names.has(name)) || !Object.values(properties).every(isFieldRead)) return undefined;
  const fields = new Map(
    Object.entries(properties).map(([name, field]) => [name, new Field(field, required.includes(name))]),
  );
  return (value) => {
    if (value === null || typeof value !== "object" || Array.isArray(value)) return false;
    let missing = required.length;
    for (const name in value) {
      const field = fields.get(name);
      if (field === undefined) return false;
      const said = (value as Readonly<Record<string, unknown>>)[name];
      if (said === undefined) continue;
      if (!field.takes(said)) return false;
      if (field.required) missing--;
    }
    return missing === 0;
  };
};

/**
 * The plain check of a schema of closed objects whose properties are texts and flags, or of a list of such; undefined
 * for any other.
 */
export const plainCheckOf = (schema: Schema): PlainCheck | undefined => {
  if (schema.type !== "array") return objectCheck(schema);
  const { items, minItems = 0 } = schema;
  const check = items === undefined || !saysOnly(schema, arrayKeys) ? undefined : objectCheck(items);
  if (check === undefined) return undefined;
  return (value) => {
    if (!Array.isArray(value) || value.length < minItems) return false;
    // By index: a gap is an element that does not fit.
    for (let index = 0; index < value.length; index++) if (!check(value[index])) return false;
    return true;
  };
};
