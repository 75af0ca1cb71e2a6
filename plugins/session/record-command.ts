/**
 * `sluice record <config>`: runs the strategies of a config like `sluice run` and records the session.
 *
 * Invariants: with --json stdout holds one event a line and nothing else; the engine is stopped in order (`runEngine`);
 * what was recorded is finished also when stopping is abandoned or a strategy failed.
 * Not here: what a session is (session-records.ts), how it is recorded (recorded-engine.ts).
 */
import type { Command } from "commander";
import { SluiceError } from "sluice";
import {
  type CliIo,
  type Clock,
  createSystemClock,
  defineCommand,
  duration,
  loadConfigFile,
  printable,
  type RunCounts,
  runEngine,
  secondsOf,
} from "sluice/extension";

export interface RecordParts {
  readonly clock?: Clock;
}

interface Flags {
  readonly out?: string;
  readonly finish?: string;
  readonly seconds?: number;
  readonly json?: true;
}

const addRecordCommand = (program: Command, io: CliIo, parts: RecordParts = {}): void => {
  program
    .command("record")
    .description(
      "Run the strategies of a config on real time and record the session, for `sluice replay` and backtests.",
    )
    .argument("[config]", "config file, such as config/paper.ts")
    .option("--out <dir>", "new folder for the session")
    .option("--seconds <n>", "stop after this many seconds", secondsOf)
    .option("--finish <dir>", "instead: end a session that was cut off, and write its market data")
    .option("--json", "print every event as a line of JSON")
    .action((path: string | undefined, flags: Flags) => {
      if (flags.finish !== undefined) return finish(flags.finish, io);
      if (path === undefined)
        throw new SluiceError(
          "USAGE",
          "record: name a config file, such as `sluice record config/paper.ts --out out/session`.",
        );
      if (flags.out === undefined)
        throw new SluiceError("USAGE", "record: name a new folder for the session with --out DIR.");
      return record(path, flags.out, flags, io, parts);
    });
};

const record = async (path: string, dir: string, flags: Flags, io: CliIo, parts: RecordParts): Promise<void> => {
  const { clock = createSystemClock() } = parts;
  // The config is loaded as for `run`, as that is what is recorded.
  const config = await loadConfigFile(path, { command: "run", clock });
  const [{ recordEngine }, { createSessionFile }] = await Promise.all([
    import("./recorded-engine.ts"),
    import("./session-file.ts"),
  ]);
  const note = (line: string): void => {
    io.err(`${printable(line)}\n`);
  };
  const engine = recordEngine(config, (facts) => createSessionFile(dir, facts), { configPath: path, print: note });
  const run = {
    ...{ io, clock, seconds: flags.seconds },
    progress: (counts: RunCounts) => recordingText(counts, clock.now() - counts.startedAt, flags.seconds),
    events: { config, json: flags.json === true, failed: "Failed while recording:" },
  };
  try {
    await runEngine(engine, run);
  } finally {
    await finish(dir, io);
  }
};

const recordingText = (
  { placed, filled, canceled }: RunCounts,
  elapsedMs: number,
  seconds: number | undefined,
): string => {
  const left = seconds === undefined ? "" : `, ${duration(Math.max(0, seconds * 1_000 - elapsedMs))} left`;
  return `recording for ${duration(elapsedMs)}${left}: ${placed} orders placed, ${filled} filled, ${canceled} canceled`;
};

/** Completes the file where its end is missing, writes the market data next to it and prints a summary. */
const finish = async (dir: string, io: CliIo): Promise<void> => {
  const [{ finishSession, readSession }, { ensureMarket }] = await Promise.all([
    import("./session-file.ts"),
    import("./market-fixture.ts"),
  ]);
  const before = readSession(dir);
  for (const line of before.notes) io.err(`${printable(line)}\n`);
  finishSession(dir);
  const session = readSession(dir);
  const manifest = ensureMarket(session);
  const { entries = 0, outputs = 0 } = session.end ?? {};
  io.err(
    `Recorded ${entries} entries and ${outputs} outputs to ${printable(dir)}. Replay them with: sluice replay ${printable(dir)}\n`,
  );
  io.err(
    manifest === undefined
      ? "No market data was received, so there is nothing for a backtest.\n"
      : `${manifest.rows} rows of market data: sluice backtest <config> --fixture ${printable(dir)}\n`,
  );
};

export default defineCommand("record", addRecordCommand);
