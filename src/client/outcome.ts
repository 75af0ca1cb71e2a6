/**
 * Outcomes of calls to the service. Expected outcomes are values; nothing here throws.
 *
 * Invariants: only a complete, well-formed answer is evidence. `unknown` means that the call may have been executed;
 * for a call that changes something, `rejected` means that the service judged it and did not execute it; an empty list
 * is evidence of absence only in `done`, and a record that cannot be read affects its own order only (`hiddenIn`).
 */
import type { EndpointName } from "../contract/endpoints.ts";
import type { Profile } from "../contract/profile.ts";
import { elementVerdict } from "../contract/rejections.ts";
import type { ElementResult } from "../contract/schemas.ts";

export interface Ids {
  readonly ordId?: string | undefined;
  readonly clOrdId?: string | undefined;
}

/** An error of the service in its own envelope, with a code that is not known to mean "not executed". */
export interface Unlisted {
  readonly status: number;
  readonly code: string;
  readonly msg: string;
}

/** Outcome of a call to the service. */
export type Outcome<R> =
  | {
      readonly kind: "done";
      readonly records: readonly R[];
      /** Records that could not be read. */
      readonly problems: readonly string[];
      /** Ids of each of them, as far as they can be read. Left out, each may be any record. */
      readonly unread?: readonly Ids[];
      readonly at: number;
    }
  /** The service rejected it, or, with the code `local`, the client refused to send: the call was not executed. */
  | { readonly kind: "rejected"; readonly status: number; readonly code: string; readonly msg: string }
  /** Rejected by a rate limit; the call was not executed. */
  | { readonly kind: "limited" }
  /** It may have been executed: query the state before acting again. */
  | { readonly kind: "unknown"; readonly message: string; readonly unlisted?: Unlisted }
  /** It was never sent. */
  | { readonly kind: "dropped"; readonly reason: string };

/** Reason why this order may be among the unreadable records; undefined if each of them names another order. */
export const hiddenIn = (
  { problems, unread = [] }: Pick<Extract<Outcome<never>, { readonly kind: "done" }>, "problems" | "unread">,
  { ordId = "", clOrdId = "" }: Ids,
): string | undefined =>
  problems.find((_, index) => {
    const named = unread[index];
    const isOther = (name: string | undefined, ours: string): boolean =>
      ours !== "" && name !== undefined && name !== ours;
    return !isOther(named?.ordId, ordId) && !isOther(named?.clOrdId, clOrdId);
  });

/** Returns true if the service does not allow these keys the call, or does not know them. */
const isDenied = (outcome: Outcome<unknown>): boolean =>
  outcome.kind === "rejected" && (outcome.status === 401 || outcome.status === 403);

/**
 * True if the service rejected the call as a whole, whether or not that proves that it was not executed.
 *
 * @param outcome - of a call
 * @returns true if the service rejected the call as a whole, whether or not that proves that it was not executed
 */
export const isTurnedDown = (outcome: Outcome<unknown>): boolean =>
  outcome.kind === "rejected" || (outcome.kind === "unknown" && outcome.unlisted !== undefined);

/** Message for an outcome other than `done`. */
export const whyNot = (outcome: Exclude<Outcome<unknown>, { readonly kind: "done" }>): string => {
  switch (outcome.kind) {
    case "rejected":
      return `${outcome.code} ${outcome.msg}`.trim();
    case "unknown":
      return outcome.message;
    case "dropped":
      return outcome.reason;
    case "limited":
      return "refused by a rate limit";
  }
};

/**
 * A rejection by the service with a code that is on no list of rejections (contract/rejections.ts), for the call or for
 * one of its elements.
 */
export const unlistedIn = (
  endpoint: EndpointName,
  outcome: Outcome<unknown>,
  profile: Profile,
): Unlisted | undefined => {
  if (outcome.kind === "unknown") return outcome.unlisted;
  if (outcome.kind !== "done" || (endpoint !== "placeOrder" && endpoint !== "cancelBatch")) return undefined;
  const { records } = outcome as { readonly records: readonly ElementResult[] };
  for (let index = 0; index < records.length; index++) {
    const { sCode, sMsg } = records[index] as ElementResult;
    if (sCode !== "0" && elementVerdict(profile, sCode) === "unlisted") return { status: 200, code: sCode, msg: sMsg };
  }
  return undefined;
};

/** Message that names the row of the profile to which the code can be added. */
export const unlistedText = (endpoint: EndpointName, { status, code, msg }: Unlisted, { answers }: Profile): string => {
  const known = [200, answers.orderErrorStatus, answers.badRequestStatus].includes(status);
  const row = known ? "" : `, or if orders are rejected with status ${status}, set profile.answers.orderErrorStatus`;
  return `${endpoint}: the service answered with status ${status} and code ${code} ("${msg}"), which is on no list of rejections, so the outcome is found out by looking, which takes a minute. If it means that nothing was executed, add "${code}" to profile.answers.rejectionCodes${row}`;
};

/** One reading of a part of the service's state: the value, or the reason why there is none. */
export type Reading<T> =
  /** `ageMs` is the longest time for which the service may have changed since. Left out if this engine asked. */
  | { readonly kind: "value"; readonly value: T; readonly ageMs?: number }
  | { readonly kind: "failed"; readonly problem: string; readonly denied?: true }
  /** The read was no longer needed when it could have left, so it brought no news. */
  | { readonly kind: "withdrawn" };

/** The reading for an outcome without a value. */
export const failedReading = (outcome: Exclude<Outcome<unknown>, { readonly kind: "done" }>): Reading<never> => ({
  kind: "failed",
  problem: whyNot(outcome),
  ...(isDenied(outcome) && { denied: true }),
});
