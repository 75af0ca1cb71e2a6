/**
 * Event emitter over the event log, for observers such as logging, alerts and web pages.
 *
 * Invariants: nothing in the data path listens here; a listener that throws affects neither the others nor the engine.
 * Not here: the names of events (event-map.ts).
 */
import { EventEmitter } from "eventemitter3";
import type { EventLog } from "./event-log.ts";
import { checkEventName, type EventMap, type EventName } from "./event-map.ts";
import type { Event } from "./events.ts";

/**
 * Calls `listener` with every event of that name from now on; the returned function ends it. Throws a `SluiceError`
 * (`EVENT_UNKNOWN`) for a name that no event has.
 */
export type OnEvent = <N extends EventName>(name: N, listener: (event: EventMap[N]) => void) => () => void;

export interface EventNotices {
  readonly on: OnEvent;
}

/** `ofPlugins`: types of the events that the config's plugins add. */
export const createNotices = (
  journal: EventLog,
  onError: (error: unknown) => void,
  ofPlugins: ReadonlySet<string> = new Set(),
): EventNotices => {
  const emitter = new EventEmitter<EventName>();
  let listeners = 0;
  let detach: () => void = () => undefined;
  const deliver = (event: Event): void => {
    Object.freeze(event);
    emitter.emit("event", event);
    emitter.emit(event.type, event);
    if (event.type === "order.changed") emitter.emit(`order.${event.phase}`, event);
  };
  return {
    on: <N extends EventName>(name: N, listener: (event: EventMap[N]) => void) => {
      checkEventName(name, ofPlugins);
      // The emitter stops at the first listener that throws; each is therefore wrapped.
      const guarded = (event: EventMap[N]): void => {
        try {
          listener(event);
        } catch (error) {
          onError(error);
        }
      };
      emitter.on(name, guarded);
      if (listeners++ === 0) detach = journal.attach(deliver);
      let on = true;
      return () => {
        if (on && --listeners === 0) detach();
        on = false;
        emitter.off(name, guarded);
      };
    },
  };
};

/**
 * Wraps `on` for listeners that may also throw while a failure is reported: such a listener is reported once and
 * removed.
 */
export const onceFaulty =
  (notices: EventNotices, onError: (error: unknown) => void): OnEvent =>
  (name, listener) => {
    const off = notices.on(name, (event) => {
      try {
        listener(event);
      } catch (error) {
        off();
        onError(error);
      }
    });
    return off;
  };
