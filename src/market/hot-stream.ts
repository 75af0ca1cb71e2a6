/**
 * A hot observable that is its own source: what market data reaches strategies through.
 *
 * Invariants: every subscriber sees the same values in the same order, also when one of them causes the next value; who
 * subscribes during a value does not get that value from the loop; a throwing subscriber is reported and the others run
 * on; after `complete` nothing is emitted and late subscribers complete at once.
 * Not here: building values. Ask `observed` first: an object without a reader costs more than the question.
 *
 * It is not a Subject because a Subject copies its list of observers for a changed list, checks itself for errors and
 * wraps each observer twice; the loop below is about a quarter of that per value.
 */
import { Observable, type Observer, Subscriber, type Subscription } from "rxjs";

export interface HotStreamOptions<T> {
  /**
   * Called with what a subscriber threw. Without it the error is thrown outside the loop, where the process notices it.
   */
  readonly onError?: (error: unknown) => void;
  /** First value of a new subscriber; undefined for nothing. */
  readonly latest?: () => T | undefined;
}

/** An observable that emits each value to all its subscribers at once. */
export class HotStream<T> extends Observable<T> {
  // Copied on change and never mutated, so that the loop may run over it while subscribers come and go.
  #subscribers: readonly Subscriber<T>[] = [];
  #busy = false;
  #completed = false;
  readonly #waiting: T[] = [];
  readonly #onError: (error: unknown) => void;
  readonly #latest: (() => T | undefined) | undefined;

  constructor({ onError = throwLater, latest }: HotStreamOptions<T> = {}) {
    super();
    this.#onError = onError;
    this.#latest = latest;
  }

  /** True while there is a subscriber to the next value. */
  get observed(): boolean {
    return this.#subscribers.length > 0;
  }

  next(value: T): void {
    if (this.#completed) return;
    if (this.#busy) {
      this.#waiting.push(value);
      return;
    }
    this.#busy = true;
    const subscribers = this.#subscribers;
    for (let index = 0; index < subscribers.length; index++) {
      try {
        (subscribers[index] as Subscriber<T>).next(value);
      } catch (error) {
        this.#onError(error);
      }
    }
    if (this.#waiting.length > 0) this.#drain();
    this.#busy = false;
    if (this.#completed) this.#finish();
  }

  /** Ends the stream; values that were already waiting are still delivered. */
  complete(): void {
    if (this.#completed) return;
    this.#completed = true;
    if (!this.#busy) this.#finish();
  }

  override subscribe(
    observerOrNext?: Partial<Observer<T>> | ((value: T) => void) | null,
    error?: ((error: unknown) => void) | null,
    complete?: (() => void) | null,
  ): Subscription {
    const subscriber =
      observerOrNext instanceof Subscriber
        ? (observerOrNext as Subscriber<T>)
        : new GuardedSubscriber<T>(observerOf(observerOrNext, error, complete), this.#onError);
    if (this.#completed) {
      subscriber.complete();
      return subscriber;
    }
    const first = this.#latest?.();
    if (first !== undefined) this.#deliver(subscriber, first);
    this.#subscribers = [...this.#subscribers, subscriber];
    // Runs at once for a subscriber whom the latest value satisfied.
    subscriber.add(() => {
      this.#subscribers = this.#subscribers.filter((other) => other !== subscriber);
    });
    return subscriber;
  }

  #deliver(subscriber: Subscriber<T>, value: T): void {
    try {
      subscriber.next(value);
    } catch (error) {
      this.#onError(error);
    }
  }

  #drain(): void {
    for (let index = 0; index < this.#waiting.length; index++) {
      for (const subscriber of this.#subscribers) this.#deliver(subscriber, this.#waiting[index] as T);
    }
    this.#waiting.length = 0;
  }

  #finish(): void {
    const subscribers = this.#subscribers;
    this.#subscribers = [];
    for (const subscriber of subscribers) {
      try {
        subscriber.complete();
      } catch (error) {
        this.#onError(error);
      }
    }
  }
}

/** Calls the user's observer itself, so that what it throws reaches our handler and not the process. */
class GuardedSubscriber<T> extends Subscriber<T> {
  readonly #observer: Partial<Observer<T>>;
  readonly #onError: (error: unknown) => void;
  #isDone = false;

  constructor(observer: Partial<Observer<T>>, onError: (error: unknown) => void) {
    super();
    this.#observer = observer;
    this.#onError = onError;
  }

  override next(value: T): void {
    if (this.#isDone || this.closed) return;
    try {
      this.#observer.next?.(value);
    } catch (error) {
      this.#onError(error);
    }
  }

  override complete(): void {
    if (this.#isDone || this.closed) return;
    this.#isDone = true;
    try {
      this.#observer.complete?.();
    } catch (error) {
      this.#onError(error);
    } finally {
      this.unsubscribe();
    }
  }
}

const observerOf = <T>(
  observerOrNext: Partial<Observer<T>> | ((value: T) => void) | null | undefined,
  error: ((error: unknown) => void) | null | undefined,
  complete: (() => void) | null | undefined,
): Partial<Observer<T>> => {
  if (typeof observerOrNext === "object" && observerOrNext !== null) return observerOrNext;
  return {
    ...(observerOrNext ? { next: observerOrNext } : {}),
    ...(error ? { error } : {}),
    ...(complete ? { complete } : {}),
  };
};

const throwLater = (error: unknown): void => {
  queueMicrotask(() => {
    throw error;
  });
};
