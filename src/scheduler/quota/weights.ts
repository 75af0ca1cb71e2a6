/**
 * What calls really weigh, learned from the service's own count where nothing else was under way.
 *
 * Invariants: only a difference between two neighbouring answers of one user teaches, and only while such differences repeat: use by
 * other clients makes them vary, and nothing is learned until they have repeated for long again; a difference is never less than
 * the weight, so a smaller one lowers what was learned at once; a learned weight is used when it is above the stated one, never to
 * spend more freely.
 */
import type { EndpointName } from "../../contract/endpoints.ts";

/** Equal differences, one after the other, that teach a weight. */
const equalNeeded = 3;
/** Equal larger differences after which the weight was raised and no other client is the reason. */
const raisedNeeded = 12;
/** A weight seen so often outlives a difference that others made. */
const provenAt = 12;
/** Differences in a row that repeated, of whatever calls, after which others are taken to have gone. */
const calmNeeded = 40;
/** A heavier call than this does not exist; the difference was made by others. */
const weightMax = 100;

/** Equal differences in a row. */
interface Run {
  readonly difference: number;
  times: number;
}

/** What is known of one endpoint: the least difference, and larger ones that came since. */
interface Samples {
  least: Run;
  larger: Run | undefined;
}

export class Weights {
  /** Rises whenever another weight was learned. */
  lessons = 0;
  readonly #last = new Map<string, { used: number; window: number; since: number }>();
  readonly #samples = new Map<EndpointName, Samples>();
  readonly #learned = new Map<EndpointName, number>();
  /** Differences since the last one that another client may have made. */
  #calm = calmNeeded;

  get learned(): ReadonlyMap<EndpointName, number> {
    return this.#learned;
  }

  /** What to charge for a call that is said to weigh `stated` by itself, without its elements. */
  charged(endpoint: EndpointName, stated: number): number {
    return Math.max(stated, this.#learned.get(endpoint) ?? 0);
  }

  /** A call left; the count before it can be compared with its answer only if it was alone. */
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
    if (difference > 0) this.#compare(endpoint, difference);
    before.used = before.window === window ? Math.max(before.used, used) : used;
    before.window = window;
    before.since = 0;
  }

  #compare(endpoint: EndpointName, difference: number): void {
    if (difference > weightMax) {
      this.#calm = 0;
      return;
    }
    const samples = this.#samples.get(endpoint);
    if (samples === undefined) this.#samples.set(endpoint, { least: { difference, times: 1 }, larger: undefined });
    else if (difference === samples.least.difference) {
      samples.least.times++;
      this.#calm++;
      // It repeats what was learned.
      if (difference === this.#learned.get(endpoint)) return;
    } else this.#differs(endpoint, samples, difference);
    this.#learn(endpoint);
  }

  /** The larger of two differences of one endpoint is not its weight alone: another client called meanwhile. */
  #differs(endpoint: EndpointName, samples: Samples, difference: number): void {
    this.#calm = 0;
    if (difference < samples.least.difference) {
      samples.least = { difference, times: 1 };
      samples.larger = undefined;
      this.#forget(endpoint);
      return;
    }
    if (samples.least.times < provenAt) this.#forget(endpoint);
    if (samples.larger?.difference === difference) samples.larger.times++;
    else samples.larger = { difference, times: 1 };
    if (samples.larger.times < raisedNeeded) return;
    samples.least = samples.larger;
    samples.larger = undefined;
    this.#calm = calmNeeded;
  }

  #learn(endpoint: EndpointName): void {
    const least = this.#samples.get(endpoint)?.least;
    if (least === undefined || least.times < equalNeeded || this.#calm < calmNeeded) return;
    if (least.difference === this.#learned.get(endpoint)) return;
    this.#learned.set(endpoint, least.difference);
    this.lessons++;
  }

  #forget(endpoint: EndpointName): void {
    if (this.#learned.delete(endpoint)) this.lessons++;
  }
}
