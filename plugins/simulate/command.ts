/**
 * `sluice simulate <config>`: fault simulation of a config's strategies: many scenarios with faults of service, network
 * and disk.
 *
 * Invariants: with --json stdout holds one JSON document and nothing else; a scenario that violates an invariant fails
 * the command, which names its seed and its shortest list of faults; a seed gives the same scenario in every process.
 * Not here: the scenarios (scenario.ts).
 */

import { type Command, Option } from "commander";
import { SluiceError } from "sluice";
import {
  type CliIo,
  createSystemClock,
  defineCommand,
  jsonText,
  printable,
  seedOf,
  stepsText,
  transientLine,
  wholeIn,
} from "sluice/extension";
import { partOf, queueAddress, type SweepPart } from "sluice/plugins/sweep";
import { simulate, simulateBounds, simulateDefaults, traceScenario } from "./simulate-config.ts";
import type { Failure } from "./simulation.ts";

interface Flags {
  readonly seeds: number;
  readonly minutes: number;
  readonly seed?: number;
  readonly first: number;
  readonly jobs: number;
  readonly part?: SweepPart;
  readonly out?: string;
  readonly merge?: readonly string[];
  readonly workers?: string;
  readonly fixture?: string;
  readonly plugins?: true;
  readonly trace?: true;
  readonly verbose?: true;
  readonly json?: true;
}

const addSimulateCommand = (program: Command, io: CliIo): void => {
  program
    .command("simulate")
    .description(
      "Run the strategies of a config many times on a service, a network and a disk that fail, and check what must never happen.",
    )
    .argument("<config>", "config file, such as config/backtest.ts")
    .option("--seeds <n>", "how many scenarios", wholeIn(simulateBounds.seeds), simulateDefaults.seeds)
    .option("--minutes <n>", "minutes of market in each", wholeIn(simulateBounds.minutes), simulateDefaults.minutes)
    .option("--first <n>", "seed of the first scenario; the others follow", seedOf, simulateDefaults.first)
    .option("--seed <n>", "only this scenario", seedOf)
    .option("--trace", "with --seed: print the scenario line by line, with the fewest faults that make it fail")
    .option("--fixture <dir>", "recorded market to use, instead of the config's")
    .option("--plugins", "let the config's plugins take part; they may write files")
    .option("--jobs <n>", "processes to use", wholeIn(simulateBounds.jobs), simulateDefaults.jobs)
    .addOption(
      new Option("--part <i/n>", "run this part of the seeds alone, 1/n to n/n; needs --out")
        .argParser(partOf)
        .conflicts("seed"),
    )
    .option("--out <file>", "file to keep the part in")
    .addOption(
      new Option("--merge <files...>", "run nothing: the summary of all seeds, from the files of all parts").conflicts([
        "part",
        "out",
        "seed",
      ]),
    )
    .addOption(
      new Option(
        "--workers <address>",
        "play on the workers of this queue: redis://HOST:PORT, postgres://HOST:PORT/DATABASE or env:NAME; start them with sluice worker",
      ).conflicts(["jobs", "part", "merge", "trace", "seed"]),
    )
    .option("--verbose", "print the counts, and which situations were reached and which never")
    .option("--json", "print the summary as one JSON document")
    .action((path: string, flags: Flags) => simulateFile(path, flags, io));
};

const simulateFile = async (path: string, flags: Flags, io: CliIo): Promise<void> => {
  const { seed, json, trace } = flags;
  if (trace === true && seed === undefined)
    throw new SluiceError("USAGE", "--trace prints one scenario: name it with --seed.");
  if (trace === true && seed !== undefined) return printTrace(path, seed, flags, io);
  const clock = createSystemClock();
  const [progress, startedAt] = [transientLine(io, clock), clock.now()];
  const stop = new AbortController();
  const leave = flags.workers === undefined ? () => undefined : io.onStop(() => stop.abort());
  const summary = await simulate(path, {
    signal: stop.signal,
    onNotice: (text) => {
      progress.clear();
      io.err(`${printable(text)}\n`);
    },
    ...sharedBy(flags),
    ...(seed === undefined ? manyBy(flags) : { seeds: 1, first: seed }),
    onProgress: (done, all, last) => {
      progress.show(() => `${stepsText(done, all, "scenarios", clock.now() - startedAt)}, seed ${last}`);
    },
  }).finally(() => {
    leave();
    progress.clear();
  });
  const { summaryText } = await import("./summary-text.ts");
  io.out(json === true ? `${jsonText(summary)}\n` : summaryText(summary, flags.verbose));
  failWith(summary.failures, path);
};

const sharedBy = ({ minutes, fixture, plugins }: Flags) => ({
  minutes,
  ...(fixture !== undefined && { fixture }),
  ...(plugins !== undefined && { plugins }),
});

const manyBy = ({ seeds, first, jobs, part, out, merge, workers }: Flags) => ({
  seeds,
  first,
  jobs,
  ...(workers !== undefined && { workers: queueAddress(workers) }),
  ...(part !== undefined && { part }),
  ...(out !== undefined && { out }),
  ...(merge !== undefined && { merge }),
});

const printTrace = async (path: string, seed: number, flags: Flags, io: CliIo): Promise<void> => {
  const onLine = (line: string): void => {
    io.out(flags.json === true ? "" : `${line}\n`);
  };
  const onNotice = (text: string): void => io.err(`${printable(text)}\n`);
  const traced = await traceScenario(path, seed, { ...sharedBy(flags), onLine, onNotice });
  if (flags.json === true) io.out(`${jsonText(traced)}\n`);
  const { violation } = traced;
  if (violation !== null)
    throw new SluiceError(
      "INVARIANT_VIOLATED",
      `Invariant violated: seed ${seed}, ${violation.invariant}: ${violation.text}`,
    );
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

export default defineCommand("simulate", addSimulateCommand);
