/**
 * A run that was recorded in a folder, as `sluice ui` plays it, and what reads it.
 *
 * Not here: how a plugin names its reader (cli/plugin-manifest.ts), the timeline made of a run (event-timeline.ts).
 */

import type { Event } from "sluice";
import type { BookRow } from "sluice/plugins/control-room";
import type { RecordedPrice } from "./price-rows.ts";
import type { QuotaFacts, QuotaStep } from "./recorded-quota.ts";

/** A recorded run: everything in order of time. */
export interface PlayableRun {
  readonly facts: Omit<QuotaFacts, "strategies"> & {
    readonly strategies: readonly { readonly name: string; readonly user?: string; readonly options: unknown }[];
  };
  readonly events: readonly Event[];
  readonly prices: readonly RecordedPrice[];
  readonly books: readonly BookRow[];
  /** Requests and their answers, from which the use of the quota follows. */
  readonly quota: readonly QuotaStep[];
}

/** Reader of recorded runs: the default export of the module that a manifest names. Made by `definePlayableRuns`. */
export interface PlayableRuns {
  readonly kind: "playable-runs";
  /** Reads the run that is recorded in the folder `dir`. */
  readonly read: (dir: string) => PlayableRun;
}

/**
 * Makes a reader of recorded runs for `sluice ui`.
 *
 * @example
 * export default definePlayableRuns({ read: (dir) => readMyRun(dir) });
 */
export const definePlayableRuns = (reader: Omit<PlayableRuns, "kind">): PlayableRuns => ({
  kind: "playable-runs",
  ...reader,
});
