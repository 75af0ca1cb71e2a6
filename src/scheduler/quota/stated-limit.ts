/**
 * Limit of a layer by its statement: the stated capacity, and changes of it that are declared with their instants.
 *
 * A limit that falls holds from the beginning of the window in which it falls, and one that rises once the instant has
 * surely passed, so that no call is refused for being a little early or late. Until the first
 * `Date` arrives, the lowest limit holds.
 *
 * Invariants: `spec.capacity` is never above a limit that may be in force before the window ends.
 * Needed by: `limits-declared`, `limits-declared-key`.
 * Not here: limits that move without notice (learned-limit.ts).
 */
import type { LayerSpec } from "./layers.ts";
import type { ServerClock } from "./server-clock.ts";

interface Change {
  readonly at: number;
  readonly capacity: number;
}

const never = Number.POSITIVE_INFINITY;

export class StatedLimit {
  /** The layer, with the capacity that is stated for now. */
  readonly spec: LayerSpec;
  /** Client instant after which the limit may be another one; infinite without declared changes. */
  changesAt = never;
  readonly #spec: { -readonly [K in keyof LayerSpec]: LayerSpec[K] };
  readonly #clock: Pick<ServerClock, "bounds">;
  /** Oldest first; the capacity of the layer comes before all of them. */
  readonly #changes: readonly Change[];

  constructor(layer: LayerSpec, clock: Pick<ServerClock, "bounds">) {
    const { capacity, changes = [] } = layer;
    const first = { at: Number.NEGATIVE_INFINITY, capacity };
    this.#spec = { ...layer };
    this.spec = this.#spec;
    this.#clock = clock;
    this.#changes = changes.length === 0 ? [] : [first, ...changes.toSorted((one, other) => one.at - other.at)];
  }

  /** States the limit for `now`, in a window that ends by `endsAt`; true when it is another one than before. */
  restate(now: number, endsAt: number): boolean {
    if (this.#changes.length === 0) return false;
    const { lo, hi } = this.#clock.bounds(now);
    this.changesAt = (this.#changes.find(({ at }) => at > now + lo)?.at ?? never) - lo;
    const capacity = this.#least(now + lo, endsAt + hi);
    if (capacity === this.#spec.capacity) return false;
    this.#spec.capacity = capacity;
    return true;
  }

  /** The one limit that was in force between two client instants; undefined where it changed, or may have. */
  inForce(from: number, to: number): number | undefined {
    if (this.#changes.length === 0) return this.#spec.capacity;
    const fromService = from + this.#clock.bounds(from).lo;
    const toService = to + this.#clock.bounds(to).hi;
    const before = this.#changes.findLast(({ at }) => at <= fromService);
    return before === this.#changes.findLast(({ at }) => at <= toService) ? before?.capacity : undefined;
  }

  #least(from: number, to: number): number {
    const start = this.#changes.findLastIndex(({ at }) => at <= from);
    const capacities = this.#changes.slice(Math.max(0, start)).filter(({ at }) => at <= to);
    return Math.min(...capacities.map(({ capacity }) => capacity));
  }
}
