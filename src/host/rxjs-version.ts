/**
 * Everything that depends on the version of RxJS: its objects for time and uncaught errors, how it delivers a value,
 * and which streams of other kinds a strategy may return.
 *
 * Invariants: nothing else in `src` names an internal of RxJS; each function works with every RxJS 7 from 7.8 on; a
 * stream of another kind is ended when its subscriber unsubscribes.
 * Not here: whose code runs (execution-context.ts).
 */
import {
  asyncScheduler,
  from,
  isObservable,
  Observable,
  type ObservableInput,
  type Observer,
  type Subscriber,
} from "rxjs";
import { dateTimestampProvider } from "rxjs/internal/scheduler/dateTimestampProvider";
import { timeoutProvider } from "rxjs/internal/scheduler/timeoutProvider";

/**
 * An observable of another library or version, or of the platform: `subscribe` takes an observer, and either returns an
 * object or function that unsubscribes, or takes an `AbortSignal`.
 */
interface ForeignObservable<T> {
  subscribe(observer: Partial<Observer<T>>, options?: { readonly signal: AbortSignal }): unknown;
}

/**
 * Value that a strategy may return: an observable of any library, a promise, or a synchronous or asynchronous iterable.
 */
export type StreamInput<T> = ObservableInput<T> | ForeignObservable<T>;

/** Replacements of RxJS's objects. Each receives the original. */
interface Replacements {
  readonly now: (original: () => number) => number;
  readonly schedule: (original: typeof asyncScheduler.schedule) => typeof asyncScheduler.schedule;
  /** For uncaught errors: `handler` throws the error. Returns whether the error was taken. */
  readonly uncaught: (handler: () => void) => boolean;
}

/** Replaces the objects from which RxJS takes the time, and to which it reports uncaught errors. Once a process. */
export const replaceRxjsTime = ({ now, schedule, uncaught }: Replacements): void => {
  const scheduled = asyncScheduler.schedule.bind(asyncScheduler);
  const schedulerNow = asyncScheduler.now.bind(asyncScheduler);
  asyncScheduler.now = () => now(schedulerNow);
  asyncScheduler.schedule = schedule(scheduled as typeof asyncScheduler.schedule);
  const stampNow = dateTimestampProvider.now.bind(dateTimestampProvider);
  dateTimestampProvider.now = () => now(stampNow);
  // RxJS uses this one only to throw, on a later turn of the machine, what a subscriber threw or an unhandled error.
  const later = timeoutProvider.setTimeout.bind(timeoutProvider);
  timeoutProvider.setTimeout = (handler, ms, ...args) =>
    uncaught(() => handler()) ? (0 as unknown as ReturnType<typeof later>) : later(handler, ms, ...args);
};

/**
 * The internal interface of an RxJS Subscriber. Its public `next` is one function for every stream of the process, so
 * it looks up the receiver's `_next` with each value; from here there are few kinds of receivers.
 */
interface Receiver<T> {
  readonly isStopped: boolean;
  _next(value: T): void;
}

/** Delivers a value to a subscriber, as its `next` does. */
export const handOver = <T>(subscriber: Subscriber<T>, value: T): void => {
  const receiver = subscriber as unknown as Receiver<T>;
  if (!receiver.isStopped) receiver._next(value);
};

const has = (source: object, name: PropertyKey): boolean =>
  typeof (source as Readonly<Record<PropertyKey, unknown>>)[name] === "function";

/** The key of streams that other libraries understand. Older libraries use the text. */
const interopKeys: readonly PropertyKey[] = [
  (Symbol as { readonly observable?: symbol }).observable ?? "@@observable",
  "@@observable",
];

/**
 * Returns the observable of a stream of any kind, or undefined where it is none.
 *
 * @param source - an observable of any library or of the platform, a promise, an iterable, or a readable stream
 */
export const observableOf = <T>(source: unknown): Observable<T> | undefined => {
  if ((typeof source !== "object" && typeof source !== "function") || source === null) return undefined;
  if (isObservable(source)) return source as Observable<T>;
  if (interopKeys.some((key) => has(source, key))) return from(source as ObservableInput<T>);
  if (has(source, "subscribe")) return ofForeign(source as ForeignObservable<T>);
  if (has(source, Symbol.asyncIterator)) return ofIterable(source as AsyncIterable<T>);
  const isInput = has(source, "then") || has(source, Symbol.iterator) || has(source, "getReader");
  return isInput ? from(source as ObservableInput<T>) : undefined;
};

const ofForeign = <T>(source: ForeignObservable<T>): Observable<T> =>
  new Observable((subscriber) => {
    const ending = new AbortController();
    const observer: Observer<T> = {
      next: (value) => {
        subscriber.next(value);
      },
      error: (error) => {
        subscriber.error(error);
      },
      complete: () => {
        subscriber.complete();
      },
    };
    const subscription = source.subscribe(observer, { signal: ending.signal }) as
      | { readonly unsubscribe?: () => void }
      | undefined;
    return () => {
      ending.abort();
      subscription?.unsubscribe?.();
    };
  });

/** Unlike `from`, ends the iterator at once. An iterator that waits for its next value would otherwise keep waiting. */
const ofIterable = <T>(source: AsyncIterable<T>): Observable<T> =>
  new Observable((subscriber) => {
    const iterator = source[Symbol.asyncIterator]();
    const take = async (): Promise<void> => {
      for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
        subscriber.next(next.value);
        if (subscriber.closed) return;
      }
      subscriber.complete();
    };
    take().catch((error: unknown) => {
      subscriber.error(error);
    });
    return () => {
      // An error thrown while it ends has no receiver, as in `for await`.
      Promise.resolve(iterator.return?.()).catch(() => undefined);
    };
  });
