/**
 * Reads that another engine of the same user may answer.
 *
 * Not here: when such an answer will do (polled-resource.ts), how engines reach each other (engine/shared-reads.ts).
 */
import type { Observable } from "rxjs";
import type { Outcome } from "../../client/outcome.ts";

/** An outcome, and for how long at most the service may have changed since. */
export interface AgedOutcome<R> {
  readonly outcome: Outcome<R>;
  readonly ageMs: number;
}

/**
 * Has `read` done, or takes the answer of another engine of the same user that is at most `maxAgeMs` old. `what` names
 * the read.
 *
 * @param what - names the read
 * @param maxAgeMs - oldest answer of another engine that will do
 * @param read - asks the service
 * @returns the answer with its age
 */
export type ShareRead = <R>(
  what: string,
  maxAgeMs: number,
  read: () => Observable<Outcome<R>>,
) => Observable<AgedOutcome<R>>;
