/**
 * Requests under way: from the byte that leaves to the first thing that is heard.
 *
 * Invariants: every lease given here ends once, whatever the transport does: one answer settles it, a failure or an end without
 * an answer loses it; what comes after the first word is not listened to.
 */
import type { Clock } from "../clock/clock.ts";
import { isSluiceError } from "../errors.ts";
import type { Journal } from "../journal/journal.ts";
import type { Lease, QuotaPort } from "../quota/port.ts";
import type { Transport, WireRequest, WireResponse } from "../transport/transport.ts";
import type { Ending } from "./action.ts";

export interface Flights<E> {
  send(request: WireRequest, lease: Lease, waitedMs: number, entry: E): void;
  readonly count: number;
}

export const createFlights = <E extends object>(
  clock: Clock,
  port: QuotaPort,
  journal: Journal,
  transport: Transport,
  landed: (entry: E, ending: Ending) => void,
): Flights<E> => {
  let count = 0;

  class Flight {
    /** None once the flight has ended. */
    #entry: E | undefined;
    readonly #lease: Lease;
    readonly #sentAt: number;
    readonly #waitedMs: number;
    constructor(lease: Lease, waitedMs: number, entry: E) {
      this.#lease = lease;
      this.#sentAt = clock.now();
      this.#waitedMs = waitedMs;
      this.#entry = entry;
    }
    next(response: WireResponse): void {
      if (this.#entry === undefined) return;
      const now = clock.now();
      const until = port.settle(this.#lease, response, now);
      if (until !== undefined) journal.append({ type: "quota.refused", layer: "unknown", until });
      this.#land({ kind: "answered", response, waitedMs: this.#waitedMs, elapsedMs: now - this.#sentAt });
    }
    error(error: unknown): void {
      if (isSluiceError(error) && error.code === "JOURNAL_FAILED") {
        this.#keep();
        return;
      }
      this.#lose(error instanceof Error ? error.message : String(error));
    }
    complete(): void {
      this.#lose("the transport ended without an answer");
    }
    /** What could not be written down was not sent. */
    #keep(): void {
      if (this.#entry === undefined) return;
      port.release(this.#lease);
      this.#land({ kind: "dropped", reason: "unwritten" });
    }
    #lose(message: string): void {
      if (this.#entry === undefined) return;
      port.lose(this.#lease, clock.now());
      this.#land({ kind: "lost", message, waitedMs: this.#waitedMs });
    }
    #land(ending: Ending): void {
      const entry = this.#entry;
      this.#entry = undefined;
      count--;
      if (entry !== undefined) landed(entry, ending);
    }
  }

  return {
    get count() {
      return count;
    },
    send: (request, lease, waitedMs, entry) => {
      count++;
      transport(request).subscribe(new Flight(lease, waitedMs, entry));
    },
  };
};
