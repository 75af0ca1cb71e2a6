/**
 * Reachability of a run's service: reports when it stops answering and when it answers again.
 *
 * Invariants: an outage is two requests in a row without an answer, or one and a lost socket; a socket lost while requests are answered
 * has its own event; any answer ends the outage.
 * Not here: what the engine does meanwhile, the wait before the start (engine/start-watch.ts).
 */
import type { Event } from "../journal/events.ts";
import { timeOf } from "./run-progress.ts";

export class Reachability {
  readonly #place: string;
  /** When the first request in a row went without an answer. */
  #failingAt: number | undefined;
  #failed = 0;
  #socketLost = false;
  #isOut = false;

  /** `place` is the service as people know it. */
  constructor(place: string) {
    this.#place = place;
  }

  /** What is to be said about it now, if there is something. */
  take(event: Event): string | undefined {
    if (event.type === "anomaly" && /^socket\.(lost|unreachable|silent)$/.test(event.what)) this.#socketLost = true;
    if (event.type === "action.answered") {
      if (event.status !== 0) return this.#answered(event.at);
      this.#failed++;
      this.#failingAt ??= event.at;
    }
    if (this.#isOut || this.#failed === 0 || (this.#failed < 2 && !this.#socketLost)) return undefined;
    this.#isOut = true;
    return `UNREACHABLE: ${this.#place} does not answer. Orders that rest there may execute meanwhile; requests are retried.`;
  }

  /** For a line of status; undefined while it answers. */
  words(now: number): string | undefined {
    return this.#isOut && this.#failingAt !== undefined ? `UNREACHABLE for ${timeOf(now - this.#failingAt)}` : undefined;
  }

  #answered(at: number): string | undefined {
    const since = this.#failingAt;
    const wasOut = this.#isOut;
    this.#failed = 0;
    this.#failingAt = undefined;
    this.#socketLost = false;
    this.#isOut = false;
    return wasOut && since !== undefined ? `${this.#place} answers again, after ${timeOf(at - since)}.` : undefined;
  }
}
