/**
 * One answer of the service as the rules look at it: tolerant of everything that only one rule should mind.
 *
 * Invariants: nothing here throws, whatever the service wrote; `ok` and ids are read leniently, so that a wrong type fails the
 * rule about types and no other.
 */
import type { EndpointName } from "../../contract/endpoints.ts";
import { limitedStatus, limitHeaders } from "../../contract/limits.ts";
import { queryText } from "../../contract/signing.ts";
import type { WireRequest, WireResponse } from "../../contract/transport.ts";

export type Raw = Readonly<Record<string, unknown>>;

export interface Reply {
  readonly endpoint: EndpointName;
  /** Method, address and body, and whose key signed it. */
  readonly asked: string;
  /** The answer in short, for messages. */
  readonly shown: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly envelope: Raw;
  /** Entries of `data` that are objects. */
  readonly records: readonly Raw[];
  /** Status 200 and code 0, be it text or number. */
  readonly ok: boolean;
  readonly limited: boolean;
  readonly signed: boolean;
  readonly elapsedMs: number;
}

export const isRaw = (value: unknown): value is Raw => value !== null && typeof value === "object" && !Array.isArray(value);

/** Be it text or number. */
const isZero = (code: unknown): boolean => code === "0" || code === 0;

const short = (value: unknown): string => {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "nothing");
  return text.length > 160 ? `${text.slice(0, 157)}...` : text;
};

const askedOf = ({ method, path, query, body, key }: WireRequest): string => {
  const tail = queryText(query);
  const address = tail === "" ? path : `${path}?${tail}`;
  return `${method} ${address}${body === undefined ? "" : ` ${short(body)}`} (${key === undefined ? "no key" : `key ${key}`})`;
};

export const replyOf = (request: WireRequest, { status, headers, body }: WireResponse, elapsedMs: number): Reply => {
  const envelope = isRaw(body) ? body : {};
  const data = envelope["data"];
  return {
    endpoint: request.endpoint,
    asked: askedOf(request),
    shown: `HTTP ${status} ${short(body)}`,
    status,
    headers,
    body,
    envelope,
    records: Array.isArray(data) ? data.filter(isRaw) : [],
    ok: status === 200 && isZero(envelope["code"]),
    limited: status === limitedStatus,
    signed: request.key !== undefined,
    elapsedMs,
  };
};

export const fieldOf = (record: Raw | undefined, name: string): string => {
  const value = record?.[name];
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
};

export const ordIdsOf = ({ records }: Reply): readonly string[] => records.map((record) => fieldOf(record, "ordId"));

/** The element's own code; an element without one shares the fate of the call. */
export const elementDone = (record: Raw | undefined): boolean => {
  if (record === undefined) return false;
  const code = record["sCode"] ?? record["code"];
  return code === undefined || isZero(code);
};

export type LimitHeader = keyof typeof limitHeaders;

/** The number a rate-limit header tells, or undefined when it is missing or no whole number. */
export const counted = ({ headers }: Reply, header: LimitHeader): number | undefined => {
  const text = headers[limitHeaders[header]];
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
};
