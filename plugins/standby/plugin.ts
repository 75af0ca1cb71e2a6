/**
 * The standby as a plugin: checks that the config has a journal, and adds the engine's place in the group.
 */
import { definePlugin, SluiceError } from "sluice";
import { standbyEvents } from "./events.ts";
import { type StandbyParts, standbyExtension } from "./extension.ts";
import { standbySchema } from "./options.ts";

/** `parts` replaces parts of it, for tests. */
export const standbyWith = (parts: StandbyParts = {}) =>
  definePlugin({
    name: "standby",
    options: standbySchema,
    events: standbyEvents,
    check: ({ journal }) => {
      if (journal !== undefined) return;
      throw new SluiceError(
        "CONFIG_INVALID",
        'config.plugins: standby needs a journal to hand over. Add journal: { dir: "…" }, a folder for each process.',
      );
    },
    extend: (engine) => standbyExtension(engine, parts),
  });

export default standbyWith();
