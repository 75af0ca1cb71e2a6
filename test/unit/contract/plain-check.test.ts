/** What the plain check says yes to, the validator accepts as it is. */
import { Ajv } from "ajv";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseInstId } from "../../../src/contract/inst-id.ts";
import { plainCheckOf } from "../../../src/contract/plain-check.ts";
import * as schemas from "../../../src/contract/schemas.ts";

const isInstId = (text: string): boolean => {
  try {
    return parseInstId(text, "test") !== undefined;
  } catch {
    return false;
  }
};
const decimalForm = /^-?\d+(\.\d+)?$/;
const formats = {
  decimal: (text: string) => decimalForm.test(text),
  "decimal-or-empty": (text: string) => text === "" || decimalForm.test(text),
  "inst-id": isInstId,
};
const strict = new Ajv({ strict: true, strictRequired: false, formats });

const read = {
  placeBody: schemas.placeBody,
  cancelBody: schemas.cancelBody,
  amendBody: schemas.amendBody,
  orderQuery: schemas.orderQuery,
  pendingQuery: schemas.pendingQuery,
  historyQuery: schemas.historyQuery,
  orderRecord: schemas.orderRecord,
  elementResult: schemas.elementResult,
  positionRecord: schemas.positionRecord,
  balanceRecord: schemas.balanceRecord,
} as const;

const texts = [
  "",
  "0",
  "1.5",
  "-1.5",
  "1.",
  ".5",
  "1e5",
  "BTC-USDT",
  "BTC-USDT-SWAP",
  "BTC-SWAP",
  "btc",
  "live",
  "cross",
  "SPOT",
  "100",
];
const edges = [63, 64, 65].flatMap((length) => ["a".repeat(length), "\u{1f600}".repeat(length)]);
const anyText = fc.oneof(
  fc.constantFrom(...texts, ...edges, "A".repeat(20).concat("-", "B".repeat(20), "-SWAP")),
  fc.string(),
);
const anyValue = fc.oneof(
  { weight: 12, arbitrary: anyText },
  fc.constantFrom<unknown>(undefined, null, true, false, 1, [], {}),
);

/** Objects of the schema's own fields, mostly all that are required, now and then with one that is unknown. */
const objectOf = (schema: { readonly properties: object; readonly required?: readonly string[] }) => {
  const known = Object.keys(schema.properties);
  return fc
    .tuple(
      fc.dictionary(fc.constantFrom(...known, "other", "toString"), anyValue),
      fc.boolean(),
      fc.infiniteStream(anyText),
    )
    .map(([given, complete, fill]) => {
      const whole = complete ? (schema.required ?? []).map((name) => [name, fill.next().value as string]) : [];
      return { ...Object.fromEntries(whole), ...given };
    });
};

describe.each(Object.entries(read))("The plain check of %s", (_, schema) => {
  const plain = plainCheckOf(schema) as (value: unknown) => boolean;
  const valid = strict.compile(schema);
  const one = objectOf("items" in schema ? schema.items : schema);
  const values =
    "items" in schema
      ? fc.oneof(fc.array(one, { maxLength: 3 }), one)
      : fc.oneof({ weight: 9, arbitrary: one }, fc.array(one));

  it("says yes to nothing that the validator refuses, nor changes, whatever it was asked before", () => {
    fc.assert(
      fc.property(values, (value) => {
        if (plain(value)) expect(valid(value)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});

const order = {
  instId: "BTC-USDT-SWAP",
  side: "buy",
  ordType: "limit",
  sz: "10",
  px: "60000.5",
  clOrdId: "a1",
  reduceOnly: true,
};
const { placeBody } = schemas;

describe("The plain check of a placement", () => {
  const plain = plainCheckOf(placeBody) as (value: unknown) => boolean;

  it.each([
    ["a common order", order, true],
    ["the same once more", { ...order }, true],
    ["an id of 64 characters", { ...order, clOrdId: "a".repeat(64) }, true],
    ["what is undefined is not there", { ...order, px: undefined }, true],
    ["an empty id", { ...order, clOrdId: "" }, false],
    ["a longer id", { ...order, clOrdId: "a".repeat(65) }, false],
    ["a number for text", { ...order, sz: 10 }, false],
    ["a missing field", { ...order, sz: undefined }, false],
    ["a field that is unknown", { ...order, tif: "gtc" }, false],
    ["a list", [order], false],
  ])("%s: %#", (_, value, expected) => {
    expect(plain(value)).toBe(expected);
    expect(plain(value)).toBe(expected);
  });
});

it.each([
  ["a default", { type: "object", additionalProperties: false, properties: { a: { type: "string", default: "x" } } }],
  ["unknown keys are allowed", { type: "object", properties: { a: { type: "string" } } }],
  ["numbers", { type: "object", additionalProperties: false, properties: { a: { type: "number" } } }],
  ["nested objects", { type: "object", additionalProperties: false, properties: { a: schemas.placeBody } }],
  [
    "an unknown format",
    { type: "object", additionalProperties: false, properties: { a: { type: "string", format: "date" } } },
  ],
  ["a rule across fields", { ...schemas.orderQuery, minProperties: 1 }],
])("A schema with more than texts and flags has no plain check: %s", (_, schema) => {
  expect(plainCheckOf(schema)).toBeUndefined();
});
