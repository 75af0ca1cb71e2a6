/**
 * The generated reference is complete: every event, field, key and command is in it and says what it means.
 */
import { describe, expect, it } from "vitest";
import { commandsPage } from "../../../docs/generate/commands.ts";
import { keysWithoutRow, keyTables } from "../../../docs/generate/configuration.ts";
import { documentedEvents } from "../../../docs/generate/events.ts";
import { programOf } from "../../../src/cli/main.ts";
import { checkEventName } from "../../../src/journal/event-map.ts";
import { capturedIo } from "../../support/captured-io.ts";

describe("The reference of events", () => {
  const events = documentedEvents();

  it("has every event type once", () => {
    const types = events.flatMap((event) => event.types);
    const ofPlugins = new Set(types.filter((type) => /^(standby|watchdog)\./.test(type)));
    for (const type of types) expect(() => checkEventName(type, ofPlugins)).not.toThrow();
    expect([...ofPlugins].sort()).toEqual([
      "standby.leading",
      "standby.lost",
      "standby.waiting",
      "watchdog.armed",
      "watchdog.lost",
      "watchdog.tripped",
    ]);
    expect(new Set(types).size).toBe(types.length);
    expect(types.length).toBeGreaterThan(35);
  });

  it("says what each event and each of its fields means", () => {
    expect(events.filter(({ doc }) => doc === "").flatMap(({ types }) => types)).toEqual([]);
    expect(
      events.flatMap(({ types, fields }) =>
        fields.filter(({ doc }) => doc === "").map(({ name }) => `${types[0]}: ${name}`),
      ),
    ).toEqual([]);
  });
});

describe("The reference of configuration", () => {
  it("has every key of the schemas", () => {
    expect(keysWithoutRow()).toEqual([]);
  });

  it("says what each key means", () => {
    const bare = keyTables().flatMap(({ place, keys }) =>
      keys.filter(({ doc }) => doc === "").map(({ name }) => `${place}: ${name}`),
    );
    expect(bare).toEqual([]);
  });
});

describe("The reference of commands", () => {
  it("has every command with each of its options, and what it means", async () => {
    const page = await commandsPage();
    const program = await programOf(["help"], capturedIo(), {}, { all: true });
    expect(program.commands.length).toBeGreaterThan(12);
    for (const command of program.commands) {
      expect(page).toContain(`## sluice ${command.name()}`);
      expect(command.description()).not.toBe("");
      expect(
        command.options.filter(({ description, hidden }) => !hidden && description === "").map(({ flags }) => flags),
      ).toEqual([]);
    }
  });
});
