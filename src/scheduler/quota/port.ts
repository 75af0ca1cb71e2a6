/**
 * Interface between the scheduler and the rate limiter; a remote limiter may implement it.
 *
 * - `reserve` may answer at once or later; a caller that waits must be ready for a denial. It receives one charge for
 * each key that may carry the call, best first, and grants one of them. A denial applies to all of them, until the
 * first of them may have room.
 * - A lease is valid for one call until `expiresAt` on the caller's own clock. If it is neither sent nor released by
 * then, the limiter takes it back and counts it as sent.
 * - No clock is shared: instants of the two sides are never compared; durations are.
 * - Every lease ends in exactly one of `settle`, `lose` and `release`.
 *
 * The ledger of this process implements this port: it answers at once, and its tickets are the leases.
 */
import type { Charge } from "./layers.ts";
import type { Answer, Rank, Refusal } from "./ledger.ts";

export interface Lease {
  readonly granted: true;
  readonly charge: Charge;
  /** Maximum number of elements that the call may carry. */
  readonly elements: number;
  /**
   * Instant of the caller's clock after which no call may leave on this lease; infinite if nothing can be lost on the
   * way.
   */
  readonly expiresAt: number;
}

export type Grant = Lease | Refusal;

export interface QuotaPort {
  /** `elements` is the number that a batch could carry now. The grant may be for fewer. */
  reserve(charges: readonly Charge[], rank: Rank, now: number, elements: number): Grant | Promise<Grant>;
  /**
   * Called when the call was answered. Returns the instant until which a layer is shut, if the service refused the
   * call.
   */
  settle(lease: Lease, answer: Answer, receivedAt: number): number | undefined;
  /** Called when the call left and no answer came. */
  lose(lease: Lease, now: number): void;
  /** Called when the call never left. */
  release(lease: Lease): void;
}
