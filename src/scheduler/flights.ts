/**
 * Requests under way: from the byte that leaves to the first thing that is heard.
 *
 * Invariants: every lease given here ends once, whatever the transport does: one answer settles it, a failure or an end without
 * an answer loses it; what comes after the first word is not listened to.
 */
import type { Clock } from "../clock/clock.ts";
import type { Journal } from "../journal/journal.ts";
import type { Lease, QuotaPort } from "../quota/port.ts";
import type { Transport, WireRequest, WireResponse } from "../transport/transport.ts";
import type { Ending } from "./action.ts";

export interface Flights {
  send(request: WireRequest, lease: Lease, waitedMs: number, landed: (ending: Ending) => void): void;
  readonly count: number;
}

export const createFlights = (clock: Clock, port: QuotaPort, journal: Journal, transport: Transport): Flights => {
  let count = 0;

  class Flight {
    #landed: ((ending: Ending) => void) | undefined;
    readonly #lease: Lease;
    readonly #sentAt: number;
    readonly #waitedMs: number;
    constructor(lease: Lease, waitedMs: number, landed: (ending: Ending) => void) {
      this.#lease = lease;
      this.#sentAt = clock.now();
      this.#waitedMs = waitedMs;
      this.#landed = landed;
    }
    next(response: WireResponse): void {
      if (this.#landed === undefined) return;
      const now = clock.now();
      const until = port.settle(this.#lease, response, now);
      if (until !== undefined) journal.append({ type: "quota.refused", layer: "unknown", until });
      this.#land({ kind: "answered", response, waitedMs: this.#waitedMs, elapsedMs: now - this.#sentAt });
    }
    error(error: unknown): void {
      this.#lose(error instanceof Error ? error.message : String(error));
    }
    complete(): void {
      this.#lose("the transport ended without an answer");
    }
    #lose(message: string): void {
      if (this.#landed === undefined) return;
      port.lose(this.#lease, clock.now());
      this.#land({ kind: "lost", message, waitedMs: this.#waitedMs });
    }
    #land(ending: Ending): void {
      const landed = this.#landed;
      this.#landed = undefined;
      count--;
      landed?.(ending);
    }
  }

  return {
    get count() {
      return count;
    },
    send: (request, lease, waitedMs, landed) => {
      count++;
      transport(request).subscribe(new Flight(lease, waitedMs, landed));
    },
  };
};
