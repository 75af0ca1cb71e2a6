/**
 * Runs a config against a recorded market: the live engine on a clock that this file turns.
 *
 * Invariants: nothing the run decides depends on the machine; promises are let settle between steps of time, so that `await`
 * in a strategy is deterministic; the same config, fixture and seed give the same report.
 * Not here: what the report means (report.ts), how it is collected (collect.ts).
 */
import { createEngine, type Engine } from "../engine.ts";
import { SluiceError } from "../errors.ts";
import { checkConfig } from "../host/define.ts";
import type { ServiceEnv } from "../host/service.ts";
import { createCollector } from "./collect.ts";
import { createPlayer } from "./player.ts";
import type { Progress, RunReport } from "./report.ts";
import type { BacktestSpec, OpenBacktest } from "./service.ts";
import { letPromisesSettle, stopwatch } from "./wall.ts";

export interface RunOptions {
  /** Folder of a recorded market, instead of the config's. */
  readonly fixture?: string;
  readonly seed?: number | string;
  /** False: the service enforces no limits, to see what they cost. */
  readonly limits?: boolean;
  readonly onProgress?: (progress: Progress) => void;
  readonly print?: (line: string) => void;
}

const rowsPerTurn = 20_000;

export const runBacktest = async (input: unknown, options: RunOptions = {}): Promise<RunReport> => {
  const elapsed = stopwatch();
  const { fixture, seed, limits } = options;
  const config = checkConfig(input);
  const spec = config.service as BacktestSpec;
  if (spec.kind !== "backtest") {
    throw new SluiceError("CONFIG_INVALID", `config.service is ${spec.kind}(…); a backtest needs service: backtest({ fixture: "…" }).`);
  }
  let opened: OpenBacktest | undefined;
  const open = (env: ServiceEnv): OpenBacktest => {
    opened = spec.openWith(env, { ...(fixture === undefined ? {} : { fixture }), ...(limits === undefined ? {} : { limits }) });
    return opened;
  };
  const chosen = seed ?? config.seed;
  const engine = createEngine(
    { ...config, seed: chosen, service: { kind: "backtest", open } },
    options.print === undefined ? {} : { print: options.print },
  );
  const service = opened as unknown as OpenBacktest;
  const collector = createCollector(engine, service, config);
  await started(engine, service);
  await played(service, collector.sample, options.onProgress);
  await ended(engine, service);
  return collector.report(String(chosen), elapsed());
};

/** Turns the clock until the engine has read the service's state and started its strategies. */
const started = async (engine: Engine, { clock, tape }: OpenBacktest): Promise<void> => {
  let done = false;
  const start = engine.start().then(
    () => {
      done = true;
    },
    (error: unknown) => {
      done = true;
      throw error;
    },
  );
  while (!done) {
    await letPromisesSettle();
    if (!done && !clock.step()) break;
  }
  await start;
  if (clock.now() > tape.startAt) {
    throw new SluiceError(
      "ENGINE_STATE",
      "The engine was not ready when the recording began; the latency model is too slow for the lead of the run.",
    );
  }
};

const played = async (service: OpenBacktest, sample: (at: number) => void, onProgress: RunOptions["onProgress"]): Promise<void> => {
  const { clock, tape, simulated } = service;
  const player = createPlayer(tape, clock, simulated);
  const steps = 400;
  // The first row gives the market its prices; what is owned has a value from then on.
  player.play(tape.startAt, 1);
  sample(tape.startAt);
  for (let index = 1; index <= steps; index++) {
    const until = tape.startAt + ((tape.endAt - tape.startAt) * index) / steps;
    while (player.play(until, rowsPerTurn)) await letPromisesSettle();
    await letPromisesSettle();
    sample(clock.now());
    onProgress?.({ at: clock.now(), startAt: tape.startAt, endAt: tape.endAt, events: player.rowsApplied });
  }
};

/** Lets what is under way come back, then stops. Orders stay as they are and are valued by the market. */
const ended = async (engine: Engine, { clock, simulated }: OpenBacktest): Promise<void> => {
  clock.advanceTo(clock.now() + 1_000);
  await engine.stop();
  simulated.feed.complete();
};
