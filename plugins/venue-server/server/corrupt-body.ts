/**
 * Bodies as they should not be: a page, endless blanks, records with fields that are wrong, missing or unknown.
 *
 * Invariants: only a success is mutated, so that a refusal stays a refusal; the answer given in is not changed; the
 * same chance spoils the same way.
 */
import type { Random } from "sluice";
import type { VenueResponse } from "sluice/backtest";

export const page =
  "<!doctype html><html><head><title>502 Bad Gateway</title></head><body><h1>Bad Gateway</h1></body></html>\n";

export const noJson = "upstream said nothing {";

const pieceBytes = 65_536;

/** An envelope whose list is `bytes` of blanks, in pieces. */
export function* blanks(bytes: number): Generator<Buffer> {
  const piece = Buffer.alloc(pieceBytes, " ");
  yield Buffer.from('{"code":"0","msg":"","data":[');
  for (let left = bytes; left > 0; left -= pieceBytes) yield left >= pieceBytes ? piece : piece.subarray(0, left);
  yield Buffer.from("]}");
}

type JsonRecord = Readonly<Record<string, unknown>>;

const isRecord = (value: unknown): value is JsonRecord =>
  value !== null && typeof value === "object" && !Array.isArray(value);

/** `reply` with every record of a success passed through `change`. */
export const changed = (reply: VenueResponse, change: (record: JsonRecord) => JsonRecord): VenueResponse => {
  const { body } = reply;
  if (reply.status !== 200 || !isRecord(body) || body["code"] !== "0" || !Array.isArray(body["data"])) return reply;
  const data = body["data"].map((record: unknown) => (isRecord(record) ? change(record) : record));
  return { ...reply, body: { ...body, data } };
};

const anyField = (record: JsonRecord, random: Random): string | undefined => {
  const names = Object.keys(record);
  return names.length === 0 ? undefined : names[random.whole(0, names.length - 1)];
};

export const mistyped = (record: JsonRecord, random: Random): JsonRecord => {
  const name = anyField(record, random);
  if (name === undefined) return record;
  const value = record[name];
  const others = [null, 0.1, true, [value], { value }];
  return { ...record, [name]: others[random.whole(0, others.length - 1)] };
};

export const lacking = (record: JsonRecord, random: Random): JsonRecord => {
  const name = anyField(record, random);
  return Object.fromEntries(Object.entries(record).filter(([key]) => key !== name));
};

/** Adds fields, as services do without notice, to the records and next to them. */
export const extended = (reply: VenueResponse): VenueResponse => {
  const more = changed(reply, (record) => ({ ...record, addedLater: "1", nested: { list: [1, null], text: "" } }));
  return more === reply ? reply : { ...more, body: { ...(more.body as object), requestId: "000000000000", took: 3 } };
};
