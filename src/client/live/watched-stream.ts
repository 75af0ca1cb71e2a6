/**
 * Hot stream with callbacks for its first and its last subscriber.
 *
 * Invariants: `onListened(true)` runs before the first subscriber can receive a value, `onListened(false)` after the
 * last one has left; after the end neither runs.
 */
import type { Observer, Subscription } from "rxjs";
import { HotStream, type HotStreamOptions } from "../../market/hot-stream.ts";

interface WatchedOptions<T> extends HotStreamOptions<T> {
  readonly onListened: (listened: boolean) => void;
}

export class WatchedStream<T> extends HotStream<T> {
  readonly #onListened: (listened: boolean) => void;
  #listeners = 0;
  #ended = false;

  constructor({ onListened, ...options }: WatchedOptions<T>) {
    super(options);
    this.#onListened = onListened;
  }

  override subscribe(
    observerOrNext?: Partial<Observer<T>> | ((value: T) => void) | null,
    error?: ((error: unknown) => void) | null,
    complete?: (() => void) | null,
  ): Subscription {
    if (this.#ended) return super.subscribe(observerOrNext, error, complete);
    this.#listeners++;
    if (this.#listeners === 1) this.#onListened(true);
    const subscription = super.subscribe(observerOrNext, error, complete);
    subscription.add(() => {
      this.#listeners--;
      if (this.#listeners === 0 && !this.#ended) this.#onListened(false);
    });
    return subscription;
  }

  override complete(): void {
    this.#ended = true;
    super.complete();
  }
}
