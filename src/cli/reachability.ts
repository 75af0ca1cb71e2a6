/**
 * Reachability of a run's service, in words: when it stops answering and when it answers again.
 *
 * Invariants: each outage is reported once at each of its ends, with the time of day in UTC.
 * Not here: what an outage is (outage.ts), the wait before the start (engine/start-watch.ts).
 */

import type { Event } from "../journal/events.ts";
import { OutageWatch } from "./outage.ts";
import { timeOf } from "./run-progress.ts";

const clockOf = (at: number): string => `${new Date(at).toISOString().slice(11, 19)} UTC`;

export class Reachability {
  readonly #place: string;
  readonly #outage = new OutageWatch();

  /** `place` is the service as people know it. */
  constructor(place: string) {
    this.#place = place;
  }

  /** Text to print about it now; undefined for none. */
  take(event: Event): string | undefined {
    const before = this.#outage.since;
    if (!this.#outage.take(event)) return undefined;
    const { since } = this.#outage;
    if (since !== undefined) {
      return `UNREACHABLE: ${this.#place} has not answered since ${clockOf(since)}. Orders that rest there may execute meanwhile; requests are retried.`;
    }
    return `${this.#place} answers again at ${clockOf(event.at)}, after ${timeOf(event.at - (before ?? event.at))}.`;
  }

  /** Texts for a status line; undefined while it answers. */
  words(now: number): { readonly long: string; readonly short: string } | undefined {
    const { since } = this.#outage;
    if (since === undefined) return undefined;
    const short = `UNREACHABLE for ${timeOf(now - since)}`;
    return { short, long: `${short}, since ${clockOf(since)}` };
  }
}
