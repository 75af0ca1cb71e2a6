/**
 * Shared read: one request for all identical reads that are made while it is queued.
 *
 * Invariants: reads made before the request is sent share it, later ones make a new one; it is sent only if a
 * subscriber still needs it; a read without an answer is retried a bounded number of times, after a pause; it is
 * unqueued when its last subscriber leaves.
 * Not here: which reads are the same (gateway.ts).
 */
import { Observable, type Subscriber } from "rxjs";
import type { Clock } from "../clock/clock.ts";
import type { Outcome } from "./outcome.ts";

interface Listener<R> {
  readonly subscriber: Subscriber<Outcome<R>>;
  readonly needed: () => boolean;
}

const triesMax = 3;
const pauseMs = 1_000;

export class SharedRead<R> {
  readonly #clock: Clock;
  readonly #submit: (needed: () => boolean, done: (outcome: Outcome<R>) => void) => () => void;
  readonly #onLeft: (read: SharedRead<R>) => void;
  readonly #listeners = new Set<Listener<R>>();
  #tries = 0;
  #stop: (() => void) | undefined;
  #outcome: Outcome<R> | undefined;

  /**
   * `submit` queues one attempt and calls `needed` when it may leave. `onLeft` is called when the read has left and
   * accepts no further listeners.
   */
  constructor(
    clock: Clock,
    submit: (needed: () => boolean, done: (outcome: Outcome<R>) => void) => () => void,
    onLeft: (read: SharedRead<R>) => void,
  ) {
    this.#clock = clock;
    this.#submit = submit;
    this.#onLeft = onLeft;
  }

  /** Emits the outcome once and completes. The first listener starts the request. */
  join(needed: () => boolean): Observable<Outcome<R>> {
    return new Observable((subscriber) => {
      if (this.#outcome !== undefined) {
        subscriber.next(this.#outcome);
        subscriber.complete();
        return undefined;
      }
      // Listeners may bring the same function; each counts by itself.
      const listener = { subscriber, needed };
      this.#listeners.add(listener);
      if (this.#listeners.size === 1) this.#ask();
      return () => {
        this.#listeners.delete(listener);
        if (this.#listeners.size === 0 && this.#outcome === undefined) this.#abandon();
      };
    });
  }

  #ask(): void {
    let ended = false;
    let withdraw: (() => void) | undefined;
    this.#stop = () => withdraw?.();
    try {
      withdraw = this.#submit(
        () => this.#isNeeded(),
        (outcome) => {
          ended = true;
          this.#take(outcome);
        },
      );
      if (!ended && this.#listeners.size === 0) withdraw();
    } catch {
      // The queue is full.
      if (!ended) this.#pause();
    }
  }

  #isNeeded(): boolean {
    // From here on an answer may be older than the request of a new listener.
    this.#onLeft(this);
    for (const { needed } of this.#listeners) if (needed()) return true;
    return false;
  }

  #take(outcome: Outcome<R>): void {
    if ((outcome.kind === "limited" || outcome.kind === "unknown") && ++this.#tries < triesMax) {
      this.#pause();
      return;
    }
    this.#outcome = outcome;
    const subscribers = Array.from(this.#listeners, ({ subscriber }) => subscriber);
    for (const subscriber of subscribers) subscriber.next(outcome);
    for (const subscriber of subscribers) subscriber.complete();
    this.#onLeft(this);
  }

  #pause(): void {
    const timer = this.#clock.setTimer(this.#clock.now() + pauseMs * (this.#tries + 1), () => {
      this.#ask();
    });
    this.#stop = () => {
      timer.cancel();
    };
  }

  #abandon(): void {
    this.#onLeft(this);
    this.#stop?.();
    this.#stop = undefined;
  }
}
