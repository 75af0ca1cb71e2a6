/**
 * Fault simulation: the strategies of a config on a service, a network and a disk that fail.
 *
 * @module sluice/plugins/simulate
 */
export {
  playScenario,
  type ScenarioTrace,
  type SimulateOptions,
  simulate,
  simulateBounds,
  simulateDefaults,
  type TraceOptions,
  traceScenario,
} from "./simulate-config.ts";
export type { Failure, Summary } from "./simulation.ts";
