/**
 * Interface between the scheduler and the rate limiter; a remote limiter may implement it.
 *
 * - `reserve` may answer at once or later; a caller that waits must be ready for a denial.
 * - A lease is good for one call until `expiresAt` on the caller's own clock; one that is neither sent nor released by then is
 *   taken back by the limiter and counted as if it had been sent.
 * - No clock is shared: instants of the two sides are never compared; durations are.
 * - Every lease ends in exactly one of `settle`, `lose` and `release`.
 */
import type { Charge } from "./layers.ts";
import type { Answer, Ledger, Rank, Refusal, Ticket } from "./ledger.ts";

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
  reserve(charge: Charge, rank: Rank, now: number, elements: number): Grant | Promise<Grant>;
  /** The call was answered. Returns the instant until which a layer is shut, when the service refused it. */
  settle(lease: Lease, answer: Answer, receivedAt: number): number | undefined;
  /** The call left and nothing was heard of it. */
  lose(lease: Lease, now: number): void;
  /** The call never left. */
  release(lease: Lease): void;
}

/** The ledger of this process, which answers at once; its tickets are the leases. */
export const localPort = (ledger: Ledger): QuotaPort => ({
  reserve: (charge, rank, now, elements) => {
    const verdict = ledger.ask(charge, rank, now, elements);
    return verdict.granted ? ledger.spend(charge, now, verdict.elements) : verdict;
  },
  settle: (lease, answer, receivedAt) => ledger.settle(lease as Ticket, answer, receivedAt),
  lose: (lease, now) => {
    ledger.lose(lease as Ticket, now);
  },
  release: (lease) => {
    ledger.release(lease as Ticket);
  },
});
