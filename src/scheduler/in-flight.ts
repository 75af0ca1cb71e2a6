/**
 * Requests in flight: from the byte that leaves to the response or the failure.
 *
 * Invariants: every lease given here ends once with any transport: a response settles it, a failure loses it; a request
 * that could not be recorded, or was stopped at the last moment, was not sent.
 */
import type { Clock } from "../clock/clock.ts";
import type { Transport, WireRequest, WireResponse } from "../contract/transport.ts";
import { isSluiceError } from "../errors.ts";
import type { EventLog } from "../journal/event-log.ts";
import type { Ending } from "./action.ts";
import type { Landing, QueuedAction } from "./queued-action.ts";
import type { Lease, QuotaPort } from "./quota/port.ts";

/** Codes of failures before anything was sent. */
const unsentCodes: ReadonlySet<string> = new Set(["JOURNAL_FAILED", "NOT_LEADING"]);

export class InFlight implements Landing {
  count = 0;
  /** True from the end on: nothing is sent and no answer is processed any more. */
  closed = false;
  readonly #clock: Clock;
  readonly #port: QuotaPort;
  readonly #journal: EventLog;
  readonly #transport: Transport;
  readonly #onEnd: (entry: QueuedAction, ending: Ending) => void;

  constructor(
    clock: Clock,
    port: QuotaPort,
    journal: EventLog,
    transport: Transport,
    onEnd: (entry: QueuedAction, ending: Ending) => void,
  ) {
    this.#clock = clock;
    this.#port = port;
    this.#journal = journal;
    this.#transport = transport;
    this.#onEnd = onEnd;
  }

  send(request: WireRequest, lease: Lease, entry: QueuedAction): void {
    this.count++;
    entry.lease = lease;
    if (this.closed) return;
    try {
      this.#transport(request, entry);
    } catch (error) {
      if (entry.closed) throw error;
      entry.failed(error);
    }
  }

  answered(entry: QueuedAction, lease: Lease, response: WireResponse): void {
    const now = this.#clock.now();
    const until = this.#port.settle(lease, response, now);
    if (until !== undefined) this.#journal.append({ type: "quota.rejected", layer: "unknown", until });
    this.count--;
    const { sentAt, submittedAt } = entry;
    this.#onEnd(entry, {
      kind: "answered",
      response,
      at: now,
      waitedMs: sentAt - submittedAt,
      elapsedMs: now - sentAt,
    });
  }

  failed(entry: QueuedAction, lease: Lease, error: unknown): void {
    this.count--;
    if (isSluiceError(error) && unsentCodes.has(error.code)) {
      this.#port.release(lease);
      this.#onEnd(entry, { kind: "dropped", reason: "unwritten" });
      return;
    }
    this.#port.lose(lease, this.#clock.now());
    const message = error instanceof Error ? error.message : String(error);
    this.#onEnd(entry, { kind: "lost", message, waitedMs: entry.sentAt - entry.submittedAt });
  }
}
