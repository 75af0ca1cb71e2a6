/**
 * Verification: fault simulation.
 *
 * @module sluice/verify
 */

export type { Failure, Summary } from "./verify/simulation/simulate.ts";
export {
  type ScenarioTrace,
  type SimulateOptions,
  simulate,
  type TraceOptions,
  traceScenario,
} from "./verify/simulation/simulate-config.ts";
