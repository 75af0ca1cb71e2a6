/**
 * Reads that another engine of the same user may answer.
 *
 * Not here: when such an answer is used (polled-resource.ts), how engines reach each other (plugins/shared-quota).
 */
import type { Observable } from "rxjs";
import type { Outcome } from "../../client/outcome.ts";

/** An outcome, and the longest time for which the service's state may have changed since. */
export interface AgedOutcome<R> {
  readonly outcome: Outcome<R>;
  readonly ageMs: number;
}

/**
 * Executes `read`, or uses the answer of another engine of the same user that is at most `maxAgeMs` old.
 *
 * @param what - names the read
 * @param maxAgeMs - largest age of another engine's answer
 * @param read - asks the service
 * @returns the answer with its age
 */
export type ShareRead = <R>(
  what: string,
  maxAgeMs: number,
  read: () => Observable<Outcome<R>>,
) => Observable<AgedOutcome<R>>;
