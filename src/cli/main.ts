/**
 * Entry point of the command line: the commands, and the exit code and message for each ending.
 *
 * Invariants: 0 done, 1 failed, 2 wrong usage or config, 3 trading is halted, 130 stopped; a failure is one message on
 * stderr without a stack, unless SLUICE_DEBUG is set; only the last lines touch the process, so that tests can run
 * commands as functions; only the requested command is loaded.
 * Not here: what a command does (one file each), the loader for our own sources (sluice.mjs).
 */
import { closeSync, realpathSync } from "node:fs";
import { basename } from "node:path";
import { Command, CommanderError } from "commander";
import { didYouMean, errorCodes, isSluiceError } from "../errors.ts";
import { packageVersion } from "../host/plugin-requirements.ts";
import { needsLoader } from "../host/worker-start.ts";
import type { BacktestParts } from "./backtest.ts";
import type { CloseParts } from "./close.ts";
import { coreRows, presentCommands } from "./command-help.ts";
import type { CliCommand } from "./define-command.ts";
import type { InitParts } from "./init.ts";
import { type CliIo, colourOf, inkOf, printable, processIo } from "./io.ts";
import {
  type CommandEntry,
  type Contributed,
  type Contributions,
  loadRow,
  readContributions,
} from "./plugin-manifest.ts";
import type { RunParts } from "./run.ts";

export type ExitCode = 0 | 1 | 2 | 3 | 130;

/** Parts that the commands use; tests pass their own. */
export type CliParts = BacktestParts & CloseParts & InitParts & RunParts & { readonly [part: string]: unknown };

/** Runs `argv` (without the program's own name) and gives the exit code. Never throws. */
export const main = async (
  argv: readonly string[],
  io: CliIo,
  parts: CliParts = {},
  contributions = contributionsOf(process.cwd()),
): Promise<ExitCode> => {
  let program: Command;
  try {
    program = await programOf(argv, io, parts, { contributions });
  } catch (error) {
    return explain(error, io);
  }
  try {
    await program.parseAsync(argv, { from: "user" });
    return 0;
  } catch (error) {
    return error instanceof CommanderError ? explainUsage(error, argv, program, io) : explain(error, io);
  }
};

/** Reads the manifests of plugins when they are first needed, and once. */
const contributionsOf = (folder: string): (() => Contributions) => {
  let read: Contributions | undefined;
  return () => (read ??= readContributions(folder));
};

type AddCommand = (program: Command, io: CliIo, parts: CliParts) => void;

/**
 * In the order of the help within each group (command-help.ts). A command's file is loaded when it is called, so that a
 * restart does not wait for the others.
 */
const commands: ReadonlyMap<string, () => Promise<AddCommand>> = new Map<string, () => Promise<AddCommand>>([
  ["init", async () => (await import("./init.ts")).addInitCommand],
  ["backtest", async () => (await import("./backtest.ts")).addBacktestCommand],
  ["run", async () => (await import("./run.ts")).addRunCommand],
  ["health", async () => (await import("./health.ts")).addHealthCommand],
  ["close", async () => (await import("./close.ts")).addCloseCommand],
  ["options", async () => (await import("./describe-options.ts")).addOptionsCommand],
  ["generate", async () => (await import("./generate.ts")).addGenerateCommand],
]);

type PluginCommand = Contributed<CommandEntry>;

const loadCommand = async (name: string, plugins: ReadonlyMap<string, PluginCommand>): Promise<AddCommand> => {
  const core = commands.get(name);
  if (core !== undefined) return core();
  const entry = plugins.get(name) as PluginCommand;
  const command = await loadRow<CliCommand>(
    entry,
    (value) => value.kind === "command" && value.name === name && value.add !== undefined,
    `commands.${name}.module: ${entry.module} does not export this command. Write export default defineCommand("${name}", …).`,
  );
  return command.add;
};

/** The word of `argv` that names a command, also in `help <command>`. */
const commandWord = ([first = "", second = ""]: readonly string[]): string => (first === "help" ? second : first);

interface ProgramOptions {
  /** Loads every command. */
  readonly all?: boolean;
  readonly contributions?: () => Contributions;
}

/**
 * The command line before anything is parsed. The command that `argv` names is loaded, or all of them with `all`; the
 * others are listed from their rows alone.
 */
export const programOf = async (
  argv: readonly string[],
  io: CliIo,
  parts: CliParts,
  { all = false, contributions = contributionsOf(process.cwd()) }: ProgramOptions = {},
): Promise<Command> => {
  const program = new Command("sluice")
    .description(
      "Automated trading in which the API quota is a safety resource: run strategies, or replay them against recorded markets.",
    )
    .version(packageVersion(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help, or that of a command")
    .helpCommand("help [command]", "print the help of a command")
    .allowExcessArguments(false)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => {
        io.out(text);
      },
      // Its messages arrive as errors below and are printed there, once.
      writeErr: () => {},
      getOutHelpWidth: () => io.columns,
      getErrHelpWidth: () => io.columns,
      getOutHasColors: () => colourOf(io),
      getErrHasColors: () => colourOf(io),
    });
  const word = commandWord(argv);
  const plugins = commands.has(word) && !all ? new Map<string, PluginCommand>() : contributions().commands;
  const known = [...new Set([...commands.keys(), ...plugins.keys()])];
  for (const name of known.includes(word) && !all ? [word] : known) {
    if (name === word || all) (await loadCommand(name, plugins))(program, io, parts);
    else program.command(name);
  }
  presentCommands(program, { ...Object.fromEntries(plugins), ...coreRows });
  program.addHelpText(
    "after",
    "\nExit codes: 0 done, 1 failed, 2 wrong usage or config, 3 trading is halted, 130 stopped by Ctrl-C.\nSLUICE_DEBUG=1 adds stacks to messages; NO_COLOR=1 takes colour away.",
  );
  return program;
};

const explain = (error: unknown, io: CliIo): ExitCode => {
  say(io, error instanceof Error ? error.message : `${String(error)} was thrown`);
  if (io.env("SLUICE_DEBUG") === "1") io.err(`${error instanceof Error ? (error.stack ?? "") : ""}\n`);
  else if (!isSluiceError(error)) io.err("Set SLUICE_DEBUG=1 to see where it happened.\n");
  return isSluiceError(error) ? exitCodeOf(errorCodes[error.code]) : 1;
};

const exitCodeOf = (row: (typeof errorCodes)[keyof typeof errorCodes] | undefined): ExitCode => {
  if (row?.fix === "resume") return 3;
  if (row?.fix === "again") return 130;
  return row?.fix === "config" || row?.fix === "usage" ? 2 : 1;
};

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

/** True in the process that sluice.mjs started, through any link; false where this file is merely imported. */
const isStarted = (script: string | undefined): boolean =>
  script !== undefined && basename(realpathSync(script)) === "sluice.mjs";

/** Commands that load no file of the user's. */
const withoutFiles = ["init", "generate"];
/** Commands whose config may name a service over the network. */
const overNetwork = ["run", "close"];

/** User's files that a command loads: none, a config, or a config that may name a service over the network. */
const userFilesOf = (name: string, contributions: () => Contributions): "none" | "config" | "network" => {
  if (withoutFiles.includes(name)) return "none";
  if (commands.has(name)) return overNetwork.includes(name) ? "network" : "config";
  try {
    const entry = contributions().commands.get(name);
    if (entry === undefined || entry.loadsFiles === false) return "none";
    return entry.network === true ? "network" : "config";
  } catch {
    // A manifest that is wrong: `main` reports it.
    return "none";
  }
};

/**
 * The command and the imports of a config are loaded before the loader for the user's files, under which every file
 * takes several times as long. Commands of plugins may be such files.
 */
const prepare = async ([first = ""]: readonly string[], contributions: () => Contributions): Promise<void> => {
  if (needsLoader) return;
  const files = userFilesOf(first, contributions);
  if (files === "none") return;
  const late =
    files === "network" ? [import("../client/live/live-connection.ts"), import("../engine/placement-journal.ts")] : [];
  await Promise.all([import("../index.ts"), import("../backtest.ts"), commands.get(first)?.(), ...late]);
  const [commonJs, modules] = await Promise.all([import("tsx/cjs/api"), import("tsx/esm/api")]);
  commonJs.register();
  modules.register();
};

/** The platform puts the terminal's settings back at its exit, and aborts where the terminal is gone. */
const closeStreams = (): void => {
  for (const fd of [0, 1, 2]) {
    try {
      closeSync(fd);
    } catch {
      // Closed before.
    }
  }
};

if (isStarted(process.argv[1])) {
  const argv = process.argv.slice(2);
  const contributions = contributionsOf(process.cwd());
  await prepare(argv, contributions);
  const io = processIo();
  process.exitCode = await main(argv, io, {}, contributions);
  await io.drained();
  if (io.hungUp) closeStreams();
  // A timer that a loaded file left behind must not keep the process alive.
  process.exit();
}
