/**
 * The watchdog as a plugin: checks its options against the config and adds the heartbeat to the engine.
 */
import { definePlugin, SluiceError } from "sluice";
import { watchdogEvents } from "./events.ts";
import { type WatchdogParts, watchdogExtension } from "./extension.ts";
import { checkBeats, watchdogSchema } from "./options.ts";

/** `parts` replaces parts of it, for tests. */
export const watchdogWith = (parts: WatchdogParts = {}) =>
  definePlugin({
    name: "watchdog",
    options: watchdogSchema,
    events: watchdogEvents,
    check: ({ plugins }, options) => {
      checkBeats(options);
      if (plugins.every(({ definition }) => definition !== "standby")) return;
      throw new SluiceError(
        "CONFIG_INVALID",
        "config.plugins: a watchdog cancels the orders that the standby continues with. Leave watchdog or standby out.",
      );
    },
    extend: (engine) => watchdogExtension(engine, parts),
  });

export default watchdogWith();
