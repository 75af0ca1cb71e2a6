/**
 * Requests in flight: from the byte that leaves to the response or the failure.
 *
 * Invariants: every lease given here ends once, whatever the transport does: a response settles it, a failure loses it; what could not be written down was not sent.
 */
import type { Clock } from "../clock/clock.ts";
import type { Transport, WireRequest } from "../contract/transport.ts";
import { isSluiceError } from "../errors.ts";
import type { EventLog } from "../journal/event-log.ts";
import type { Ending } from "./action.ts";
import type { Landing, QueuedAction } from "./queued-action.ts";
import type { Lease, QuotaPort } from "./quota/port.ts";

interface InFlight extends Landing {
  send(request: WireRequest, lease: Lease, entry: QueuedAction): void;
  /** From now on nothing is sent and no answer is taken in. */
  close(): void;
  readonly count: number;
}

export const createInFlight = (
  clock: Clock,
  port: QuotaPort,
  journal: EventLog,
  transport: Transport,
  landed: (entry: QueuedAction, ending: Ending) => void,
): InFlight => {
  let count = 0;
  let closed = false;
  const waitedMs = ({ sentAt, submittedAt }: QueuedAction): number => sentAt - submittedAt;
  return {
    get count() {
      return count;
    },
    send: (request, lease, entry) => {
      count++;
      entry.lease = lease;
      if (closed) return;
      try {
        transport(request, entry);
      } catch (error) {
        if (entry.closed) throw error;
        entry.failed(error);
      }
    },
    get closed() {
      return closed;
    },
    close: () => {
      closed = true;
    },
    answered: (entry, lease, response) => {
      const now = clock.now();
      const until = port.settle(lease, response, now);
      if (until !== undefined) journal.append({ type: "quota.rejected", layer: "unknown", until });
      count--;
      landed(entry, { kind: "answered", response, waitedMs: waitedMs(entry), elapsedMs: now - entry.sentAt });
    },
    failed: (entry, lease, error) => {
      count--;
      if (isSluiceError(error) && error.code === "JOURNAL_FAILED") {
        port.release(lease);
        landed(entry, { kind: "dropped", reason: "unwritten" });
        return;
      }
      port.lose(lease, clock.now());
      landed(entry, { kind: "lost", message: error instanceof Error ? error.message : String(error), waitedMs: waitedMs(entry) });
    },
  };
};
