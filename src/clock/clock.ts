/**
 * Time as a capability: what the moment is, and ways to be called later.
 *
 * Invariants: `now` never falls; a timer runs once, at or after its instant, never inside the call that set it; timers
 * of equal instants run in the order they were set.
 * Not here: real time (system-clock.ts), moved time (virtual-clock.ts), the service's time
 * (scheduler/quota/server-clock.ts).
 */
import { Observable } from "rxjs";

/** A call that a clock will make. */
export interface Timer {
  cancel(): void;
}

/** `now` and `wallNow` may be handed on by themselves: they are asked so often that a wrapper around them costs. */
export interface Clock {
  /**
   * Milliseconds on a scale that never steps. It starts near the Unix epoch's count, but only differences mean
   * anything.
   */
  readonly now: () => number;
  /** Milliseconds since the Unix epoch by the calendar. May step; for display and signing only. */
  readonly wallNow: () => number;
  /** Calls `run` once when `now()` has reached `at`. */
  setTimer(at: number, run: () => void): Timer;
}

/** Resolves or rejects as `going` does, or with what `late` returns or throws when `ms` have passed before. */
export const within = <T>(clock: Clock, ms: number, going: PromiseLike<T>, late: () => T): Promise<T> =>
  new Promise((resolve, reject) => {
    const timer = clock.setTimer(clock.now() + ms, () => {
      try {
        resolve(late());
      } catch (error) {
        reject(error);
      }
    });
    Promise.resolve(going)
      .finally(() => timer.cancel())
      .then(resolve, reject);
  });

/**
 * Emits once, `ms` from the moment of subscription, and completes. Unsubscribing cancels.
 *
 * @param clock - the clock to count by
 * @param ms - milliseconds
 * @returns a stream that emits 0 and completes
 */
export const after = (clock: Clock, ms: number): Observable<0> =>
  new Observable((subscriber) => {
    const timer = clock.setTimer(clock.now() + ms, () => {
      subscriber.next(0);
      subscriber.complete();
    });
    return () => {
      timer.cancel();
    };
  });

/**
 * Emits 0, 1, 2 … every `ms`, first after `ms`, on an absolute schedule so that it does not drift. Late ticks are
 * merged into one.
 *
 * @param clock - the clock to count by
 * @param ms - milliseconds between two ticks
 * @returns a stream without end
 */
export const every = (clock: Clock, ms: number): Observable<number> =>
  new Observable((subscriber) => {
    const start = clock.now();
    let count = 0;
    let tick = 1;
    let timer: Timer;
    const arm = (): void => {
      timer = clock.setTimer(start + tick * ms, () => {
        tick = Math.max(tick + 1, Math.floor((clock.now() - start) / ms) + 1);
        subscriber.next(count++);
        if (!subscriber.closed) arm();
      });
    };
    arm();
    return () => {
      timer.cancel();
    };
  });

interface DelayQueueOptions<T> {
  readonly delayMs: number;
  /** Entries that were settled in the meantime are dropped without a call. */
  readonly isSettled: (item: T) => boolean;
  readonly due: (item: T) => void;
}

/**
 * Delay queue: hands over each item a fixed time after it was added, unless it is settled by then. One timer serves
 * all, as one for each would wake the process once for every item, and most are settled long before.
 */
export class DelayQueue<T> {
  readonly #clock: Clock;
  readonly #options: DelayQueueOptions<T>;
  /** Oldest first, which is also the order in which they are due. */
  readonly #waiting: { readonly item: T; readonly at: number }[] = [];
  #isArmed = false;

  constructor(clock: Clock, options: DelayQueueOptions<T>) {
    this.#clock = clock;
    this.#options = options;
  }

  add(item: T): void {
    this.#waiting.push({ item, at: this.#clock.now() + this.#options.delayMs });
    this.#arm();
  }

  #arm(): void {
    const first = this.#waiting[0];
    if (this.#isArmed || first === undefined) return;
    this.#isArmed = true;
    this.#clock.setTimer(first.at, () => {
      this.#isArmed = false;
      this.#handOver();
    });
  }

  #handOver(): void {
    const { isSettled, due } = this.#options;
    const now = this.#clock.now();
    const late: T[] = [];
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      const settled = isSettled(first.item);
      if (!settled && first.at > now) break;
      this.#waiting.shift();
      if (!settled) late.push(first.item);
    }
    this.#arm();
    // Asked again, as one may settle another.
    for (const item of late) if (!isSettled(item)) due(item);
  }
}
