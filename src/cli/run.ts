/**
 * `sluice run <config>`: runs the strategies of a config in real time until it is stopped.
 *
 * Invariants: with --json stdout holds one event a line and nothing else; nothing is opened on mainnet without
 * --mainnet; the engine is stopped in order (engine-run.ts); open and unknown orders are listed at the end. With a
 * standby in the config the command becomes a standby when another process has taken the lead.
 * Not here: the engine (engine/engine.ts), the output (run-screen.ts), counts of orders (run-orders.ts).
 */
import { type Command, Option } from "commander";
import { checkEnvironment, placeOf } from "../client/live/live-place.ts";
import type { LiveSpec } from "../client/live/live-service.ts";
import type { ServiceEnv } from "../client/service-port.ts";
import type { Clock } from "../clock/clock.ts";
import { createSystemClock } from "../clock/system-clock.ts";
import { createContract } from "../contract/contract.ts";
import type { Profile } from "../contract/profile.ts";
import type { Engine, EngineOptions } from "../engine/engine.ts";
import { SluiceError } from "../errors.ts";
import { profileIn } from "../host/config.ts";
import { failureText } from "../host/failure.ts";
import { loadConfigFile } from "../host/load.ts";
import type { RunOption } from "./define-run-option.ts";
import { endings, runToEnd } from "./engine-run.ts";
import { failWith, haltAdvice, isSteered, remedyOf } from "./halts.ts";
import { type CliIo, inkOf, printable } from "./io.ts";
import { namesOf, secondsOf } from "./option-values.ts";
import { type Contributed, loadRow, type RunOptionEntry, readContributions } from "./plugin-manifest.ts";
import { addPluginOption, addReportExporters, type ReportFile } from "./plugin-options.ts";
import { Reachability } from "./reachability.ts";
import { createRunOrders, type RunOrders, withUnits } from "./run-orders.ts";
import { closingText, createTally } from "./run-progress.ts";
import { type Screen, screenOf } from "./run-screen.ts";
import { hasStandby, type ShownEngine, standsBy, watchEvents, watchStandby, watchState } from "./run-watch.ts";
import { listenForStop, type Stopping } from "./shutdown-signals.ts";

/** The part of an engine a command needs; its events complete when it has stopped. */
interface RunningEngine extends Pick<Engine, "start">, ShownEngine {
  /** `settleMs`: how long to look for orders whose outcome is not known before leaving them. */
  stop(options?: { readonly cancel?: boolean; readonly settleMs?: number }): Promise<void>;
}

type CreateEngine = (config: unknown, options: EngineOptions) => RunningEngine;

export interface RunParts {
  readonly createEngine?: CreateEngine;
  readonly clock?: Clock;
  /** Parts that options of plugins take, for tests. */
  readonly [part: string]: unknown;
}

interface Flags {
  readonly seconds?: number;
  readonly mainnet?: true;
  readonly iTestedThis?: true;
  readonly cancel?: true;
  readonly keep?: true;
  readonly resume?: true;
  readonly acceptLimits?: string;
  readonly resetRiskCounters?: true;
  readonly resetRiskCountersOf?: readonly string[];
  readonly trades?: string;
  readonly json?: true;
}

export const addRunCommand = (program: Command, io: CliIo, parts: RunParts = {}): void => {
  const { runOptions: options, exporters } = readContributions(process.cwd());
  const command = program
    .command("run")
    .description(
      "Run the strategies of a config on real time, against the embedded service (paper) or a live one, until Ctrl-C.",
    )
    .argument("<config>", "config file, such as config/paper.ts")
    .option("--seconds <n>", "stop after this many seconds", secondsOf)
    .option("--mainnet", "trade with real money: needed where the config's service is mainnet")
    .option(
      "--i-tested-this",
      "on mainnet, in a dialect that has not traded at the exchange itself: confirm that you tested it there",
    )
    .addOption(new Option("--cancel", "cancel resting orders when stopping").conflicts("keep"))
    .option("--keep", "let resting orders stay when stopping (default)")
    .option("--resume", "resume trading after a halt in a previous run of this journal")
    .option("--accept-limits <mark>", "accept risk limits wider than the previous run's; the refusal names the mark")
    .option(
      "--reset-risk-counters",
      "count positions and losses from now on, without the previous runs of this journal",
    )
    .addOption(
      new Option("--reset-risk-counters-of <instIds>", "the same for some instruments, with commas")
        .argParser(namesOf)
        .conflicts("resetRiskCounters"),
    )
    .option(
      "--trades <file>",
      "write the trades from flat to flat as CSV at the end, the last 20,000 of each strategy and instrument",
    )
    .option("--json", "print every event as a line of JSON; the report then goes to stderr");
  const exportersOf = addReportExporters(command, exporters);
  for (const [name, entry] of options) addPluginOption(command, `runOptions.${name}`, entry);
  command.action(async (path: string, flags: Flags) => {
    const given = await givenOptions(options, flags);
    await run({ path, flags, io, parts, options: given, exported: await exportersOf(flags) });
  });
};

/** Options of plugins that the command line gives, with their values. */
const givenOptions = async (
  options: ReadonlyMap<string, Contributed<RunOptionEntry>>,
  flags: Flags,
): Promise<readonly GivenOption[]> => {
  const given = [...options].filter(([name]) => givenValue(flags, name) !== undefined);
  return Promise.all(
    given.map(
      async ([name, entry]): Promise<GivenOption> => ({
        option: await loadRow<RunOption>(
          entry,
          ({ kind }) => kind === "run-option",
          `runOptions.${name}.module: ${entry.module} does not export an option. Write export default defineRunOption(…).`,
        ),
        value: givenValue(flags, name),
      }),
    ),
  );
};

const givenValue = (flags: object, name: string): unknown => (flags as Readonly<Record<string, unknown>>)[name];

interface GivenOption {
  readonly option: RunOption;
  readonly value: unknown;
}

const settleMs = 10_000;
/** Time to settle before the hand-over: unknown orders are in the journal, and the next leader resolves them. */
const handOverMs = 500;

interface Called {
  readonly path: string;
  readonly flags: Flags;
  readonly io: CliIo;
  readonly parts: RunParts;
  readonly options: readonly GivenOption[];
  /** Files of the report that plugins write. */
  readonly exported: readonly ReportFile[];
}

const run = async ({ path, flags, io, parts, options, exported }: Called): Promise<void> => {
  const { clock = createSystemClock() } = parts;
  const loaded = withDecisions(await loadConfigFile(path, { command: "run", clock }), flags);
  const named = withWord(loaded as object, flags);
  const { service } = named as { readonly service?: unknown };
  if (flags.mainnet === undefined) checkEnvironment(service, "testnet", mainnetMessage);
  const config = options.reduce<object>(
    (before, { option, value }) => option.configure(before, value, { ...flags }),
    named,
  );
  const screen = screenOf(io, flags.json === true);
  for (const line of forgetful(config)) screen.note(line);
  const stopping = listenForStop(io);
  try {
    const ends = {
      path,
      flags,
      io,
      parts,
      options,
      exported,
      clock,
      config,
      screen,
      stopping,
      until: clock.now() + (flags.seconds ?? Number.POSITIVE_INFINITY) * 1_000,
    };
    // Another process has taken the lead: this one is a standby from then on.
    while ((await runOnce(ends)) === "deposed");
  } finally {
    stopping.end();
  }
};

interface OneRun extends Called {
  readonly clock: Clock;
  readonly config: object;
  readonly screen: Screen;
  readonly stopping: Stopping;
  /** Instant at which it ends by itself. */
  readonly until: number;
}

/** One engine, from its start to its end. */
const runOnce = async ({
  path,
  flags,
  io,
  parts,
  options,
  exported,
  clock,
  config,
  screen,
  stopping,
  until,
}: OneRun): Promise<"deposed" | "done"> => {
  const { service } = config as { readonly service?: unknown };
  const createEngine = parts.createEngine ?? (await engineMaker());
  const engine = createEngine(config, {
    print: (line) => screen.note(printable(line)),
    onFailure: (failure) => screen.note(failureText(failure).split("\n").map(printable).join("\n")),
  });
  const tally = createTally(clock.now(), remedyOf(config));
  const orders = createRunOrders();
  const reach = new Reachability(printable(placeOf(service)?.baseUrl ?? "the service"));
  const watching = watchEvents(
    engine,
    tally,
    orders,
    reach,
    asShown(screen, createContract(profileIn(config)).profile, service, flags),
    (now) => haltAdvice(now, path, isSteered(config), engine.health?.().group?.resumeWith),
  );
  const surroundings = { path, config, clock, note: (text: string) => screen.note(text), parts };
  for (const { option } of options) watching.add(option.beside?.(engine, surroundings));
  const { reportOf } = await import("./run-report.ts");
  const reporter = reportOf(engine, config, placeOf(service)?.baseUrl, { ...flags, exported }, clock);
  watching.add(watchStandby(engine, tally, screen, clock));
  let isDeposed = false;
  watching.add(engine.events$.subscribe(({ type }) => (isDeposed ||= type === "standby.lost")));
  let unread = false;
  try {
    await runToEnd({
      engine,
      stopping,
      clock,
      seconds: Number.isFinite(until) ? Math.max(0, until - clock.now()) / 1_000 : undefined,
      standsBy: () => standsBy(engine),
      started: () => {
        reporter.begin();
        watching.add(watchState(engine, tally, reach, screen, clock));
      },
      ending: (reason) => {
        unread = reason === "unread";
        if (!unread && !isDeposed) screen.note(`Stopping: ${endings[reason]}.`);
        tally.stopping = true;
      },
      stop: () => engine.stop({ cancel: flags.cancel === true, settleMs: hasStandby(engine) ? handOverMs : settleMs }),
    });
  } finally {
    watching.unsubscribe();
    const policy = flags.cancel === true ? "cancel" : "keep";
    for (const line of orders.closingLines(policy, placeOf(service)?.baseUrl, path)) screen.note(line);
    reporter.close();
    const ended = unread ? undefined : await reporter.end(io);
    screen.close(unread ? "" : `${ended?.text ?? ""}${closingText(tally, clock.now(), inkOf(io))}`);
    for (const file of ended?.written ?? []) screen.note(printable(`Wrote ${file}.`));
  }
  if (isDeposed) return "deposed";
  failWithLeft(orders, flags, placeOf(service)?.baseUrl);
  failWith(tally, "Failed while running:");
  return "done";
};

/** A run that was to cancel its orders and could not confirm it has failed; the embedded service ends with the run. */
const failWithLeft = ({ left }: RunOrders, { cancel }: Flags, baseUrl: string | undefined): void => {
  if (cancel !== true || baseUrl === undefined || left === 0) return;
  const many = left === 1 ? "1 order" : `${left} orders`;
  const text = `${many} could not be confirmed as canceled and may still be open at ${printable(baseUrl)}. Look at the service, or run with --cancel once more.`;
  throw new SluiceError("ORDERS_LEFT", text);
};

/** The config with its user's word for a dialect that was not tried; refuses to trade real money in one without it. */
const withWord = (config: { readonly service?: unknown }, { iTestedThis, mainnet }: Flags): object => {
  const service = config.service as Partial<LiveSpec> | undefined;
  if (service?.untried === undefined || service.open === undefined) return config;
  const { open, untried } = service;
  if (iTestedThis === true)
    return { ...config, service: { ...service, open: (env: ServiceEnv) => open({ ...env, iTestedThis }) } };
  if (mainnet === undefined || service.environment !== "mainnet") return config;
  throw new SluiceError(
    "USAGE",
    `config.service uses the dialect ${untried}, which has not been tested at the exchange itself. Trade with it on the exchange's demo first, then add --i-tested-this.`,
  );
};

/** The command's flags that concern the journal of previous runs, laid over the config's. */
const withDecisions = <T>(config: T, { resume, acceptLimits, resetRiskCounters, resetRiskCountersOf }: Flags): T => {
  const reset = resetRiskCounters ?? resetRiskCountersOf;
  if (resume === undefined && acceptLimits === undefined && reset === undefined) return config;
  const { journal } = config as { readonly journal?: object };
  if (journal === undefined)
    throw new SluiceError(
      "USAGE",
      "--resume, --accept-limits and --reset-risk-counters apply to a journal, and this config has none. Add `journal: { dir: … }`, or leave them out.",
    );
  const decisions = {
    ...(resume && { resume }),
    ...(acceptLimits !== undefined && { acceptLimits }),
    ...(reset !== undefined && { resetRiskCounters: reset }),
  };
  return { ...config, journal: { ...journal, ...decisions } };
};

const lasting = ["positionPerStrategy", "positionInAll", "lossPerStrategy", "lossInAll"] as const;

/** Limits that a later run should go on with, and cannot. */
const forgetful = (config: unknown): readonly string[] => {
  const {
    service,
    orders = {},
    journal,
  } = config as { service?: unknown; orders?: Readonly<Record<string, unknown>>; journal?: unknown };
  const names = lasting.filter((name) => orders[name] !== undefined);
  if (journal !== undefined || placeOf(service) === undefined || names.length === 0) return [];
  return [`Without config.journal each run counts ${names.map((name) => `orders.${name}`).join(", ")} from nothing.`];
};

const mainnetMessage =
  "config.service is mainnet: orders would cost real money. Add --mainnet when you mean it, or point the config at the testnet.";

/** Text output names the unit of a quantity, and the end of orders that were kept; JSON has the event unchanged. */
const asShown = (screen: Screen, profile: Profile, service: unknown, { json }: Flags): Screen => {
  const isEmbedded = placeOf(service) === undefined;
  return {
    ...screen,
    event: (event, text) => {
      if (json === true) screen.event(event);
      else if (event.type === "engine.stopped" && isEmbedded) screen.event({ ...event, reason: embeddedEnds });
      else screen.event(withUnits(event, profile), text);
    },
  };
};

const embeddedEnds = "the embedded service ends with this process, and its orders with it";

const engineMaker = async (): Promise<CreateEngine> => (await import("../engine/engine.ts")).createEngine;
