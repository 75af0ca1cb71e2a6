/**
 * Evidence about one scope from counts and refusals: a window began, a window continues, a count belongs to another
 * window, or the limit changed.
 *
 * A doubtful count changes nothing until the answer to a later call confirms it. A count is doubtful if it falls where
 * no window can have begun. It is also doubtful if it is the first of a window and continues where the window before
 * left off: the new window has not begun, or counts lag, or others used as much again. While the second doubt is open,
 * and while only the calendar indicates that a window has begun, calls leave one at a time.
 *
 * Invariants: two counts are compared only when one call left after the other's answer was in, so that their order is
 * certain; proofs about one layer's windows change no other layer's; findings are returned, and the window acts on
 * them.
 * Needed by: `late-minutes`, `anchor`, `date-late`, `garbage`, `cached`, `behind`, `user-cut`.
 * Not here: where an answer is charged (fixed-window.ts), where windows begin (window-phase.ts).
 */
import type { CountLag, StaleCounts } from "./count-lag.ts";
import { isLong, type LayerSpec } from "./layers.ts";
import type { LearnedLimit } from "./learned-limit.ts";
import type { WindowTicket } from "./limit-window.ts";
import type { OpenEnd } from "./open-end.ts";
import type { ServerClock } from "./server-clock.ts";
import type { WindowPhase } from "./window-phase.ts";
import type { WindowUsage } from "./window-usage.ts";

/**
 * Number of windows seen to begin as expected, after which a count that did not fall is attributed to other clients.
 */
const proofsSure = 3;
/** The same, after which beginnings are believed though counts turn out to lag. */
const proofsLagging = 2;
/** Part of a window after which others may have used as much as in the window before. */
const earlyShare = 0.1;
/** Part of the capacity by which a count may be below the counted use, because answers may carry an earlier count. */
const lowShare = 1 / 10;
/** The same for a key, and the part by which its count may be above. */
const highShare = 1 / 4;
/** A fall across a longer part of a window may involve two beginnings. */
const spanShare = 0.9;
/** Part of a window after its beginning in which half of its capacity cannot be used. */
const briskShare = 1 / 60;
/** Largest part of a capacity that others are assumed to use between two answers. Above it a count is doubtful. */
const leapShare = 0.25;
/** Number of looks where counts lag: the count of the first look may lack that look itself. */
const looksLagging = 3;
/** A call whose answer takes longer than this does not hold up other calls. */
const retryMs = 1_000;
const heardKept = 16;

/** A count that was received. */
interface Heard {
  readonly sentAt: number;
  readonly receivedAt: number;
  readonly used: number;
  /** First window in which the call may have landed. */
  first: number;
  last: number;
  /** Instant at which the latest call left that certainly landed before this one. */
  readonly beforeAt: number;
}

/** The highest count of a window. */
interface Top {
  window: number;
  used: number;
  /** Instant of its last answer. */
  at: number;
}

/** A count that is not yet believed. */
interface Doubt {
  readonly kind: "fell" | "goes on";
  readonly window: number;
  readonly used: number;
  readonly receivedAt: number;
  /** Number of answers to calls that left after each other. */
  readonly looks: number;
}

/** Count in the answer to a call that landed in `window`, and in no window after `heardTo`. */
export interface Told {
  readonly window: number;
  readonly used: number;
  readonly units: number;
  readonly sentAt: number;
  readonly receivedAt: number;
  readonly heardTo: number;
  /** Units of the window that other engines of ours hold. */
  readonly elsewhere: number;
}

/**
 * Meaning of a count that fell: a window began; a window began where none was expected; a window began although the
 * count fell only a little; or nothing until it is confirmed.
 */
type Fall = "begins" | "moved" | "shallow" | "doubtful";

interface Parts {
  readonly spec: LayerSpec;
  readonly clock: ServerClock;
  readonly phase: WindowPhase;
  readonly usage: WindowUsage;
  readonly openEnd: OpenEnd;
  readonly lag: CountLag;
  readonly stale: StaleCounts;
  readonly limit: LearnedLimit;
}

export class CountEvidence {
  /** Highest count of the newest window that has one. */
  top: Top | undefined;
  /** Highest count received. */
  highest = Number.NEGATIVE_INFINITY;
  /** Value of `turns` of the lag at which these counts were taken. */
  lagTurns: number;
  /** Highest count of the newest window before that one. */
  #earlier: Top | undefined;
  #doubt: Doubt | undefined;
  /** Instant at which a call left to check the doubt, while it is under way. */
  #checkedAt: number | undefined;
  /** Window whose refusal at its beginning showed that windows begin late, and the weight of the refused call. */
  #late: { readonly window: number; readonly units: number } | undefined;
  /** Instant at which the last call left into a window whose beginning only the calendar indicates. */
  #enteredAt = Number.NEGATIVE_INFINITY;
  readonly #heard: Heard[] = [];
  #oldest = 0;
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.lagTurns = parts.lag.turns;
  }

  /** True while a count is doubted and calls leave one at a time. */
  get isDoubting(): boolean {
    return this.#doubt?.kind === "goes on";
  }

  /**
   * The latest call whose count is at least `used`, although its answer came before the call left at `sentAt`: a window
   * began in between. A lagging count is that of the call before. Valid until the next count is received.
   */
  fallTo(used: number, sentAt: number): Readonly<Heard> | undefined {
    const { lagging } = this.#parts.lag;
    let before: Heard | undefined;
    let afterAt = Number.NEGATIVE_INFINITY;
    let highest = Number.NEGATIVE_INFINITY;
    const heard = this.#heard;
    for (let index = 0; index < heard.length; index++) {
      const other = heard[index] as Heard;
      if (other.used > highest) highest = other.used;
      if (
        other.used < used ||
        other.receivedAt > sentAt ||
        (other.receivedAt === sentAt && !(lagging && other.sentAt < sentAt))
      )
        continue;
      const leftAt = lagging ? other.beforeAt : other.sentAt;
      if (leftAt <= afterAt) continue;
      before = other;
      afterAt = leftAt;
    }
    this.highest = highest;
    return before;
  }

  /** Returns true if no call that certainly landed in `window` was answered before one left at `sentAt`. */
  isFirst(window: number, sentAt: number): boolean {
    for (const { first, receivedAt } of this.#heard) if (first === window && receivedAt < sentAt) return false;
    return true;
  }

  /**
   * Returns true for a count in `window` that is below the certain use or above the possible use, because others do not
   * lower a count. If counts lag, the first count of a window is the last of the one before.
   */
  contradicts(used: number, window: number, { units, first, surelyThen }: WindowTicket, sentAt: number): boolean {
    const { lag, spec, usage } = this.#parts;
    const least = surelyThen + units + usage.missing;
    if (window === first && used < least - spec.capacity * (usage.isOurs ? highShare : lowShare)) return true;
    const isHigh = usage.isOurs && used > usage.used(window) + spec.capacity * highShare;
    return isHigh && !(lag.lagging && this.isFirst(window, sentAt));
  }

  hear(sentAt: number, receivedAt: number, used: number, first: number, last: number): void {
    const { top } = this;
    if (first === last) {
      if (top === undefined || first > top.window) {
        this.#earlier = top;
        this.top = { window: first, used, at: receivedAt };
      } else if (first === top.window) {
        if (used > top.used) top.used = used;
        if (receivedAt > top.at) top.at = receivedAt;
      }
    }
    if (used > this.highest) this.highest = used;
    const heard = this.#heard;
    let beforeAt = Number.NEGATIVE_INFINITY;
    for (let index = 0; index < heard.length; index++) {
      const other = heard[index] as Heard;
      if (other.receivedAt < sentAt && other.sentAt > beforeAt) beforeAt = other.sentAt;
    }
    heard[this.#oldest] = { sentAt, receivedAt, used, first, last, beforeAt };
    this.#oldest = (this.#oldest + 1) % heardKept;
  }

  /** Called when a call leaves into window `first` or later. */
  noteBegun(first: number, now: number): void {
    if (this.isDoubting) this.#checkedAt = now;
    if ((this.top?.window ?? first) < first && this.isUnproved(first, now)) this.#enteredAt = now;
  }

  /** Called when a call that left at `sentAt` is over. */
  noteEnded(sentAt: number): void {
    if (this.#doubt !== undefined && sentAt >= this.#doubt.receivedAt) this.#checkedAt = undefined;
  }

  /** Returns true if only the calendar shows that `index` began, and another one had a count less than a window ago. */
  isUnproved(index: number, now: number): boolean {
    const { phase, spec } = this.#parts;
    const { top } = this;
    return top !== undefined && top.window < index && now - top.at < spec.windowMs && !phase.proves(index, now);
  }

  /**
   * Instant at which a call into `index` may ask again if it has to let another one go first; undefined if it need not.
   * A call for which the window before has room need not wait.
   */
  entersAt(index: number, units: number, now: number): number | undefined {
    return this.#mustWait(index, units, now) ? now + Math.min(this.#parts.spec.windowMs, retryMs) : undefined;
  }

  #mustWait(index: number, units: number, now: number): boolean {
    const { spec, usage } = this.#parts;
    if (this.isDoubting && this.#doubt?.window === index)
      return this.#checkedAt !== undefined && now - this.#checkedAt < retryMs;
    if (this.isDoubting) this.#doubt = undefined;
    if (!this.isUnproved(index, now) || (this.top?.used ?? 0) + usage.used(index) + units <= spec.capacity)
      return false;
    return usage.openIn(index) > 0 && now - this.#enteredAt < retryMs;
  }

  /** Called when window `index` turns out to continue the one before, of which `used` units are counted so far. */
  runOn(index: number, at: number, used = 0): void {
    const { phase, usage, openEnd } = this.#parts;
    phase.runOn(index, at);
    for (const heard of this.#heard) heard.first = heard.last = index;
    if (this.top !== undefined) this.top.window = index;
    this.#earlier = undefined;
    if (used > 0) usage.adopt(index, used);
    this.#forgetDoubt();
    openEnd.enter(at, usage.used(index));
  }

  /** Called when a window that continued has certainly ended. The end of the next one is not known either. */
  outlast(at: number): void {
    const { phase, usage, openEnd } = this.#parts;
    phase.runOn((phase.openEnded?.index ?? 0) + 1, at);
    openEnd.enter(at, usage.missing);
  }

  /**
   * Records a count and decides what it shows. `told`: it is the use of its window. `stale`: it is doubted, or is the
   * count of the window before. `runs on`: a second count has confirmed that the window before continues.
   */
  judge(told: Told): "told" | "stale" | "runs on" {
    const { lag, stale, phase } = this.#parts;
    const { lagging } = lag;
    const { window, used, units, sentAt, receivedAt, heardTo } = told;
    const goesOn = this.#goesOn(window, used);
    // Most counts start or continue their own window while no count is doubted.
    if (!goesOn && !lagging && !this.isDoubting) {
      this.hear(sentAt, receivedAt, used, window, heardTo);
      return "told";
    }
    const ours = this.#oursOf(told);
    const isFirst = this.isFirst(window, sentAt);
    const judgement = this.#doubted(told, goesOn, ours, isFirst);
    const runsOn = judgement === "confirmed" && (phase.proofs < proofsSure || this.#isYoung(window, receivedAt));
    if (runsOn) this.runOn(window, receivedAt, used);
    if (judgement !== "doubted") this.hear(sentAt, receivedAt, used, window, heardTo);
    const isStale = judgement === "doubted" || (lagging && isFirst && used + units > ours);
    if (isStale) stale.note(window, units);
    return runsOn ? "runs on" : isStale ? "stale" : "told";
  }

  /** In a key's second the count cannot exceed what was sent. Calls that may be counted twice would hide that. */
  #oursOf({ window, elsewhere }: Told): number {
    const { lag, spec, usage } = this.#parts;
    const isSent = lag.lagging && spec.scope === "key";
    return elsewhere + (isSent ? usage.ownOf(window).begun + usage.missing : usage.used(window));
  }

  #doubted(
    { window, used, sentAt, receivedAt }: Told,
    goesOn: boolean,
    ours: number,
    isFirst: boolean,
  ): "believed" | "doubted" | "confirmed" {
    const { lag, spec } = this.#parts;
    const doubt = this.isDoubting && this.#doubt?.window === window ? this.#doubt : undefined;
    const isPlausible = !goesOn || used - ours <= spec.capacity * leapShare;
    if (isPlausible || (doubt === undefined && !isFirst)) {
      if (doubt !== undefined && used <= doubt.used) this.#doubt = undefined;
      return "believed";
    }
    // One of the calls that were under way together had a lower count, so this count belongs to the old window.
    if (this.top?.window === window) return "doubted";
    if (doubt === undefined) this.#doubt = { kind: "goes on", window, used, receivedAt, looks: 1 };
    else if (sentAt < doubt.receivedAt) this.#doubt = { ...doubt, used: Math.max(used, doubt.used), looks: 1 };
    else if (lag.lagging && doubt.looks < looksLagging)
      this.#doubt = { ...doubt, used, receivedAt, looks: doubt.looks + 1 };
    else {
      this.#doubt = undefined;
      return "confirmed";
    }
    return "doubted";
  }

  /** Returns true if the first count of a window is above the last of the one before. */
  #goesOn(window: number, used: number): boolean {
    const before = this.top !== undefined && this.top.window < window ? this.top : this.#earlier;
    return before !== undefined && before.window === window - 1 && used > before.used;
  }

  /**
   * Computes the missing part of the capacity from a count of the remaining part. In a key's second, use that is not
   * ours means a lower limit rather than use by others. `told` is the highest earlier count of the window. Returns the
   * total missing part. At least one unit is never missing, because only the count of another call can show that the
   * others are back.
   */
  learnMissing(window: number, used: number, at: number, told: number): number {
    const { spec, usage } = this.#parts;
    if (spec.scope === "key") usage.learnMissing(window, used);
    else usage.learnShortfall(window, used, told === 0 && this.#isYoung(window, at), spec.capacity * leapShare);
    usage.missing = Math.min(usage.missing, spec.capacity - 1);
    return usage.missing;
  }

  /**
   * Called when counts were found to lag, or no longer to lag: what was concluded from them of the use was wrong. Where
   * windows begin is believed only if several in a row were seen to begin as expected.
   */
  noteLag(at: number): void {
    const { lag, phase, usage } = this.#parts;
    this.lagTurns = lag.turns;
    usage.missing = 0;
    usage.strayIn = Number.NEGATIVE_INFINITY;
    this.forget();
    if (phase.proofs < proofsLagging) this.runOn(phase.last(at), at);
  }

  /**
   * Called when the count `used` of a call that left at `sentAt` is below that of `before`: a window began in between.
   */
  learnBoundary(before: Readonly<Heard>, sentAt: number, receivedAt: number, used: number): Fall {
    const { clock, phase, openEnd, lag, spec, usage } = this.#parts;
    const { lagging } = lag;
    const { windowMs, scope, unit } = spec;
    // A lagging count is that of the call before, which may have landed a window earlier.
    const [afterAt, first] = lagging ? [before.beforeAt, before.first - 1] : [before.sentAt, before.first];
    const wasSilent = receivedAt - afterAt >= windowMs * spanShare;
    // After such a long silence more than one window may have begun.
    if (wasSilent && phase.openEnded === undefined) return "begins";
    // Counts of one layer are no evidence for the windows of another. The calendar follows the layer with the shortest
    // windows.
    if (scope === "key" && !wasSilent) clock.observeBoundary(afterAt, receivedAt, windowMs);
    // A call may have no weight.
    if (before.used === used && (unit === "weight" || lagging)) return "begins";
    const isExpected = phase.expects(afterAt, receivedAt, first, before.last);
    // A short window leaves no time to confirm a count with another call.
    if (!isExpected && isLong(windowMs) && !this.#isConfirmed(used, sentAt, receivedAt)) return "doubtful";
    const isShallow = this.#isShallow(before.used, used, receivedAt - afterAt);
    const isMoved = !phase.fell(afterAt, receivedAt, first, before.last);
    if (phase.openEnded !== undefined) {
      // A window began, but its beginning is not known.
      this.#dropHeard();
      openEnd.enter(receivedAt, usage.missing);
    }
    if (isMoved) return "moved";
    return isShallow ? "shallow" : "begins";
  }

  /** A window that begins is empty, and does not fill up again in a short time. */
  #isShallow(before: number, used: number, ms: number): boolean {
    const { spec, usage } = this.#parts;
    const { capacity, scope, windowMs } = spec;
    const isHalfFull = used - usage.missing > capacity / 2;
    return scope !== "key" && ms <= windowMs * briskShare && isHalfFull && before - used < capacity * leapShare;
  }

  /** A count that fell unexpectedly is confirmed if a call that left afterwards got the same count or a little more. */
  #isConfirmed(used: number, sentAt: number, receivedAt: number): boolean {
    const before = this.#doubt?.kind === "fell" ? this.#doubt : undefined;
    const isConfirmed =
      before !== undefined &&
      sentAt >= before.receivedAt &&
      used >= before.used &&
      used <= before.used + this.#parts.spec.capacity * leapShare;
    this.#doubt = isConfirmed ? undefined : { kind: "fell", window: Number.NaN, used, receivedAt, looks: 1 };
    return isConfirmed;
  }

  /**
   * Called when a call that left at `sentAt` was refused by `at` and no other layer can have refused it. `elsewhere`
   * units are held by other engines of ours. Returns whether the limit differs from the stated one, and whether that is
   * new.
   */
  learnRefusal(sentAt: number, at: number, elsewhere: number): "unmoved" | "expected" | "learned" {
    const { lag, limit, phase, spec, usage } = this.#parts;
    const window = phase.last(at);
    // The beginnings of windows have to be certain. A count of the remaining part changes with the limit.
    if (spec.header?.kind !== "used" || phase.openEnded !== undefined || phase.proofs === 0 || lag.lagging)
      return "unmoved";
    if (phase.first(sentAt) !== window || this.isUnproved(window, at)) return "unmoved";
    const likely = usage.used(window) + elsewhere;
    return limit.refuse(usage.countsOf(window).reported, likely, usage.seesOthers, sentAt, at);
  }

  /**
   * Returns true if a call of `units` that is answered at `at` may have exceeded a window that was assumed to be over,
   * or a limit that is being tried.
   */
  isRisky(units: number, at: number, capacity: number): boolean {
    const { limit, phase, usage } = this.#parts;
    const latest = phase.last(at);
    const used = usage.used(latest);
    if (phase.openEnded !== undefined) return used + units > capacity;
    if (limit.isTried && used > limit.proven) return true;
    return this.isUnproved(latest, at) && (this.top?.used ?? 0) + used > capacity;
  }

  /**
   * Called when a call of `units` that left at `sentAt` into `window` was refused. Returns true if that window most
   * likely had not begun: the call entered it at its beginning, and the window before was full.
   */
  learnLate(window: number, units: number, sentAt: number, capacity: number): boolean {
    const { phase, spec, usage } = this.#parts;
    const isEntered = phase.openEnded === undefined && phase.first(sentAt) === window;
    if (!isEntered || phase.proofs === 0 || this.isUnproved(window, sentAt)) return false;
    const isFull = usage.countsOf(window).reported + units > spec.capacity;
    if (isFull || usage.used(window - 1) + units <= capacity || !phase.learnLate(window, sentAt)) return false;
    this.#late = { window, units };
    return true;
  }

  /** Processes a count of `window`: if it was full, calls were refused for that and not for its beginning. */
  checkLate(window: number, used: number): void {
    const late = this.#late;
    if (late === undefined || window < late.window) return;
    if (window === late.window) {
      if (used + late.units <= this.#parts.spec.capacity) return;
      this.#parts.phase.unlearnLate();
    }
    this.#late = undefined;
  }

  /**
   * Called when a call was refused. Returns true if a window that was entered by the calendar alone may not have begun;
   * the window before then continues.
   */
  noteRefused(at: number): boolean {
    const { phase } = this.#parts;
    const latest = phase.last(at);
    if (phase.openEnded !== undefined || !this.isUnproved(latest, at)) return false;
    this.runOn(latest, at, this.top?.used);
    return true;
  }

  /** Called when our clock was disturbed: no earlier count is valid. */
  forget(): void {
    this.#forgetCounts();
    this.#forgetDoubt();
  }

  /** Returns true so soon after the window began that others are unlikely to have used much of it. */
  #isYoung(window: number, at: number): boolean {
    const { phase, spec } = this.#parts;
    return at - phase.begins(window, at) <= spec.windowMs * earlyShare;
  }

  #forgetDoubt(): void {
    this.#doubt = undefined;
    this.#checkedAt = undefined;
  }

  #forgetCounts(): void {
    this.#dropHeard();
    this.top = undefined;
    this.#earlier = undefined;
  }

  /** Drops all counts, because none of them can be compared any longer. */
  #dropHeard(): void {
    this.#heard.length = 0;
    this.highest = Number.NEGATIVE_INFINITY;
    this.#oldest = 0;
  }
}
