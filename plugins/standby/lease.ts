/**
 * Lease of leadership: decides by elapsed time and a store which of several processes may trade.
 *
 * Invariants: a holder may send until its lease has run out, counted from the departure of the last confirmed renewal,
 * less a margin. It checks at the moment of sending, so that a process that was stopped finds its lease run out. A
 * candidate takes the lease when its holder has released it, or when the record has not changed for a whole lease by
 * the candidate's own clock; it leads once no request that the holder signed can be executed. Elapsed time is the
 * larger of two clocks: the monotonic one, which runs while a process is stopped, and the calendar, which also runs
 * while a machine is suspended. One request at a time; late answers are ignored.
 * Not here: the store (lease-store.ts), what a leader does (standby.ts).
 */

import { SluiceError } from "sluice";
import { after, type Clock, messageOf, type Timer } from "sluice/extension";
import type { Candidate, Heard, LeaseRecord, LeaseStore } from "./lease-store.ts";

/**
 * `waiting`: another process leads, or may. `settling`: it has the lease, and requests that the previous holder signed
 * may still be executed. `leading`: everything may be sent. `alone`: the lease has run out, and the store does not
 * answer or may have lost the leader: exits only. `mute`: the lease has run out, and the store was not asked yet, as
 * after a pause: nothing may be sent. `over`: replaced by another process, or ended; final.
 */
export type Standing = "waiting" | "settling" | "leading" | "alone" | "mute" | "over";

interface LeaseOptions {
  readonly clock: Clock;
  readonly store: LeaseStore;
  readonly candidate: Candidate;
  readonly leaseMs: number;
  /** So long after it was signed a request may still be executed. */
  readonly toleranceMs: number;
  /** Called after each turn, with any result. */
  readonly onTurn: () => void;
  /** Another process took the lease from this one, which had led. */
  readonly onDeposed: (by: string) => void;
  /** The lease is another engine's and must never be taken, or the store refuses this one. */
  readonly onForeign: (error: SluiceError) => void;
}

interface Instant {
  readonly steady: number;
  readonly wall: number;
}

const never: Instant = { steady: Number.NEGATIVE_INFINITY, wall: Number.NEGATIVE_INFINITY };
/** Parts of a lease. */
const turnsPerLease = 20;
const marginPart = 1 / 5;
const awakePart = 1 / 5;

export class Lease {
  readonly #options: LeaseOptions;
  readonly #turnMs: number;
  #state: "waiting" | "settling" | "held" | "over" = "waiting";
  #epoch = 0;
  #seq = 0;
  #memory = "";
  #standbys: readonly Heard[] = [];
  /** Instant at which the last confirmed request left. */
  #confirmed = never;
  #settlesAt = Number.POSITIVE_INFINITY;
  #seen: { readonly mark: string; readonly record: LeaseRecord | undefined; readonly since: number } | undefined;
  /** Instant of the last change of the record, or of the last look at it: for people. */
  #heardAt = Number.NEGATIVE_INFINITY;
  #hasSeenLeader = false;
  /** Instant since when the store has not answered, not counting a pause of this process. */
  #failing: { readonly from: number; readonly last: Instant } | undefined;
  /** State of the store since it may have lost the leader. */
  #unsure: { readonly mark: string; readonly since: number; readonly last: Instant } | undefined;
  #error: string | undefined;
  #timer: Timer | undefined;

  constructor(options: LeaseOptions) {
    this.#options = options;
    this.#turnMs = options.leaseMs / turnsPerLease;
  }

  start(): void {
    void this.#turn();
  }

  /** Asked at the moment of sending. */
  get standing(): Standing {
    if (this.#state !== "held") return this.#state;
    if (this.#isValid()) return "leading";
    const failing = this.#failing;
    const partMs = this.#options.leaseMs * awakePart;
    if (this.#unsure !== undefined && this.#elapsed(this.#unsure.last) < partMs) return "alone";
    const isAway =
      failing !== undefined && this.#elapsed(failing.last) < partMs && failing.last.steady - failing.from >= partMs;
    return isAway ? "alone" : "mute";
  }

  /** Another process was seen alive. */
  get hasSeenLeader(): boolean {
    return this.#hasSeenLeader;
  }

  /** Reason why the store did not answer its last request. */
  get error(): string | undefined {
    return this.#error;
  }

  /** Milliseconds since the departure of the last confirmed request; infinite before the first. */
  get unconfirmedMs(): number {
    return this.#elapsed(this.#confirmed);
  }

  get epoch(): number {
    return this.#epoch;
  }

  /** Standbys by the store's last answer to their leader. */
  get standbys(): readonly Heard[] {
    return this.#standbys;
  }

  /** Leader at the last look, and the age of its last sign of life. */
  get leader(): (Heard & { readonly released: boolean }) | undefined {
    const record = this.#seen?.record;
    if (record === undefined) return undefined;
    return { name: record.name, ms: this.#options.clock.now() - this.#heardAt, released: record.released };
  }

  /**
   * Ends it. A held lease is released if `isHandedOver`, else the next process waits until it has run out. A lease in
   * `settling` is not released, because the next process must wait for requests of the previous leader as well.
   * Resolves when the store has confirmed, or does not answer.
   */
  async end(isHandedOver = true): Promise<void> {
    const isHeld = this.#state === "held" && isHandedOver;
    this.#state = "over";
    this.#timer?.cancel();
    if (!isHeld) return;
    const { store, candidate } = this.#options;
    // Where it is not taken in, the next process waits until the lease has run out.
    await this.#answerOf(store.release({ epoch: this.#epoch, session: candidate.session })).catch(() => undefined);
  }

  async #turn(): Promise<void> {
    let asked = this.#instant();
    try {
      if (this.#state === "waiting") await this.#look();
      else {
        if (this.#state === "held" && !this.#isValid()) {
          await this.#renew(undefined);
          asked = this.#instant();
        }
        if (this.#state === "held" || this.#state === "settling") await this.#renew(asked);
      }
      this.#failing = undefined;
      this.#error = undefined;
    } catch (error) {
      this.#error = messageOf(error);
      // The lease of another engine, or a store that refuses this one: waiting changes nothing.
      if (error instanceof SluiceError && this.#state === "waiting") {
        this.#state = "over";
        this.#options.onForeign(error);
      }
      this.#fail(asked);
    }
    if (this.#isOver()) return;
    this.#options.onTurn();
    const { clock } = this.#options;
    this.#timer = clock.setTimer(clock.now() + this.#turnMs, () => void this.#turn());
  }

  async #look(): Promise<void> {
    const { store, candidate, clock, leaseMs } = this.#options;
    const { record, memory } = await this.#answerOf(store.look(candidate));
    if (this.#state !== "waiting") return;
    if (record !== undefined && record.owner !== candidate.owner) throw new ForeignLease(record, candidate);
    this.#memory = memory;
    if (record?.session === candidate.session && !record.released) {
      // The answer to its own claim was lost. The next renewal shows from when it holds.
      this.#hold(record.epoch, never);
      await this.#renew(this.#instant());
      return;
    }
    const now = clock.now();
    const mark = markOf(record, memory);
    if (this.#seen?.mark !== mark) {
      // A record that changes has a living process behind it.
      this.#hasSeenLeader ||= this.#seen !== undefined && record !== undefined;
      this.#seen = { mark, record, since: now };
      if (record !== undefined) this.#heardAt = now;
    }
    if (record?.released !== true && now - this.#seen.since < leaseMs) return;
    const asked = this.#instant();
    const epoch = await this.#answerOf(store.take(candidate, record));
    if (epoch !== undefined && this.#state === "waiting") this.#hold(epoch, asked, record?.released === true);
  }

  #hold(epoch: number, confirmed: Instant, isReleased = false): void {
    const { clock, toleranceMs } = this.#options;
    this.#epoch = epoch;
    this.#seq = 0;
    this.#confirmed = confirmed;
    this.#settlesAt = isReleased ? Number.NEGATIVE_INFINITY : clock.now() + toleranceMs;
    this.#state = isReleased ? "held" : "settling";
  }

  /**
   * Without the instant of the request nothing is renewed, and the sequence number stays: it shows whether the store's
   * answers arrive. A holder that received none of them for most of its lease must not prolong it.
   */
  async #renew(asked: Instant | undefined): Promise<void> {
    const { store, candidate, clock, onDeposed } = this.#options;
    const seq = asked === undefined ? this.#seq : ++this.#seq;
    const [epoch, valid, memory] = [this.#epoch, this.#isValid(), this.#memory];
    const reply = await this.#answerOf(store.renew({ ...candidate, epoch, seq, valid, memory }));
    if (this.#state !== "held" && this.#state !== "settling") return;
    if (reply.kind === "unsure" && this.#state === "held") return this.#reclaim();
    this.#unsure = undefined;
    if (reply.kind === "renewed") {
      if (asked === undefined) return;
      this.#confirmed = asked;
      this.#memory = reply.memory;
      this.#standbys = reply.standbys;
      if (this.#state === "settling" && clock.now() >= this.#settlesAt) this.#state = "held";
    } else if (this.#state === "settling") {
      this.#state = "waiting";
      this.#seen = undefined;
    } else if (reply.kind === "deposed") {
      this.#state = "over";
      onDeposed(reply.by);
    }
  }

  /**
   * The lease has run out, and the store may have lost a newer holder: exits are still sent, and the lease is taken
   * again once no other process has appeared for as long as a standby would need to lead.
   */
  async #reclaim(): Promise<void> {
    const { store, candidate, clock, leaseMs, toleranceMs, onDeposed } = this.#options;
    const { record, memory } = await this.#answerOf(store.look(candidate));
    if (this.#state !== "held") return;
    const isOwn = record?.session === candidate.session && !record.released;
    if (record !== undefined && !isOwn && (record.epoch >= this.#epoch || record.owner !== candidate.owner)) {
      this.#state = "over";
      onDeposed(record.name);
      return;
    }
    // The answer to its own claim may have been lost.
    if (isOwn) this.#epoch = record.epoch;
    const mark = markOf(record, memory);
    const since = this.#unsure?.mark === mark ? this.#unsure.since : clock.now();
    this.#unsure = { mark, since, last: this.#instant() };
    if (clock.now() - since < leaseMs + toleranceMs) return;
    const asked = this.#instant();
    const epoch = await this.#answerOf(store.take(candidate, record));
    if (epoch === undefined || this.#isOver()) return;
    this.#unsure = undefined;
    this.#memory = memory;
    this.#hold(epoch, asked, true);
  }

  /** A request during a pause of this process is no evidence about the store. */
  #fail(asked: Instant): void {
    const now = this.#instant();
    const { leaseMs } = this.#options;
    const before = this.#failing;
    if (this.#elapsed(asked) > 2 * this.#turnMs) this.#failing = undefined;
    else if (before === undefined || this.#elapsed(before.last) >= leaseMs * awakePart)
      this.#failing = { from: now.steady, last: now };
    else this.#failing = { from: before.from, last: now };
  }

  #isValid(): boolean {
    const { leaseMs } = this.#options;
    return this.#elapsed(this.#confirmed) < leaseMs * (1 - marginPart);
  }

  #isOver(): boolean {
    return this.#state === "over";
  }

  #instant(): Instant {
    const { clock } = this.#options;
    return { steady: clock.now(), wall: clock.wallNow() };
  }

  /** By the clock that has moved further. */
  #elapsed(since: Instant): number {
    const { steady, wall } = this.#instant();
    return Math.max(steady - since.steady, wall - since.wall);
  }

  /** An answer that takes longer than a turn is none. */
  #answerOf<T>(answer: Promise<T>): Promise<T> {
    const { clock } = this.#options;
    return new Promise<T>((resolve, reject) => {
      const late = after(clock, this.#turnMs).subscribe(() => reject(new Error("the store did not answer in time")));
      void answer.then(resolve, reject).finally(() => late.unsubscribe());
    });
  }
}

const markOf = (record: LeaseRecord | undefined, memory: string): string =>
  record === undefined ? memory : `${memory} ${record.epoch} ${record.seq} ${record.released}`;

class ForeignLease extends SluiceError {
  constructor(record: LeaseRecord, { owner }: Candidate) {
    super(
      "CONFIG_INVALID",
      record.released
        ? `standby: ${record.name}, which ended in order, held the lease of this name in this group last and is another engine (${record.owner}); the copy of its journal is kept for it. This one is ${owner}: give it an \`instance\` of its own, or another standby.group and an empty journal.dir.`
        : `standby: the lease of this name in this group belongs to another engine (${record.owner}, held by ${record.name}), and this one is ${owner}. Give each engine its own \`instance\`, or each account its own standby.group.`,
    );
  }
}
