/**
 * Event log: numbers events and delivers them to sinks by type.
 *
 * Invariants: sequence numbers have no holes; a sink that throws is reported and removed, and the others continue; an
 * event appended by a sink is delivered after the one being delivered, to every sink in the order in which they were
 * attached; what leaves the engine (`events$`, event-emitter.ts) is frozen, and sinks of the engine change nothing.
 * Not here: the events (events.ts), keeping them on disk (plugins).
 */
import { Observable } from "rxjs";
import type { Event, EventBody, EventDraft, EventOf, EventType } from "./events.ts";

type Sink = (event: Event) => void;

interface Attached {
  /** Types of events; all when left out. */
  readonly types: readonly EventType[] | undefined;
  readonly sink: Sink;
}

/** Events in order: appended once, numbered, and delivered to listeners by type. */
export class EventLog {
  readonly events$: Observable<Event> = new Observable((subscriber) =>
    this.attach((event) => {
      subscriber.next(Object.freeze(event));
    }),
  );
  readonly #now: () => number;
  readonly #onSinkError: (error: unknown) => void;
  #attached: readonly Attached[] = [];
  /** Receivers of events of a type, in the order of `#attached`; cleared when that changes. */
  readonly #routes = new Map<EventType, readonly Attached[]>();
  readonly #waiting: Event[] = [];
  #delivering = false;
  #seq = 0;

  constructor(now: () => number, onSinkError: (error: unknown) => void = () => undefined) {
    this.#now = now;
    this.#onSinkError = onSinkError;
  }

  get length(): number {
    return this.#seq;
  }

  /** A draft becomes the event itself and belongs to the log from here on; any other body is copied behind a header. */
  append(draft: EventDraft): void;
  append(body: EventBody): void;
  append(body: EventBody | EventDraft): void {
    const seq = ++this.#seq;
    const route = this.#routes.get(body.type) ?? this.#routeOf(body.type);
    // No sink wants it and none is being called, so it is not delivered. During a delivery the sinks may still change.
    if (route.length === 0 && !this.#delivering) return;
    let event: Event | undefined;
    if ("seq" in body) {
      body.seq = seq;
      if (body.at === 0) body.at = this.#now();
      event = body;
    } else event = { seq, at: this.#now(), ...body };
    if (this.#delivering) {
      this.#waiting.push(event);
      return;
    }
    this.#delivering = true;
    for (; event !== undefined; event = this.#waiting.shift()) {
      const sinks: readonly Attached[] = this.#routes.get(event.type) ?? this.#routeOf(event.type);
      for (let index = 0; index < sinks.length; index++) {
        const attached = sinks[index] as Attached;
        try {
          attached.sink(event);
        } catch (error) {
          this.#detach(attached);
          this.#report(error);
        }
      }
    }
    this.#delivering = false;
  }

  /** Calls `sink` for every event from now on. The returned function removes it. */
  attach(sink: Sink): () => void {
    return this.#attach({ types: undefined, sink });
  }

  /** The same for events of these types. */
  on<T extends EventType>(types: readonly T[], sink: (event: EventOf<T>) => void): () => void {
    return this.#attach({ types, sink: sink as Sink });
  }

  #attach(attached: Attached): () => void {
    this.#reroute([...this.#attached, attached]);
    return () => {
      this.#detach(attached);
    };
  }

  #detach(gone: Attached): void {
    this.#reroute(this.#attached.filter((attached) => attached !== gone));
  }

  #reroute(attached: readonly Attached[]): void {
    this.#attached = attached;
    this.#routes.clear();
  }

  #routeOf(type: EventType): readonly Attached[] {
    let route = this.#routes.get(type);
    if (route === undefined) {
      route = this.#attached.filter(({ types }) => types === undefined || types.includes(type));
      this.#routes.set(type, route);
    }
    return route;
  }

  #report(error: unknown): void {
    try {
      this.#onSinkError(error);
    } catch {
      // An error in the fault reporter must not stop the log.
    }
  }
}
