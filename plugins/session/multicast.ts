/**
 * One stream of the service for many listeners in the engine: subscribed once, when the first of them comes.
 *
 * Invariants: recording and replay share this file, so that each listener gets the same values in the same order in
 * both; one that comes later gets the latest value where the stream keeps one; the source is released with the last
 * listener.
 */
import { Observable } from "rxjs";
import { HotStream } from "sluice/extension";

interface MulticastOptions<T> {
  /** True if a new listener begins with the latest value. */
  readonly keeps: boolean;
  readonly onError: (error: unknown) => void;
  /** The first listener has come: returns the value that the source emits at once, if any. */
  readonly watch: () => T | undefined;
  /** The last one has gone. */
  readonly unwatch: () => void;
}

export class Multicast<T> {
  readonly stream: Observable<T>;
  readonly #hot: HotStream<T>;
  readonly #keeps: boolean;
  #latest: T | undefined;
  #over = false;

  constructor({ keeps, onError, watch, unwatch }: MulticastOptions<T>) {
    const hot = new HotStream<T>({ onError, latest: () => this.#latest });
    this.#hot = hot;
    this.#keeps = keeps;
    this.stream = new Observable<T>((subscriber) => {
      if (!hot.observed && !this.#over) this.#latest = watch();
      hot.subscribe(subscriber);
      return () => {
        if (hot.observed || this.#over) return;
        this.#latest = undefined;
        unwatch();
      };
    });
  }

  get observed(): boolean {
    return this.#hot.observed;
  }

  next(value: T): void {
    if (this.#keeps) this.#latest = value;
    this.#hot.next(value);
  }

  complete(): void {
    this.#over = true;
    this.#hot.complete();
  }
}
