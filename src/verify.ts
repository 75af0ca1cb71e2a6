/**
 * Verification: look-ahead guard, fault simulation, and comparison of two runs.
 *
 * @module sluice/verify
 */

export { type CompareOptions, compareFiles as compareRuns } from "./verify/compare/compare-files.ts";
export type { ComparedRun, Comparison, ToldDifference } from "./verify/compare/comparison.ts";
export { type GuardOptions, guard } from "./verify/compare/guard.ts";
export type { Glimpse, LookAheadReport } from "./verify/compare/look-ahead.ts";
export type { Failure, Summary } from "./verify/simulation/simulate.ts";
export {
  type ScenarioTrace,
  type SimulateOptions,
  simulate,
  type TraceOptions,
  traceScenario,
} from "./verify/simulation/simulate-config.ts";
