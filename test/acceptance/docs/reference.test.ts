/**
 * The generated reference is complete: every event, field, key and command is in it and says what it means.
 */
import { describe, expect, it } from "vitest";
import { documentedEvents } from "../../../docs/generate/events.ts";
import { checkEventName } from "../../../src/journal/event-map.ts";

describe("The reference of events", () => {
  const events = documentedEvents();

  it("has every event type once", () => {
    const types = events.flatMap((event) => event.types);
    for (const type of types) expect(() => checkEventName(type)).not.toThrow();
    expect(new Set(types).size).toBe(types.length);
    expect(types.length).toBeGreaterThan(35);
  });

  it("says what each event and each of its fields means", () => {
    expect(events.filter(({ doc }) => doc === "").flatMap(({ types }) => types)).toEqual([]);
    expect(events.flatMap(({ types, fields }) => fields.filter(({ doc }) => doc === "").map(({ name }) => `${types[0]}: ${name}`))).toEqual(
      [],
    );
  });
});
