/**
 * Dead-man's switch: a second process, `sluice watchdog`, cancels an engine's orders when its heartbeat stops.
 *
 * Not here: the heartbeat (heartbeat.ts), what the other process does (watchdog.ts).
 *
 * @module sluice/plugins/watchdog
 */
export type { WatchdogOptions } from "./options.ts";
export { default } from "./plugin.ts";
