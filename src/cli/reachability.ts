/**
 * Whether the service of a run answers, as people are told: when it stopped to, and when it does again.
 *
 * Invariants: one request without an answer is not an outage: it takes two in a row, or one and a lost socket; a socket that is lost
 * while requests are answered is told by its own event; any answer ends it.
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
    return `UNREACHABLE: ${this.#place} does not answer. Orders that rest there may execute meanwhile; it is asked again and again.`;
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
