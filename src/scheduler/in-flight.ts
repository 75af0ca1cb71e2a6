/**
 * Requests under way: from the byte that leaves to the first thing that is heard.
 *
 * Invariants: every lease given here ends once, whatever the transport does: one answer settles it, a failure or an end without
 * an answer loses it; what could not be written down was not sent.
 */
import type { Clock } from "../clock/clock.ts";
import type { Transport, WireRequest } from "../contract/transport.ts";
import { isSluiceError } from "../errors.ts";
import type { EventLog } from "../journal/event-log.ts";
import type { Ending } from "./action.ts";
import type { QueuedAction, ResponseSink } from "./queued-action.ts";
import type { Lease, QuotaPort } from "./quota/port.ts";

interface InFlight extends ResponseSink {
  send(request: WireRequest, lease: Lease, entry: QueuedAction): void;
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
  const waitedMs = ({ sentAt, submittedAt }: QueuedAction): number => sentAt - submittedAt;
  const lose = (entry: QueuedAction, lease: Lease, message: string): void => {
    port.lose(lease, clock.now());
    count--;
    landed(entry, { kind: "lost", message, waitedMs: waitedMs(entry) });
  };
  return {
    get count() {
      return count;
    },
    send: (request, lease, entry) => {
      count++;
      entry.lease = lease;
      transport(request).subscribe(entry);
    },
    answered: (entry, lease, response) => {
      const now = clock.now();
      const until = port.settle(lease, response, now);
      if (until !== undefined) journal.append({ type: "quota.rejected", layer: "unknown", until });
      count--;
      landed(entry, { kind: "answered", response, waitedMs: waitedMs(entry), elapsedMs: now - entry.sentAt });
    },
    failed: (entry, lease, error) => {
      if (!isSluiceError(error) || error.code !== "JOURNAL_FAILED") {
        lose(entry, lease, error instanceof Error ? error.message : String(error));
        return;
      }
      port.release(lease);
      count--;
      landed(entry, { kind: "dropped", reason: "unwritten" });
    },
    ended: (entry, lease) => {
      lose(entry, lease, "the transport ended without an answer");
    },
  };
};
