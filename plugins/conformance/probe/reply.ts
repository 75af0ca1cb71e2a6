/**
 * One response of the service, read without relying on the service description.
 *
 * Invariants: nothing here throws, for any answer of the service; `ok` and ids are read leniently, so that a wrong type
 * fails only the question about types.
 */

import { type EndpointName, limitedStatus, type WireRequest, type WireResponse, wire } from "sluice/dialect";

export type Raw = Readonly<Record<string, unknown>>;

export type LimitHeader = keyof typeof wire.limitHeaders;

export interface Reply {
  readonly kind: "answered";
  readonly endpoint: EndpointName;
  /** Method, address and body, and whose key signed it. */
  readonly asked: string;
  /** The response in short, for messages. */
  readonly shown: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly envelope: Raw;
  readonly code: string;
  /** Undefined where the envelope holds no text under `msg`. */
  readonly msg: string | undefined;
  /** Entries of `data` that are objects. */
  readonly records: readonly Raw[];
  /** A status below 300 and code 0, be it text or number. */
  readonly ok: boolean;
  readonly limited: boolean;
  readonly signed: boolean;
  /** Values of the rate-limit headers; undefined for those that are missing or no whole number. */
  readonly counters: Readonly<Record<LimitHeader, number | undefined>>;
  /** The service's `Date`, in milliseconds since the Unix epoch and whole seconds. */
  readonly dateAt: number | undefined;
  readonly sentAt: number;
  readonly receivedAt: number;
  readonly response: WireResponse;
}

export const isRaw = (value: unknown): value is Raw =>
  value !== null && typeof value === "object" && !Array.isArray(value);

/** Text or number as text; empty for anything else. */
export const wordOf = (value: unknown): string =>
  typeof value === "string" || typeof value === "number" ? String(value) : "";

export const fieldOf = (record: Raw | undefined, name: string): string => wordOf(record?.[name]);

export const ordIdsOf = ({ records }: Reply): readonly string[] => records.map((record) => fieldOf(record, "ordId"));

/** Records of orders that a listing of pending orders shows and that are not over. */
export const openOf = ({ records }: Reply): readonly Raw[] =>
  records.filter((record) => !["filled", "canceled"].includes(fieldOf(record, "state")));

/** Returns true if the element succeeded by its own code; an element without a code has the result of the call. */
export const elementDone = (record: Raw | undefined): boolean => {
  if (record === undefined) return false;
  const code = record["sCode"] ?? record["code"];
  return code === undefined || wordOf(code) === "0";
};

const short = (value: unknown): string => {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "nothing");
  return text.length > 160 ? `${text.slice(0, 157)}...` : text;
};

const askedOf = ({ method, path, query, body, key }: WireRequest): string => {
  const tail = wire.signing.queryText(query);
  const address = tail === "" ? path : `${path}?${tail}`;
  return `${method} ${address}${body === undefined ? "" : ` ${short(body)}`} (${key === undefined ? "no key" : `key ${key}`})`;
};

const wholeOf = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;

const dateOf = (text: string | undefined): number | undefined => {
  const at = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
};

/** Placeholder for an answer that could not be parsed. */
export const unreadReply = (endpoint: EndpointName, why: string, at: number): Reply => ({
  kind: "answered",
  endpoint,
  asked: endpoint,
  shown: why,
  status: 0,
  headers: {},
  body: undefined,
  envelope: {},
  code: "",
  msg: undefined,
  records: [],
  ok: false,
  limited: false,
  signed: true,
  counters: { ipRemaining: undefined, keyRemaining: undefined, uidUsed: undefined },
  dateAt: undefined,
  sentAt: at,
  receivedAt: at,
  response: { status: 0, headers: {}, body: undefined },
});

export const replyOf = (request: WireRequest, response: WireResponse, sentAt: number, receivedAt: number): Reply => {
  const { status, headers, body } = response;
  const envelope = isRaw(body) ? body : {};
  const { data, msg } = envelope;
  const code = wordOf(envelope["code"]);
  return {
    kind: "answered",
    endpoint: request.endpoint,
    asked: askedOf(request),
    shown: `HTTP ${status} ${short(body)}`,
    status,
    headers,
    body,
    envelope,
    code,
    msg: typeof msg === "string" ? msg : undefined,
    records: Array.isArray(data) ? data.filter(isRaw) : [],
    ok: status >= 200 && status < 300 && code === "0",
    limited: status === limitedStatus,
    signed: request.key !== undefined,
    counters: {
      ipRemaining: wholeOf(headers[wire.limitHeaders.ipRemaining]),
      keyRemaining: wholeOf(headers[wire.limitHeaders.keyRemaining]),
      uidUsed: wholeOf(headers[wire.limitHeaders.uidUsed]),
    },
    dateAt: dateOf(headers["date"]),
    sentAt,
    receivedAt,
    response,
  };
};
