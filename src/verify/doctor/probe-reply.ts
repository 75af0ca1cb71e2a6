/**
 * One answer of the service, taken apart as far as it can be read without believing anything about it.
 *
 * Invariants: pure; a reply is a whole envelope with a status below 500; everything else proves nothing and is an `Unanswered`
 * that says why.
 * Not here: what a record must look like (contract/schemas.ts), how engines read answers (gateway/).
 */
import type { EndpointName } from "../../contract/endpoints.ts";
import { limitedStatus, limitHeaders } from "../../contract/limits.ts";
import type { WireResponse } from "../../contract/transport.ts";

export type Raw = Readonly<Record<string, unknown>>;

export interface Reply {
  readonly kind: "answered";
  readonly endpoint: EndpointName;
  readonly status: number;
  readonly code: string;
  /** Undefined where the envelope holds no text under `msg`. */
  readonly msg: string | undefined;
  readonly body: Raw;
  /** The records that are objects; empty where `data` is no list. */
  readonly records: readonly Raw[];
  /** Whether the service says it did what it was asked. */
  readonly ok: boolean;
  readonly counters: Counters;
  /** The service's `Date`, in milliseconds since the Unix epoch and whole seconds. */
  readonly dateAt: number | undefined;
  readonly sentAt: number;
  readonly receivedAt: number;
  readonly response: WireResponse;
}

interface Unanswered {
  readonly kind: "unanswered";
  readonly why: string;
  /** A rate limit said no: asked again in the next minute it may be answered. */
  readonly limited: boolean;
}

export type Answer = Reply | Unanswered;

/** What the rate-limit headers say; undefined for those that are missing or no whole number. */
export interface Counters {
  readonly ipRemaining: number | undefined;
  readonly keyRemaining: number | undefined;
  readonly uidUsed: number | undefined;
}

export const unanswered = (why: string, limited = false): Unanswered => ({ kind: "unanswered", why, limited });

const isRaw = (value: unknown): value is Raw => value !== null && typeof value === "object" && !Array.isArray(value);

/** Text or number of a record as text; empty for anything else. */
export const wordOf = (value: unknown): string => (typeof value === "string" || typeof value === "number" ? String(value) : "");

const wholeOf = (text: string | undefined): number | undefined => (text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined);

const countersOf = (headers: WireResponse["headers"]): Counters => ({
  ipRemaining: wholeOf(headers[limitHeaders.ipRemaining]),
  keyRemaining: wholeOf(headers[limitHeaders.keyRemaining]),
  uidUsed: wholeOf(headers[limitHeaders.uidUsed]),
});

const dateOf = (text: string | undefined): number | undefined => {
  const at = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
};

const timedOutStatus = 408;

export const readReply = (endpoint: EndpointName, response: WireResponse, sentAt: number, receivedAt: number): Answer => {
  const { status, body, headers } = response;
  if (status === limitedStatus) return unanswered(`${endpoint}: refused by a rate limit (429)`, true);
  if (status >= 500 || status === timedOutStatus) return unanswered(`${endpoint}: status ${status}`);
  if (status >= 300 && status < 400) return unanswered(`${endpoint}: redirected (${status}), which is not followed`);
  const code = isRaw(body) ? body["code"] : undefined;
  if (!isRaw(body) || (typeof code !== "string" && typeof code !== "number")) {
    // A refusal at the door is known by its status alone; what stands in front of a service often writes it.
    if (status !== 401 && status !== 403) return unanswered(`${endpoint}: status ${status} with a body that is not the service's`);
  }
  const envelope: Raw = isRaw(body) ? body : {};
  const { msg, data } = envelope;
  return {
    kind: "answered",
    endpoint,
    status,
    code: wordOf(code),
    msg: typeof msg === "string" ? msg : undefined,
    body: envelope,
    records: Array.isArray(data) ? data.filter(isRaw) : [],
    ok: status < 300 && wordOf(code) === "0",
    counters: countersOf(headers),
    dateAt: dateOf(headers["date"]),
    sentAt,
    receivedAt,
    response,
  };
};

/** The reply of a call that was to be done, or why it tells nothing of what was asked. */
export const doneOr = (answer: Answer): Reply | string => {
  if (answer.kind === "unanswered") return answer.why;
  if (answer.ok) return Array.isArray(answer.body["data"]) ? answer : `${answer.endpoint}: a success without a list of records`;
  if (answer.status === 401) return `${answer.endpoint}: the service does not accept the signature (401)`;
  if (answer.status === 403) return `${answer.endpoint}: the key may not do this (403 ${answer.code})`;
  return `${answer.endpoint}: refused with status ${answer.status}, code ${answer.code} ${answer.msg ?? ""}`.trimEnd();
};
