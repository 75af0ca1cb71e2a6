/**
 * One reading of a part of the service's state: the value, or why there is none.
 *
 * Not here: when it is read (polled-resource.ts).
 */
import { isDenied, type Outcome, whyNot } from "../../client/outcome.ts";

export type Reading<T> =
  | { readonly kind: "value"; readonly value: T }
  | { readonly kind: "failed"; readonly problem: string; readonly denied?: true }
  /** It was not needed any more when it could have left: nothing is known that was not known before. */
  | { readonly kind: "withdrawn" };

/** A read that did not bring the value, as its outcome says. */
export const failedReading = (outcome: Exclude<Outcome<unknown>, { readonly kind: "done" }>): Reading<never> => ({
  kind: "failed",
  problem: whyNot(outcome),
  ...(isDenied(outcome) && { denied: true }),
});
