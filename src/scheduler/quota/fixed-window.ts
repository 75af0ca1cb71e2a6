/**
 * The windows of one layer for one scope, mapped to the client's time.
 *
 * Invariants: a call leaves only if it fits in every window it can land in, at any latency; an answer is placed by the
 * clock, then by the service's own numbers, and in every window that remains possible when neither decides; a window
 * that has begun only by the calendar is entered by one call at first, and by further calls only if the window before
 * has room for them too; if windows are spent to the limit, ordinary calls leave one after the other, so that one
 * refusal shows that the limit changed; on the floor none of this is used.
 * Not here: where they begin (window-phase.ts), what is used (window-usage.ts).
 */
import { CountEvidence, type Told } from "./count-evidence.ts";
import { CountLag, StaleCounts } from "./count-lag.ts";
import { contradiction, type Floor, LatestDoubt, notBegun, type OnMode } from "./floor.ts";
import { isLong, type LayerSpec } from "./layers.ts";
import { type LearnedLimit, StatedLimit } from "./learned-limit.ts";
import type { Ceiling, LimitWindow, QuotaMode, Unexplained, WindowTicket } from "./limit-window.ts";
import type { OpenEnd } from "./open-end.ts";
import { limiterParts, type OnMisread, type WindowOptions } from "./parts.ts";
import type { ServerClock } from "./server-clock.ts";
import type { OpenEnded, WindowPhase } from "./window-phase.ts";
import { emptyTicket, type WindowCounts } from "./window-slots.ts";
import type { WindowUsage } from "./window-usage.ts";

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
  /** True if other engines of ours share it: use that is not ours is theirs, except `strangers`. */
  divided = false;
  /** Units of the current window used by clients that are not ours, if it is divided. */
  strangers = 0;
  /** Units of a divided window that other engines of ours hold. A count that continues may be caused by their use. */
  heldElsewhere: { readonly window: number; readonly units: number } | undefined;
  /** Its floor. Engines that divide the window enter it together, each with its part. */
  readonly floor: Floor;
  readonly #phase: WindowPhase;
  readonly #usage: WindowUsage;
  readonly #openEnd: OpenEnd;
  readonly #lag: CountLag;
  readonly #stated: StatedLimit;
  readonly #stale: StaleCounts;
  readonly #evidence: CountEvidence;
  readonly #limit: LearnedLimit;
  readonly #onMode: OnMode;
  readonly #onMisread: OnMisread;
  #landedAt = 0;
  #landedBefore = 0;
  /** True if answers report the used part and not the rest, so that they do not show a change of the limit. */
  readonly #movesUntold: boolean;

  /** `lag` is shared by the scopes of one service. */
  constructor(layer: LayerSpec, scope: string, clock: ServerClock, lag = new CountLag(), options: WindowOptions = {}) {
    const { onMisread = () => undefined, onMode = () => undefined } = options;
    const { parts = limiterParts, doubt = new LatestDoubt(), trips } = options;
    this.#stated = new StatedLimit(layer, clock);
    const { spec } = this.#stated;
    this.spec = spec;
    this.scope = scope;
    this.capacity = spec.capacity;
    this.#movesUntold = spec.header?.kind === "used";
    this.#lag = lag;
    this.#usage = parts.usage(spec.scope === "key" && spec.unit === "requests");
    this.#phase = parts.phase(spec.windowMs, clock);
    this.floor = parts.floor(spec, doubt, trips);
    this.#onMode = onMode;
    this.#onMisread = onMisread;
    const phase = this.#phase;
    const floor = this.floor;
    this.widthMs = (at) => (floor.isActive ? 0 : phase.widthMs(at));
    this.windowEndsAt = (now) => (floor.isActive ? (floor.spending.freesAt ?? now) : phase.endsAt(now));
    this.#stale = new StaleCounts(lag, spec);
    this.#limit = parts.limit(spec);
    this.#openEnd = parts.openEnd(spec);
    this.#evidence = new CountEvidence({
      spec,
      clock,
      phase,
      usage: this.#usage,
      openEnd: this.#openEnd,
      lag,
      stale: this.#stale,
      limit: this.#limit,
    });
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
    return this.floor.isActive ? "floor" : "measured";
  }

  paced(at: number): number {
    if (this.floor.isActive) return this.used(at) + this.floor.spending.credit(at);
    const { openEnded } = this.#phase;
    const limit = this.#limit;
    if (openEnded !== undefined) return this.#openEnd.paced(at, openEnded.since);
    const { open } = this.#usage;
    // After a window spent to its limit calls leave one at a time, so that one refusal shows a changed limit.
    const leavesAlone = open > 0 && at < limit.nextAt && !this.divided;
    if (leavesAlone && this.#usage.used(this.#phase.first(at) - 1) >= limit.spentFrom)
      return this.#usage.used(this.#phase.last(at));
    return limit.isTried ? limit.most(this.windowEndsAt(at) - at, open === 0) : Number.POSITIVE_INFINITY;
  }

  get changesAt(): number {
    return this.#stated.changesAt;
  }

  restate(now: number): void {
    if (this.spec.changes === undefined) return;
    if (!this.#stated.restate(now, this.windowEndsAt(now))) return;
    const { capacity } = this.spec;
    this.#limit.restate(capacity);
    this.#openEnd.capacity = capacity;
    this.floor.restate(capacity);
    this.capacity = this.floor.isActive ? this.floor.spending.capacity : capacity;
  }

  limitBetween(from: number, to: number): number | undefined {
    return this.#stated.inForce(from, to);
  }

  blockedUntil(units: number, now: number, ceiling: Ceiling): number | undefined {
    if (this.floor.isActive) return this.floor.blockedUntil(this.used(now) + units, now, ceiling);
    const phase = this.#phase;
    const usage = this.#usage;
    const { windowMs } = this.spec;
    if (phase.openEnded !== undefined) return this.#blockedInOpenEnd(units, now, ceiling);
    const { known, lo, first, last: latest } = phase.at(now);
    // No window can hold more than this.
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
    const entersAt = first === latest ? this.#evidence.entersAt(first, units, now) : undefined;
    // A window that has not begun already holds the calls in flight. It must hold this call as well.
    return entersAt ?? (usage.unlanded + units > this.capacity ? now + windowMs : undefined);
  }

  room(now: number, floor: Ceiling, isFlat = false): number {
    if (this.floor.isActive) return this.floor.room(this.used(now), now, floor);
    const phase = this.#phase;
    const usage = this.#usage;
    const { windowMs } = this.spec;
    if (phase.openEnded !== undefined) return 0;
    const { known, lo, first, last: latest } = phase.at(now);
    let room = this.capacity - (usage.isOurs && usage.open > 0 ? usage.unlanded : usage.open);
    if (!known) return room;
    if (this.#entersOneByOne(first, now)) return 0;
    // Above the proven limit each call waits for the answer to the one before. `paced` returns nothing else.
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

  /** Returns true if calls into window `first` leave one at a time. */
  #entersOneByOne(first: number, now: number): boolean {
    const evidence = this.#evidence;
    const usage = this.#usage;
    if (evidence.isDoubting || first <= usage.closedThrough || evidence.isUnproved(first, now)) return true;
    return this.#movesUntold && !this.divided && usage.used(first - 1) >= this.#limit.spentFrom;
  }

  begin(units: number, now: number, ticket = emptyTicket()): WindowTicket {
    this.begun += units;
    if (this.floor.isActive) this.floor.spending.spend(units, now);
    if (this.#movesUntold) this.#limit.noteBegun(units, now);
    const phase = this.#phase;
    const { first } = phase.kept.at === now && phase.revision === phase.calendar.revision ? phase.kept : phase.at(now);
    if (phase.openEnded !== undefined) this.#openEnd.noteBegun(now, phase.openEnded.since);
    this.#evidence.noteBegun(first, now);
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
    if (this.floor.isActive) this.floor.spending.spend(units, now);
    this.#usage.begin(first, units);
  }

  end(ticket: WindowTicket, sentAt: number, receivedAt: number, used: number | undefined, counted: boolean): number {
    const { units } = ticket;
    const fresh = this.#place(ticket, sentAt, receivedAt, used, counted);
    return this.#land(units, receivedAt, this.floor.landedBy(receivedAt)) ? 0 : fresh;
  }

  #place(ticket: WindowTicket, sentAt: number, receivedAt: number, used: number | undefined, counted: boolean): number {
    const usage = this.#usage;
    const { units, first: began } = ticket;
    this.#followClock(began, receivedAt);
    const told = counted ? this.#believed(used, sentAt, receivedAt) : used;
    const { first, last, heardTo } = this.#landing(ticket, sentAt, receivedAt, counted ? told : undefined);
    this.ambiguous = first !== last;
    this.#evidence.noteEnded(sentAt);
    let isTold = told !== undefined && first === last;
    if (told !== undefined && counted && isTold) {
      if (this.#evidence.contradicts(told, first, ticket, sentAt)) this.#noteDoubt(sentAt, receivedAt);
      else this.floor.agree();
      const elsewhere = this.#elsewhere(first);
      isTold = this.#isOwn({ window: first, used: told, units, sentAt, receivedAt, heardTo, elsewhere });
    } else if (told !== undefined && counted) this.#evidence.hear(sentAt, receivedAt, told, first, last);
    const counts = usage.end(began, first, last, units, isTold);
    if (this.#stale.compares) this.#stale.hear(sentAt, receivedAt, counted ? used : undefined, this.begun, usage.open);
    return told === undefined || !isTold
      ? 0
      : this.#report(ticket, told, first, receivedAt, counted ? counts : undefined);
  }

  /** Without a calendar one window continues until a count falls. Drops counts when their lag begins or ends. */
  #followClock(began: number, at: number): void {
    const evidence = this.#evidence;
    if (!this.#phase.isKnown(at)) evidence.runOn(Math.max(began, this.#phase.last(at)), at);
    if (evidence.lagTurns === this.#lag.turns) return;
    evidence.noteLag(at);
    this.missing = 0;
    if (this.#lag.lagging) this.#misread("counts are those from before the call they come with");
  }

  /** Windows in which a call may have landed. `told` is its count; the call was counted. */
  #landing(
    { first: began, units, knownThen }: WindowTicket,
    sentAt: number,
    receivedAt: number,
    told: number | undefined,
  ): { readonly first: number; readonly last: number; readonly heardTo: number } {
    const { lagging } = this.#lag;
    const usage = this.#usage;
    const { last: latest } = this.#phase.at(receivedAt);
    // A call that was begun and answered in one window landed in that window.
    const first = latest > began ? Math.max(began, this.#phase.at(sentAt).first) : began;
    const last = Math.max(first, latest);
    if (told === undefined || first === last) return { first, last, heardTo: last };
    // In the window in which it was sent, this call can only have raised the count.
    if (told < knownThen + (lagging ? 0 : units))
      return { first: first + 1, last: Math.max(first + 1, last), heardTo: Math.max(first + 1, last) };
    // If the new window is divided, the others may have used that much of it.
    if (lagging || this.divided || last !== first + 1 || told <= usage.used(last) + units)
      return { first, last, heardTo: last };
    // The count may also be use of the new window by an earlier run, so it proves nothing.
    return { first, last: first, heardTo: usage.heard(first) ? first : last };
  }

  /** Returns true if a count belongs to its window. */
  #isOwn(told: Told): boolean {
    const judgement = this.#evidence.judge(told);
    if (judgement === "runs on")
      this.#misread("a window that should have begun continued to count; its beginning is looked for");
    return judgement !== "stale";
  }

  /** Records the count `used` of `window`. `counts` is given if the call was counted. Returns new use by others. */
  #report(
    { first: began, units, unheardThen }: WindowTicket,
    used: number,
    window: number,
    at: number,
    counts: WindowCounts | undefined,
  ): number {
    const usage = this.#usage;
    this.#evidence.checkLate(window, used);
    // If the answered calls explain the count, nothing is missing from the capacity.
    const isShort = counts !== undefined && (usage.missing > 0 || used > counts.settled);
    if (isShort && !this.divided && this.spec.header?.kind === "remaining")
      this.missing = this.#evidence.learnMissing(window, used, at, counts.reported);
    if (used > this.#limit.proven && counts !== undefined && this.#movesUntold && this.mode === "measured")
      this.capacity = this.#limit.accept(used);
    const fresh = usage.report(window, used, window === began ? unheardThen : 0);
    if (this.#lag.lagging) usage.adopt(window, used + units);
    if (this.#stale.compares && usage.open === 0 && this.#phase.openEnded === undefined)
      this.#stale.observe(window, usage.countsOf(window));
    return fresh;
  }

  lose(ticket: WindowTicket, now: number): void {
    const { units, first } = ticket;
    this.#evidence.noteEnded(now);
    this.#usage.lose(first, Math.max(first, this.#phase.last(now)), units);
    this.#land(units, now, now);
  }

  undo({ units, first }: WindowTicket): void {
    this.#evidence.noteEnded(Number.POSITIVE_INFINITY);
    this.#usage.undo(first, units);
  }

  isRisky(units: number, at: number): boolean {
    return !this.floor.isActive && this.#evidence.isRisky(units, at, this.capacity);
  }

  learnRefusal(sentAt: number, at: number): boolean {
    if (this.floor.isActive) return false;
    const verdict = this.#evidence.learnRefusal(sentAt, at, this.#elsewhere(this.#phase.last(at)));
    this.capacity = this.#limit.capacity;
    if (verdict === "learned")
      this.#misread(`the service refused at ${this.capacity} of ${this.spec.capacity}: the limit has moved`);
    return verdict !== "unmoved";
  }

  learnLate({ first, units }: WindowTicket, sentAt: number): boolean {
    const floor = this.floor;
    // After a doubtful count the beginning may be misread: the window is entered later, the refusal unexplained.
    return !floor.isActive && this.#evidence.learnLate(first, units, sentAt, this.capacity) && !floor.isDoubted(sentAt);
  }

  noteUnexplained(sentAt: number, at: number, how: Unexplained = "single"): void {
    if (this.floor.refuse(sentAt, at, how)) this.fall(at, "refusals that nothing explains");
  }

  shut(at: number): number {
    if (!this.floor.isActive && this.#evidence.noteRefused(at)) {
      this.#misread(`${notBegun}; its beginning is looked for`);
      if (this.divided) this.fall(at, notBegun);
    }
    if (this.floor.isActive) {
      const until = this.floor.refused(at);
      this.capacity = this.floor.spending.capacity;
      return until;
    }
    const phase = this.#phase;
    if (phase.openEnded !== undefined && this.#openEnd.looks) {
      // The refused call did not land.
      this.#landedAt = this.#landedBefore;
      return this.#openEnd.refuse(at);
    }
    const usage = this.#usage;
    const { banMs, windowMs } = this.spec;
    usage.closedThrough = Math.max(usage.closedThrough, phase.last(at) + Math.ceil(banMs / windowMs));
    return phase.begins(usage.closedThrough + 1, at);
  }

  reset(): void {
    this.#usage.reset();
    this.#phase.forget();
    this.#evidence.forget();
  }

  used(now: number): number {
    if (this.floor.isActive) return this.floor.used(now, this.#phase.first(now), this.#usage);
    return this.#usage.used(this.#phase.last(now));
  }

  foreign(now: number): number {
    if (this.floor.isActive) return 0;
    if (this.divided) return this.strangers;
    return this.#usage.missing + (this.#usage.seesOthers ? this.#usage.foreign(this.#phase.last(now)) : 0);
  }

  /** Windows in which a call leaving at `at` can land; undefined if other engines do not know their numbers. */
  spanAt(at: number): { readonly first: number; readonly last: number } | undefined {
    const { known, first, last } = this.#phase.at(at);
    return known && this.#phase.openEnded === undefined ? { first, last } : undefined;
  }

  /** Number of the window that begins at `startAt`, as `endOf` returns it for the window before. */
  indexOf(startAt: number, at: number): number {
    return this.#phase.openEnded?.index ?? Math.round((startAt + this.#phase.lo(at)) / this.spec.windowMs);
  }

  /** Instant at which window `index` has certainly ended, as known at `at`. */
  endOf(index: number, at: number): number {
    return this.#phase.begins(index + 1, at);
  }

  /** Same as `used`, for window `index`. */
  usedIn(index: number): number {
    return this.#usage.used(index);
  }

  /** Same as `WindowUsage.ownOf`. */
  ownOf(index: number): { readonly begun: number; readonly settled: number; readonly reported: number } {
    return this.#usage.ownOf(index);
  }

  /** Units of a divided window that other engines of ours may have used. */
  #elsewhere(index: number): number {
    return this.divided && this.heldElsewhere?.window === index ? this.heldElsewhere.units : 0;
  }

  #misread(what: string): void {
    if (this.floor.mayReport()) this.#onMisread(this.spec.name, what);
  }

  /** Returns the count if it is believed. An unexpected fall has to be confirmed first. */
  #believed(used: number | undefined, sentAt: number, receivedAt: number): number | undefined {
    const evidence = this.#evidence;
    if (used === undefined) return undefined;
    this.#openEnd.refusedMs = 0;
    const before = used <= evidence.highest ? evidence.fallTo(used, sentAt) : undefined;
    if (before === undefined) return used;
    const fall = evidence.learnBoundary(before, sentAt, receivedAt, used);
    if (fall !== "begins") this.#noteDoubt(sentAt, receivedAt);
    const then = this.floor.isActive ? "its counts are not used" : "from now on its counts are believed";
    if (fall === "moved") this.#misread(`a window began where none was expected; ${then}`);
    return fall === "doubtful" ? undefined : used;
  }

  #noteDoubt(sentAt: number, at: number): void {
    if (this.floor.doubt(sentAt, at)) this.fall(at, contradiction);
  }

  /** Begins the floor at `at`. With `isOwn` false the reason is evidence of another engine. */
  fall(at: number, why: string, isOwn = true): void {
    const floor = this.floor;
    if (floor.isActive) return;
    floor.enter(at, this.#limit.capacity, isOwn);
    this.ambiguous = false;
    this.capacity = floor.spending.capacity;
    this.flows = true;
    this.missing = 0;
    this.#onMode({ layer: this.spec.name, scope: this.scope, mode: "floor", why });
  }

  /** Uses counts again if the floor may be left. Few calls on it may not have shown where a short window begins. */
  leaveFloor(now: number): void {
    const floor = this.floor;
    if (!floor.isActive || !floor.mayLeave(now) || this.#phase.openEnded !== undefined) return;
    floor.leave(now);
    this.capacity = this.#limit.capacity;
    this.flows = false;
    if (!isLong(this.spec.windowMs)) {
      this.reset();
      const window = this.#phase.last(now);
      if (this.#phase.isKnown(now)) this.#usage.closedThrough = window;
      else this.#evidence.runOn(window, now, this.capacity);
    }
    this.#onMode({ layer: this.spec.name, scope: this.scope, mode: "measured", why: "no refusal for long" });
  }

  /** Called when a call is over. Returns true on the floor. */
  #land(units: number, at: number, by: number): boolean {
    const floor = this.floor;
    floor.spending.land(units, by);
    this.#landedBefore = this.#landedAt;
    this.#landedAt = at;
    if (floor.isDistrusted(at)) this.fall(at, contradiction);
    if (!this.divided && floor.isBetter(at, this.begun, this.#limit.capacity, this.missing))
      this.fall(at, "less was spent than on the floor");
    if (!floor.isActive) return false;
    this.ambiguous = false;
    this.missing = 0;
    this.capacity = floor.raise(at);
    this.leaveFloor(at);
    return true;
  }

  /** One window continues without a known end. Its rest is spent slowly, so that a call soon leaves after its end. */
  #blockedInOpenEnd(units: number, now: number, ceiling: Ceiling): number | undefined {
    const usage = this.#usage;
    const { windowMs } = this.spec;
    // Use that was counted a window's length ago no longer counts.
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
