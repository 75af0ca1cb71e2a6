/**
 * `sluice recorder <config>`: records public market data of a config's service for days, as fixtures of an hour each.
 *
 * Invariants: it places no order and runs no strategy or plugin of the config; Ctrl-C ends it in order, with the last
 * fixture written; with --json stdout holds one sealed segment a line and nothing else.
 * Not here: what a recording is (market-recorder.ts), one engine's start and stop (`runEngine`).
 */
import { type Command, InvalidArgumentError } from "commander";
import { filter, firstValueFrom, NEVER, Subject, takeUntil } from "rxjs";
import {
  createEngine,
  defineStrategy,
  type Engine,
  type InstrumentRecord,
  type ServiceSpec,
  SluiceError,
} from "sluice";
import {
  type CheckedConfig,
  type CliIo,
  checkConfig,
  createSystemClock,
  defineCommand,
  didYouMean,
  duration,
  durationOf,
  jsonText,
  loadConfigFile,
  namesOf,
  printable,
  runEngine,
  secondsOf,
} from "sluice/extension";
import { isSharedQuota } from "sluice/plugins/shared-quota";
import type { MarketRecorder } from "./market-recorder.ts";
import type { StreamName } from "./market-rows.ts";
import type { RecordParts } from "./record-command.ts";
import type { SealedSegment } from "./segment-seal.ts";

/** Flags including those without a default. */
type GivenFlags = Flags & Required<Pick<Flags, "out" | "instruments">>;

interface Flags {
  readonly out?: string;
  readonly instruments?: readonly string[];
  readonly streams: readonly Omit<StreamName, "instId">[];
  readonly every: number;
  readonly keep?: number;
  readonly seconds?: number;
  readonly json?: true;
}

const hourMs = 3_600_000;

const addRecorderCommand = (program: Command, io: CliIo, parts: RecordParts = {}): void => {
  program
    .command("recorder")
    .description(
      "Record market data of many instruments for days, as fixtures of an hour each, for backtests and sweeps.",
    )
    .argument("<config>", "config file that names the service, such as config/testnet.ts")
    .option(
      "--instruments <ids>",
      "instruments, separated by commas; '*-USDT-SWAP' for all that are spelled so",
      namesOf,
    )
    .option(
      "--streams <kinds>",
      "trades, quotes, books, or bars by their length, such as 1m",
      streamsOf,
      streamsOf("trades,quotes"),
    )
    .option("--out <dir>", "folder of the recording; what it holds stays")
    .option("--every <length>", "length of a fixture, such as 15m, 1h or 1d", durationOf, hourMs)
    .option("--keep <length>", "remove fixtures that are older, such as 30d; all are kept when left out", durationOf)
    .option("--seconds <n>", "stop after this many seconds", secondsOf)
    .option("--json", "print each finished fixture as a line of JSON")
    .action((path: string, flags: Flags) => runRecorder(path, flags, io, parts));
};

const streamsOf = (text: string): Flags["streams"] =>
  namesOf(text).map((kind) => {
    if (kind === "trades" || kind === "quotes" || kind === "books") return { kind };
    if (/^\d+[smhd]$/.test(kind)) return { kind: "candles", barMs: durationOf(kind) };
    throw new InvalidArgumentError(`"${kind}" is none of trades, quotes, books and a bar's length such as 1m.`);
  });

const idle = defineStrategy({
  name: "recorder",
  options: { type: "object", additionalProperties: false, properties: {} },
  wanted: () => NEVER,
});

/**
 * The config's service and what concerns its connection; nothing that trades, and nothing that another process of it
 * holds.
 */
const onlyWatching = (
  { service, seed, instance, profile, quota: { layers }, plugins, freshness }: CheckedConfig,
  onBreak: (why: string) => void,
) => ({
  service: { ...service, open: (env) => service.open({ ...env, onBreak }) } satisfies ServiceSpec,
  ...{ seed, instance, profile, freshness },
  quota: { ...(layers && { layers }) },
  plugins: plugins.filter(isSharedQuota),
  strategies: [idle({})],
});

const runRecorder = async (
  path: string,
  flags: Flags,
  io: CliIo,
  { clock = createSystemClock() }: RecordParts,
): Promise<void> => {
  const { out, instruments: asked, seconds } = flags;
  if (out === undefined) throw new SluiceError("USAGE", "--out is missing: name the folder of the recording.");
  if (asked === undefined || asked.length === 0)
    throw new SluiceError(
      "USAGE",
      "--instruments is missing: name some, such as --instruments BTC-USDT-SWAP,ETH-USDT-SWAP or '*-USDT-SWAP'.",
    );
  const config = checkConfig(await loadConfigFile(path, { command: "run", clock }));
  const onBreak = (why: string): void => recording.cut(why);
  const engine = createEngine(onlyWatching(config, onBreak));
  const recording = new Recording(engine, config, { ...flags, out, instruments: asked }, io);
  const progress = (): string => recording.text(seconds);
  const started = (): void => recording.begin();
  await runEngine(engine, { io, clock, seconds, progress, started, stop: () => recording.end() });
  if (recording.failure !== undefined) throw recording.failure;
  io.err(`${printable(recording.summary())}\n`);
};

class Recording {
  failure: unknown;
  readonly #engine: Engine;
  readonly #config: CheckedConfig;
  readonly #flags: GivenFlags;
  readonly #io: CliIo;
  #recorder: MarketRecorder | undefined;
  readonly #ending = new Subject<void>();
  #beginning: Promise<void> = Promise.resolve();
  #begunAt = 0;
  #segments = 0;

  constructor(engine: Engine, config: CheckedConfig, flags: GivenFlags, io: CliIo) {
    this.#engine = engine;
    this.#config = config;
    this.#flags = flags;
    this.#io = io;
  }

  begin(): void {
    this.#beginning = this.#begin().catch((error: unknown) => this.#fail(error));
  }

  async end(): Promise<void> {
    this.#ending.next();
    await this.#beginning;
    await this.#recorder?.stop().catch((error: unknown) => this.#fail(error));
    await this.#engine.stop();
  }

  cut(why: string): void {
    this.#recorder?.cut(why);
  }

  text(seconds: number | undefined): string {
    const recorder = this.#recorder;
    if (recorder === undefined) return "waiting for the service";
    const elapsedMs = this.#engine.service.clock.now() - this.#begunAt;
    const left = seconds === undefined ? "" : `, ${duration(Math.max(0, seconds * 1_000 - elapsedMs))} left`;
    return `recording for ${duration(elapsedMs)}${left}: ${this.#counts(recorder)}`;
  }

  summary(): string {
    const recorder = this.#recorder;
    if (recorder === undefined) return "Nothing was recorded.";
    const { out } = this.#flags;
    return `${this.#counts(recorder)} in ${out}. List them with: sluice data ls ${out}`;
  }

  #counts({ rows, gaps }: MarketRecorder): string {
    return `${rows} rows, ${this.#segments} fixtures, ${gaps} gaps`;
  }

  async #begin(): Promise<void> {
    const { out, streams, every: segmentMs, keep } = this.#flags;
    const engine = this.#engine;
    const { clock, market } = engine.service;
    const first = await firstValueFrom(
      engine.instruments$.pipe(
        filter(({ stale }) => !stale),
        takeUntil(this.#ending),
      ),
      {
        defaultValue: undefined,
      },
    );
    if (first === undefined) return;
    const { value: listed } = first;
    const instruments = chosen(this.#flags.instruments, listed);
    const { MarketRecorder: Recorder } = await import("./market-recorder.ts");
    const recorder = await Recorder.start({
      dir: out,
      clock,
      market,
      instruments: instruments.map(({ instId, tickSize, lotSize }) => ({ instId, tickSize, lotSize })),
      streams: instruments.flatMap(({ instId }) => streams.map((stream) => ({ ...stream, instId }))),
      source: `recorded from ${[this.#config.service.kind, this.#config.service.baseUrl].filter(Boolean).join(" ")}`,
      segmentMs,
      ...(keep !== undefined && { keepMs: keep }),
      onSealed: (segment) => this.#tell(segment),
      onFailed: (error) => this.#fail(error),
    });
    this.#begunAt = clock.now();
    this.#recorder = recorder;
    engine.log.on(["engine.stalled"], () => recorder.cut("the process did not run"));
  }

  /** The first one counts; the engine is ended for it. */
  #fail(error: unknown): void {
    if (this.failure !== undefined) return;
    this.failure = error;
    void this.#engine.stop();
  }

  #tell(segment: SealedSegment): void {
    if (segment.fixture !== "") this.#segments++;
    if (this.#flags.json === true) this.#io.out(`${jsonText(segment)}\n`);
  }
}

/** Instruments under the names asked for; a name without a match is refused. */
const chosen = (
  asked: readonly string[],
  listed: ReadonlyMap<string, InstrumentRecord>,
): readonly InstrumentRecord[] => {
  const found = new Map<string, InstrumentRecord>();
  for (const name of asked) {
    const pattern = new RegExp(`^${name.split("*").map(escaped).join(".*")}$`);
    const some = [...listed.values()].filter(({ instId }) => pattern.test(instId));
    for (const one of some) found.set(one.instId, one);
    if (some.length === 0) {
      const known = [...listed.keys()];
      throw new SluiceError(
        "USAGE",
        `--instruments: the service lists nothing spelled "${name}".${didYouMean(name, known)}`,
      );
    }
  }
  return [...found.values()];
};

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

export default defineCommand("recorder", addRecorderCommand);
