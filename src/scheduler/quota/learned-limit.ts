/**
 * Limit of a layer: as stated, with declared changes (`StatedLimit`), and as learned where it moves without notice and
 * answers report only the used part (`LearnedLimit`), from refusals and from counts that passed it.
 *
 * Invariants: a learned limit is never above the stated one, not even in a trial; a limit learned from one refusal is
 * at first believed only in half, and the other half is spent late in a window, where an error costs little; trials
 * beyond the limit take place only in a window's last moments, one call at a time, and less often each time that one is
 * refused; refusals of calls that were under way together count as one.
 * Needed by: `user-cut`, `limits-move`; `StatedLimit` by `limits-declared`, `limits-declared-key`.
 * Not here: which layer refused (routes.ts).
 */
import type { LayerSpec } from "./layers.ts";
import type { ServerClock } from "./server-clock.ts";

/** If others use the same quota, a refusal this near to the limit is expected. */
const surpriseShare = 0.9;
/** If less than this part of the limit was used, something else than this layer refused. */
const guiltyShare = 0.1;
const rampShare = 1 / 8;
/**
 * Part of a window before its end in which a trial may begin. A refused trial blocks all calls until the window's end:
 * a second of a minute.
 */
const trialShare = 1 / 60;
/** A trial begins earlier if the limit is known to have been raised. */
const raisedTrialShare = 1 / 20;
/** A count this much above the limit means that it was raised, not that it was learned one call too low. */
const raisedShare = 1.1;
/** A count this near to the stated limit means that the limit is as stated again. */
const restoredShare = 0.97;
/** Number of windows from a refusal to the first trial, and from one refused trial to the next. */
const gapWindows = 10;
const laterGapWindows = 90;
/** The same if the limit changed this often within this number of windows. */
const gapWindowsRestless = 4;
const restlessMoves = 3;
const restlessWindows = 60;
/** After a window with this part used, a cut limit would refuse all calls that are under way together. */
const spentShare = 0.9;
/** Calls that leave one after the other are fast enough to spend a window in this part of it. */
const spendShare = 1 / 4;
const meanOf = 32;

/** Meaning of a refusal for the limit. */
type Verdict = "unmoved" | "expected" | "learned";

export class LearnedLimit {
  /** Limit as far as it is known. */
  capacity: number;
  /** Highest use that was counted since the limit was last learned. */
  proven: number;
  /** True if use above `proven` is a trial of the learned limit. */
  isTried = false;
  /** Use from which a window counts as spent, or nearly. */
  spentFrom: number;
  /**
   * Until this instant a call that is to leave alone waits for the answer to the last one; afterwards it no longer
   * waits.
   */
  nextAt = Number.NEGATIVE_INFINITY;
  #stated: number;
  readonly #windowMs: number;
  #dueAt = Number.POSITIVE_INFINITY;
  /** Limit at the last refusal, and the instant of that refusal. */
  #refused = 0;
  #refusedAt = Number.NEGATIVE_INFINITY;
  #meanUnits = 0;
  /** Instants at which the limit was found to have moved, latest last. */
  readonly #movedAt: number[] = [];

  constructor(stated: number, windowMs: number) {
    this.#stated = stated;
    this.#windowMs = windowMs;
    this.capacity = stated;
    this.proven = stated;
    this.spentFrom = stated * spentShare;
  }

  /** Called when another limit is stated: what was learned of the previous limit is no longer valid. */
  restate(stated: number): void {
    this.#stated = stated;
    this.#dueAt = Number.POSITIVE_INFINITY;
    this.#learn(stated, stated);
  }

  /** Called when the service counted `used` in one window. Returns the limit as far as it is known. */
  accept(used: number): number {
    if (used <= this.proven) return this.capacity;
    if (used <= this.capacity) this.#learn(this.capacity, used);
    else {
      this.#learn(used > this.#stated * restoredShare ? this.#stated : used, used);
      if (used > this.#refused * raisedShare && this.#dueAt !== Number.NEGATIVE_INFINITY) {
        this.#dueAt = Number.NEGATIVE_INFINITY;
        this.#movedAt.push(this.nextAt);
      }
    }
    return this.capacity;
  }

  noteBegun(units: number, now: number): void {
    this.#meanUnits += (units - this.#meanUnits) / meanOf;
    this.nextAt = now + (this.#windowMs * spendShare * this.#meanUnits) / this.capacity;
  }

  /**
   * Called when a call that left at `sentAt` was refused at `at`, in a window that counted `used` by its answers and at
   * most `likely`. A refusal that others may have caused is soon doubted.
   */
  refuse(used: number, likely: number, shared: boolean, sentAt: number, at: number): Verdict {
    const isStated = this.capacity === this.#stated;
    if (sentAt <= this.#refusedAt) return "expected";
    if (likely >= this.capacity * (isStated && !shared ? 1 : surpriseShare)) {
      if (isStated) return "unmoved";
      // A call that was counted before the limit fell made the limit look higher than it is.
      const isTrial = shared || likely > this.capacity;
      if (!isTrial) this.#learn(used, this.proven);
      this.#dueAt = at + this.#windowMs * this.#gap(at, isTrial ? laterGapWindows : gapWindows);
      this.#refusedAt = at;
      this.#refused = this.capacity;
      return "expected";
    }
    if (used < this.#stated * guiltyShare) return "unmoved";
    this.#learn(used, used / 2);
    this.#refused = used;
    this.#refusedAt = at;
    this.#movedAt.push(at);
    this.#dueAt = shared ? at : at + this.#windowMs * this.#gap(at, gapWindows);
    return "learned";
  }

  /**
   * Most units that ordinary actions may have used with `remMs` of the window to go. While a call is under way, this is
   * the proven use.
   */
  most(remMs: number, isAlone: boolean): number {
    if (!this.isTried) return Number.POSITIVE_INFINITY;
    const late = isAlone ? Math.max(0, 1 - remMs / (this.#windowMs * rampShare)) : 0;
    return this.proven + (this.capacity - this.proven) * late;
  }

  /**
   * Instant from which use beyond the limit may be tried in a window that ends at `endAt`; infinite if no trial is due.
   */
  triesAt(endAt: number): number {
    const at = endAt - this.#windowMs * (this.#dueAt === Number.NEGATIVE_INFINITY ? raisedTrialShare : trialShare);
    return this.capacity < this.#stated && this.#dueAt <= at ? at : Number.POSITIVE_INFINITY;
  }

  #gap(at: number, windows: number): number {
    const since = at - restlessWindows * this.#windowMs;
    while (this.#movedAt.length > 0 && (this.#movedAt[0] as number) < since) this.#movedAt.shift();
    return this.#movedAt.length >= restlessMoves ? gapWindowsRestless : windows;
  }

  #learn(capacity: number, proven: number): void {
    this.capacity = capacity;
    this.proven = proven;
    this.isTried = proven < capacity;
    this.spentFrom = capacity * spentShare;
  }
}

interface Change {
  readonly at: number;
  readonly capacity: number;
}

const never = Number.POSITIVE_INFINITY;

/**
 * Limit of a layer by its statement, with changes that are declared with their instants. A lower limit applies from the
 * beginning of the window in which it takes effect, and a higher one after its instant has certainly passed, so that no
 * call is refused for being a little early or late. Until the first `Date` arrives, the lowest limit applies.
 * `spec.capacity` is never above a limit that may be in force before the window ends.
 */
export class StatedLimit {
  /** The layer, with the capacity that is stated for now. */
  readonly spec: LayerSpec;
  /** Client instant after which the limit may be another one; infinite without declared changes. */
  changesAt = never;
  readonly #spec: { -readonly [K in keyof LayerSpec]: LayerSpec[K] };
  readonly #clock: Pick<ServerClock, "bounds">;
  /** Changes, oldest first. The capacity of the layer comes before all of them. */
  readonly #changes: readonly Change[];

  constructor(layer: LayerSpec, clock: Pick<ServerClock, "bounds">) {
    const { capacity, changes = [] } = layer;
    const first = { at: Number.NEGATIVE_INFINITY, capacity };
    this.#spec = { ...layer };
    this.spec = this.#spec;
    this.#clock = clock;
    this.#changes = changes.length === 0 ? [] : [first, ...changes.toSorted((one, other) => one.at - other.at)];
  }

  /** States the limit for `now`, in a window that ends by `endsAt`. Returns true if the limit has changed. */
  restate(now: number, endsAt: number): boolean {
    if (this.#changes.length === 0) return false;
    const { lo, hi } = this.#clock.bounds(now);
    this.changesAt = (this.#changes.find(({ at }) => at > now + lo)?.at ?? never) - lo;
    const capacity = this.#least(now + lo, endsAt + hi);
    if (capacity === this.#spec.capacity) return false;
    this.#spec.capacity = capacity;
    return true;
  }

  /** The one limit that was in force between two client instants; undefined if it changed or may have changed. */
  inForce(from: number, to: number): number | undefined {
    if (this.#changes.length === 0) return this.#spec.capacity;
    const fromService = from + this.#clock.bounds(from).lo;
    const toService = to + this.#clock.bounds(to).hi;
    const before = this.#changes.findLast(({ at }) => at <= fromService);
    return before === this.#changes.findLast(({ at }) => at <= toService) ? before?.capacity : undefined;
  }

  #least(from: number, to: number): number {
    const start = this.#changes.findLastIndex(({ at }) => at <= from);
    const capacities = this.#changes.slice(start).filter(({ at }) => at <= to);
    return Math.min(...capacities.map(({ capacity }) => capacity));
  }
}
