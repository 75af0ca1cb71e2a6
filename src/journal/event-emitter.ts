/**
 * The emitter face of the journal, for bystanders: logging, alerts, a page.
 *
 * Invariants: nothing in the data path listens here; a listener that throws harms neither the others nor the engine.
 */
import { EventEmitter } from "eventemitter3";
import type { EventLog } from "./event-log.ts";
import type { Event } from "./events.ts";

/** `order:filled`, `order:live` … for order phases; otherwise the event type with a colon, such as `quota:rejected`; `event` gets all. */
type NoticeName = string;
export type NoticeListener = (event: Event) => void;

export interface EventNotices {
  on(name: NoticeName, listener: NoticeListener): () => void;
}

const noticeName = (event: Event): NoticeName => (event.type === "order.changed" ? `order:${event.phase}` : event.type.replace(".", ":"));

export const createNotices = (journal: EventLog, onError: (error: unknown) => void): EventNotices => {
  const emitter = new EventEmitter();
  let listeners = 0;
  let detach: () => void = () => undefined;
  const deliver = (event: Event): void => {
    Object.freeze(event);
    emitter.emit("event", event);
    emitter.emit(noticeName(event), event);
  };
  return {
    on: (name, listener) => {
      // The emitter stops at the first listener that throws; each is therefore wrapped.
      const guarded = (event: Event): void => {
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

/** `on` for listeners that may throw at the report as well: the first one that does is reported and taken away. */
export const onceFaulty =
  (notices: EventNotices, onError: (error: unknown) => void): EventNotices["on"] =>
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
