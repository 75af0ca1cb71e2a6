/**
 * Evidence in a reply: a complete envelope with a status below 500 answers the question; any other reply proves
 * nothing, and the reason is kept.
 *
 * Invariants: pure; a refusal by status 401 or 403 is an answer without an envelope too, because proxies in front of a
 * service often send it.
 * Not here: how a reply is read (probe/reply.ts), how engines read responses (client/parse-response.ts).
 */
import type { Reply } from "../probe/reply.ts";

interface Unanswered {
  readonly kind: "unanswered";
  readonly why: string;
  /** Refused by a rate limit: asked again in the next minute it may be answered. */
  readonly limited: boolean;
}

export type Answer = Reply | Unanswered;

export const unanswered = (why: string, limited = false): Unanswered => ({ kind: "unanswered", why, limited });

const timedOutStatus = 408;

export const answerOf = (reply: Reply): Answer => {
  const { endpoint, status, envelope } = reply;
  if (reply.limited) return unanswered(`${endpoint}: refused by a rate limit (429)`, true);
  if (status >= 500 || status === timedOutStatus) return unanswered(`${endpoint}: status ${status}`);
  if (status >= 300 && status < 400) return unanswered(`${endpoint}: redirected (${status}), which is not followed`);
  const isEnvelope = typeof envelope["code"] === "string" || typeof envelope["code"] === "number";
  if (isEnvelope || status === 401 || status === 403) return reply;
  return unanswered(`${endpoint}: status ${status} with a body that is not the service's`);
};

/** Returns the reply of a call that had to succeed, or the reason for which it does not answer the question. */
export const doneOr = (answer: Answer): Reply | string => {
  if (answer.kind === "unanswered") return answer.why;
  const { endpoint, status, code, msg = "" } = answer;
  if (answer.ok)
    return Array.isArray(answer.envelope["data"]) ? answer : `${endpoint}: a success without a list of records`;
  if (status === 401) return `${endpoint}: the service does not accept the signature (401)`;
  if (status === 403) return `${endpoint}: the key may not do this (403 ${code})`;
  return `${endpoint}: refused with status ${status}, code ${code} ${msg}`.trimEnd();
};
