/**
 * How a call to the service can end. Expected endings are values; nothing here throws.
 *
 * Invariants: only a complete, well-formed answer is evidence. `unknown` means it may have been executed; an empty list is
 * evidence of absence only in `done` without problems.
 */

export type Outcome<R> =
  | {
      readonly kind: "done";
      readonly records: readonly R[];
      /** Records that could not be read. While there are any, the answer proves no absence. */
      readonly problems: readonly string[];
      readonly at: number;
    }
  /** The service said no: it did not execute the call. */
  | { readonly kind: "refused"; readonly status: number; readonly code: string; readonly msg: string }
  /** A rate limit said no; it did not execute the call. */
  | { readonly kind: "limited" }
  /** It may have been executed: look before acting again. */
  | { readonly kind: "unknown"; readonly message: string }
  /** It was never sent. */
  | { readonly kind: "dropped"; readonly reason: string };

/** The service does not let these keys do it, or does not know them. */
export const isDenied = (outcome: Outcome<unknown>): boolean =>
  outcome.kind === "refused" && (outcome.status === 401 || outcome.status === 403);

/** Why a call did not do what it was for, in words. */
export const whyNot = (outcome: Exclude<Outcome<unknown>, { readonly kind: "done" }>): string => {
  switch (outcome.kind) {
    case "refused":
      return `${outcome.code} ${outcome.msg}`.trim();
    case "unknown":
      return outcome.message;
    case "dropped":
      return outcome.reason;
    case "limited":
      return "refused by a rate limit";
  }
};

export type OutcomeKind = Outcome<unknown>["kind"];
