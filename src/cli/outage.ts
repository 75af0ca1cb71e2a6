/**
 * Outage of a run's service, as a fold over its events.
 *
 * Invariants: an outage is two requests in a row without an answer, or one and a lost socket; a socket lost while
 * requests are answered is none; it began with the last answer that came, whenever it is noticed; any answer ends it.
 * Not here: what the engine does meanwhile (client/live), the words (reachability.ts).
 */
import type { Event } from "../journal/events.ts";

/** Detects outages of a service from the events of a run. */
export class OutageWatch {
  #answeredAt: number | undefined;
  #failed = 0;
  #socketLost = false;
  #since: number | undefined;

  /** Since when nothing was answered; undefined while the service answers. */
  get since(): number | undefined {
    return this.#since;
  }

  /** True where the event began or ended an outage. */
  take(event: Event): boolean {
    if (event.type === "anomaly") {
      if (!/^socket\.(lost|unreachable|silent)$/.test(event.what)) return false;
      this.#socketLost = true;
    } else if (event.type === "action.answered") {
      if (event.status !== 0) return this.#answered(event.at);
      this.#failed++;
      // Before the first answer the request that was lost is all that is known.
      this.#answeredAt ??= event.at - event.elapsedMs;
    } else return false;
    if (this.#since !== undefined || this.#failed === 0 || (this.#failed < 2 && !this.#socketLost)) return false;
    this.#since = this.#answeredAt;
    return true;
  }

  #answered(at: number): boolean {
    const wasOut = this.#since !== undefined;
    this.#answeredAt = at;
    this.#failed = 0;
    this.#socketLost = false;
    this.#since = undefined;
    return wasOut;
  }
}
