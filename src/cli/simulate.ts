/**
 * `sluice simulate <config>`: the strategies of a config on a service, a network and a disk that fail, many times over.
 *
 * Invariants: with --json stdout holds one JSON document and nothing else; a scenario that violates an invariant fails the
 * command, which names its seed and its shortest list of faults; a seed gives the same scenario in every process.
 * Not here: the scenarios (verify/simulation/).
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Command } from "commander";
import { SluiceError } from "../errors.ts";
import { loadConfigFile } from "../host/load.ts";
import type { Failure, SimulateOptions, Summary } from "../verify/simulation/simulate.ts";
import { type CliIo, transientLine } from "./io.ts";
import { seedOf, wholeFrom } from "./option-values.ts";

interface Flags {
  readonly seeds: number;
  readonly minutes: number;
  readonly seed?: number;
  readonly first: number;
  readonly jobs: number;
  readonly fixture?: string;
  readonly plugins?: true;
  readonly trace?: true;
  readonly json?: true;
}

export const addSimulateCommand = (program: Command, io: CliIo): void => {
  program
    .command("simulate")
    .description(
      "Run the strategies of a config many times on a service, a network and a disk that fail, and check what must never happen.",
    )
    .argument("<config>", "config file, such as config/backtest.ts")
    .option("--seeds <n>", "how many scenarios", wholeFrom(1, 1_000_000), 50)
    .option("--minutes <n>", "minutes of market in each", wholeFrom(1, 1_440), 10)
    .option("--first <n>", "seed of the first scenario; the others follow", seedOf, 1)
    .option("--seed <n>", "only this scenario", seedOf)
    .option("--trace", "with --seed: print the scenario line by line, with no more faults than it takes to fail")
    .option("--fixture <dir>", "recorded market to use, instead of the config's")
    .option("--plugins", "let the config's plugins take part; they may write files")
    .option("--jobs <n>", "processes to use", wholeFrom(1, 64), 1)
    .option("--json", "print the summary as one JSON document")
    .action((path: string, flags: Flags) => simulateFile(path, flags, io));
};

const simulateFile = async (path: string, flags: Flags, io: CliIo): Promise<void> => {
  if (flags.trace === true && flags.seed === undefined) throw new SluiceError("USAGE", "--trace prints one scenario: name it with --seed.");
  const summary = flags.jobs > 1 && flags.seed === undefined ? await inProcesses(path, flags) : await here(path, flags, io);
  if (summary === undefined) return;
  const { summaryText } = await import("../verify/simulation/summary-text.ts");
  io.out(flags.json === true ? `${JSON.stringify(summary)}\n` : summaryText(summary));
  failWith(summary.failures, path);
};

const optionsOf = ({ seeds, minutes, first, seed, fixture, plugins }: Flags): SimulateOptions => ({
  seeds: seed === undefined ? seeds : 1,
  minutes,
  first: seed ?? first,
  ...(fixture !== undefined && { fixture }),
  ...(plugins !== undefined && { plugins }),
});

/** Loaded when it is needed: help and mistakes should not wait for an engine. */
const here = async (path: string, flags: Flags, io: CliIo): Promise<Summary | undefined> => {
  const config = await loadConfigFile(path, { command: "simulate" });
  const { simulate, traceSeed } = await import("../verify/simulation/simulate.ts");
  const options = optionsOf(flags);
  if (flags.trace === true) {
    const violation = await traceSeed(config, flags.seed ?? 0, options, (line) => {
      io.out(flags.json === true ? "" : `${line}\n`);
    });
    if (flags.json === true) io.out(`${JSON.stringify({ seed: flags.seed, violation: violation ?? null })}\n`);
    if (violation !== undefined)
      throw new SluiceError("INVARIANT_VIOLATED", `Invariant violated: seed ${flags.seed}, ${violation.invariant}: ${violation.text}`);
    return undefined;
  }
  let done = 0;
  const progress = transientLine(io);
  const onSeed = (seed: number): void => {
    done++;
    progress.show(() => `${done} of ${options.seeds} scenarios, seed ${seed}`);
  };
  return simulate(config, { ...options, onSeed }).finally(progress.clear);
};

const run = promisify(execFile);
const outputBytesMax = 64 * 1024 * 1024;

/** Each process runs a part of the seeds and prints its summary. */
const inProcesses = async (path: string, flags: Flags): Promise<Summary> => {
  const { seeds, first, jobs, minutes, fixture, plugins } = flags;
  const { joinSummaries } = await import("../verify/simulation/simulate.ts");
  const share = Math.ceil(seeds / jobs);
  const parts = Array.from({ length: Math.ceil(seeds / share) }, (_, index) => {
    const count = Math.min(share, seeds - index * share);
    const args = ["simulate", path, "--json", "--seeds", count, "--first", first + index * share, "--minutes", minutes];
    return [...args, ...(fixture === undefined ? [] : ["--fixture", fixture]), ...(plugins === undefined ? [] : ["--plugins"])];
  });
  return joinSummaries(await Promise.all(parts.map((args) => inProcess(args.map(String)))));
};

const inProcess = async (args: readonly string[]): Promise<Summary> => {
  const script = process.argv[1] ?? "";
  try {
    const { stdout } = await run(process.execPath, [script, ...args], { maxBuffer: outputBytesMax });
    return JSON.parse(stdout) as Summary;
  } catch (error) {
    // A violation ends its process with 1, its summary printed all the same.
    const { stdout = "", stderr = "" } = error as { readonly stdout?: string; readonly stderr?: string };
    if (stdout.startsWith("{")) return JSON.parse(stdout) as Summary;
    throw new SluiceError("USAGE", `A part of the simulation failed: ${stderr.trim() || String(error)}`);
  }
};

const failWith = (failures: readonly Failure[], path: string): void => {
  const [first] = failures;
  if (first === undefined) return;
  throw new SluiceError(
    "INVARIANT_VIOLATED",
    failures.length === 1 ? "Invariant violated:" : `Invariants violated in ${failures.length} scenarios:`,
    failures.map(
      ({ seed, violation }) =>
        `seed ${seed}, ${violation.invariant}: ${violation.text}. See: sluice simulate ${path} --seed ${seed} --trace`,
    ),
  );
};
