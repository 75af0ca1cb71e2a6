/**
 * Floor of a fixed window: when its evidence is not to be relied on, and until when.
 *
 * A layer falls to the floor after two refusals that nothing explains, and after one shortly after a doubtful count. A
 * long window falls as soon as three of its last forty counts are doubtful, and the other layers of the service with it,
 * because an answer carries the counts of all of them. On the floor counts change nothing, and 95 % of the capacity is
 * spent evenly, as a careful client without headers does. Meanwhile counts are still compared with what
 * was sent: the layer leaves the floor after a stated number of windows without a refusal and without doubt. If it
 * falls again soon, the next stay is four times as long.
 *
 * Invariants: no count and no calendar changes what may be spent on the floor; every change of the mode is reported.
 * Needed by: `slides-key`, `slides-user`, `cached`, `cached-key`, `another-key`, `another-user`, `slow-windows-key`.
 * Not here: the schedule (even-spending.ts), which refusals are explained (routes.ts).
 */
import { EvenSpending } from "./even-spending.ts";
import type { LayerSpec } from "./layers.ts";
import type { Ceiling, QuotaMode } from "./limit-window.ts";

/** Change of a layer's mode, and its reason in words. */
interface ModeChange {
  readonly layer: LayerSpec["name"];
  readonly scope: string;
  readonly mode: QuotaMode;
  readonly why: string;
}

export type OnMode = (change: ModeChange) => void;

/** Part of the capacity that is spent on the floor: windows may be late, or longer than stated. */
const floorShare = 0.95;
/** Part of it that may be spent at once, of a long window and of a short one. */
const burstShareLong = 1 / 10;
const burstShare = 1 / 4;
/** A refusal on the floor cuts it to this part, and never below that one of what is stated. */
const cutShare = 0.8;
const leastShare = 0.1;
/** Refusals within so many windows after which a layer falls to the floor; the same of long windows. */
const refusalsMost = 2;
const refusalWindows = 20;
const refusalWindowsLong = 12;
/** A refusal on the floor that follows another one within so many windows is the limit's. */
const cutWindows = 5;
/** So many doubtful ones among the last counts are more than chance: a long window falls to the floor. */
const doubtsMost = 3;
const countsCompared = 40;
/** Windows after a doubtful count in which one refusal is enough, and in which the floor is not left. */
const doubtWindows = 60;
const doubtWindowsLong = 5;
/**
 * Windows on the floor without a refusal before counts are used again, and the same of windows longer than `longMs`.
 */
const cleanWindows = 5;
const cleanWindowsLong = 10;
const longMs = 10_000;
const longerEachTime = 4;
/** It falls again soon when it does within so many times the last stay. */
const soonStays = 2;
const longestStays = 256;
/** So long after the counts of a long window contradicted each other, no layer of the service uses counts. */
const distrustMs = 300_000;
/** Part of a long window after which a call is tried again that was refused on the floor. */
const retryShare = 1 / 4;

/** Instant of the latest doubtful count of a service, on any layer: an answer carries the counts of all layers. */
export class LatestDoubt {
  at = Number.NEGATIVE_INFINITY;
  /** Instant at which the counts of a long window were last found to contradict each other. */
  fellAt = Number.NEGATIVE_INFINITY;
}

/** Reason of a fall to the floor, in words. */
export const contradiction = "counts that contradict each other";

export class Floor {
  /** True while counts are not used and `spending` limits what is sent. */
  isActive = false;
  /** Follows all calls at all times, so that it knows of the last window's when it is needed. */
  readonly spending: EvenSpending;
  shutUntil = Number.NEGATIVE_INFINITY;
  readonly #spec: LayerSpec;
  readonly #isLong: boolean;
  readonly #doubtMs: number;
  readonly #refusals: number[] = [];
  /** Number of each doubtful count among all, of the last that are compared. */
  readonly #doubts: number[] = [];
  #counts = 0;
  readonly #latestDoubt: LatestDoubt;
  /** Instant of the last doubtful count of this layer. */
  #doubtedAt = Number.NEGATIVE_INFINITY;
  /** Instant of the last refusal on the floor. */
  #refusedAt = Number.NEGATIVE_INFINITY;
  #cleanFrom = 0;
  #leftAt = Number.NEGATIVE_INFINITY;
  #stays = 1;

  constructor(spec: LayerSpec, latestDoubt = new LatestDoubt()) {
    this.#latestDoubt = latestDoubt;
    this.#spec = spec;
    this.#isLong = spec.windowMs >= longMs;
    this.#doubtMs = spec.windowMs * (this.#isLong ? doubtWindowsLong : doubtWindows);
    this.spending = new EvenSpending(spec.capacity, spec.windowMs, this.#isLong ? burstShareLong : burstShare);
  }

  /** Time on the floor without a refusal after which it is left. */
  get stayMs(): number {
    return this.#spec.windowMs * (this.#isLong ? cleanWindowsLong : cleanWindows) * this.#stays;
  }

  /**
   * A call that left at `sentAt` was refused, and nothing explains it. True when the layer has to fall to the floor.
   */
  refuse(sentAt: number, at: number): boolean {
    const refusals = this.#refusals;
    // Calls that were under way together are one refusal.
    if (this.isActive || sentAt <= (refusals.at(-1) ?? Number.NEGATIVE_INFINITY)) return false;
    refusals.push(at);
    const windows = this.#isLong ? refusalWindowsLong : refusalWindows;
    while (at - (refusals[0] as number) > windows * this.#spec.windowMs) refusals.shift();
    return this.isDoubted(at) || refusals.length >= refusalsMost;
  }

  /** A count agreed with what was sent. */
  agree(): void {
    this.#counts++;
  }

  /**
   * The count of a call that left at `sentAt` contradicts what is known. True when the layer has to fall to the floor.
   */
  doubt(sentAt: number, at: number): boolean {
    // Calls that were under way together are one doubt.
    if (sentAt < this.#doubtedAt) return false;
    this.#doubtedAt = at;
    const doubts = this.#doubts;
    doubts.push(++this.#counts);
    while ((doubts[0] as number) <= this.#counts - countsCompared) doubts.shift();
    this.#latestDoubt.at = at;
    const isContradictory = this.#isLong && doubts.length >= doubtsMost;
    if (isContradictory) this.#latestDoubt.fellAt = at;
    return isContradictory && !this.isActive;
  }

  /** True if a count of some layer was doubtful shortly before `at`. */
  isDoubted(at: number): boolean {
    return at - this.#latestDoubt.at < this.#doubtMs;
  }

  /** True if the counts of a long window of the service were found to contradict each other, shortly before `at`. */
  isDistrusted(at: number): boolean {
    return at - this.#latestDoubt.fellAt < distrustMs;
  }

  /** From `at` on part of `capacity` is spent evenly. */
  enter(at: number, capacity: number): void {
    const isSoon = at - this.#leftAt < this.stayMs * soonStays;
    this.#stays = isSoon ? Math.min(longestStays, this.#stays * longerEachTime) : 1;
    this.#cleanFrom = at;
    this.isActive = true;
    this.restate(capacity);
    this.spending.start(at);
  }

  /** Another limit is stated. */
  restate(capacity: number): void {
    this.spending.capacity = Math.floor(capacity * floorShare);
  }

  /**
   * Instant at which a call may ask again that would make `used` of what counts at `now`; undefined when it may leave.
   */
  blockedUntil(used: number, now: number, ceiling: Ceiling): number | undefined {
    const { shutUntil, spending } = this;
    if (now < shutUntil) return shutUntil;
    return spending.blockedUntil(used, Math.min(spending.capacity, ceiling(now + spending.horizonMs, now, now)), now);
  }

  /** Units that fit for certain in addition to `used`. */
  room(used: number, now: number, ceiling: Ceiling): number {
    const { shutUntil, spending } = this;
    return now < shutUntil ? 0 : Math.min(ceiling(now + spending.horizonMs, now, now) - used, spending.room(now));
  }

  /** A call was refused on the floor: after a second one in a row less is spent. Returns when the next may leave. */
  refused(at: number): number {
    this.#cleanFrom = at;
    const { spending } = this;
    if (at < this.shutUntil) return this.shutUntil;
    // One refusal may be any machine's on the way.
    if (at - this.#refusedAt < cutWindows * this.#spec.windowMs)
      spending.capacity = Math.max(
        Math.ceil(this.#spec.capacity * leastShare),
        Math.floor(spending.capacity * cutShare),
      );
    this.#refusedAt = at;
    this.shutUntil = at + this.#spec.windowMs * (this.#isLong ? retryShare : 1);
    return this.shutUntil;
  }

  mayLeave(at: number): boolean {
    return at - this.#cleanFrom >= this.stayMs && !this.isDoubted(at) && !this.isDistrusted(at);
  }

  leave(at: number): void {
    this.isActive = false;
    this.#leftAt = at;
    this.#refusals.length = 0;
    this.#doubts.length = 0;
  }
}
