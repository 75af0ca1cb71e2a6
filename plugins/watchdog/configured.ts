/**
 * Options of the watchdog in a config, for the commands that read one. The plugin's entry does not import this file, so
 * that it stays light.
 */
import { pluginsIn } from "sluice/extension";
import type { WatchdogOptions } from "./options.ts";

/** Options of the watchdog among the plugins of a config; undefined where it has none. */
export const watchdogIn = (config: unknown): WatchdogOptions | undefined =>
  pluginsIn(config).find(({ definition }) => definition === "watchdog")?.options as WatchdogOptions | undefined;
