/**
 * What counts and refusals prove of one scope's windows: that one began, that one runs on, that a count is another
 * window's, that the limit moved.
 *
 * Invariants: nothing proved of one layer's windows changes another's; what was taken for certain and turned out wrong
 * is told.
 * Not here: where an answer is charged (fixed-window.ts), where windows begin (window-phase.ts).
 */
import type { CountDoubt } from "./count-doubt.ts";
import type { CountLag, StaleCounts } from "./count-lag.ts";
import type { Heard, HeardCounts } from "./heard-counts.ts";
import type { LayerSpec } from "./layers.ts";
import type { LearnedLimit } from "./learned-limit.ts";
import type { OpenEnd } from "./open-end.ts";
import type { ServerClock } from "./server-clock.ts";
import type { WindowEntry } from "./window-entry.ts";
import type { WindowPhase } from "./window-phase.ts";
import type { WindowUsage } from "./window-usage.ts";

/** Windows seen to begin as expected, after which a count that did not fall is rather laid to other clients. */
const proofsSure = 3;
/** Part of a window after whose beginning others may have used as much as the window before. */
const earlyShare = 0.1;
const spanShare = 0.9;
const briskShare = 1 / 60;

/** Others do not use so large a part of an address's capacity between two answers: the limit was moved. */
const leapShare = 0.25;
/** In shorter windows there is no time for another call to confirm a count. */
const confirmedMsLeast = 10_000;
/** Windows after which a refusal may again be laid to others' use; sooner it is the limit's. */
const leapGap = 1.2;

/** Told in words what was misread, of which layer. */
export type OnMisread = (layer: string, what: string) => void;

interface Parts {
  readonly spec: LayerSpec;
  readonly clock: ServerClock;
  readonly phase: WindowPhase;
  readonly heard: HeardCounts;
  readonly usage: WindowUsage;
  readonly doubt: CountDoubt;
  readonly openEnd: OpenEnd;
  readonly lag: CountLag;
  readonly stale: StaleCounts;
  readonly entry: WindowEntry;
  readonly limit: LearnedLimit;
  readonly onMisread: OnMisread;
  /** Called when a count contradicted what is known, and no other call confirmed it. */
  readonly onDoubt: (at: number) => void;
  /** What other engines of ours hold of a window. */
  readonly elsewhere: (window: number) => number;
}

export class CountEvidence {
  /** As of so many turns of the lag. */
  lagTurns: number;
  /** When a refusal was last laid to others who were seen to use much at once. */
  #leptAt = Number.NEGATIVE_INFINITY;
  /** A count that fell where no window can have begun. */
  #unexpected: { readonly used: number; readonly receivedAt: number } | undefined;
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.lagTurns = parts.lag.turns;
  }

  /** Window `index` runs on, with `used` that was counted of the one before. */
  runOn(index: number, at: number, used = 0): void {
    const { phase, heard, usage, doubt, openEnd } = this.#parts;
    phase.runOn(index, at);
    heard.renumber(index);
    if (used > 0) usage.adopt(index, used);
    doubt.forget();
    openEnd.enter(at, usage.used(index));
  }

  /** The window that ran on has ended for certain: the one after it runs on from `at`. */
  outlast(at: number): void {
    const { phase, usage, openEnd } = this.#parts;
    phase.runOn((phase.openEnded?.index ?? 0) + 1, at);
    openEnd.enter(at, usage.missing);
  }

  /** Whether a count told in `window` is another's, as far as can be seen; takes note of it. */
  isStale(
    window: number,
    used: number,
    units: number,
    sentAt: number,
    receivedAt: number,
    counted: boolean,
    heardTo: number,
  ): boolean {
    const { heard, lag, usage, doubt, stale, elsewhere, spec } = this.#parts;
    const { lagging } = lag;
    const { top, earlier } = heard;
    const before = top !== undefined && top.window < window ? top : earlier;
    const goesOn = before !== undefined && before.window === window - 1 && used > before.used;
    // Most counts begin anew or go on in their own window, and nothing was doubted before them.
    if (!goesOn && !lagging && doubt.current === undefined) {
      if (counted) heard.hear(sentAt, receivedAt, used, window, heardTo);
      return false;
    }
    // Of a key's second what is counted cannot be more than was sent; what may be counted twice would hide that.
    const ours = lagging && spec.scope === "key" ? usage.ownOf(window).begun + usage.missing : usage.used(window);
    const isFirst = heard.isFirst(window, sentAt);
    const known = { before, top, isFirst, lags: lagging };
    const judgement = counted
      ? doubt.judge({ window, used, sentAt, receivedAt, ours: ours + elsewhere(window) }, known)
      : "believed";
    if (judgement === "confirmed") this.#settle(window, used, receivedAt);
    if (counted && judgement !== "doubted") heard.hear(sentAt, receivedAt, used, window, heardTo);
    const isStale = judgement === "doubted" || (lagging && isFirst && used + units > ours);
    if (isStale) stale.note(window, units);
    return isStale;
  }

  /**
   * What the capacity lacks, by a count of what remains: of a key's second, what is not ours is the limit's doing
   * rather than others'. `told` is the highest count the window was told before. Returns what is missing in all.
   */
  learnMissing(window: number, used: number, at: number, told: number): number {
    const { spec, usage } = this.#parts;
    if (spec.scope === "key") usage.learnMissing(window, used);
    else usage.learnShortfall(window, used, told === 0 && this.#isYoung(window, at), spec.capacity * leapShare);
    return usage.missing;
  }

  /** Counts were found to lag, or no longer: what was learned from them was misread. Returns what is missing in all. */
  noteLag(at: number): number {
    const { lag, heard, phase, usage } = this.#parts;
    this.lagTurns = lag.turns;
    heard.forget();
    usage.missing = 0;
    usage.strayIn = Number.NEGATIVE_INFINITY;
    this.runOn(phase.last(at), at);
    if (lag.lagging) this.misread("counts are those from before the call they come with");
    return usage.missing;
  }

  /**
   * The count `used` of a call that left at `sentAt` fell below that of `before`: a window began in between. False
   * where no window can have begun, and no later call has confirmed it: the count changes nothing then.
   */
  learnBoundary(before: Readonly<Heard>, sentAt: number, receivedAt: number, used: number): boolean {
    const { clock, phase, heard, openEnd, lag, spec, usage } = this.#parts;
    const { lagging } = lag;
    const { windowMs, scope, unit } = spec;
    const afterAt = lagging ? before.beforeAt : before.sentAt;
    const isLong = receivedAt - afterAt >= windowMs * spanShare;
    // After so long a silence more than one window may have begun.
    if (isLong && phase.openEnded === undefined) return true;
    // What one layer was told says nothing of another's windows; the calendar goes with the finest.
    if (scope === "key" && !isLong) clock.observeBoundary(afterAt, receivedAt, windowMs);
    // A call may weigh nothing.
    if (before.used === used && (unit === "weight" || lagging)) return true;
    const first = lagging ? before.first - 1 : before.first;
    const isExpected = phase.expects(afterAt, receivedAt, first, before.last);
    if (!isExpected && windowMs >= confirmedMsLeast && !this.#isConfirmed(used, sentAt, receivedAt)) return false;
    // A window that begins is empty, and is not filled again in so short a time.
    const isShallow = used > spec.capacity / 2 && before.used - used < spec.capacity * leapShare;
    if (scope !== "key" && isShallow && receivedAt - afterAt <= windowMs * briskShare) this.#parts.onDoubt(receivedAt);
    if (!phase.fell(afterAt, receivedAt, first, before.last)) {
      this.misread("a window began where none was expected; from now on its counts are believed");
      this.#parts.onDoubt(receivedAt);
    }
    if (phase.openEnded === undefined) return true;
    // A window began, but who knows when.
    heard.drop();
    openEnd.enter(receivedAt, usage.missing);
    return true;
  }

  /** A count that fell unexpectedly is confirmed when a call that left after it was told as much, or a little more. */
  #isConfirmed(used: number, sentAt: number, receivedAt: number): boolean {
    const { onDoubt, spec } = this.#parts;
    const before = this.#unexpected;
    const isConfirmed =
      before !== undefined &&
      sentAt >= before.receivedAt &&
      used >= before.used &&
      used <= before.used + spec.capacity * leapShare;
    this.#unexpected = isConfirmed ? undefined : { used, receivedAt };
    if (!isConfirmed) onDoubt(receivedAt);
    return isConfirmed;
  }

  /**
   * A call that left at `sentAt` was refused by `at`, and no other layer did it: true when the limit is not, or no
   * longer, as stated.
   */
  learnRefusal(sentAt: number, at: number): boolean {
    const { elsewhere, entry, lag, limit, phase, spec, usage } = this.#parts;
    const window = phase.last(at);
    // Where windows begin has to be certain; what is told as remaining moves with the limit.
    if (spec.header?.kind !== "used" || phase.openEnded !== undefined || phase.proofs === 0 || lag.lagging)
      return false;
    if (phase.first(sentAt) !== window || entry.isUnproved(window, at)) return false;
    const likely = usage.used(window) + elsewhere(window);
    const isStated = limit.capacity === spec.capacity;
    if (isStated && likely + usage.leap(window) >= spec.capacity && at - this.#leptAt > spec.windowMs * leapGap) {
      this.#leptAt = at;
      return false;
    }
    const verdict = limit.refuse(usage.countsOf(window).reported, likely, usage.seesOthers, sentAt, at);
    if (verdict === "learned")
      this.misread(`the service refused at ${limit.capacity} of ${spec.capacity}: the limit has moved`);
    return verdict !== "unmoved";
  }

  /**
   * Whether a call of `units` that is answered at `at` may have been too much for a window that was taken for over, or
   * for a limit that is tried.
   */
  isRisky(units: number, at: number, capacity: number): boolean {
    const { entry, heard, limit, phase, usage } = this.#parts;
    const latest = phase.last(at);
    const used = usage.used(latest);
    if (phase.openEnded !== undefined) return used + units > capacity;
    if (limit.isTried && used > limit.proven) return true;
    return entry.isUnproved(latest, at) && (heard.top?.used ?? 0) + used > capacity;
  }

  /** A call was refused: a window that was entered by the calendar alone has perhaps not begun. */
  noteRefused(at: number): void {
    const { entry, heard, phase } = this.#parts;
    const latest = phase.last(at);
    if (phase.openEnded !== undefined || !entry.isUnproved(latest, at)) return;
    this.runOn(latest, at, heard.top?.used);
    this.misread("a window was refused that should have begun; its beginning is looked for");
  }

  misread(what: string): void {
    const { onMisread, spec } = this.#parts;
    onMisread(spec.name, what);
  }

  /** So soon after the window began, others are not likely to have used much of it. */
  #isYoung(window: number, at: number): boolean {
    const { phase, spec } = this.#parts;
    return at - phase.begins(window, at) <= spec.windowMs * earlyShare;
  }

  /**
   * A second count went on from the window before: others used as much, or the window has not begun, which is nearer
   * when it is young.
   */
  #settle(window: number, used: number, at: number): void {
    if (this.#parts.phase.proofs < proofsSure || this.#isYoung(window, at)) {
      this.runOn(window, at, used);
      this.misread("a window that should have begun went on counting; its beginning is looked for");
    }
  }
}
