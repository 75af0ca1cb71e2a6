/**
 * How a call to the service can end. Expected endings are values; nothing here throws.
 *
 * Invariants: only a complete, well-formed answer is evidence. `unknown` means it may have been executed; of a call that changes
 * something `rejected` means that the service judged it and did not execute it; an empty list is evidence of absence only in `done`, and
 * a record that cannot be read stands in the way of its own order only (`hiddenIn`).
 */

export interface Ids {
  readonly ordId?: string | undefined;
  readonly clOrdId?: string | undefined;
}

/** The service says no in its own form, with a code that is not known to mean "not executed". */
export interface Unlisted {
  readonly status: number;
  readonly code: string;
  readonly msg: string;
}

export type Outcome<R> =
  | {
      readonly kind: "done";
      readonly records: readonly R[];
      /** Records that could not be read. */
      readonly problems: readonly string[];
      /** What each of them names itself by, as far as that can be read. Left out, each may be any record. */
      readonly unread?: readonly Ids[];
      readonly at: number;
    }
  /** The service said no, or, with the code `local`, the client refused to send: the call was not executed. */
  | { readonly kind: "rejected"; readonly status: number; readonly code: string; readonly msg: string }
  /** A rate limit said no; it did not execute the call. */
  | { readonly kind: "limited" }
  /** It may have been executed: look before acting again. */
  | { readonly kind: "unknown"; readonly message: string; readonly unlisted?: Unlisted }
  /** It was never sent. */
  | { readonly kind: "dropped"; readonly reason: string };

/** Why this order may be among the records that could not be read; undefined where each of them names another. */
export const hiddenIn = (
  { problems, unread = [] }: Pick<Extract<Outcome<never>, { readonly kind: "done" }>, "problems" | "unread">,
  { ordId = "", clOrdId = "" }: Ids,
): string | undefined =>
  problems.find((_, index) => {
    const named = unread[index];
    const isOther = (name: string | undefined, ours: string): boolean => ours !== "" && name !== undefined && name !== ours;
    return !isOther(named?.ordId, ordId) && !isOther(named?.clOrdId, clOrdId);
  });

/** The service does not let these keys do it, or does not know them. */
export const isDenied = (outcome: Outcome<unknown>): boolean =>
  outcome.kind === "rejected" && (outcome.status === 401 || outcome.status === 403);

/** The service said no to the call as a whole, whether or not that proves that it was not executed. */
export const isTurnedDown = (outcome: Outcome<unknown>): boolean =>
  outcome.kind === "rejected" || (outcome.kind === "unknown" && outcome.unlisted !== undefined);

/** Why a call did not do what it was for, in words. */
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
