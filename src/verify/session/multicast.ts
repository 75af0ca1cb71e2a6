/**
 * One stream of the service for many listeners in the engine: subscribed once, when the first of them comes.
 *
 * Invariants: recording and replay share this file, so that who hears what, and in which order, is the same in both; a listener
 * that comes later gets the latest value where the stream keeps one; the source is let go with the last listener.
 */
import { Observable } from "rxjs";
import { HotStream } from "../../market/hot-stream.ts";

export interface Multicast<T> {
  readonly stream: Observable<T>;
  readonly observed: boolean;
  next(value: T): void;
  complete(): void;
}

interface MulticastOptions<T> {
  /** Whether a new listener begins with the latest value. */
  readonly keeps: boolean;
  readonly onError: (error: unknown) => void;
  /** The first listener has come: returns what the source says at once, if anything. */
  readonly watch: () => T | undefined;
  /** The last one has gone. */
  readonly unwatch: () => void;
}

export const createMulticast = <T>({ keeps, onError, watch, unwatch }: MulticastOptions<T>): Multicast<T> => {
  let latest: T | undefined;
  let over = false;
  const hot = new HotStream<T>({ onError, latest: () => latest });
  const stream = new Observable<T>((subscriber) => {
    if (!hot.observed && !over) latest = watch();
    hot.subscribe(subscriber);
    return () => {
      if (hot.observed || over) return;
      latest = undefined;
      unwatch();
    };
  });
  return {
    stream,
    get observed() {
      return hot.observed;
    },
    next: (value) => {
      if (keeps) latest = value;
      hot.next(value);
    },
    complete: () => {
      over = true;
      hot.complete();
    },
  };
};
