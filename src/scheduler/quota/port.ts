/**
 * Interface between the scheduler and the rate limiter; a remote limiter may implement it.
 *
 * - `reserve` may answer at once or later; a caller that waits must be ready for a denial. It is given one charge for
 *   each key that may carry the call, best first, and grants one of them; a denial is of all of them, until the first
 *   of them may have room.
 * - A lease is good for one call until `expiresAt` on the caller's own clock; one that is neither sent nor released by
 *   then is taken back by the limiter and counted as if it had been sent.
 * - No clock is shared: instants of the two sides are never compared; durations are.
 * - Every lease ends in exactly one of `settle`, `lose` and `release`.
 *
 * The ledger of this process is one: it answers at once, and its tickets are the leases.
 */
import type { Charge } from "./layers.ts";
import type { Answer, Rank, Refusal } from "./ledger.ts";

export interface Lease {
  readonly granted: true;
  readonly charge: Charge;
  /** Most elements the call may carry. */
  readonly elements: number;
  /** No call may leave on it after this instant of the asker's clock; infinite where nothing can be lost on the way. */
  readonly expiresAt: number;
}

export type Grant = Lease | Refusal;

export interface QuotaPort {
  /** `elements` is how many a batch could carry now; leave may be given for fewer. */
  reserve(charges: readonly Charge[], rank: Rank, now: number, elements: number): Grant | Promise<Grant>;
  /** The call was answered. Returns the instant until which a layer is shut, when the service refused it. */
  settle(lease: Lease, answer: Answer, receivedAt: number): number | undefined;
  /** The call left and no answer came. */
  lose(lease: Lease, now: number): void;
  /** The call never left. */
  release(lease: Lease): void;
}
