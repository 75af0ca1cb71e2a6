/**
 * `sluice ui [what...]`: running engines (ui-engines.ts), or a recorded run in the page of the control room, to be
 * played at any speed: a backtest, a session, a scenario of the simulation, or a file of events.
 *
 * Invariants: nothing is traded and nothing of the run is written; the page is reached from this machine alone, by the
 * link that is printed; with --json stdout holds one line and nothing else; it ends with Ctrl-C.
 * Not here: the played data (timeline.ts), the port (sluice/plugins/control-room).
 */

import { existsSync, statSync } from "node:fs";
import { basename, extname, join, resolve } from "node:path";
import type { Command } from "commander";
import { Subject } from "rxjs";
import { SluiceError } from "sluice";
import {
  type CliIo,
  checkConfig,
  createSystemClock,
  defineCommand,
  every,
  jsonText,
  loadConfigFile,
  loadRow,
  openFixture,
  packageVersion,
  printable,
  readContributions,
  seedOf,
  wholeFrom,
  wholeIn,
} from "sluice/extension";
import type { SourceKind } from "sluice/plugins/control-room";
import { playScenario, simulateBounds, simulateDefaults } from "sluice/plugins/simulate";
import type { PlayableRun, PlayableRuns } from "./playable-run.ts";
import type { Timeline } from "./timeline.ts";
import { isLink, showEngines } from "./ui-engines.ts";

interface Flags {
  readonly port: number;
  readonly fixture?: string;
  readonly seed?: number;
  readonly minutes: number;
  readonly json?: true;
  readonly links?: string;
}

const addUiCommand = (program: Command, io: CliIo): void => {
  program
    .command("ui")
    .description(
      "Open the page of the control room: for running engines, of several processes too, or to play a recorded run: a config's backtest, or a scenario of its simulation; a session; a file of events.",
    )
    .argument(
      "[what...]",
      "links of running engines; or a config file, folder of a session, or file with one event a line; the engines of this machine when left out",
    )
    .option("--links <file>", "file with links of running engines, one a line, open to you alone")
    .option("--port <n>", "port of the page on this machine; 0 takes a free one", wholeFrom(0, 65_535, "a port"), 0)
    .option("--fixture <dir>", "recorded market for the config's run, instead of its own")
    .option("--seed <n>", "with a config: play the simulated scenario of this seed, faults included", seedOf)
    .option(
      "--minutes <n>",
      "with --seed: minutes of market in it",
      wholeIn(simulateBounds.minutes),
      simulateDefaults.minutes,
    )
    .option("--json", "print one line of JSON when the page can be opened, and nothing else")
    .action((what: readonly string[], flags: Flags) => open(what, flags, io));
};

const open = async (what: readonly string[], flags: Flags, io: CliIo): Promise<void> => {
  const [path] = what;
  const isOfEngines = flags.links !== undefined || path === undefined || what.some(isLink);
  if (!isOfEngines && what.length === 1) return show(path, flags, io);
  if (!isOfEngines || !what.every(isLink))
    throw new SluiceError("USAGE", "ui: name links of running engines, or one recorded run.");
  if (flags.fixture !== undefined || flags.seed !== undefined)
    throw new SluiceError("USAGE", "ui: --fixture and --seed go with the config of a recorded run.");
  return showEngines(what, flags, io);
};

const show = async (path: string, flags: Flags, io: CliIo): Promise<void> => {
  const timeline = await timelineOf(path, flags, io);
  const [{ PlaybackSource }, { takePlace }] = await Promise.all([
    import("./playback-source.ts"),
    import("sluice/plugins/control-room"),
  ]);
  const clock = createSystemClock();
  const source = new PlaybackSource(timeline, clock);
  const ending = new Subject<never>();
  let leave = (): void => undefined;
  const asked = new Promise<void>((done, fail) => {
    leave = io.onStop(() => done());
    ending.subscribe({ error: fail });
  });
  const failed = (why: string): void =>
    ending.error(new SluiceError("ENGINE_STATE", `The control port has failed: ${why}`));
  const options = {
    port: flags.port,
    host: "127.0.0.1",
    names: [],
    behindProxy: false,
    readOnly: false,
    account: false,
  };
  const place = await takePlace(source, options, failed).catch((error: unknown) => {
    leave();
    source.end();
    throw error;
  });
  const beating = every(clock, beatMs).subscribe(() => place.beat());
  try {
    const { from, to } = timeline;
    if (flags.json === true) io.out(`${jsonText({ link: place.link, from, to })}\n`);
    else io.out(`Open ${place.link}\n${spanText(timeline)} Press Ctrl-C to close it.\n`);
    await asked;
  } finally {
    beating.unsubscribe();
    leave();
    source.end();
    await place.leave();
  }
};

const beatMs = 500;

const spanText = ({ from, to }: Timeline): string => {
  const minutes = (to - from) / 60_000;
  return `The run takes ${minutes < 2 ? `${Math.round(minutes * 60)} s` : `${Math.round(minutes)} min`} at its own speed.`;
};

const timelineOf = async (path: string, flags: Flags, io: CliIo): Promise<Timeline> => {
  const facts = (kind: SourceKind, of = "") => ({
    name: `${basename(resolve(path))}${of}`,
    kind,
    version: packageVersion(),
  });
  const entry = statSync(path, { throwIfNoEntry: false });
  if (entry === undefined)
    throw new SluiceError("USAGE", `There is no ${path}: name a config, the folder of a session, or a file of events.`);
  if (entry.isDirectory()) {
    return recordedTimeline(path, facts("session"));
  }
  if ([".ndjson", ".jsonl", ".json"].includes(extname(path))) {
    const [{ readEvents }, { timelineOfEvents }] = await Promise.all([
      import("./event-file.ts"),
      import("./event-timeline.ts"),
    ]);
    io.err(
      "Prices, books and the limits of the quota are not in a file of events, and not shown. A config's backtest or a session has more.\n",
    );
    return timelineOfEvents(facts("backtest"), await readEvents(path));
  }
  const { seed } = flags;
  if (seed === undefined) return backtested(path, flags, facts("backtest"), io);
  return simulated(path, seed, flags, facts("simulation", `, seed ${seed}`), io);
};

type Facts = Parameters<typeof import("./view-recorder.ts").createRunRecorder>[0];

/** The run that a plugin reads from this folder. */
const readRun = async (path: string): Promise<PlayableRun> => {
  const known = [...readContributions(process.cwd()).playableRuns.values()];
  const entry = known.find(({ file }) => existsSync(join(path, file)));
  if (entry === undefined)
    throw new SluiceError(
      "USAGE",
      `${path} holds no session: name the folder that \`sluice record\` has written, or the config of a backtest.`,
    );
  const reader = await loadRow<PlayableRuns>(
    entry,
    ({ kind, read }) => kind === "playable-runs" && read !== undefined,
    `${entry.module} exports no reader of runs. Write export default definePlayableRuns(…).`,
  );
  return reader.read(path);
};

const recordedTimeline = async (path: string, facts: Facts): Promise<Timeline> => {
  const [{ timelineOfEvents }, { RecordedQuota }] = await Promise.all([
    import("./event-timeline.ts"),
    import("./recorded-quota.ts"),
  ]);
  const { events, facts: of, quota, ...market } = await readRun(path);
  const strategies = of.strategies.map((one) => ({ ...one, user: one.user ?? of.users[0]?.uid ?? "" }));
  return timelineOfEvents(facts, events, { ...market, strategies, quota: new RecordedQuota(of, quota) });
};

const backtested = async (path: string, { fixture }: Flags, facts: Facts, io: CliIo): Promise<Timeline> => {
  const config = checkConfig(await loadConfigFile(path, { command: "backtest" }));
  const [{ createRunRecorder }, { runBacktest }] = await Promise.all([
    import("./view-recorder.ts"),
    import("sluice/backtest"),
  ]);
  const dir = fixture ?? (config.service as { readonly options?: { readonly fixture?: string } }).options?.fixture;
  const span = dir === undefined ? undefined : openFixture(dir).tape;
  const recorder = createRunRecorder(facts, span === undefined ? 0 : span.endAt - span.startAt);
  const report = await runBacktest(
    { ...config, plugins: [recorder.plugin] },
    { ...(fixture !== undefined && { fixture }) },
  );
  for (const failure of report.failures ?? [])
    io.err(`${printable(`${failure.kind} ${failure.name} failed: ${failure.message}`)}\n`);
  return filled(recorder.timeline(), path);
};

const simulated = async (
  path: string,
  seed: number,
  { minutes, fixture }: Flags,
  facts: Facts,
  io: CliIo,
): Promise<Timeline> => {
  const config = checkConfig(await loadConfigFile(path, { command: "simulate" }));
  const { createRunRecorder } = await import("./view-recorder.ts");
  const recorder = createRunRecorder(facts, minutes * 60_000);
  const violation = await playScenario({ ...config, plugins: [recorder.plugin] }, seed, {
    minutes,
    ...(fixture !== undefined && { fixture }),
  });
  if (violation !== undefined)
    io.err(`${printable(`Invariant violated: ${violation.invariant}: ${violation.text}`)}\n`);
  return filled(recorder.timeline(), path);
};

const filled = (timeline: Timeline, path: string): Timeline => {
  if (timeline.isEmpty)
    throw new SluiceError("FIXTURE_INVALID", `The run of ${path} holds no events that could be played.`);
  return timeline;
};

export default defineCommand("ui", addUiCommand);
