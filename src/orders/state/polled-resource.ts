/**
 * Polled resource: a part of the service's state as a stream. It emits the latest value on subscription, and polls only
 * while it is subscribed to.
 *
 * Invariants: the stream never errors and never completes by itself; a read that fails marks the value stale, with the
 * reason; at most one read is under way for all listeners; the value is as fresh as the most demanding
 * listener asked for; a read that was requested is not sent if it is no longer needed, while a read that is due by the
 * timetable always is; the age of an answer that is taken over from another engine counts from when that engine asked,
 * and the answer is taken only if it is newer than the known value; no listener can change a value that another one
 * receives.
 * Not here: what is read (the other files of this folder), quota (every read goes through the gateway).
 */
import { Observable, type Subscription } from "rxjs";
import type { Reading } from "../../client/outcome.ts";
import type { Clock, Timer } from "../../clock/clock.ts";
import { fixed, type Snapshot } from "./snapshot.ts";

interface ResourceOptions<T> {
  readonly clock: Clock;
  readonly initial: T;
  /** Largest age of the value; may be infinite. A function if it changes; it is called when a read is planned. */
  readonly freshMs: number | (() => number);
  /**
   * True while other news keeps the value up to date, even without a subscriber. A new subscriber then needs no read.
   */
  readonly kept?: () => boolean;
  /**
   * Emits one reading and completes. `needed` is for a read that can still be withdrawn when its slot opens. An answer
   * that another engine received may be used if it is at most `maxAgeMs` old. `maxAgeMs` is 0 for the very first read,
   * and when news is requested.
   */
  readonly read: (needed: () => boolean, maxAgeMs: number) => Observable<Reading<T>>;
  /** Same as `read`, with the rank of exits. Left out if nothing urgent depends on the value. */
  readonly readUrgently?: () => Observable<Reading<T>>;
}

const staleAfter = 3;
/** An answer that is taken over may have used up this part of its time of validity. */
const takenOverPart = 0.5;
/**
 * A failed read is repeated after this time, then after twice as long each time, but never later than the timetable
 * demands.
 */
const retryMs = 5_000;
/** Reads with the rank of exits use quota of the exits: at most one is sent in this time. */
export const urgentReadMs = 30_000;

interface Listener<T> {
  /** Largest age of the value that this watcher accepts. */
  readonly freshMs: () => number;
  emit(snapshot: Snapshot<T>): void;
}

export class PolledResource<T> {
  readonly value$: Observable<Snapshot<T>>;
  /** The value that was last emitted. It does not contain what `touch` announced since. */
  settled: T;
  readonly #clock: Clock;
  readonly #kept: () => boolean;
  readonly #read: ResourceOptions<T>["read"];
  readonly #readUrgently: ResourceOptions<T>["readUrgently"];
  #urgedAt = Number.NEGATIVE_INFINITY;
  readonly #listeners = new Set<Listener<T>>();
  /** Largest age of the value for `hold`. */
  readonly #freshMs: () => number;
  #holds = 0;
  #current: Snapshot<T>;
  #reading: Subscription | undefined;
  #timer: Timer | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  #askedAt = Number.NEGATIVE_INFINITY;
  #askedBefore = Number.NEGATIVE_INFINITY;
  #requested = false;
  /** Reads requested besides the timetable that no read has served yet. */
  #requests: readonly (() => boolean)[] = [];
  #overdue = false;
  #failures = 0;
  #readAt = -1;
  #doubtedAt = -1;
  #latest: (() => T) | undefined;
  #touchedAt = -1;

  constructor({ clock, initial, freshMs, kept = () => false, read, readUrgently }: ResourceOptions<T>) {
    this.#clock = clock;
    this.#kept = kept;
    this.#read = read;
    this.#readUrgently = readUrgently;
    this.settled = fixed(initial);
    this.#current = Object.freeze({ value: this.settled, at: -1, stale: true, problem: "not read yet" });
    this.#freshMs = typeof freshMs === "number" ? () => freshMs : freshMs;
    this.value$ = this.#watch(this.#freshMs);
  }

  /** Same as `value$`, but reads again whenever the value is older than `freshMs`. */
  watch(freshMs: number): Observable<Snapshot<T>> {
    return this.#watch(() => freshMs);
  }

  /** News of one part proves nothing about the rest, so a stale value stays stale. */
  get current(): Snapshot<T> {
    if (this.#latest === undefined) return this.#current;
    const { stale, problem, denied } = this.#current;
    const news = { value: fixed(this.#latest()), at: this.#touchedAt, stale };
    this.#current = Object.freeze(problem === undefined ? news : { ...news, problem, ...(denied && { denied }) });
    this.#latest = undefined;
    return this.#current;
  }

  /** Keeps the value up to date as a listener of `value$` does, until `release` was called as often as `hold`. */
  hold(): void {
    if (this.#holds++ > 0) return;
    if (this.#listeners.size === 0) this.#resume();
    this.#plan();
  }

  /** The timer stays set, because holds come and go with every order. */
  release(): void {
    if (--this.#holds > 0) return;
    if (this.#listeners.size === 0 && this.#reading !== undefined) this.#withdraw();
  }

  /**
   * Called when other news changed a part of the value. `latest` is called only when the value is read. Has no effect
   * before the first read.
   */
  touch(latest: () => T, now = this.#clock.now()): void {
    if (this.#current.at < 0) return;
    this.#latest = latest;
    this.#touchedAt = now;
    if (this.#listeners.size > 0) this.#emit(this.current);
  }

  /**
   * Reads now if there is a subscriber, otherwise at the next subscription. The read is not sent if `needed` returns
   * false when its slot opens.
   */
  refresh(needed: () => boolean = () => true): void {
    if (this.#isIdle) this.#askedAt = Number.NEGATIVE_INFINITY;
    else this.#requests = [...this.#requests.filter((isNeeded) => isNeeded()), needed];
    this.#plan();
  }

  /**
   * Replaces a read that has waited long by one with the rank of exits. That one does not wait for the end of a long
   * pause.
   */
  urge(): void {
    const now = this.#clock.now();
    if (this.#isIdle || this.#readUrgently === undefined || now - this.#urgedAt < urgentReadMs) return;
    this.#urgedAt = now;
    this.#reading?.unsubscribe();
    this.#reading = undefined;
    this.#begin(this.#readUrgently());
  }

  /**
   * Called when the value may be out of date. Marks it stale at once, and reads again. Has no effect before the first
   * read.
   */
  doubt(problem: string): void {
    if (this.#current.at < 0) return;
    this.#doubtedAt = this.#clock.now();
    this.#emit({ ...this.#known(), stale: true, problem });
    this.refresh();
  }

  #watch(freshMs: () => number): Observable<Snapshot<T>> {
    return new Observable((subscriber) => {
      const listener: Listener<T> = {
        freshMs,
        emit: (snapshot) => {
          subscriber.next(snapshot);
        },
      };
      if (this.#isIdle) this.#resume();
      if (this.#current.at >= 0) subscriber.next(this.#asOf(freshMs()));
      this.#listeners.add(listener);
      this.#plan();
      return () => {
        this.#listeners.delete(listener);
        if (!this.#isIdle) {
          this.#plan();
          return;
        }
        this.#disarm();
        this.#withdraw();
      };
    });
  }

  get #isIdle(): boolean {
    return this.#listeners.size === 0 && this.#holds === 0;
  }

  /**
   * Called for the first of new listeners. A value that was kept up to date meanwhile counts as read now, unless a read
   * was requested.
   */
  #resume(): void {
    if (this.#current.stale || this.#askedAt === Number.NEGATIVE_INFINITY || !this.#kept()) return;
    this.#askedAt = this.#clock.now();
    this.#readAt = this.#askedAt;
  }

  /** Called when no subscriber is left. A read that was never answered is sent again for the next subscriber. */
  #withdraw(): void {
    if (this.#reading === undefined) return;
    this.#reading.unsubscribe();
    this.#reading = undefined;
    this.#askedAt = Number.NEGATIVE_INFINITY;
  }

  /** Returns the value for a time in which it was not kept up to date. */
  #asOf(wantedMs: number): Snapshot<T> {
    const snapshot = this.current;
    if (snapshot.stale || this.#clock.now() - this.#readAt <= wantedMs) return snapshot;
    return Object.freeze({ ...this.#known(), stale: true, problem: "read longer ago than asked" });
  }

  #emit(snapshot: Snapshot<T>): void {
    this.#current = Object.freeze(snapshot);
    this.settled = snapshot.value;
    this.#latest = undefined;
    for (const listener of [...this.#listeners]) listener.emit(snapshot);
  }

  #known(): Pick<Snapshot<T>, "value" | "at"> {
    const { value, at } = this.current;
    return { value, at };
  }

  #interval(): number {
    let least = this.#holds > 0 ? this.#freshMs() : Number.POSITIVE_INFINITY;
    for (const { freshMs } of this.#listeners) least = Math.min(least, freshMs());
    return least;
  }

  /**
   * Sets the timer to the next instant at which something is to be done. A timer that runs too early only plans again.
   */
  #plan(): void {
    if (this.#listeners.size === 0 && this.#holds === 0) return;
    const interval = this.#interval();
    // Usually the timetable alone counts, and a timer that is already set comes before it.
    const isQuiet = this.#reading === undefined && this.#requests.length === 0 && this.#failures === 0;
    if (isQuiet && this.#askedAt + interval >= this.#timerAt) return;
    const at = this.#nextAt(interval);
    if (at >= this.#timerAt) return;
    this.#disarm();
    this.#timerAt = at;
    this.#timer = this.#clock.setTimer(at, () => {
      this.#timer = undefined;
      this.#timerAt = Number.POSITIVE_INFINITY;
      this.#wake();
    });
  }

  #nextAt(interval: number): number {
    if (this.#reading !== undefined) {
      return this.#current.stale || this.#overdue ? Number.POSITIVE_INFINITY : this.#readAt + staleAfter * interval;
    }
    const now = this.#clock.now();
    // The timetable decides. A value that was never read is always due at once.
    if (this.#requests.length > 0 || this.#askedAt === Number.NEGATIVE_INFINITY) return now;
    const pause = this.#failures === 0 ? interval : Math.min(interval, retryMs * 2 ** (this.#failures - 1));
    return Math.max(now, this.#askedAt + pause);
  }

  #wake(): void {
    if (!this.#isIdle && this.#nextAt(this.#interval()) <= this.#clock.now()) {
      if (this.#reading === undefined) this.#start();
      else {
        this.#overdue = true;
        this.#emit({ ...this.#known(), stale: true, problem: "the service has not answered in time" });
      }
    }
    this.#plan();
  }

  #disarm(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#timerAt = Number.POSITIVE_INFINITY;
  }

  #start(): void {
    const before = this.#askedAt;
    const asked = this.#requests;
    // Without requests the timetable caused the read. A requested read may become due by the timetable while it waits.
    const needed = (): boolean =>
      asked.length === 0 ||
      before === Number.NEGATIVE_INFINITY ||
      this.#clock.now() >= before + this.#interval() ||
      asked.some((isNeeded) => isNeeded());
    this.#requests = [];
    this.#requested = asked.length > 0;
    this.#askedBefore = before;
    this.#askedAt = this.#clock.now();
    const isShared = asked.length === 0 && before !== Number.NEGATIVE_INFINITY;
    const maxAgeMs = isShared ? Math.min(this.#interval() * takenOverPart, this.#askedAt - this.#readAt) : 0;
    this.#begin(this.#read(needed, maxAgeMs));
  }

  #begin(read$: Observable<Reading<T>>): void {
    let result: Reading<T> | undefined;
    const under = read$.subscribe({
      next: (value) => {
        result = value;
      },
      error: (error: unknown) => {
        this.#settle({ kind: "failed", problem: String(error) });
      },
      complete: () => {
        this.#settle(result ?? { kind: "failed", problem: "the read ended without a value" });
      },
    });
    // A read that completed synchronously has already planned the next one.
    if (!under.closed) this.#reading = under;
  }

  #settle(reading: Reading<T>): void {
    this.#reading = undefined;
    if (reading.kind === "withdrawn") {
      // The state is as if it had never been requested. A read that the timetable caused is repeated after a pause.
      if (this.#requested) this.#askedAt = this.#askedBefore;
      else this.#failures++;
      this.#plan();
      return;
    }
    this.#overdue = false;
    this.#failures = reading.kind === "value" ? 0 : this.#failures + 1;
    if (reading.kind === "value") {
      const { ageMs = 0 } = reading;
      const value = fixed(reading.value);
      this.#readAt = this.#clock.now() - ageMs;
      if (ageMs > 0) this.#askedAt = this.#readAt;
      const at = Math.max(this.#current.at, this.#readAt);
      // An answer that another engine received before a doubt does not end the doubt.
      const { problem = "" } = this.#current;
      this.#emit(
        ageMs > 0 && this.#readAt < this.#doubtedAt ? { value, at, stale: true, problem } : { value, at, stale: false },
      );
    } else {
      const { kind: _, ...why } = reading;
      this.#emit({ ...this.#known(), stale: true, ...why });
    }
    this.#plan();
  }
}
