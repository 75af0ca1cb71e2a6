/**
 * Floor of a fixed window: decides when its evidence is unreliable, and for how long.
 *
 * A layer falls to the floor after two refusals that nothing explains: a key's second after two within some windows, a
 * longer window if the call that left alone after a refusal is refused, too. One is enough shortly after a doubtful
 * count, or after a stay. A long window falls as soon as three of its last forty counts are doubtful. The other layers
 * of the service fall with it, because an answer carries the counts of all of them. A short window also falls when the
 * floor would yield more (yield-watch.ts). On the floor counts change nothing, and 95 % of the capacity is spent evenly,
 * as a careful client without headers does; less after a refusal. Meanwhile counts are still compared with what was
 * sent: the layer leaves the floor after a stated number of windows without a refusal and without doubt. If it falls
 * again soon, the next stay is four times as long.
 *
 * Engines that divide a window fall together and spend their parts of it. One refusal of a window that should have begun
 * is enough, because otherwise each of them would look for its beginning by itself. An engine that falls with the
 * others waits for a window's length before its first ordinary action, because another one may have spent more than
 * its part.
 *
 * Invariants: no count and no calendar changes what may be spent on the floor; every change of the mode is reported,
 * and at most one misreading during a stay; the parts of engines that divide a window add up to its floor at most.
 * Needed by: `later-minutes`, `slides-key`, `slides-user`, `cached`, `cached-key`, `another-key`, `another-user`,
 * `slow-windows-key`; a longer first stay by `first-key`; cuts by one unit by `weighed-key`; round trips by `swell-key`.
 * Not here: the schedule (even-spending.ts), which refusals are explained (routes.ts).
 */
import { EvenSpending } from "./even-spending.ts";
import { isLong, type LayerSpec } from "./layers.ts";
import type { Ceiling, QuotaMode, Unexplained } from "./limit-window.ts";
import type { RoundTripTime } from "./server-clock.ts";
import type { WindowUsage } from "./window-usage.ts";
import { YieldWatch } from "./yield-watch.ts";

/** Change of a layer's mode, and its reason in words. */
interface ModeChange {
  readonly layer: LayerSpec["name"];
  readonly scope: string;
  readonly mode: QuotaMode;
  readonly why: string;
}

export type OnMode = (change: ModeChange) => void;

/** Part of the capacity that is spent on the floor, because windows may be late, or longer than stated. */
const floorShare = 0.95;
/** Part of it that may be spent at once, of a long window and of a short one. */
const burstShareLong = 1 / 10;
const burstShare = 1 / 4;
/** Part of a window by which it may be longer than stated. */
const longerShare = 3 / 100;
/**
 * A refusal on the floor cuts the capacity once to the first part, because windows may be later still or longer, and one
 * soon after another to the second part of what is left. It is never cut below the least part.
 */
const cutShare = 0.95;
const cutShareRepeated = 0.8;
const leastShare = 0.1;
/** A refusal on the floor follows another one soon if it does within this number of windows. */
const cutWindows = 5;
/** Number of windows after further cuts until a short window is cut once only; more if it is cut again as soon. */
const raiseWindows = 20;
/** Number of windows after which a call without an answer has landed. */
const silentWindows = 2;
/** Number of refusals within this number of windows after which a layer falls to the floor. */
const refusalsMost = 2;
const refusalWindows = 20;
/** Number of doubtful counts among the last ones that cannot be chance: a long window then falls to the floor. */
const doubtsMost = 3;
const countsCompared = 40;
/**
 * Number of windows after a doubtful count in which one refusal is enough to fall, and in which the floor is not left.
 */
const doubtWindows = 60;
const doubtWindowsLong = 5;
/** Number of windows on the floor without a refusal before counts are used again; the same for long windows. */
const cleanWindows = 5;
const cleanWindowsLong = 10;
const longerEachTime = 4;
/** A layer falls again soon if it does within this multiple of its last stay. */
const soonStays = 6;
const longestStays = 256;
/** First multiple where calls are refused as windows begin, because windows that begin late do so again and again. */
const staysLate = 12;
/** Time after contradicting counts of a long window in which no layer of the service uses counts. */
const distrustMs = 300_000;
/** Time on the floor of a window of which less was spent without it. */
const poorMs = 720_000;
const poorMsMost = 3_600_000;
/** It is kept longer if less is spent again within this time after it was left. */
const poorAgainMs = 900_000;
/** Part of a long window after which it is tried again after that many refusals in a row. */
const retryShare = (refusals: number): number => Math.min(1, 2 ** (refusals - 1) / 4);

/** Instant of the latest doubtful count of a service, on any layer: an answer carries the counts of all layers. */
export class LatestDoubt {
  at = Number.NEGATIVE_INFINITY;
  /** Instant at which the counts of a long window were last found to contradict each other. */
  fellAt = Number.NEGATIVE_INFINITY;
}

/** Reasons of a fall to the floor, in words. */
export const contradiction = "counts that contradict each other";
export const notBegun = "a window was refused that should have begun";

export class Floor {
  /** True while counts are not used and `spending` limits what is sent. */
  isActive = false;
  /** Follows all calls at all times, so that it knows those of the last window when it is needed. */
  readonly spending: EvenSpending;
  shutUntil = Number.NEGATIVE_INFINITY;
  /** Part of it that this engine spends; below 1 if several engines divide the window. */
  part = 1;
  /** Instant until which other engines that divide the window need its floor. */
  othersUntil = Number.NEGATIVE_INFINITY;
  readonly #spec: LayerSpec;
  readonly #isLong: boolean;
  readonly #doubtMs: number;
  readonly #refusals: number[] = [];
  /** Position of each doubtful count among all counts, for the last counts that are compared. */
  readonly #doubts: number[] = [];
  #counts = 0;
  readonly #latestDoubt: LatestDoubt;
  readonly #trips: Pick<RoundTripTime, "low">;
  readonly #yield: YieldWatch | undefined;
  /** Instant of the last doubtful count of this layer. */
  #doubtedAt = Number.NEGATIVE_INFINITY;
  /** Instant of the last refusal on the floor, and number of refusals that followed each other soon. */
  #refusedAt = Number.NEGATIVE_INFINITY;
  #cutAt = Number.NEGATIVE_INFINITY;
  #refusedInRow = 0;
  /** Instant of the last further cut, time after it until a short window is raised, and instant of the last raise. */
  #cutAgainAt = Number.NEGATIVE_INFINITY;
  #raiseMs = 0;
  #raisedAt = Number.NEGATIVE_INFINITY;
  #cleanFrom = 0;
  #leftAt = Number.NEGATIVE_INFINITY;
  #stays = 1;
  /** Least multiple of the shortest stay for the next one. */
  #staysLeast = 1;
  #enteredAt = Number.NEGATIVE_INFINITY;
  #hasReported = false;
  /** Time for which the floor is kept because less was spent without it, and the instant until which it is. */
  #poorMs = poorMs;
  #poorUntil = Number.NEGATIVE_INFINITY;
  /** Limit as known, and the part of it that is spent on the floor. */
  #capacity: number;
  #share = floorShare;

  constructor(spec: LayerSpec, latestDoubt = new LatestDoubt(), trips = { low: 0, slow: 0 }) {
    this.#latestDoubt = latestDoubt;
    this.#spec = spec;
    this.#capacity = spec.capacity;
    this.#isLong = isLong(spec.windowMs);
    this.#doubtMs = spec.windowMs * (this.#isLong ? doubtWindowsLong : doubtWindows);
    this.#trips = trips;
    this.#yield = this.#isLong ? undefined : new YieldWatch(spec.windowMs, trips);
    this.spending = new EvenSpending(spec.capacity, spec.windowMs, this.#isLong ? burstShareLong : burstShare);
  }

  /**
   * Instant such that a call that leaves later lands after one that was answered at `at`: that one landed before its
   * answer left, and the later one is on its way as well.
   */
  landedBy(at: number): number {
    return at - Math.max(0, this.#trips.low - this.#spec.windowMs * longerShare);
  }

  /** Time on the floor without a refusal after which the floor is left. */
  get stayMs(): number {
    return this.#spec.windowMs * (this.#isLong ? cleanWindowsLong : cleanWindows) * this.#stays;
  }

  /**
   * Called when a call that left at `sentAt` was refused for no known reason. Returns true if the layer has to fall to
   * the floor.
   */
  refuse(sentAt: number, at: number, how: Unexplained = "single"): boolean {
    const refusals = this.#refusals;
    // Refusals of calls that were under way together count as one.
    if (this.isActive || sentAt <= (refusals.at(-1) ?? Number.NEGATIVE_INFINITY)) return false;
    refusals.push(at);
    while (at - (refusals[0] as number) > refusalWindows * this.#spec.windowMs) refusals.shift();
    const isSoon = at - this.#leftAt < this.stayMs;
    this.#staysLeast = how === "entering" ? staysLate : 1;
    return how === "repeated" || isSoon || this.isDoubted(at) || refusals.length >= refusalsMost;
  }

  /** Called when a count agreed with what was sent. */
  agree(): void {
    this.#counts++;
  }

  /**
   * Called when the count of a call that left at `sentAt` contradicts what is known. Returns true if the layer has to
   * fall to the floor.
   */
  doubt(sentAt: number, at: number): boolean {
    // Doubtful counts of calls that were under way together count as one.
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

  /** Returns true if a count of any layer was doubtful shortly before `at`. */
  isDoubted(at: number): boolean {
    return at - this.#latestDoubt.at < this.#doubtMs;
  }

  /** Returns true if counts of a long window of the service were found to contradict each other shortly before `at`. */
  isDistrusted(at: number): boolean {
    return at - this.#latestDoubt.fellAt < distrustMs;
  }

  /**
   * Begins the floor at `at`: a part of `capacity` is spent evenly. With `isOwn` false only other engines need it so
   * far.
   */
  enter(at: number, capacity: number, isOwn = true): void {
    const isSoon = at - this.#leftAt < this.stayMs * soonStays;
    const stays = isSoon ? this.#stays * longerEachTime : 1;
    this.#stays = Math.min(longestStays, Math.max(this.#staysLeast, stays));
    this.#staysLeast = 1;
    this.#enteredAt = at;
    this.#cleanFrom = isOwn ? at : Number.NEGATIVE_INFINITY;
    this.isActive = true;
    this.#hasReported = false;
    this.#share = floorShare;
    this.restate(capacity);
    this.spending.start(this.part < 1 ? at + this.#spec.windowMs : at);
  }

  /** Units that count at `now`, when `first` is the earliest window that a call can reach. */
  used(now: number, first: number, usage: Pick<WindowUsage, "open" | "openFrom">): number {
    const landed = this.spending.landed(now);
    // Of a short window, a call that has had no answer for long has landed, or never will.
    return this.#isLong ? landed + usage.open : Math.max(usage.open, landed + usage.openFrom(first - silentWindows));
  }

  /** Called when another limit is stated. */
  restate(capacity: number): void {
    this.#capacity = capacity;
    const most = capacity * this.part;
    this.spending.capacity = Math.max(Math.ceil(most * leastShare), Math.floor(most * this.#share));
  }

  /**
   * Instant at which a call may ask again if it would raise the use that counts at `now` to `used`; undefined when it
   * may leave.
   */
  blockedUntil(used: number, now: number, ceiling: Ceiling): number | undefined {
    const { shutUntil, spending } = this;
    if (now < shutUntil) return shutUntil;
    return spending.blockedUntil(used, Math.min(spending.capacity, ceiling(now + spending.horizonMs, now, now)), now);
  }

  /** Units that certainly fit in addition to `used`. */
  room(used: number, now: number, ceiling: Ceiling): number {
    const { shutUntil, spending } = this;
    return now < shutUntil ? 0 : Math.min(ceiling(now + spending.horizonMs, now, now) - used, spending.room(now));
  }

  /**
   * Called when a call was refused on the floor, or by a refusal that led to it: less is spent. Returns when the next
   * may leave.
   */
  refused(at: number): number {
    this.#cleanFrom = at;
    if (at < this.shutUntil) return this.shutUntil;
    const isSoon = (sinceAt: number): boolean => at - sinceAt < cutWindows * this.#spec.windowMs;
    this.#refusedInRow = isSoon(this.#refusedAt) ? this.#refusedInRow + 1 : 1;
    // Further refusals in the same window show nothing new.
    if (at - this.#cutAt >= this.#spec.windowMs) {
      if (isSoon(this.#cutAt)) this.#cutAgain(at);
      else this.#share = Math.min(this.#share, this.#onceCut(at === this.#enteredAt));
      this.#cutAt = at;
      this.restate(this.#capacity);
    }
    this.#refusedAt = at;
    this.shutUntil = at + this.#spec.windowMs * (this.#isLong ? retryShare(this.#refusedInRow) : 1);
    return this.shutUntil;
  }

  #cutAgain(at: number): void {
    const rareMs = this.#spec.windowMs * raiseWindows;
    this.#raiseMs = at - this.#raisedAt < rareMs ? this.#raiseMs * longerEachTime : rareMs;
    this.#cutAgainAt = at;
    this.#share = Math.max(leastShare, this.#share * cutShareRepeated);
  }

  /** Part of the capacity after one cut. Once on the floor, a short window is cut by one unit at least. */
  #onceCut(isFall: boolean): number {
    const share = floorShare * cutShare;
    if (this.#isLong || isFall) return share;
    const most = this.#capacity * this.part;
    return Math.min(share, (Math.floor(most * floorShare) - 1) / most);
  }

  /**
   * Called when a call was answered: a short window that was not cut again for long is spent as after one cut. Returns
   * what is spent.
   */
  raise(at: number): number {
    const share = this.#onceCut(false);
    if (!this.#isLong && this.#share < share && at - this.#cutAgainAt >= this.#raiseMs) {
      this.#share = share;
      this.#raisedAt = at;
      this.restate(this.#capacity);
    }
    return this.spending.capacity;
  }

  /** Called when a call has to wait for the window until `until`. */
  noteWaiting(at: number, until: number): void {
    this.#yield?.noteWaiting(at, until);
  }

  /**
   * Returns true if calls waited for windows that hold `capacity`, and less was spent of them than on the floor. `begun`
   * are all units that were ever spent. `missing` units are not there according to the counts.
   */
  isBetter(at: number, begun: number, capacity: number, missing: number): boolean {
    // Counts that contradict what was sent do not show that anything is missing.
    const most = (capacity - (this.isDoubted(at) ? 0 : missing)) * floorShare;
    if (this.isActive || this.#yield?.isPoor(at, begun, Math.floor(most)) !== true) return false;
    this.#poorMs = at - this.#poorUntil < poorAgainMs ? Math.min(poorMsMost, this.#poorMs * longerEachTime) : poorMs;
    this.#poorUntil = at + this.#poorMs;
    return true;
  }

  /** Returns true if a misreading should be reported: on the floor only the first one of each stay. */
  mayReport(): boolean {
    const isNew = !this.isActive || !this.#hasReported;
    this.#hasReported = this.isActive;
    return isNew;
  }

  mayLeave(at: number): boolean {
    return this.neededMs(at) === 0 && at >= this.othersUntil;
  }

  /** Time for which the evidence of this engine keeps the layer on the floor; 0 without a floor. */
  neededMs(at: number): number {
    if (!this.isActive) return 0;
    const { at: doubtedAt, fellAt } = this.#latestDoubt;
    const until = Math.max(this.#cleanFrom + this.stayMs, doubtedAt + this.#doubtMs, fellAt + distrustMs);
    return Math.max(0, until - at, this.#poorUntil - at);
  }

  leave(at: number): void {
    this.#yield?.restart();
    this.isActive = false;
    this.#leftAt = at;
    this.#refusals.length = 0;
    this.#doubts.length = 0;
  }
}
