/**
 * One engine's part in a quota that several engines divide: its present allowance, and its messages to the store.
 *
 * Invariants: one statement at a time. Exits are requested at once, ordinary actions as soon as there may be room.
 * Every window that begins is stated within a third of a second. While the store is silent nothing further is sent;
 * windows without a statement use the floor for two windows, then the engine's part and the service's own counts. An
 * engine whose name was registered again by a younger one may send only exits, and so may an engine for whose share the
 * group has no room. A window whose counts one engine does not trust is spent evenly by all of them.
 * Not here: held units (held-units.ts), the store (claim.ts), the order of use of what is left (quota/).
 */

import type { Ceiling, Division, DivisionFacts, FixedWindow, LimitWindow, Rank, Timer } from "sluice/extension";
import { NotSent } from "sluice/plugins/redis";
import { AloneState } from "./alone-state.ts";
import type { ClaimReply, Enrolled, SpentEvenly } from "./claim.ts";
import { nextPoll, nextStatement, waits } from "./claim-schedule.ts";
import { isDivided } from "./divided-windows.ts";
import { aloneText, astrayText, enrolmentDoubts, fullText } from "./enrolment.ts";
import { GroupHalt } from "./group-halt.ts";
import { doubtMsLeast, HeldUnits, type Stated } from "./held-units.ts";
import { epochOf } from "./registration.ts";
import type { SharedQuotaOptions } from "./shared-quota-options.ts";

type State = "starting" | "dividing" | "doubt" | "full" | "fenced" | "closed";

export class SharedQuota implements Division {
  readonly halt: GroupHalt;
  #onAnswer: (() => void) | undefined;
  /** The store has answered a first statement. */
  readonly answered = new Promise<void>((resolve) => {
    this.#onAnswer = resolve;
  });
  readonly #options: SharedQuotaOptions;
  readonly #scopes = new Map<LimitWindow, HeldUnits>();
  #facts: DivisionFacts | undefined;
  #onChange: () => void = () => undefined;
  #state: State = "starting";
  #epoch = 0;
  #seq = 0;
  #busy = false;
  #saidAt = Number.NEGATIVE_INFINITY;
  /** Instant since when an answer of the store is due. */
  #askedAt: number | undefined;
  #reconsiders = false;
  #pollAt = Number.NEGATIVE_INFINITY;
  #exitPollAt = Number.NEGATIVE_INFINITY;
  /** Names of all scopes in the store. */
  #names: readonly string[] = [];
  #relearnedAt = Number.NEGATIVE_INFINITY;
  #startedAt: number;
  #timer: Timer | undefined;
  #dueAt = Number.POSITIVE_INFINITY;
  readonly #alone = new AloneState();
  /** Instants until which scopes are spent evenly, by their names. */
  readonly #evenlyUntil = new Map<string, number>();

  constructor(options: SharedQuotaOptions) {
    this.#options = options;
    this.#startedAt = options.clock.now();
    this.halt = new GroupHalt(options.store, options.onHalt);
  }

  /** Joins the group; `onChange` is called whenever more may be used than before. */
  start(scopes: readonly string[], onChange: () => void): void {
    this.#onChange = onChange;
    this.#names = scopes;
    this.#options.clock.setTimer(this.#startedAt + waits.patienceMs, () => {
      if (this.#state === "starting") this.#reconsider();
    });
    void this.#register();
  }

  close(): void {
    const { store, member } = this.#options;
    const isMember = this.#state === "dividing";
    this.#state = "closed";
    this.#timer?.cancel();
    const end = (): void => store.close();
    if (isMember) store.leave(member, this.#epoch, this.#names).then(end, end);
    else end();
  }

  attach(facts: DivisionFacts): void {
    this.#facts = facts;
  }

  adopt(window: LimitWindow): void {
    if (!isDivided(window)) return;
    const { share, of, address } = this.#options;
    const name = `${window.spec.name}:${window.spec.scope === "ip" ? address : window.scope}`;
    const held = new HeldUnits(name, window, this.#facts as DivisionFacts, share / of);
    held.divided = !this.#alone.isAlone;
    this.#scopes.set(window, held);
    const now = this.#options.clock.now();
    const evenlyUntil = this.#evenlyUntil.get(name) ?? now;
    if (now < evenlyUntil) held.even.hear(evenlyUntil - now, now);
    this.#plan();
  }

  /** The held units of a window bound its use, and all engines together keep the reserve. */
  ceiling(window: LimitWindow, rank: Rank, alone: Ceiling): Ceiling {
    if (!isDivided(window)) return alone;
    const blind = window.spec.unit === "weight" ? (this.#facts as DivisionFacts).policy.probeUnits : 0;
    return (endAt, startAt, at) => {
      const even = this.#scopes.get(window)?.even;
      if (even?.isActive === true)
        return this.#isMute && rank === "ordinary" ? 0 : even.most(rank, at, alone(endAt, startAt, at));
      // Which window runs is being looked for, a call at a time.
      if (window.spanAt(at) === undefined) return alone(endAt, startAt, at);
      const index = window.indexOf(startAt, at);
      const own = this.#most(window, index, rank, at);
      const most = window.usedIn(index) - window.ownOf(index).begun + own;
      return Math.min(
        most,
        this.#alone.isAlone || this.#isMute || this.#scopes.get(window)?.isApart === true
          ? alone(endAt, startAt, at)
          : Math.min(window.paced(at), window.capacity - blind),
      );
    };
  }

  /** Most units of ours that window `index` may have. */
  #most(window: FixedWindow, index: number, rank: Rank, at: number): number {
    if (this.#isMute) return rank === "ordinary" ? 0 : (this.#scopes.get(window)?.mostAlone(index, rank, at) ?? 0);
    // It may be asked of an instant to come, so `at` is no measure of the store's silence.
    if (this.#state === "starting" && this.#options.clock.now() - this.#startedAt >= waits.patienceMs) this.#goAlone();
    const held = this.#scopes.get(window);
    if (held?.isApart === true) return held.mostApart(index, rank, at);
    const most = this.#alone.isAlone ? undefined : held?.most(index, rank, at, at - (this.#askedAt ?? at));
    if (most !== undefined && held !== undefined && this.#alone.keepsToPart(at))
      return Math.min(most, held.mostAlone(index, rank, at));
    if (most !== undefined || held === undefined) return most ?? 0;
    if (this.#state === "doubt") this.#goAlone();
    // By itself it keeps to its part, so that others who are cut off as well do not meet it.
    return this.#alone.isAlone ? held.mostAlone(index, rank, at) : 0;
  }

  lacks(window: LimitWindow, units: number, rank: Rank, at: number): void {
    const held = this.#scopes.get(window);
    if (held === undefined || !held.lacks(units, rank, at, at - (this.#askedAt ?? at))) return;
    // While the store owes an answer an exit may take a part of what was free, a little later.
    if (this.#askedAt !== undefined && rank !== "ordinary") this.#reconsiderAt(this.#askedAt + doubtMsLeast + 1, at);
    this.#speakAt(Math.max(at, rank === "ordinary" ? this.#pollAt : this.#exitPollAt));
  }

  spent(at: number): void {
    for (const held of this.#scopes.values()) {
      held.spent(at);
      if (at >= this.#pollAt && held.runsShort(at)) this.#speakAt(at);
    }
  }

  disturb(): void {
    for (const held of this.#scopes.values()) held.disturb();
  }

  /** Once for all that wait for it; a window that has ended is not waited for. */
  #reconsiderAt(at: number, now: number): void {
    if (at <= now || this.#reconsiders) return;
    this.#reconsiders = true;
    this.#options.clock.setTimer(at, () => {
      this.#reconsiders = false;
      this.#reconsider();
    });
  }

  /** Notes that the usable units have changed without an answer of the store. */
  #reconsider(): void {
    if (this.#state === "closed") return;
    this.#facts?.changed();
    this.#onChange();
  }

  /** It is no member: it may send only exits. */
  get #isMute(): boolean {
    return this.#state === "fenced" || this.#state === "full";
  }

  async #register(): Promise<void> {
    const { clock } = this.#options;
    this.#epoch = await epochOf(this.#options, this.#names, () => this.#state === "closed");
    if (this.#epoch === 0) return;
    this.#state = "dividing";
    this.#back();
    this.#speakAt(clock.now());
  }

  /** The store has been silent for too long: only the service's counts are left, which include others' use. */
  #goAlone(): void {
    if (this.#alone.isAlone) return;
    this.#alone.isAlone = true;
    for (const held of this.#scopes.values()) held.divided = false;
    this.#options.onAnomaly("quota.alone", aloneText);
  }

  /** The store has answered. */
  #back(): void {
    if (!this.#alone.isAlone) return;
    const now = this.#options.clock.now();
    if (!this.#alone.endsBy(now, Math.max(now, ...[...this.#scopes.values()].map((held) => held.endsAt(now))))) return;
    this.#facts?.forgetOthers();
    for (const held of this.#scopes.values()) held.divided = true;
    this.#options.onAnomaly("quota.divided", "the store of the shared quota answers again");
  }

  /** Makes a statement at that instant, unless an earlier one is due. */
  #speakAt(wanted: number): void {
    const at = this.#state === "full" ? Math.max(wanted, this.#saidAt + waits.fullMs) : wanted;
    if (
      at >= this.#dueAt ||
      this.#busy ||
      this.#state === "starting" ||
      this.#state === "fenced" ||
      this.#state === "closed"
    )
      return;
    const { clock } = this.#options;
    this.#dueAt = at;
    this.#timer?.cancel();
    this.#timer = clock.setTimer(Math.max(at, clock.now()), () => {
      this.#dueAt = Number.POSITIVE_INFINITY;
      void this.#speak();
    });
  }

  #plan(): void {
    const last = { saidAt: this.#saidAt, pollAt: this.#pollAt, exitPollAt: this.#exitPollAt };
    this.#speakAt(nextStatement(this.#scopes.values(), last, this.#options.clock.now()));
  }

  async #speak(): Promise<void> {
    if (this.#busy || this.#state === "fenced" || this.#state === "closed") return;
    this.#busy = true;
    const isHeard = await this.#say();
    this.#busy = false;
    if (isHeard) this.#plan();
    else this.#speakAt(this.#options.clock.now() + waits.retryMs);
  }

  /**
   * One statement and its answer. After a statement without an answer, which may have arrived, nothing is stated before
   * the store answers a ping.
   */
  async #say(): Promise<boolean> {
    const { clock, store, member, share, of } = this.#options;
    const stated: Stated[] = [];
    try {
      if (this.#state === "doubt") {
        await store.ping();
        this.#state = "dividing";
      }
      const at = clock.now();
      for (const held of this.#scopes.values()) stated.push(...held.state(at, this.#alone.isAlone));
      this.#saidAt = at;
      this.#askedAt = at;
      const items = stated.map(({ item }) => item);
      const evenly = this.#neededEvenly(at);
      this.#hear(await store.claim({ member, epoch: this.#epoch, seq: ++this.#seq, share, of, items, evenly }), stated);
      return true;
    } catch (error) {
      if (error instanceof NotSent) for (const one of stated) one.held.unsaid(one);
      if (this.#state !== "full") this.#state = "doubt";
      for (const held of this.#scopes.values()) held.doubt(clock.now());
      this.#reconsider();
      return false;
    }
  }

  #neededEvenly(at: number): readonly SpentEvenly[] {
    return [...this.#scopes.values()].flatMap(({ name, even }) => {
      const forMs = even.neededMs(at);
      return forMs > 0 ? [{ scope: name, forMs }] : [];
    });
  }

  /** Takes in which windows are spent evenly. A store that is `learning` has lost its memory and does not know yet. */
  #hearEvenly(evenly: readonly SpentEvenly[], learning: boolean, now: number): void {
    if (learning) return;
    this.#evenlyUntil.clear();
    for (const { scope, forMs } of evenly) this.#evenlyUntil.set(scope, now + forMs);
    for (const { name, even } of this.#scopes.values()) even.hear((this.#evenlyUntil.get(name) ?? now) - now, now);
  }

  /** There is no room for its share: nothing was stated, and nothing is held. */
  #wait(enrolled: readonly Enrolled[], stated: readonly Stated[]): void {
    for (const one of stated) one.held.unsaid(one);
    if (this.#state !== "full") this.#options.onFull(fullText(this.#options, enrolled));
    this.#state = "full";
  }

  /** Its windows differ from those of the others: their beginning is determined again from time to time. */
  #mend({ held: { name } }: Stated, wrong: ReturnType<HeldUnits["granted"]>, now: number): void {
    if (wrong === undefined) return;
    this.#options.onAnomaly("quota.astray", astrayText(name, wrong));
    if (wrong === "renamed" || now - this.#relearnedAt < waits.relearnMs) return;
    this.#relearnedAt = now;
    this.#facts?.relearn(now);
  }

  #hear(reply: ClaimReply, stated: readonly Stated[]): void {
    const { clock, onFenced, onAnomaly } = this.#options;
    const now = clock.now();
    this.#askedAt = undefined;
    if (reply.kind === "outdated") return;
    if (reply.kind === "fenced") {
      this.#state = "fenced";
      onFenced();
    } else if (reply.kind === "full") this.#wait(reply.enrolled, stated);
    this.#onAnswer?.();
    if (reply.kind !== "granted") return;
    this.#state = "dividing";
    this.#alone.noteGrant();
    for (const { what, detail } of enrolmentDoubts(this.#options, reply.enrolled ?? [])) onAnomaly(what, detail);
    this.#back();
    let refused = false;
    let exitRefused = false;
    for (const [index, one] of stated.entries()) {
      const grant = reply.grants[index];
      if (grant === undefined) continue;
      this.#mend(one, one.held.granted(one, grant, now), now);
      refused ||= one.item.want > 0 && grant.ordinary === 0;
      exitRefused ||= grant.exits < one.item.exits;
    }
    this.#hearEvenly(reply.evenly, reply.learning, now);
    this.#pollAt = reply.learning ? now + waits.learningMs : refused ? nextPoll(this.#scopes.values(), now) : now;
    this.#exitPollAt = exitRefused ? now + waits.exitRetryMs : now;
    this.#facts?.changed();
    this.halt.hear(reply.halt);
    this.#onChange();
  }
}
