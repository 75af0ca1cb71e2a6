/**
 * The schemas as documents publish them: in the spelling the profile names, every format explained.
 *
 * Invariants: pure; schemas.ts is never changed, copies are; what a document shows is what a service built from the same profile
 * answers.
 * Not here: the schemas (schemas.ts), the documents (openapi.ts, asyncapi.ts).
 */
import type { Contract } from "./contract.ts";
import type { Profile } from "./profile.ts";
import * as schemas from "./schemas.ts";

export type Json = Readonly<Record<string, unknown>>;

/** What the formats of our own mean. */
export const formatNotes = {
  decimal: "Decimal text: digits with an optional sign and an optional fraction; no exponent.",
  "decimal-or-empty": "Decimal text, or empty text where there is no value.",
  "inst-id": "BASE-QUOTE for spot, BASE-QUOTE-SWAP for perpetual swaps.",
} as const;

/** How instrument fields are spelled where the profile says `short`. */
export const shortFields: Readonly<Record<string, string>> = {
  baseCurrency: "baseCcy",
  quoteCurrency: "quoteCcy",
  settleCurrency: "settleCcy",
  tickSize: "tickSz",
  lotSize: "lotSz",
  minSize: "minSz",
  contractValue: "ctVal",
  maxLeverage: "lever",
};
const plainResult: Readonly<Record<string, string>> = { sCode: "code", sMsg: "msg" };

/** A copy in which everything that has a format says what it means. */
const explained = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(explained);
  if (schema === null || typeof schema !== "object") return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, explained(value)]));
  const format = copy["format"];
  return typeof format === "string" && format in formatNotes
    ? { ...copy, description: formatNotes[format as keyof typeof formatNotes] }
    : copy;
};

/** The names under which a profile's service sends a record's fields. */
const spellingOf = ({ instruments, cancelBatch }: Profile, schema: object): Readonly<Record<string, string>> => {
  if (schema === schemas.instrumentRecord && instruments.fieldNames === "short") return shortFields;
  if (schema === schemas.elementResult && cancelBatch.resultFields === "code") return plainResult;
  return {};
};

export const publishedRecord = (profile: Profile, record: Json, schema: object): Json => {
  const names = spellingOf(profile, schema);
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [names[key] ?? key, value]));
};

/** A schema of an object or an array, as published. Optional fields may be missing, unknown ones do not appear. */
export const publishedSchema = (profile: Profile, schema: object): Json => {
  const copy = explained(schema) as Json;
  const names = spellingOf(profile, schema);
  if (Object.keys(names).length === 0) return copy;
  const properties = publishedRecord(profile, copy["properties"] as Json, schema);
  return { ...copy, required: (copy["required"] as readonly string[]).map((key) => names[key] ?? key), properties };
};

/** Names of the records and bodies in documents. */
export const schemaNames: ReadonlyMap<object, string> = new Map<object, string>([
  [schemas.orderRecord, "OrderRecord"],
  [schemas.instrumentRecord, "InstrumentRecord"],
  [schemas.balanceRecord, "BalanceRecord"],
  [schemas.positionRecord, "PositionRecord"],
  [schemas.elementResult, "ElementResult"],
  [schemas.closeResult, "CloseResult"],
  [schemas.leverageResult, "LeverageResult"],
  [schemas.placeBody, "PlaceBody"],
  [schemas.cancelBody, "CancelBody"],
  [schemas.closeBody, "CloseBody"],
  [schemas.leverageBody, "LeverageBody"],
]);

export const publishedSchemas = ({ profile }: Contract): Readonly<Record<string, Json>> =>
  Object.fromEntries([...schemaNames].map(([schema, name]) => [name, publishedSchema(profile, schema)]));
