/**
 * A piece of the service's state as a stream: the latest value on subscription, polled only while somebody listens.
 *
 * Invariants: it never errors and never completes by itself: a read that fails marks the value stale and says why; however many
 * listen, one read is under way at most; it is as fresh as the most demanding listener asked: a read that was asked for
 * besides is not sent once nobody needs it, one that is due by the timetable always is.
 * Not here: what is read (the files beside this one), quota (every read goes through the gateway).
 */
import { Observable, type Subscription } from "rxjs";
import { isDenied, type Outcome, whyNot } from "../../client/outcome.ts";
import type { Clock, Timer } from "../../clock/clock.ts";

export interface Snapshot<T> {
  readonly value: T;
  /** When the service was last known to hold this value, on the engine's clock; -1 before anything was read. */
  readonly at: number;
  /** True when the last attempt failed or the value is older than asked. */
  readonly stale: boolean;
  /** Why it is stale, in words. */
  readonly problem?: string;
  /** The service does not let these keys read it: asking again will hardly help. */
  readonly denied?: true;
}

export type Reading<T> =
  | { readonly kind: "value"; readonly value: T }
  | { readonly kind: "failed"; readonly problem: string; readonly denied?: true }
  /** It was not needed any more when it could have left: nothing is known that was not known before. */
  | { readonly kind: "withdrawn" };

/** A read that did not bring the value, as its outcome says. */
export const failedReading = (outcome: Exclude<Outcome<unknown>, { readonly kind: "done" }>): Reading<never> => ({
  kind: "failed",
  problem: whyNot(outcome),
  ...(isDenied(outcome) && { denied: true }),
});

export interface Resource<T> {
  readonly value$: Observable<Snapshot<T>>;
  /** Like `value$`, read again whenever the value is older than `freshMs`. */
  watch(freshMs: number): Observable<Snapshot<T>>;
  readonly current: Snapshot<T>;
  /** Part of the value changed by other news; `latest` is asked only when somebody looks. Nothing before the first read. */
  touch(latest: () => T): void;
  /** Reads now, if anybody listens; otherwise when somebody does. Not sent when `needed` says no by the time its slot opens. */
  refresh(needed?: () => boolean): void;
  /** What is known may be out of date for a reason: says so at once, and reads again. Nothing to doubt before the first read. */
  doubt(problem: string): void;
}

interface ResourceOptions<T> {
  readonly clock: Clock;
  readonly initial: T;
  /** How old the value may be, infinite for ever; a function where that changes, asked whenever a read is planned. */
  readonly freshMs: number | (() => number);
  /** True while other news keeps the value up, also while nobody listens: who comes then need not have it read first. */
  readonly kept?: () => boolean;
  /** Emits one reading and completes. `needed` is for a read that can still be withdrawn when its slot opens. */
  readonly read: (needed: () => boolean) => Observable<Reading<T>>;
}

const staleAfter = 3;
/** A read that failed is tried again after this, then after twice as long, never later than the timetable says. */
const retryMs = 5_000;
const always = (): boolean => true;
const never = (): boolean => false;
/** What was never asked for is due at once, however long it would keep. */
const dueAfter = (askedAt: number, ms: number): number => (askedAt === Number.NEGATIVE_INFINITY ? askedAt : askedAt + ms);

export const createResource = <T>({ clock, initial, freshMs, kept = never, read }: ResourceOptions<T>): Resource<T> => {
  let current: Snapshot<T> = { value: initial, at: -1, stale: true, problem: "not read yet" };
  const listeners = new Set<{ readonly freshMs: () => number; emit(snapshot: Snapshot<T>): void }>();
  let reading: Subscription | undefined;
  let timer: Timer | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;
  let askedBefore = askedAt;
  let requested = false;
  /** Needs for a read besides the timetable that no read has taken up yet. */
  let requests: readonly (() => boolean)[] = [];
  let overdue = false;
  let failures = 0;
  let readAt = -1;
  let touched: { readonly latest: () => T; readonly at: number } | undefined;

  const emit = (snapshot: Snapshot<T>): void => {
    current = snapshot;
    touched = undefined;
    for (const listener of [...listeners]) listener.emit(snapshot);
  };
  /** News of a part does not say that the rest is as it was: whatever made the value stale still does. */
  const fresh = (): Snapshot<T> => {
    if (touched === undefined) return current;
    const { stale, problem, denied } = current;
    const news = { value: touched.latest(), at: touched.at, stale };
    current = problem === undefined ? news : { ...news, problem, ...(denied && { denied }) };
    touched = undefined;
    return current;
  };
  const known = (): Pick<Snapshot<T>, "value" | "at"> => {
    const { value, at } = fresh();
    return { value, at };
  };
  const interval = (): number => {
    let least = Number.POSITIVE_INFINITY;
    for (const listener of listeners) least = Math.min(least, listener.freshMs());
    return least;
  };
  const settle = (reading_: Reading<T>): void => {
    reading = undefined;
    if (reading_.kind === "withdrawn") {
      // As if it had never been asked for; one that the timetable asked for is tried again, after a pause.
      if (requested) askedAt = askedBefore;
      else failures++;
      plan();
      return;
    }
    overdue = false;
    failures = reading_.kind === "value" ? 0 : failures + 1;
    if (reading_.kind === "value") {
      readAt = clock.now();
      emit({ value: reading_.value, at: readAt, stale: false });
    } else {
      const { kind: _, ...why } = reading_;
      emit({ ...known(), stale: true, ...why });
    }
    plan();
  };
  const start = (): void => {
    timer?.cancel();
    timer = undefined;
    if (reading !== undefined) return;
    const before = askedAt;
    const asked = requests;
    // Without requests the timetable asked for it; a requested one may become due while it waits.
    const needed = (): boolean => asked.length === 0 || clock.now() >= dueAfter(before, interval()) || asked.some((isNeeded) => isNeeded());
    requests = [];
    requested = asked.length > 0;
    askedBefore = before;
    askedAt = clock.now();
    let result: Reading<T> | undefined;
    const under = read(needed).subscribe({
      next: (value) => {
        result = value;
      },
      error: (error: unknown) => {
        settle({ kind: "failed", problem: String(error) });
      },
      complete: () => {
        settle(result ?? { kind: "failed", problem: "the read ended without a value" });
      },
    });
    // A read that settled at once has already planned the next one.
    if (!under.closed) reading = under;
  };
  const plan = (): void => {
    timer?.cancel();
    timer = undefined;
    if (listeners.size === 0) return;
    const every = interval();
    const lateAt = readAt + staleAfter * every;
    if (reading !== undefined) {
      if (current.stale || overdue || lateAt === Number.POSITIVE_INFINITY) return;
      timer = clock.setTimer(lateAt, () => {
        overdue = true;
        emit({ ...known(), stale: true, problem: "the service has not answered in time" });
      });
      return;
    }
    const pause = failures === 0 ? every : Math.min(every, retryMs * 2 ** (failures - 1));
    const dueAt = requests.length > 0 ? clock.now() : Math.max(clock.now(), dueAfter(askedAt, pause));
    if (dueAt === Number.POSITIVE_INFINITY) return;
    timer = clock.setTimer(dueAt, () => {
      start();
      plan();
    });
  };
  /** For the first of new listeners: what was kept up meanwhile is as good as read now, unless a read was asked for. */
  const resume = (): void => {
    if (current.stale || askedAt === Number.NEGATIVE_INFINITY || !kept()) return;
    askedAt = clock.now();
    readAt = askedAt;
  };
  /** While nobody listened the value was not kept up. */
  const asOf = (wantedMs: number): Snapshot<T> => {
    const snapshot = fresh();
    if (snapshot.stale || clock.now() - readAt <= wantedMs) return snapshot;
    return { ...known(), stale: true, problem: "read longer ago than asked" };
  };
  const watchAs = (wantedMs: () => number): Observable<Snapshot<T>> =>
    new Observable((subscriber) => {
      const listener = {
        freshMs: wantedMs,
        emit: (snapshot: Snapshot<T>) => {
          subscriber.next(snapshot);
        },
      };
      if (listeners.size === 0) resume();
      if (current.at >= 0) subscriber.next(asOf(wantedMs()));
      listeners.add(listener);
      plan();
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) {
          plan();
          return;
        }
        timer?.cancel();
        timer = undefined;
        if (reading === undefined) return;
        reading.unsubscribe();
        reading = undefined;
        // It was never answered: whoever comes next does not wait for the interval.
        askedAt = Number.NEGATIVE_INFINITY;
      };
    });

  const refresh = (needed: () => boolean = always): void => {
    if (listeners.size === 0) askedAt = Number.NEGATIVE_INFINITY;
    else requests = [...requests.filter((isNeeded) => isNeeded()), needed];
    plan();
  };

  return {
    value$: watchAs(typeof freshMs === "number" ? () => freshMs : freshMs),
    watch: (wantedMs) => watchAs(() => wantedMs),
    get current() {
      return fresh();
    },
    touch: (latest) => {
      if (current.at < 0) return;
      touched = { latest, at: clock.now() };
      if (listeners.size > 0) emit(fresh());
    },
    refresh,
    doubt: (problem) => {
      if (current.at < 0) return;
      emit({ ...known(), stale: true, problem });
      refresh();
    },
  };
};
