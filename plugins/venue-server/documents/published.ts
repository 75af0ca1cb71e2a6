/**
 * The schemas as published in documents: in the spelling of the profile, with every format explained.
 *
 * Invariants: pure; schemas.ts is never changed, copies are; a document describes the answers and the input of a
 * service built from the same profile: bounds in the profile or in code are written into the copies.
 * Not here: the schemas (schemas.ts), the documents (openapi.ts, asyncapi.ts).
 */
import { type Contract, type Profile, wire } from "sluice/dialect";

const { schemas } = wire;

export type Json = Readonly<Record<string, unknown>>;

/** Descriptions of our own formats. */
const formatNotes = {
  decimal: "Decimal text: digits with an optional sign and an optional fraction; no exponent.",
  "decimal-or-empty": "Decimal text, or empty text where there is no value.",
  "inst-id": "BASE-QUOTE for spot, BASE-QUOTE-SWAP for perpetual swaps.",
} as const;

const plainResult: Readonly<Record<string, string>> = { sCode: "code", sMsg: "msg" };

/** Returns a copy in which everything with a format has its description. */
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
  if (schema === schemas.instrumentRecord && instruments.fieldNames === "short") return wire.shortFields;
  if (schema === schemas.elementResult && cancelBatch.resultFields === "code") return plainResult;
  return {};
};

export const publishedRecord = (profile: Profile, record: Json, schema: object): Json => {
  const names = spellingOf(profile, schema);
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [names[key] ?? key, value]));
};

/** Cursors and page sizes as the service reads them. */
const pageOf = ({ paging: { limitAboveMax } }: Profile, query: Json): Json => {
  const properties = query["properties"] as { readonly limit: Json };
  const cursor = { type: "string", pattern: wire.pagePatterns.cursor };
  const limit =
    limitAboveMax === "refused" ? { ...properties.limit, pattern: wire.pagePatterns.limit } : properties.limit;
  return { ...query, properties: { ...properties, limit, after: cursor, before: cursor } };
};

/**
 * Returns the schema of a batch: orders are named by one of two ids, all by the same one if the profile requires it.
 */
const batchOf = ({ cancelBatch: { elementsMax, oneIdKind } }: Profile, { items, ...batch }: Json): Json => {
  const { required, properties, ...element } = items as {
    readonly required: readonly string[];
    readonly properties: Json;
  };
  const { ordId: _, clOrdId, ...others } = properties;
  const byOrdId = { ...element, title: "CancelByOrdId", required: [...required, "ordId"], properties };
  const byClOrdId = {
    ...element,
    title: "CancelByClOrdId",
    required: [...required, "clOrdId"],
    properties: { ...others, clOrdId },
  };
  const of = (elements: Json): Json => ({ ...batch, maxItems: elementsMax, items: elements });
  return oneIdKind ? { anyOf: [of(byOrdId), of(byClOrdId)] } : of({ anyOf: [byOrdId, byClOrdId] });
};

/** Returns a copy of a schema with the bounds that the service enforces beyond it. */
const boundedBy = (profile: Profile, copy: Json, schema: object): Json => {
  if (schema === schemas.pendingQuery || schema === schemas.historyQuery) return pageOf(profile, copy);
  return schema === schemas.cancelBody ? batchOf(profile, copy) : copy;
};

/** A schema of an object or an array, as published. Optional fields may be missing, unknown ones do not appear. */
export const publishedSchema = (profile: Profile, schema: object): Json => {
  const copy = boundedBy(profile, explained(schema) as Json, schema);
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
