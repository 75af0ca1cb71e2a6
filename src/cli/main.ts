/**
 * The command line: which commands exist, and how each ending becomes an exit code and one message.
 *
 * Invariants: 0 done, 1 failed, 2 wrong usage or config; a failure is one message on stderr without a stack, unless
 * SLUICE_DEBUG is set; only the last lines touch the process, so that tests can run commands as functions.
 * Not here: what a command does (one file each), the loader for TypeScript (sluice.mjs).
 */
import { readFileSync, realpathSync } from "node:fs";
import { basename } from "node:path";
import { Command, CommanderError } from "commander";
import { didYouMean, errorCodes, isSluiceError } from "../errors.ts";
import { addBacktestCommand, type BacktestParts } from "./backtest.ts";
import { addCheckCommand, type CheckParts } from "./check.ts";
import { addCompareCommand } from "./compare.ts";
import { addDoctorCommand, type DoctorParts } from "./doctor.ts";
import { addGenerateCommand } from "./generate.ts";
import { addGuardCommand } from "./guard.ts";
import { addImportCommand } from "./import.ts";
import { type CliIo, colourOf, inkOf, printable, processIo } from "./io.ts";
import { addRecordCommand, type RecordParts } from "./record.ts";
import { addReplayCommand } from "./replay.ts";
import { addRunCommand, type RunParts } from "./run.ts";
import { addSimulateCommand } from "./simulate.ts";
import { addSweepCommand, type SweepParts } from "./sweep.ts";
import { addVenueCommand, type VenueParts } from "./venue.ts";
import { addWatchdogCommand, type WatchdogParts } from "./watchdog.ts";

export type ExitCode = 0 | 1 | 2;

/** What the commands stand on; tests hand in their own. */
export type CliParts = BacktestParts & CheckParts & DoctorParts & RecordParts & RunParts & SweepParts & VenueParts & WatchdogParts;

/** Runs `argv` (without the program's own name) and gives the exit code. Never throws. */
export const main = async (argv: readonly string[], io: CliIo, parts: CliParts = {}): Promise<ExitCode> => {
  const program = programOf(io, parts);
  try {
    await program.parseAsync(argv, { from: "user" });
    return 0;
  } catch (error) {
    return error instanceof CommanderError ? explainUsage(error, argv, program, io) : explain(error, io);
  }
};

const programOf = (io: CliIo, parts: CliParts): Command => {
  const program = new Command("sluice")
    .description("Automated trading in which the API quota is a safety resource: run strategies, or replay them against recorded markets.")
    .version(versionText(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help, or that of a command")
    .helpCommand("help [command]", "print the help of a command")
    .allowExcessArguments(false)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => {
        io.out(text);
      },
      // Its messages arrive as errors below and are said there, once.
      writeErr: () => {},
      getOutHelpWidth: () => io.columns,
      getErrHelpWidth: () => io.columns,
      getOutHasColors: () => colourOf(io),
      getErrHasColors: () => colourOf(io),
    });
  addBacktestCommand(program, io, parts);
  addRunCommand(program, io, parts);
  addWatchdogCommand(program, io, parts);
  addDoctorCommand(program, io, parts);
  addRecordCommand(program, io, parts);
  addReplayCommand(program, io);
  addSweepCommand(program, io, parts);
  addCompareCommand(program, io);
  addGuardCommand(program, io);
  addImportCommand(program, io);
  addGenerateCommand(program, io);
  addVenueCommand(program, io, parts);
  addCheckCommand(program, io, parts);
  addSimulateCommand(program, io);
  program.addHelpText(
    "after",
    "\nExit codes: 0 done, 1 failed, 2 wrong usage or config.\nSLUICE_DEBUG=1 adds stacks to messages; NO_COLOR=1 takes colour away.",
  );
  return program;
};

/** Read at run time, so that the one number in package.json is the truth for source and build alike. */
const versionText = (): string => {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  return String((manifest as { version: unknown }).version);
};

const explain = (error: unknown, io: CliIo): ExitCode => {
  say(io, error instanceof Error ? error.message : `${String(error)} was thrown`);
  if (io.env("SLUICE_DEBUG") === "1") io.err(`${error instanceof Error ? (error.stack ?? "") : ""}\n`);
  else if (!isSluiceError(error)) io.err("Set SLUICE_DEBUG=1 to see where it happened.\n");
  return isSluiceError(error) ? exitCodeOf(errorCodes[error.code]) : 1;
};

const exitCodeOf = (row: (typeof errorCodes)[keyof typeof errorCodes] | undefined): ExitCode =>
  row?.fix === "config" || row?.fix === "usage" ? 2 : 1;

const explainUsage = (error: CommanderError, argv: readonly string[], program: Command, io: CliIo): ExitCode => {
  if (error.exitCode === 0) return 0;
  const names = program.commands.map((command) => command.name());
  const [first, second] = argv;
  if (error.code !== "commander.help") {
    say(io, error.message.replace(/^error: /, "").replace(/\n\((Did you mean .*)\)$/, ". $1"));
    io.err(`See: sluice ${first !== undefined && names.includes(first) ? `${first} ` : ""}--help\n`);
  } else if (first === "help" && second !== undefined) {
    say(io, `unknown command '${second}'.${didYouMean(second, names)}`);
  } else {
    io.err(program.helpInformation({ error: true }));
  }
  return 2;
};

const say = (io: CliIo, message: string): void => {
  const lines = message.split("\n").map(printable).join("\n");
  io.err(`${inkOf(io).red("error:")} ${lines}\n`);
};

/** True in the process that sluice.mjs started, by whatever link; false where this file is merely imported. */
const isStarted = (script: string | undefined): boolean => script !== undefined && basename(realpathSync(script)) === "sluice.mjs";

if (isStarted(process.argv[1])) {
  process.exitCode = await main(process.argv.slice(2), processIo());
  // A timer some loaded file left behind must not hold the command; what was written must still arrive.
  process.stdout.write("", () => process.exit());
}
