/**
 * Runs one scenario: a config, a seed, a list of faults, from the first process to the last timer.
 *
 * Invariants: the same scenario gives the same events on every machine; it ends at the first violation; nothing is left
 * behind in this process.
 */
import { createHash } from "node:crypto";
import { type BacktestSpec, lognormal, type Tape } from "sluice/backtest";
import { type CheckedConfig, loadJournalCode, watchPromises } from "sluice/extension";
import { CoverageMarks } from "./coverage-marks.ts";
import { distortTape } from "./distorted-tape.ts";
import { Environment } from "./environment.ts";
import type { Fault } from "./fault.ts";
import { createFaultHandlers } from "./fault-handlers.ts";
import { checkQuiet, checkStopped } from "./final-checks.ts";
import type { Violation } from "./invariants.ts";
import { Play } from "./play.ts";
import { ProcessSupervisor } from "./process-supervisor.ts";

export interface Scenario {
  readonly config: CheckedConfig;
  readonly tape: Tape;
  readonly seed: string;
  readonly minutes: number;
  readonly faults: readonly Fault[];
  /** Plugins of the config take part too. */
  readonly plugins: boolean;
}

export interface Ending {
  readonly violations: readonly Violation[];
  /** SHA-256 of all events of the engines. */
  readonly hash: string;
  readonly events: number;
  readonly steps: number;
  readonly processes: number;
  readonly requests: number;
  readonly refused: number;
  readonly excused: number;
  readonly weight: number;
  /** Simulated milliseconds. */
  readonly ms: number;
}

interface ScenarioOptions {
  readonly marks?: CoverageMarks;
  /** Each line of the trace, with milliseconds after the market began. */
  readonly onLine?: (at: number, line: string) => void;
}

const quietMs = 300_000;
const afterStopMs = 190_000;

export const runScenario = async (
  scenario: Scenario,
  { marks = new CoverageMarks(), onLine }: ScenarioOptions = {},
): Promise<Ending> => {
  // Now, as no time passes on the scenario's clock while it is loaded.
  await loadJournalCode();
  const { config, seed, minutes, faults, plugins } = scenario;
  const { startAt } = scenario.tape;
  const tape = distortTape(scenario.tape, faults, startAt);
  const hash = createHash("sha256");
  let events = 0;
  const tell = onLine ?? (() => undefined);
  const environment = new Environment({ config, tape, startAt, seed, faults, marks, tell });
  const supervisor = new ProcessSupervisor(environment, {
    seed: `${String(config.seed)}/${seed}`,
    plugins,
    log: (event) => {
      events++;
      hash.update(JSON.stringify(event));
    },
  });
  const happen = createFaultHandlers(environment, supervisor);
  const promises = watchPromises();
  const failed = catchRejections(environment);
  const { latency = lognormal({ medianMs: 25 }) } = (config.service as Partial<BacktestSpec>).options ?? {};
  const play = new Play(environment, supervisor, promises, latency);
  const { time } = environment;
  try {
    for (const fault of faults) {
      time.setTimer(startAt + fault.at, () => {
        happen(fault);
      });
    }
    supervisor.begin();
    await play.to(startAt + minutes * 60_000);
    if (environment.violations.length === 0) await goQuiet(environment, supervisor, play);
    if (environment.violations.length === 0) {
      const process = supervisor.current;
      supervisor.retire();
      await play.to(time.now() + afterStopMs, () => supervisor.retired && process?.state === "over");
      if (environment.violations.length === 0) checkStopped(environment);
      await play.to(time.now() + afterStopMs);
    }
  } finally {
    await discard(supervisor);
    promises.stop();
    failed.stop();
  }
  const { requests, weight } = environment.venue.meterReport();
  return {
    violations: environment.violations,
    hash: hash.digest("hex"),
    events,
    steps: play.steps,
    processes: supervisor.processes,
    requests,
    weight,
    ...environment.quota.counts,
    ms: time.now() - startAt,
  };
};

const goQuiet = async (environment: Environment, supervisor: ProcessSupervisor, play: Play): Promise<void> => {
  environment.tell("QUIET: nothing goes wrong from here on");
  environment.network.calm();
  for (const pushes of environment.pushes.values()) pushes.calm();
  environment.lags.pendingOrders = undefined;
  environment.lags.orderHistory = undefined;
  environment.refusal = undefined;
  environment.disk.calm();
  supervisor.calm();
  await play.to(environment.time.now() + quietMs / 2);
  supervisor.calm();
  await play.to(environment.time.now() + quietMs / 2);
  if (environment.violations.length === 0) await checkQuiet(environment, supervisor.current, play);
};

/** Kills everything that is left, so that the next scenario starts alone. */
const discard = async (supervisor: ProcessSupervisor): Promise<void> => {
  const { current } = supervisor;
  current?.clock.kill();
  current?.abandon();
  // A pending stop waits for time, which does not advance any more.
  if (current?.state !== "stopping") await current?.engine.stop().catch(() => undefined);
  current?.feed.complete();
};

const catchRejections = (environment: Environment): { stop(): void } => {
  const note = (error: unknown): void => {
    environment.fail("I12", `a promise failed unseen: ${error instanceof Error ? error.message : String(error)}`);
  };
  process.on("unhandledRejection", note);
  return {
    stop: () => {
      process.off("unhandledRejection", note);
    },
  };
};
