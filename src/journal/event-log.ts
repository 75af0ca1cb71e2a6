/**
 * Numbers what happened and hands it on.
 *
 * Invariants: sequence numbers have no holes; events are frozen; a sink that throws is reported and removed, the rest go on;
 * an event appended by a sink is delivered after the one being delivered, to every sink in the same order.
 * Not here: what can happen (events.ts), keeping it on disk (plugins).
 */
import { Observable } from "rxjs";
import type { Event, EventBody } from "./events.ts";

type Sink = (event: Event) => void;

export interface EventLog {
  append(body: EventBody): void;
  /** Calls `sink` for every event from now on; the returned function ends that. */
  attach(sink: Sink): () => void;
  readonly events$: Observable<Event>;
  readonly length: number;
}

export const createEventLog = (now: () => number, onSinkError: (error: unknown) => void = () => undefined): EventLog => {
  let sinks: readonly Sink[] = [];
  let seq = 0;
  const waiting: Event[] = [];
  let delivering = false;

  const deliver = (): void => {
    delivering = true;
    for (let event = waiting.shift(); event !== undefined; event = waiting.shift()) {
      for (const sink of sinks) {
        try {
          sink(event);
        } catch (error) {
          detach(sink);
          report(error);
        }
      }
    }
    delivering = false;
  };
  const report = (error: unknown): void => {
    try {
      onSinkError(error);
    } catch {
      // Whoever reports faults must not silence the journal with one of their own.
    }
  };
  const detach = (sink: Sink): void => {
    sinks = sinks.filter((other) => other !== sink);
  };
  const attach = (sink: Sink): (() => void) => {
    sinks = [...sinks, sink];
    return () => {
      detach(sink);
    };
  };
  return {
    append: (body) => {
      seq++;
      if (sinks.length === 0) return;
      waiting.push(Object.freeze({ seq, at: now(), ...body }));
      if (!delivering) deliver();
    },
    attach,
    events$: new Observable((subscriber) =>
      attach((event) => {
        subscriber.next(event);
      }),
    ),
    get length() {
      return seq;
    },
  };
};
