/**
 * Hot standby: of all processes that are started with one config one trades, and another takes over when it is gone.
 *
 * Not here: who leads (lease.ts), what is copied (journal-copy.ts).
 *
 * @module sluice/plugins/standby
 */
import type { Leadership } from "./lease-store.ts";

export type { Leadership } from "./lease-store.ts";
export type { StandbyOptions } from "./options.ts";
export { default } from "./plugin.ts";

/** Reads who leads in a group, of each instance, from the store at `url`; rejects where the store does not answer. */
export const leadershipsIn = async (url: string, group: string): Promise<readonly Leadership[]> =>
  (await import("./leaderships.ts")).readLeaderships(url, group);
