/**
 * Verification: look-ahead guard, fault simulation, comparison of two runs, conformance of a service, and checks of the profile's
 * assumptions against a service.
 *
 * @module sluice/verify
 */

export { type AcceptOptions, accept } from "./verify/acceptance/accept.ts";
export { type CompareOptions, compareFiles as compareRuns } from "./verify/compare/compare-files.ts";
export type { ComparedRun, Comparison, ToldDifference } from "./verify/compare/comparison.ts";
export { type GuardOptions, guard } from "./verify/compare/guard.ts";
export type { Glimpse, LookAheadReport } from "./verify/compare/look-ahead.ts";
export { type CheckOptions, check } from "./verify/conformance/check.ts";
export type { CheckedRule, CheckReport } from "./verify/conformance/findings.ts";
export { type DoctorOptions, type DoctorReport, doctor } from "./verify/doctor/doctor-config.ts";
export type { Finding } from "./verify/doctor/finding.ts";
export type { Failure, Summary } from "./verify/simulation/simulate.ts";
export {
  type ScenarioTrace,
  type SimulateOptions,
  simulate,
  type TraceOptions,
  traceScenario,
} from "./verify/simulation/simulate-config.ts";
