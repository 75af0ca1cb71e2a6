/**
 * Rejections with a code that is on no list, found in outcomes and put in words.
 *
 * Invariants: pure; what is told names the code and the row of the profile to add it to.
 * Not here: which codes are known (contract/rejections.ts).
 */
import type { EndpointName } from "../contract/endpoints.ts";
import type { Profile } from "../contract/profile.ts";
import { elementVerdict } from "../contract/rejections.ts";
import type { ElementResult } from "../contract/schemas.ts";
import type { Outcome, Unlisted } from "./outcome.ts";

/** The answer's own no, be it of the call or of one of its elements. */
export const unlistedIn = (endpoint: EndpointName, outcome: Outcome<unknown>, profile: Profile): Unlisted | undefined => {
  if (outcome.kind === "unknown") return outcome.unlisted;
  if (outcome.kind !== "done" || (endpoint !== "placeOrder" && endpoint !== "cancelBatch")) return undefined;
  for (const { sCode, sMsg } of outcome.records as readonly ElementResult[]) {
    if (sCode !== "0" && elementVerdict(profile, sCode) === "unlisted") return { status: 200, code: sCode, msg: sMsg };
  }
  return undefined;
};

export const unlistedText = (endpoint: EndpointName, { status, code, msg }: Unlisted, { answers }: Profile): string => {
  const known = [200, answers.orderErrorStatus, answers.badRequestStatus].includes(status);
  const row = known ? "" : `, or if orders are rejected with status ${status}, set profile.answers.orderErrorStatus`;
  return `${endpoint}: the service answered with status ${status} and code ${code} ("${msg}"), which is on no list of rejections, so the outcome is found out by looking, which takes a minute. If it means that nothing was executed, add "${code}" to profile.answers.rejectionCodes${row}`;
};
