/**
 * Events of the config's plugins: their types, and their texts.
 *
 * Not here: the core's events (journal/events.ts), whose texts belong to who shows them.
 */
import { messageOf } from "../errors.ts";
import type { Event, EventText, EventTexts } from "../journal/events.ts";

interface Declaring {
  readonly events?: EventTexts;
}

/** Types of the events that the plugins declare. */
export const eventTypesOf = (plugins: readonly Declaring[]): ReadonlySet<string> =>
  new Set(plugins.flatMap(({ events = {} }) => Object.keys(events)));

/** Returns the text of an event that one of the plugins declares; undefined for every other event. Never throws. */
export type TextOfEvent = (event: Event) => EventText | undefined;

export const eventTextsOf = (plugins: readonly Declaring[]): TextOfEvent => {
  const texts = new Map<string, (event: Event) => EventText>(
    plugins.flatMap(({ events = {} }) => Object.entries(events as Record<string, (event: Event) => EventText>)),
  );
  return (event) => {
    try {
      return texts.get(event.type)?.(event);
    } catch (error) {
      return ["warn", `${event.type}, whose text failed: ${messageOf(error)}`];
    }
  };
};
