/**
 * Answers that prove that the service judged a call and did not execute it: a code known to mean so, with a status
 * that goes with it.
 *
 * Invariants: pure; what is not known to be a rejection is none, with any status; a code for "busy", "too many
 * requests" or "id taken" is never one, since each is also the answer to the repetition of a call that was executed.
 * Not here: whether an answer has the form of the service's envelope (client/parse-response.ts).
 */
import type { Profile } from "./profile.ts";

/**
 * `rejected`: not executed. `unlisted`: the service rejects with a code that is on no list, or with a status that does
 * not go with it: not executed if a search finds nothing. `unproven`: no evidence about the call.
 */
type Verdict = "rejected" | "unlisted" | "unproven";

interface Codes {
  /** Statuses with which the service answers what it has judged. */
  readonly judging: ReadonlySet<number>;
  /** Statuses that belong to each code. */
  readonly exact: ReadonlyMap<string, ReadonlySet<number>>;
  /** Beginnings of codes, from entries that end in `*`. */
  readonly beginnings: readonly string[];
  readonly never: ReadonlySet<string>;
}

/** Proxies give up, slow down or ask for a retry with these; no service answers an order so. */
const proxyStatuses: readonly number[] = [408, 425, 429, 499];

const codesOf = ({ answers, cancelBatch }: Profile): Codes => {
  const ok = [200, answers.orderErrorStatus, answers.badRequestStatus];
  const checked = [...ok, answers.authStatus, answers.permissionStatus];
  const judging = new Set([...checked, answers.unknownPathStatus].filter((status) => !proxyStatuses.includes(status)));
  const exact = new Map<string, ReadonlySet<number>>();
  const list = (statuses: Iterable<number>, codes: readonly string[]): void => {
    for (const code of codes) exact.set(code, new Set([...statuses, ...(exact.get(code) ?? [])]));
  };
  const { parameterCode, instrumentCode, priceCode, sizeCode, fundsCode, postOnlyCode, positionCode, leverageCode } =
    answers;
  list(ok, [
    answers.badRequestCode,
    parameterCode,
    instrumentCode,
    priceCode,
    sizeCode,
    fundsCode,
    postOnlyCode,
    positionCode,
  ]);
  list(ok, [leverageCode, answers.notCancelableCode, answers.notContractCode]);
  list(checked, [answers.authCode, answers.permissionCode]);
  list([...ok, answers.unknownPathStatus], [answers.unknownPathCode]);
  const listed = answers.rejectionCodes;
  list(
    judging,
    listed.filter((code) => !code.endsWith("*")),
  );
  const pointers = [cancelBatch.envelopeCodeWhenMixed, cancelBatch.envelopeCodeWhenAllFailed];
  return {
    judging,
    exact,
    beginnings: listed.filter((code) => code.endsWith("*")).map((code) => code.slice(0, -1)),
    // A code that only points to the results of elements proves nothing where there are none.
    never: new Set(["0", ...pointers, answers.unavailableCode, answers.limitedCode, answers.duplicateCode]),
  };
};

const known = new WeakMap<Profile, Codes>();

/** Verdict on `code` in an envelope of the service with `status`. */
export const verdictOn = (profile: Profile, status: number, code: string): Verdict => {
  let codes = known.get(profile);
  if (codes === undefined) {
    codes = codesOf(profile);
    known.set(profile, codes);
  }
  const { judging, exact, beginnings, never } = codes;
  if (never.has(code)) return "unproven";
  const statuses = exact.get(code);
  if (statuses !== undefined && status < 500 && !proxyStatuses.includes(status))
    return statuses.has(status) ? "rejected" : "unlisted";
  if (!judging.has(status)) return "unproven";
  return beginnings.some((beginning) => code.startsWith(beginning)) ? "rejected" : "unlisted";
};

/** The result of one element of a call that was answered as a whole. */
export const elementVerdict = (profile: Profile, code: string): Verdict => verdictOn(profile, 200, code);
