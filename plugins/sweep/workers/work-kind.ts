/**
 * A kind of work that `sluice worker` does, as a plugin defines it.
 *
 * Not here: how a plugin names it (`work` in its manifest), taking jobs (queue-worker.ts).
 */
import type { FixturePlaces } from "sluice/plugins/fixtures";
import type { OpenWork } from "./queue-worker.ts";
import type { AcceptedConfigs } from "./sheet-config.ts";

/** A kind of work: the default export of the module that a manifest names. Made by `defineWork`. */
export interface WorkKind {
  readonly kind: "work";
  /**
   * Returns the function that opens a sheet of this kind.
   *
   * @param places - where recorded markets are found by their hash
   * @param accepted - configs that the worker runs; any of its folder when left out
   */
  readonly open: (places: FixturePlaces, accepted?: AcceptedConfigs) => OpenWork;
}

/**
 * Makes a kind of work for `sluice worker`. Its name in the manifest is the `kind` of its sheets.
 *
 * @example
 * export default defineWork((places, accepted) => async (sheet, bounds) => openMyWork(sheet));
 */
export const defineWork = (open: WorkKind["open"]): WorkKind => ({ kind: "work", open });
