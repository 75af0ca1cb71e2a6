/**
 * Comparison of two runs, and detection of look-ahead in strategies.
 *
 * @module sluice/plugins/compare
 */
export { type CompareOptions, compareFiles as compareRuns } from "./compare-files.ts";
export { type GuardOptions, guard } from "./compare-guard.ts";
export type { ComparedRun, Comparison, ToldDifference } from "./comparison.ts";
export type { Glimpse, LookAheadReport } from "./look-ahead.ts";
