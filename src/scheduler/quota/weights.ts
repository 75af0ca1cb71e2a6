/**
 * What calls really cost, learned from the service's own count where nothing else was under way.
 *
 * Invariants: only a difference between two neighbouring answers of one user teaches; use by others can only make it larger, so
 * the least of several counts; a learned weight is used when it is above the stated one, never to spend more freely.
 */
import type { EndpointName } from "../../contract/endpoints.ts";

const samplesNeeded = 3;
/** A heavier call than this does not exist; the difference was made by others. */
const weightMax = 100;

export class Weights {
  /** Rises whenever another weight was learned. */
  lessons = 0;
  readonly #last = new Map<string, { used: number; window: number; since: number }>();
  readonly #samples = new Map<EndpointName, number[]>();
  readonly #learned = new Map<EndpointName, number>();

  get learned(): ReadonlyMap<EndpointName, number> {
    return this.#learned;
  }

  /** What to charge for a call that is said to weigh `stated` by itself, without its elements. */
  charged(endpoint: EndpointName, stated: number): number {
    return Math.max(stated, this.#learned.get(endpoint) ?? 0);
  }

  /** A call left; what was received before it can be compared with its answer only if it was alone. */
  noteSent(uid: string): void {
    const before = this.#last.get(uid);
    if (before !== undefined) before.since++;
  }

  /**
   * The answer of a call whose elements weigh `extra`: the service's count is `used` now; teaches when it was `alone` under way.
   * Answers overtake each other, so it is compared with the highest count of the window.
   */
  noteUsed(uid: string, endpoint: EndpointName, used: number, window: number, alone: boolean, extra = 0): void {
    const before = this.#last.get(uid);
    if (before === undefined) {
      this.#last.set(uid, { used, window, since: 0 });
      return;
    }
    const serial = alone && before.since === 1 && before.window === window;
    const difference = serial ? used - before.used - extra : 0;
    if (difference > 0 && difference <= weightMax) this.#learn(endpoint, difference);
    before.used = before.window === window ? Math.max(before.used, used) : used;
    before.window = window;
    before.since = 0;
  }

  #learn(endpoint: EndpointName, difference: number): void {
    const seen = [...(this.#samples.get(endpoint) ?? []), difference].slice(-samplesNeeded);
    this.#samples.set(endpoint, seen);
    if (seen.length < samplesNeeded) return;
    const least = Math.min(...seen);
    if (least === this.#learned.get(endpoint)) return;
    this.#learned.set(endpoint, least);
    this.lessons++;
  }
}
