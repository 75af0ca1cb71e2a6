/**
 * Answers of the service: the envelope of a success, of a refusal, and of each kind of failure in the profile.
 *
 * Invariants: statuses and codes come from the profile; every answer is made of fresh objects.
 */
import { limitedStatus } from "../contract/limits.ts";
import type { Profile } from "../contract/profile.ts";

/**
 * An answer of the service before it has headers.
 */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
  /** True if the call succeeded; a batch answered element by element counts as such. */
  readonly success: boolean;
}

/** Why an order, an element or a call is refused. */
export interface Refusal {
  readonly code: string;
  readonly msg: string;
}

export const isRefusal = (value: object): value is Refusal => "code" in value && "msg" in value;

export const done = (profile: Profile, data: readonly unknown[], code = "0"): Answer => ({
  status: 200,
  body: { code, msg: code === "0" ? profile.answers.successMsg : "See the code of each element.", data },
  success: true,
});

const failed = (profile: Profile, status: number, { code, msg }: Refusal, data: readonly unknown[] = []): Answer => {
  const { dataOnError } = profile.answers;
  const part = dataOnError === "absent" ? {} : { data: dataOnError === "array" ? data : {} };
  return { status, body: { code, msg, ...part }, success: false };
};

export const badRequest = (profile: Profile, msg: string): Answer =>
  failed(profile, profile.answers.badRequestStatus, { code: profile.answers.badRequestCode, msg });

export const forbidden = (profile: Profile, permission: string): Answer =>
  failed(profile, profile.answers.permissionStatus, {
    code: profile.answers.permissionCode,
    msg: `Permission denied: the key needs "${permission}".`,
  });

export const unauthenticated = (profile: Profile): Answer =>
  failed(profile, profile.answers.authStatus, {
    code: profile.answers.authCode,
    msg: "The API key is missing or unknown.",
  });

export const unknownPath = (profile: Profile): Answer =>
  failed(profile, profile.answers.unknownPathStatus, {
    code: profile.answers.unknownPathCode,
    msg: "No such method and path.",
  });

export const limited = (profile: Profile): Answer =>
  failed(profile, limitedStatus, { code: profile.answers.limitedCode, msg: "Too Many Requests" });

/** A refusal by the rules of trading, as opposed to one of form. */
export const refused = (profile: Profile, refusal: Refusal, data: readonly unknown[] = []): Answer =>
  failed(profile, profile.answers.orderErrorStatus, refusal, data);
