/**
 * A stream of the service while it is recorded: its values are entries, the value that its first listener receives at
 * once is a reply.
 *
 * Invariants: the engine gets each value as it was written; what still waits for its turn when the last listener leaves
 * is dropped, as it is without a recording.
 */
import { type Observable, Subscription } from "rxjs";
import type { InputSequencer } from "./input-sequencer.ts";
import { Multicast } from "./multicast.ts";

interface RecordedStream<T> {
  readonly stream: string;
  /** True if a listener begins with the latest value. */
  readonly keeps: boolean;
  readonly source: Observable<T>;
  readonly turns: InputSequencer;
  readonly onError: (error: unknown) => void;
  readonly encode: (value: T) => unknown;
  readonly decode: (row: unknown) => T;
  /** True if the end of the source is recorded; a user's streams end with the service anyway. */
  readonly ends?: boolean;
}

export const recordedStream = <T>({
  stream,
  keeps,
  source,
  turns,
  onError,
  encode,
  decode,
  ends = false,
}: RecordedStream<T>): Observable<T> => {
  let watching: Subscription | undefined;
  const told = (own: Subscription, value: T): void => {
    let given: T;
    turns.enter(
      () => {
        if (watching !== own) return undefined;
        const row = encode(value);
        given = decode(row);
        return { in: "stream", stream, value: row };
      },
      () => {
        multicast.next(given);
      },
    );
  };
  const ended = (own: Subscription): void => {
    turns.enter(
      () => (watching === own ? { in: "end", stream } : undefined),
      () => {
        multicast.complete();
      },
    );
  };
  const watch = (): T | undefined => {
    turns.note({ out: "watch", stream });
    const own = new Subscription();
    watching = own;
    let first: T | undefined;
    let atOnce = keeps;
    const listener = {
      next: (value: T): void => {
        if (atOnce) first = value;
        else told(own, value);
      },
      complete: (): void => {
        if (ends) ended(own);
      },
    };
    own.add(turns.asking(() => source.subscribe(listener)));
    atOnce = false;
    if (first === undefined) return undefined;
    const row = encode(first);
    turns.reply({ re: "value", value: row });
    return decode(row);
  };
  const unwatch = (): void => {
    const own = watching;
    watching = undefined;
    turns.note({ out: "unwatch", stream });
    turns.asking(() => own?.unsubscribe());
  };
  const multicast = new Multicast<T>({ keeps, onError, watch, unwatch });
  return multicast.stream;
};
