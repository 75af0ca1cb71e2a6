/** What the plain fit says yes to, the validator accepts and fills in alike. */
import { Ajv } from "ajv";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fitsPlainly } from "../../../src/contract/plain-fit.ts";
import { parseHuman } from "../../../src/contract/validate.ts";
import { configSchema } from "../../../src/host/config-schema.ts";
import ladder from "../../../strategies/ladder.ts";

const decimalForm = /^-?\d+(\.\d+)?$/;
const validator = new Ajv({
  strict: true,
  strictRequired: false,
  allowUnionTypes: true,
  allErrors: true,
  useDefaults: true,
  formats: {
    decimal: (text: string) => decimalForm.test(text),
    "decimal-or-empty": (text: string) => text === "" || decimalForm.test(text),
    "inst-id": (text: string) => /^[A-Z]+-[A-Z]+(-SWAP)?$/.test(text),
  },
});

/** What the validator makes of a value: the filled value, or undefined where it refuses the value or the schema. */
const filled = (schema: object, value: unknown): unknown => {
  const copy = structuredClone(value);
  try {
    return validator.compile(schema)(copy) ? { copy } : undefined;
  } catch {
    return undefined;
  }
};

const plainly = (schema: object, value: unknown): unknown => {
  const copy = structuredClone(value);
  return fitsPlainly(schema, copy) ? { copy } : undefined;
};

const words = ["a", "b", "", "1.5", "-2", "1.", "BTC-USDT", "ab", "\u{1f600}", "\u{1f600}\u{1f600}"];
const scalars = fc.constantFrom<unknown>(...words, 0, -1, 1, 1.5, 2, 100, true, false, null);
const names = fc.constantFrom("a", "b", "other", "toString", "__proto__");
const values = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    { weight: 4, arbitrary: scalars },
    fc.array(tie("any"), { maxLength: 3 }),
    fc.dictionary(names, tie("any"), { maxKeys: 3 }),
  ),
})).any;

/** Mostly one of the right values of a keyword, now and then a wrong one. */
const mostly = (right: fc.Arbitrary<unknown>, ...wrong: readonly unknown[]): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 30, arbitrary: right }, { weight: 1, arbitrary: fc.constantFrom(...wrong) });
const counts = mostly(fc.constantFrom(0, 1, 2), -1, 1.5, "1");
const bounds = mostly(fc.constantFrom(0, 1, 1.5), "0");
const schemaOf = (type: fc.Arbitrary<unknown>, keywords: Readonly<Record<string, fc.Arbitrary<unknown>>>) =>
  fc
    .tuple(type, fc.subarray(Object.keys(keywords), { maxLength: 3 }), fc.record(keywords))
    .map(([of, kept, all]) => ({ type: of, ...Object.fromEntries(kept.map((name) => [name, all[name]])) }));
const usual = { default: scalars, description: mostly(fc.constant("text"), 1) };

/** Schemas with every keyword that is read, some with a wrong value, and some with keywords that are not read. */
const schemas = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    schemaOf(fc.constant("string"), {
      minLength: counts,
      maxLength: counts,
      pattern: mostly(fc.constantFrom("^a", "."), "[", 1),
      format: mostly(fc.constantFrom("decimal", "decimal-or-empty", "inst-id"), "date"),
      enum: mostly(fc.constant(["a", "b"]), [], ["a", "a"], "a"),
      ...usual,
    }),
    schemaOf(fc.constantFrom<unknown>("number", "integer", ["number", "string"], ["integer", "boolean"]), {
      minimum: bounds,
      maximum: bounds,
      exclusiveMinimum: bounds,
      exclusiveMaximum: bounds,
      const: mostly(scalars, [1]),
      ...usual,
    }),
    schemaOf(mostly(fc.constantFrom("array", ["array", "boolean"]), [], "list"), {
      minItems: counts,
      maxItems: counts,
      items: tie("any"),
      uniqueItems: fc.constant(true),
      minLength: mostly(fc.constant(undefined), 1),
      ...usual,
    }),
    schemaOf(fc.constantFrom<unknown>("object", ["object", "string"]), {
      properties: fc.dictionary(names, tie("any"), { maxKeys: 3 }),
      required: mostly(fc.constantFrom(["a"], ["a", "b"]), ["a", "a"], "a"),
      additionalProperties: fc.oneof(fc.boolean(), tie("any")),
      propertyNames: mostly(fc.constantFrom({ pattern: "^[a-z]+$" }, { maxLength: 2 }), { minimum: 1 }, 1),
      minProperties: counts,
      maxProperties: counts,
      ...usual,
    }),
    fc.constantFrom({}, { enum: ["a", 1, null] }, { enum: [{}] }, { anyOf: [{}] }),
  ),
})).any as fc.Arbitrary<object>;

const closed = (properties: object): object => ({ type: "object", additionalProperties: false, properties });

describe("The plain fit", () => {
  it("accepts nothing that the validator would not accept, and fills in the same defaults", () => {
    let accepted = 0;
    fc.assert(
      fc.property(schemas, fc.array(values, { minLength: 8, maxLength: 8 }), (schema, tried) => {
        const fitting = tried.filter((value) => plainly(schema, value) !== undefined);
        accepted += fitting.length;
        expect(fitting.map((value) => plainly(schema, value))).toEqual(fitting.map((value) => filled(schema, value)));
      }),
      { numRuns: 300 },
    );
    expect(accepted).toBeGreaterThan(100);
  });

  it.each([
    ["nested defaults", closed({ a: { ...closed({ b: { type: "integer", default: 3 } }), default: {} } }), {}],
    ["texts counted in characters", closed({ a: { type: "string", maxLength: 2 } }), { a: "\u{1f600}\u{1f600}" }],
    ["names of an open list", { type: "object", propertyNames: { pattern: "-SWAP$" } }, { "BTC-USDT-SWAP": 1 }],
    ["functions among the values", closed({ a: {} }), { a: undefined }],
  ])("accepts %s", (_, schema, value) => {
    expect(plainly(schema, value)).toEqual(filled(schema, value));
    expect(plainly(schema, value)).toBeDefined();
  });

  it.each([
    ["one character of two units", closed({ a: { type: "string", minLength: 2 } }), { a: "\u{1f600}" }],
    ["a keyword of another type", closed({ a: { type: "string", minimum: 1 } }), {}],
    ["a keyword that nobody knows", closed({ a: { type: "string", minLenght: 1 } }), {}],
    ["a default at the root", { ...closed({}), default: {} }, {}],
    ["a name that is no property", closed({}), { a: undefined }],
  ])("leaves %s to the validator", (_, schema, value) => {
    expect(plainly(schema, value)).toBeUndefined();
  });

  it("reads the schemas of configs and of options as they are usually written", () => {
    const service = { kind: "backtest" };
    const strategy = { kind: "strategy", name: "a" };
    expect(plainly(configSchema, { service, strategies: [strategy] })).toEqual(
      filled(configSchema, { service, strategies: [strategy] }),
    );
    expect(plainly(configSchema, { service, strategies: [strategy] })).toBeDefined();
    expect(plainly(ladder.definition.options, {})).toBeDefined();
  });

  it("leaves a value that it refuses as it was written", () => {
    const written = { b: 1 };
    expect(() => parseHuman(closed({ a: { type: "integer", default: 1 } }), written, "options")).toThrow(
      'options: unknown key "b"',
    );
    expect(written).toEqual({ b: 1 });
  });
});
