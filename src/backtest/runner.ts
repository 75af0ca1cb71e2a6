/**
 * Runs a config against a recorded market: the live engine on a clock that this file turns.
 *
 * Invariants: nothing the run decides depends on the machine; promises settle before time moves on, so that `await` in
 * a strategy takes no time and is deterministic; the same config, fixture and seed give the same report; in
 * every case the engine is stopped and plugins are undone.
 * Not here: what the report means (report/report.ts), how it is collected (report-collector.ts).
 */

import type { ServiceEnv } from "../client/service-port.ts";
import { letPromisesSettle, type PromiseWatch, stopwatch, watchPromises } from "../clock/microtasks.ts";
import { createEngine, type Engine } from "../engine/engine.ts";
import { type Failure, SluiceError } from "../errors.ts";
import { type CheckedConfig, checkConfig } from "../host/config.ts";
import { followPromises } from "../host/execution-context.ts";
import type { Tape } from "../market/tape/tape.ts";
import { PlotRecorder } from "../report/plot-recorder.ts";
import type { Progress, RunReport } from "../report/report.ts";
import { RequestedData } from "../report/requested-data.ts";
import type { BacktestSpec, OpenBacktest, ReadMarket } from "./backtest-service.ts";
import { sampleTimes } from "./equity-samples.ts";
import { createPlayer } from "./player.ts";
import { createReportCollector, type ReportCollector } from "./report-collector.ts";

/** Options of `runBacktest`: those of the command `backtest`, and a market in memory. */
export interface RunOptions {
  /** Folder of a recorded market, instead of the config's. */
  readonly fixture?: string;
  /** A market that has been read, instead of any fixture: for runs that share one in memory. */
  readonly market?: ReadMarket;
  readonly seed?: number | string;
  /** False: the service enforces no limits and the engine keeps none, to see what they cost. */
  readonly limits?: boolean;
  readonly onProgress?: (progress: Progress) => void;
  /** Receives the lines that plugins print, with the plugin's name. */
  readonly print?: (line: string, plugin?: string) => void;
}

const rowsPerTurn = 20_000;
/** Time after the last row in which pending answers arrive. */
const tailMs = 1_000;

/**
 * Replays a recorded market against the strategies of a config, on virtual time and under the service's limits; what
 * the command `backtest` does. The same config, recording and seed give the same `resultHash`.
 *
 * @param input - a config whose service is `backtest(…)`
 * @param options - another recording, seed or market in memory, and where progress goes
 * @returns the report
 * @throws CONFIG_INVALID or FIXTURE_INVALID before anything runs
 * @example
 * const { pnl, resultHash } = await runBacktest(config, { seed: 7 });
 */
export const runBacktest = async (input: unknown, options: RunOptions = {}): Promise<RunReport> => {
  const elapsed = stopwatch();
  const config = checkConfig(input);
  const asked = new RequestedData();
  const plots = new PlotRecorder();
  const failures = new Map<string, Failure>();
  const note = (failure: Failure): void => {
    failures.set(`${failure.kind} ${failure.name}`, failure);
  };
  const { engine, service, seed } = assemble(watchedBy(asked, plots, config), options, note);
  const promises = watchPromises();
  const unfollow = followPromises();
  try {
    const collector = createReportCollector(engine, service, config, asked, plots);
    const warms = checkWarmUp(service);
    const halts = lastHalt(engine);
    if (warms) engine.halt(warming);
    await started(engine, service);
    await played(service, collector, promises, options.onProgress, () => {
      // A halt for another reason is not lifted here.
      if (warms && halts.reason === warming && service.tradesAt < service.tape.endAt)
        engine.resume("the warm-up is over");
    });
    await engine.stop();
    const report = collector.report(String(seed), elapsed());
    return failures.size === 0 ? report : { ...report, failures: [...failures.values()] };
  } finally {
    promises.stop();
    // Actions of strategies at their end still run in their context.
    await engine.stop().finally(unfollow);
    service.simulated.feed.complete();
  }
};

/** Notes by name the market data that its strategies request and the values that they plot. */
const watchedBy = (asked: RequestedData, plots: PlotRecorder, config: CheckedConfig): CheckedConfig => ({
  ...config,
  strategies: config.strategies.map((strategy) => ({
    ...strategy,
    start: (context) =>
      strategy.start({
        ...context,
        market: asked.marketOf(strategy.name, context.market),
        plot: (name, value, place) => {
          plots.take(strategy.name, context.now(), name, value, place);
        },
      }),
  })),
});

const assemble = (
  config: CheckedConfig,
  { fixture, market, seed = config.seed, limits, print }: RunOptions,
  onFailure: (failure: Failure) => void,
) => {
  const spec = config.service as BacktestSpec;
  if (spec.kind !== "backtest" || typeof spec.openWith !== "function") {
    throw new SluiceError(
      "CONFIG_INVALID",
      `config.service is ${spec.kind}(…); a backtest needs service: backtest({ fixture: "…" }).`,
    );
  }
  let opened: OpenBacktest | undefined;
  const open = (env: ServiceEnv): OpenBacktest => {
    opened = spec.openWith(env, {
      ...(fixture === undefined ? {} : { fixture }),
      ...(market === undefined ? {} : { market }),
      ...(limits === undefined ? {} : { limits }),
    });
    return opened;
  };
  // A journal belongs to one engine at one service, and a recording is neither.
  const { journal: _, ...rest } = config;
  const engine = createEngine(
    { ...rest, seed, service: { kind: "backtest", open } },
    {
      limits: limits ?? spec.options.limits ?? true,
      followed: true,
      onFailure,
      ...(print === undefined ? {} : { print }),
    },
  );
  return { engine, service: opened as unknown as OpenBacktest, seed };
};

const warming = "the warm-up is not over";

/** Reason of the latest halt. */
const lastHalt = (engine: Engine): { readonly reason: string } => {
  const last = { reason: "" };
  engine.log.on(["mode.changed"], ({ reason }) => {
    last.reason = reason;
  });
  return last;
};

/** Throws where the warm-up leaves no time to trade. */
const checkWarmUp = ({ tape: { startAt, endAt }, tradesAt, cut = false }: OpenBacktest): boolean => {
  if (tradesAt === startAt || tradesAt < endAt || cut) return tradesAt > startAt;
  throw new SluiceError(
    "CONFIG_INVALID",
    `backtest options.warmUpMs: ${Math.round(tradesAt - startAt)} leaves nothing of a recording of ${Math.floor(endAt - startAt)} ms. Shorten the warm-up or take more of the recording.`,
  );
};

/** Turns the clock until the engine has read the service's state and started its strategies. */
const started = async (engine: Engine, { clock, tape }: OpenBacktest): Promise<void> => {
  await engine.load();
  let done = false;
  const start = engine.start().finally(() => {
    done = true;
  });
  // The promise is examined below. Until then a failure must not count as unhandled.
  start.catch(() => undefined);
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

const played = async (
  { clock, tape, tradesAt, simulated, history }: OpenBacktest,
  { begin, sample }: ReportCollector,
  promises: PromiseWatch,
  onProgress: RunOptions["onProgress"],
  trade: () => void,
): Promise<void> => {
  const player = createPlayer(tape, clock, simulated);
  history.follow(() => player.rowsDelivered);
  const playTo = async (untilAt: number, rows: number): Promise<boolean> => {
    // Starting may have left promises, and so may every step: they settle before the next one.
    await letPromisesSettle();
    promises.asked = false;
    return player.play(untilAt, rows, promises);
  };
  // The first rows give the market its prices. From then on holdings have a value, and no strategy has seen anything
  // yet.
  const first = rowsAtStart(tape);
  player.play(tape.startAt, first, {
    get asked() {
      return player.rowsApplied >= first;
    },
  });
  const beginsAt = Math.min(tradesAt, tape.endAt);
  while (beginsAt > tape.startAt && (await playTo(beginsAt, rowsPerTurn))) {
    // strategies see the market
  }
  begin();
  sample(beginsAt);
  trade();
  for (const untilAt of sampleTimes(beginsAt, tape.endAt)) {
    while (await playTo(untilAt, rowsPerTurn)) {
      // more to play before `untilAt`
    }
    const pnl = sample(clock.now());
    const { startAt, endAt } = tape;
    onProgress?.({ at: clock.now(), startAt, endAt, tradesAt: beginsAt, pnl, events: player.rowsApplied });
  }
  while (await playTo(tape.endAt + tailMs, rowsPerTurn)) {
    // what is under way comes back; orders stay as they are and are valued by the market
  }
  sample(clock.now());
};

const rowsAtStart = ({ series, startAt }: Tape): number =>
  series.reduce((count, { at }) => {
    const later = at.findIndex((time) => time > startAt);
    return count + (later < 0 ? at.length : later);
  }, 0);
