/** Values that are accepted without the validator, beside the validator itself. */
import { Ajv } from "ajv";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { backtestSchema } from "../../../src/backtest/backtest-service.ts";
import { fitsCommon, textFormats } from "../../../src/contract/common-schema.ts";
import { parseHuman } from "../../../src/contract/validate.ts";
import { configSchema } from "../../../src/host/config-schema.ts";
import averageCross from "../../../strategies/average-cross.ts";
import joinBest from "../../../strategies/join-best.ts";
import ladder from "../../../strategies/ladder.ts";

const validator = new Ajv({
  strict: true,
  strictRequired: false,
  allowUnionTypes: true,
  allErrors: true,
  useDefaults: true,
  formats: textFormats,
});

const copied = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(copied);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, copied(item)]));
};

/** The value as the validator completes it; undefined where the schema or the value is wrong. */
const completed = (schema: object, value: unknown): { readonly value: unknown } | undefined => {
  const copy = copied(value);
  try {
    return validator.validate(schema, copy) ? { value: copy } : undefined;
  } catch {
    return undefined;
  }
};

const counts = fc.integer({ min: 0, max: 3 });
const name = fc.constantFrom("a", "b", "c", "BTC-USDT", "X-Y-SWAP");
const text = fc.oneof(
  name,
  fc.constantFrom("", "1", "0.50", "-3", "1e5", "€", "😀", "😀😀", "ab", "abc", "BTC-USDT-SWAP"),
);
const value: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    text,
    fc.constantFrom<unknown>(0, 1, -1, 2.5, 3, Number.NaN, Number.POSITIVE_INFINITY, true, false, null, undefined),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(name, tie("value"), { maxKeys: 4, noNullPrototype: true }),
  ),
})).value;

/** At most two of the keywords, so that many values fit. */
const some = (keywords: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<object> =>
  fc
    .subarray(Object.entries(keywords), { maxLength: Math.min(2, Object.keys(keywords).length) })
    .chain((chosen) => fc.record(Object.fromEntries(chosen)));
const often = <T>(usual: fc.Arbitrary<T>, rare: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ weight: 12, arbitrary: usual }, { weight: 1, arbitrary: rare });
const number = fc.constantFrom(-1, 0, 1, 2.5, 3);
const kinds = ["string", "number", "integer", "boolean", "object", "array", "null"];

/** Schemas of every keyword that is read, some of them not well-formed, and some with a keyword that is not read. */
const schema: fc.Arbitrary<object> = fc.letrec<{ schema: object }>((tie) => {
  const texts = some({
    pattern: often(fc.constantFrom("^a", "\\d", "-SWAP$", "^.$"), fc.constantFrom("(", "[")),
    format: often(fc.constantFrom("decimal", "decimal-or-empty", "inst-id"), fc.constant("email")),
    minLength: often(counts, fc.constant(-1)),
    maxLength: counts,
    enum: fc.uniqueArray(text, { minLength: 1, maxLength: 3 }),
  });
  const numbers = some({ minimum: number, maximum: number, exclusiveMinimum: number, exclusiveMaximum: number });
  const lists = some({ minItems: counts, maxItems: counts, items: tie("schema"), uniqueItems: fc.constant(true) });
  const objects = some({
    properties: fc.dictionary(
      name,
      fc
        .tuple(tie("schema"), fc.option(value, { freq: 2 }))
        .map(([one, usual]) => ({ ...one, ...(usual !== null && { default: usual }) })),
      { maxKeys: 3, noNullPrototype: true },
    ),
    required: often(
      fc.uniqueArray(name, { maxLength: 2 }),
      fc.constant(["a", "a"] as typeof name extends fc.Arbitrary<infer N> ? N[] : never),
    ),
    additionalProperties: fc.oneof(fc.boolean(), tie("schema")),
    propertyNames: fc.constantFrom({ pattern: "-SWAP$" }, { pattern: "^[abc]" }, { maxLength: 1 }),
    minProperties: counts,
    maxProperties: counts,
  });
  const typed = (type: unknown, keywords: fc.Arbitrary<object>) => keywords.map((rest) => ({ type, ...rest }));
  const union = fc
    .tuple(fc.uniqueArray(fc.constantFrom(...kinds), { minLength: 1, maxLength: 2 }), texts, numbers)
    .map(([type, ...rest]) => Object.assign({ type }, ...rest));
  return {
    schema: fc
      .tuple(
        fc.oneof(
          { depthSize: "small", withCrossShrink: true },
          typed("string", texts),
          fc.constantFrom("number", "integer").chain((type) => typed(type, numbers)),
          fc.constantFrom(...kinds.map((type) => ({ type })), {}, { const: 1 }, { type: "text" }, { anyOf: [{}] }),
          union,
          typed("array", lists),
          typed("object", objects),
        ),
        often(some({ description: fc.constant("…") }), fc.record({ default: value })),
      )
      .map(([main, more]) => ({ ...main, ...more })),
  };
}).schema;

describe("What is accepted without the validator", () => {
  it("the validator accepts with the same defaults, whatever the schema and the value", () => {
    let accepted = 0;
    fc.assert(
      fc.property(schema, value, (one, given) => {
        const filled = copied(given);
        if (!fitsCommon(one, filled)) return;
        accepted++;
        expect(completed(one, given)).toEqual({ value: filled });
      }),
      { numRuns: 1_500 },
    );
    expect(accepted).toBeGreaterThan(100);
  });

  it.each<[string, object, object]>([
    ["a config", configSchema, { service: { kind: "paper" }, strategies: [{ kind: "strategy", name: "a" }] }],
    [
      "a config with many keys",
      configSchema,
      {
        service: { kind: "paper" },
        strategies: [{ kind: "strategy", name: "a" }],
        leverage: { "BTC-USDT-SWAP": "5", "ETH-USDT-SWAP": { lever: "2", mgnMode: "cross" } },
        journal: { dir: "out", resetRiskCounters: ["a"] },
        orders: { openInAll: 5, positionInAll: "10" },
      },
    ],
    ["a backtest", backtestSchema, { fixture: "x", latency: {}, balances: { USDT: "1" }, fees: { makerBps: "1" } }],
    ["options of a strategy", averageCross.definition.options, {}],
    ["options of another", joinBest.definition.options, { notional: "200", keepWithin: "80", most: 2 }],
    ["options of a third", ladder.definition.options, { levels: 10, notional: "200", step: "0.0004" }],
  ])("is %s, and comes out complete", (_, one, given) => {
    const filled = copied(given);
    expect(fitsCommon(one, filled)).toBe(true);
    expect(completed(one, given)).toEqual({ value: filled });
    expect(parseHuman(one, given, "config")).toEqual(filled);
  });

  it("is no schema with a keyword that is misspelt where no value meets it", () => {
    const misspelt = {
      type: "object",
      additionalProperties: false,
      properties: { most: { type: "integer", minimun: 1 } },
    };
    expect(fitsCommon(misspelt, {})).toBe(false);
    expect(() => parseHuman(misspelt, {}, "options")).toThrow("minimun");
  });

  it("does not share a default with other values", () => {
    const one = { type: "object", properties: { list: { type: "array", default: [] } } };
    const [first, second] = [
      parseHuman<{ list: number[] }>(one, {}, "a"),
      parseHuman<{ list: number[] }>(one, {}, "a"),
    ];
    first.list.push(1);
    expect(second.list).toEqual([]);
  });
});
