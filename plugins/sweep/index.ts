/**
 * Sweeps: many backtests with varied options, in threads of this machine or on workers of a queue; and what other kinds
 * of work of `sluice worker` are made from.
 *
 * @module sluice/plugins/sweep
 */
export { partOf, queueAddress } from "./command-options.ts";
export { csvOf as sweepCsv } from "./csv.ts";
export { sweepPage } from "./html-page.ts";
export type { SweepProgress } from "./sweep.ts";
export { type SweepOptions, type SweepStart, sweep } from "./sweep-config.ts";
export { checkPart, type SweepPart, spellPart } from "./sweep-parts.ts";
export type { SweepReport } from "./sweep-report.ts";
export { sweepText, type TableLook as SweepTextLook } from "./table.ts";
export { type FromWorker, openThreadOn } from "./thread.ts";
export { QueueSubmitter, type SubmitterOptions } from "./workers/queue-submitter.ts";
export type { OpenWork, Work } from "./workers/queue-worker.ts";
export { type AcceptedConfigs, checkValues, configOf } from "./workers/sheet-config.ts";
export { defineWork, type WorkKind } from "./workers/work-kind.ts";
export { placeBelow, type WorkSheet } from "./workers/work-sheet.ts";
export { WorkThreads } from "./workers/work-threads.ts";
