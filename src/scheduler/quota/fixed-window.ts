/**
 * One scope of one layer with its windows laid on the client's time.
 *
 * Invariants: a call leaves only if it fits in every window it can land in, whatever its latency; an answer is placed
 * by the clock, then by the service's own numbers, and in every window that remains possible when neither decides; a
 * window that only the calendar says has begun is entered by one call, unless the window before holds the others too;
 * where windows are spent to the limit, ordinary calls leave one after the other, so that one refusal tells that it
 * moved; on the floor none of this is used.
 * Not here: where they begin (window-phase.ts), what is used (window-usage.ts).
 */
import { CountDoubt } from "./count-doubt.ts";
import { CountEvidence, type OnMisread } from "./count-evidence.ts";
import { CountLag, StaleCounts } from "./count-lag.ts";
import { Floor, type OnMode, type QuotaMode } from "./floor.ts";
import { HeardCounts } from "./heard-counts.ts";
import type { LayerSpec } from "./layers.ts";
import { LearnedLimit } from "./learned-limit.ts";
import type { Ceiling, LimitWindow, WindowTicket } from "./limit-window.ts";
import { OpenEnd } from "./open-end.ts";
import type { ServerClock } from "./server-clock.ts";
import { WindowEntry } from "./window-entry.ts";
import { type OpenEnded, WindowPhase } from "./window-phase.ts";
import { WindowUsage } from "./window-usage.ts";

/** Part of the capacity by which a count may be below what was counted: answers may be told a count from before. */
const lowShare = 1 / 10;
/** The same of a key, and the part by which it may be above. */
const highShare = 1 / 4;

export interface WindowReports {
  readonly onMisread?: OnMisread | undefined;
  readonly onMode?: OnMode | undefined;
}

/** Window that begins and ends on the clock of the service, as this engine knows it. */
export class FixedWindow implements LimitWindow {
  readonly spec: LayerSpec;
  readonly scope: string;
  readonly widthMs: (at: number) => number;
  readonly windowEndsAt: (now: number) => number;
  begun = 0;
  ambiguous = false;
  missing = 0;
  flows = false;
  capacity: number;
  /** Other engines of ours use it as well: what is not this one's is no stranger's, but for `strangers`. */
  divided = false;
  /** Used by strangers of the window that runs, where it is divided. */
  strangers = 0;
  /** What other engines of ours hold of a window, where it is divided: a count that goes on may be of their use. */
  heldElsewhere: { readonly window: number; readonly units: number } | undefined;
  readonly #phase: WindowPhase;
  readonly #usage: WindowUsage;
  readonly #heard = new HeardCounts();
  readonly #doubt: CountDoubt;
  readonly #openEnd: OpenEnd;
  readonly #lag: CountLag;
  readonly #stale: StaleCounts;
  readonly #entry: WindowEntry;
  readonly #evidence: CountEvidence;
  readonly #limit: LearnedLimit;
  readonly #floor: Floor;
  readonly #onMode: OnMode;
  #landedAt = 0;
  /** Only where answers tell what is used, and not what remains, a limit moves without a word. */
  readonly #movesUntold: boolean;

  /** What other engines of ours may have used of a divided window. */
  readonly #elsewhere = (index: number): number =>
    this.divided && this.heldElsewhere?.window === index ? this.heldElsewhere.units : 0;

  /**
   * Scopes of one service learn together whether its counts lag; `reports` are called with what was misread, and with
   * changes of the mode.
   */
  constructor(spec: LayerSpec, scope: string, clock: ServerClock, lag = new CountLag(), reports: WindowReports = {}) {
    const { onMisread = () => undefined, onMode = () => undefined } = reports;
    this.spec = spec;
    this.scope = scope;
    this.capacity = spec.capacity;
    this.#movesUntold = spec.header?.kind === "used";
    this.#lag = lag;
    this.#usage = new WindowUsage(spec.scope === "key" && spec.unit === "requests");
    this.#phase = new WindowPhase(spec.windowMs, clock);
    this.#floor = new Floor(spec);
    this.#onMode = onMode;
    const phase = this.#phase;
    const floor = this.#floor;
    this.widthMs = (at) => (floor.isActive ? 0 : phase.widthMs(at));
    this.windowEndsAt = (now) => (floor.isActive ? (floor.spending.freesAt ?? now) : phase.endsAt(now));
    this.#stale = new StaleCounts(lag, spec);
    this.#limit = new LearnedLimit(spec.capacity, spec.windowMs);
    this.#doubt = new CountDoubt(spec.capacity);
    this.#openEnd = new OpenEnd(spec.capacity, spec.windowMs);
    const parts = {
      spec,
      phase: this.#phase,
      heard: this.#heard,
      usage: this.#usage,
      doubt: this.#doubt,
      openEnd: this.#openEnd,
    };
    this.#entry = new WindowEntry(parts);
    const own = { stale: this.#stale, entry: this.#entry, limit: this.#limit, elsewhere: this.#elsewhere };
    const onDoubt = (at: number): void => this.#noteDoubt(at);
    this.#evidence = new CountEvidence({ ...parts, ...own, clock, lag, onMisread, onDoubt });
  }

  get open(): number {
    return this.#usage.open;
  }

  get unsteady(): boolean {
    return this.#usage.unsteady;
  }

  get lags(): boolean {
    return this.#lag.lagging;
  }

  get mode(): QuotaMode {
    return this.#floor.isActive ? "floor" : "measured";
  }

  paced(at: number): number {
    const { isActive, spending } = this.#floor;
    if (isActive) return this.used(at) + spending.credit(at);
    const { openEnded } = this.#phase;
    const limit = this.#limit;
    if (openEnded !== undefined) return this.#openEnd.paced(at, openEnded.since);
    const { open } = this.#usage;
    // Of a part of a window that was spent to its limit the rest may be had at any time, so it says nothing.
    const leavesAlone = open > 0 && at < limit.nextAt && !this.divided;
    if (leavesAlone && this.#usage.used(this.#phase.first(at) - 1) >= limit.spentFrom)
      return this.#usage.used(this.#phase.last(at));
    return limit.isTried ? limit.most(this.windowEndsAt(at) - at, open === 0) : Number.POSITIVE_INFINITY;
  }

  blockedUntil(units: number, now: number, ceiling: Ceiling): number | undefined {
    if (this.#floor.isActive) return this.#blockedOnFloor(units, now, ceiling);
    const phase = this.#phase;
    const usage = this.#usage;
    const { windowMs } = this.spec;
    if (phase.openEnded !== undefined) return this.#blockedInOpenEnd(units, now, ceiling);
    const { known, lo, first, last: latest } = phase.at(now);
    // Whatever window it is, it cannot hold more than this.
    if (!known) return usage.open + units > this.capacity ? now + windowMs : undefined;
    if (first <= usage.closedThrough) return (usage.closedThrough + 1) * windowMs - lo;
    const last = Math.max(latest, Math.min(usage.windows.last, first + 2));
    for (let index = first; index <= last; index++) {
      const startAt = index * windowMs - lo;
      if (usage.used(index) + units <= ceiling(startAt + windowMs, startAt, now)) continue;
      const endAt = startAt + windowMs;
      const mayTry = first === last && usage.used(index) + units <= this.spec.capacity;
      const triesAt = mayTry ? this.#limit.triesAt(endAt) : endAt;
      if (now < triesAt) return Math.min(triesAt, endAt);
      if (usage.open > 0) return endAt;
    }
    const entersAt = first === latest ? this.#entry.blockedUntil(first, units, now) : undefined;
    // A window not begun yet holds what is in flight already; it must hold this call as well.
    return entersAt ?? (usage.unlanded + units > this.capacity ? now + windowMs : undefined);
  }

  room(now: number, floor: Ceiling, isFlat = false): number {
    const { isActive, spending, shutUntil } = this.#floor;
    if (isActive) {
      const free = floor(now + spending.horizonMs, now, now) - this.used(now);
      return now < shutUntil ? 0 : Math.min(free, spending.room(now));
    }
    const phase = this.#phase;
    const usage = this.#usage;
    const { windowMs } = this.spec;
    if (phase.openEnded !== undefined) return 0;
    const { known, lo, first, last: latest } = phase.at(now);
    let room = this.capacity - (usage.isOurs && usage.open > 0 ? usage.unlanded : usage.open);
    if (!known) return room;
    const isNew = (this.#heard.top?.window ?? first) < first;
    if (
      this.#doubt.current !== undefined ||
      first <= usage.closedThrough ||
      (isNew && this.#entry.isUnproved(first, now))
    )
      return 0;
    if (this.#movesUntold && !this.divided && usage.used(first - 1) >= this.#limit.spentFrom) return 0;
    // Above what was proven each call has to wait for the answer to the one before. With what was asked above that is
    // all that `paced` says.
    const most = this.#limit.isTried ? this.#limit.proven : Number.POSITIVE_INFINITY;
    const last = Math.max(latest, Math.min(usage.windows.last, first + 2));
    for (let index = first; index <= last; index++) {
      const startAt = index * windowMs - lo;
      const used = usage.used(index, isFlat ? last : index);
      room = Math.min(room, Math.min(most, floor(startAt + windowMs, startAt, now)) - used);
      if (isFlat) break;
    }
    return room;
  }

  begin(
    units: number,
    now: number,
    ticket: WindowTicket = { units: 0, first: 0, knownThen: 0, unheardThen: 0, surelyThen: 0 },
  ): WindowTicket {
    this.begun += units;
    if (this.#floor.isActive) this.#floor.spending.spend(units, now);
    if (this.#movesUntold) this.#limit.noteBegun(units, now);
    const phase = this.#phase;
    const { first } = phase.kept.at === now && phase.revision === phase.calendar.revision ? phase.kept : phase.at(now);
    if (this.#doubt.current !== undefined) this.#doubt.noteBegun(now);
    if (phase.openEnded !== undefined) this.#openEnd.noteBegun(now, phase.openEnded.since);
    else if ((this.#heard.top?.window ?? first) < first) this.#entry.noteBegun(first, now);
    const { reported, unheard, settled } = this.#usage.begin(first, units);
    ticket.units = units;
    ticket.first = first;
    ticket.knownThen = reported;
    ticket.unheardThen = unheard;
    ticket.surelyThen = settled - unheard;
    return ticket;
  }

  again({ units, first }: WindowTicket, now: number): void {
    this.begun += units;
    if (this.#floor.isActive) this.#floor.spending.spend(units, now);
    this.#usage.begin(first, units);
  }

  end(ticket: WindowTicket, sentAt: number, receivedAt: number, used: number | undefined, counted: boolean): number {
    const { units } = ticket;
    const fresh = this.#place(ticket, sentAt, receivedAt, used, counted);
    return this.#land(units, receivedAt) ? 0 : fresh;
  }

  #place(ticket: WindowTicket, sentAt: number, receivedAt: number, used: number | undefined, counted: boolean): number {
    const phase = this.#phase;
    const usage = this.#usage;
    const evidence = this.#evidence;
    const { units, first: began } = ticket;
    this.#landedAt = receivedAt;
    // No calendar was told: one window runs until a count falls.
    if (!phase.calendar.known && !phase.known) evidence.runOn(began, receivedAt);
    if (evidence.lagTurns !== this.#lag.turns) {
      this.missing = evidence.noteLag(receivedAt);
    }
    const { lagging } = this.#lag;
    let isCredible = used !== undefined;
    if (used !== undefined && counted) {
      this.#openEnd.refusedMs = 0;
      const before = used <= this.#heard.highest ? this.#heard.fallTo(used, sentAt, lagging) : undefined;
      if (before !== undefined) isCredible = evidence.learnBoundary(before, sentAt, receivedAt, used);
    }
    const { last: latest } = phase.at(receivedAt);
    // What is answered in the window it was begun in landed there.
    let first = latest > began ? Math.max(began, phase.at(sentAt).first) : began;
    let last = Math.max(first, latest);
    let heardTo = last;
    if (used !== undefined && isCredible && counted && first < last) {
      // In the window it was sent in, the count could only have grown by this call.
      if (used < ticket.knownThen + (lagging ? 0 : units)) heardTo = Math.max(++first, last);
      // Where the new one is divided, the others may have used that much of it.
      else if (!lagging && !this.divided && last === first + 1 && used > usage.used(last) + units) {
        // It may be an earlier life's use of the new one, too: it proves nothing.
        if (usage.heard(first)) heardTo = first;
        last = first;
      }
    }
    this.ambiguous = first !== last;
    if (this.#doubt.current !== undefined) this.#doubt.noteEnded(sentAt);
    const isOne = used !== undefined && isCredible && first === last;
    if (counted && isOne && used !== undefined) this.#compare(ticket, used, first, sentAt, receivedAt);
    const isTold = isOne && !evidence.isStale(first, used, units, sentAt, receivedAt, counted, heardTo);
    if (used !== undefined && isCredible && counted && !isOne) this.#heard.hear(sentAt, receivedAt, used, first, last);
    const counts = usage.end(began, first, last, units, isTold);
    if (this.#stale.compares) this.#stale.hear(sentAt, receivedAt, counted ? used : undefined, this.begun, usage.open);
    if (!isTold) return 0;
    // Where what was answered says as much, nothing is missing.
    if (
      counted &&
      !this.divided &&
      (usage.missing > 0 || used > counts.settled) &&
      this.spec.header?.kind === "remaining"
    )
      this.missing = evidence.learnMissing(first, used, receivedAt, counts.reported);
    if (used > this.#limit.proven && counted && this.#movesUntold && this.mode === "measured")
      this.capacity = this.#limit.accept(used);
    const fresh = usage.report(first, used, first === began ? ticket.unheardThen : 0);
    if (lagging) usage.adopt(first, used + units);
    if (this.#stale.compares && usage.open === 0 && phase.openEnded === undefined) this.#stale.observe(first, counts);
    return fresh;
  }

  lose(ticket: WindowTicket, now: number): void {
    const { units, first } = ticket;
    if (this.#doubt.current !== undefined) this.#doubt.noteEnded(now);
    this.#usage.lose(first, Math.max(first, this.#phase.last(now)), units);
    this.#land(units, now);
  }

  undo({ units, first }: WindowTicket): void {
    if (this.#doubt.current !== undefined) this.#doubt.noteEnded(Number.POSITIVE_INFINITY);
    this.#usage.undo(first, units);
  }

  isRisky(units: number, at: number): boolean {
    return !this.#floor.isActive && this.#evidence.isRisky(units, at, this.capacity);
  }

  learnRefusal(sentAt: number, at: number): boolean {
    if (this.#floor.isActive) return false;
    const isMoved = this.#evidence.learnRefusal(sentAt, at);
    this.capacity = this.#limit.capacity;
    return isMoved;
  }

  noteUnexplained(sentAt: number, at: number): void {
    if (!this.divided && this.#floor.refuse(sentAt, at)) this.#fall(at, "refusals that nothing explains");
  }

  shut(at: number): number {
    const { isActive, spending } = this.#floor;
    if (isActive) {
      const until = this.#floor.refused(at);
      this.capacity = spending.capacity;
      return until;
    }
    const phase = this.#phase;
    this.#evidence.noteRefused(at);
    if (phase.openEnded !== undefined && this.#openEnd.looks) return this.#openEnd.refuse(at);
    this.#usage.closedThrough = Math.max(
      this.#usage.closedThrough,
      phase.last(at) + Math.ceil(this.spec.banMs / this.spec.windowMs),
    );
    return phase.begins(this.#usage.closedThrough + 1, at);
  }

  reset(): void {
    this.#usage.reset();
    this.#phase.forget();
    this.#heard.forget();
    this.#doubt.forget();
  }

  used(now: number): number {
    const { isActive, spending } = this.#floor;
    if (isActive) return spending.landed(now) + this.#usage.open;
    return this.#usage.used(this.#phase.last(now));
  }

  foreign(now: number): number {
    if (this.divided) return this.strangers;
    if (this.#floor.isActive) return 0;
    return this.#usage.missing + (this.#usage.seesOthers ? this.#usage.foreign(this.#phase.last(now)) : 0);
  }

  /**
   * Windows a call can land in that leaves at `at`; undefined where windows have no number that others know them by.
   */
  spanAt(at: number): { readonly first: number; readonly last: number } | undefined {
    const { known, first, last } = this.#phase.at(at);
    return known && this.#phase.openEnded === undefined ? { first, last } : undefined;
  }

  /** The window whose beginning `endOf` the one before tells as `startAt`. */
  indexOf(startAt: number, at: number): number {
    return this.#phase.openEnded?.index ?? Math.round((startAt + this.#phase.lo(at)) / this.spec.windowMs);
  }

  /** When window `index` has ended for certain, as far as `at` tells. */
  endOf(index: number, at: number): number {
    return this.#phase.begins(index + 1, at);
  }

  /** As `used`, of window `index`. */
  usedIn(index: number): number {
    return this.#usage.used(index);
  }

  /** What window `index` has of ours, as far as is possible; what was answered of it; and the service's own count. */
  ownOf(index: number): { readonly begun: number; readonly settled: number; readonly reported: number } {
    return this.#usage.ownOf(index);
  }

  #noteDoubt(at: number): void {
    if (!this.divided && this.#floor.doubt(at)) this.#fall(at, "counts that contradict each other");
  }

  #fall(at: number, why: string): void {
    const floor = this.#floor;
    if (floor.isActive) return;
    floor.enter(at, this.#limit.capacity);
    this.ambiguous = false;
    this.capacity = floor.spending.capacity;
    this.flows = true;
    this.missing = 0;
    this.#onMode({ layer: this.spec.name, scope: this.scope, mode: "floor", why });
  }

  /** Counts are used again: all that was used of the last window's length counts in whichever window runs. */
  #leaveFloor(now: number): void {
    const landed = this.#floor.spending.landed(now);
    this.#floor.leave(now);
    this.capacity = this.#limit.capacity;
    this.flows = false;
    this.reset();
    const { first, last } = this.#phase.at(now);
    for (let index = first; index <= last; index++) this.#usage.adopt(index, landed);
    this.#heard.hear(now, now, landed, last, last);
    this.#onMode({ layer: this.spec.name, scope: this.scope, mode: "measured", why: "no refusal for long" });
  }

  /** A call is over; true on the floor. */
  #land(units: number, at: number): boolean {
    const floor = this.#floor;
    floor.spending.land(units, at);
    if (!floor.isActive) return false;
    this.ambiguous = false;
    this.missing = 0;
    if (floor.mayLeave(at) && this.#phase.openEnded === undefined) this.#leaveFloor(at);
    return true;
  }

  /** Counts lag, and the first of a window is the last of the one before. */
  #isBehind(window: number, sentAt: number): boolean {
    return this.#lag.lagging && this.#heard.isFirst(window, sentAt);
  }

  /** A count told in `window` below what was surely counted, or above what may be: others do not lower it. */
  #compare({ units, first, surelyThen }: WindowTicket, used: number, window: number, sentAt: number, at: number): void {
    const { capacity } = this.spec;
    const usage = this.#usage;
    const least = surelyThen + units + usage.missing;
    const isLow = window === first && used < least - capacity * (usage.isOurs ? highShare : lowShare);
    const isHigh = usage.isOurs && used > usage.used(window) + capacity * highShare && !this.#isBehind(window, sentAt);
    if (isLow || isHigh) this.#noteDoubt(at);
    else this.#floor.agree();
  }

  #blockedOnFloor(units: number, now: number, ceiling: Ceiling): number | undefined {
    const { spending } = this.#floor;
    if (now < this.#floor.shutUntil) return this.#floor.shutUntil;
    const used = this.used(now);
    const most = Math.min(spending.capacity, ceiling(now + spending.horizonMs, now, now));
    if (used + units <= most) return undefined;
    return Math.max(spending.freesAt ?? now + this.spec.windowMs, now + 1);
  }

  /** One window runs on: what is left of it is spent slowly, so that the call after its end is not long in coming. */
  #blockedInOpenEnd(units: number, now: number, ceiling: Ceiling): number | undefined {
    const usage = this.#usage;
    const { windowMs } = this.spec;
    // Whatever was counted a window's length ago is so no longer.
    if (usage.open === 0 && now - this.#landedAt >= windowMs) this.#evidence.outlast(now);
    const { index, since } = this.#phase.openEnded as OpenEnded;
    if (index <= usage.closedThrough) return Math.max(now + 1, this.#landedAt + windowMs);
    const most = ceiling(since + windowMs, since, now);
    return this.#openEnd.blockedUntil(usage.used(index) + units, most, {
      landedAt: this.#landedAt,
      since,
      now,
      isAlone: usage.open === 0,
    });
  }
}
