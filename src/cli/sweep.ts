/**
 * `sluice sweep <config>`: runs a config many times with varied options and tells which did best, and how much that means.
 *
 * Invariants: with --json stdout holds one JSON document and nothing else; how many runs there are is said before the first one
 * starts; results so far are shown when it is stopped, and kept where --out names a folder.
 * Not here: what varies (backtest/sweep/space.ts), the runs (backtest/sweep/sweep.ts), the report's look (backtest/sweep/table.ts, backtest/sweep/html-page.ts).
 */
import { existsSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { Choice } from "../backtest/sweep/sampling.ts";
import { type Score, scores } from "../backtest/sweep/scores.ts";
import { readVariation, type Variation, variationsIn } from "../backtest/sweep/space.ts";
import type { SweepProgress } from "../backtest/sweep/sweep.ts";
import type { SweepPlan } from "../backtest/sweep/sweep-plan.ts";
import type { SweepReport } from "../backtest/sweep/sweep-report.ts";
import type { Clock } from "../clock/clock.ts";
import { createSystemClock } from "../clock/system-clock.ts";
import { type ErrorCode, SluiceError } from "../errors.ts";
import { loadConfigFile } from "../host/load.ts";
import { counted, duration } from "../report/number-format.ts";
import { type CliIo, colourOf, printable, transientLine } from "./io.ts";
import { seedOf, wholeFrom } from "./option-values.ts";
import { fillsOption, type GivenFlags, givenBy, warmUpOption } from "./service-options.ts";

export interface SweepParts {
  readonly clock?: Clock;
}

interface Flags extends GivenFlags {
  readonly vary: readonly Variation[];
  readonly grid?: true;
  readonly random?: number;
  readonly seed?: number;
  readonly max: number;
  readonly folds?: number;
  readonly train?: number;
  readonly jobs?: number;
  readonly by: Score;
  readonly top: number;
  readonly fixture?: string;
  readonly limits: boolean;
  readonly out?: string;
  readonly resume?: true;
  readonly csv?: string;
  readonly html?: string;
  readonly json?: true;
}

export const addSweepCommand = (program: Command, io: CliIo, parts: SweepParts = {}): void => {
  program
    .command("sweep")
    .description("Run a config many times with varied options of its strategies, on all cores, and compare.")
    .argument("<config>", "config file, such as config/backtest.ts")
    .option(
      "--vary <option=values>",
      "vary an option: ladder.levels=1..5, maker.width=1..9/2, ladder.step=0.001,0.002; once for each option",
      (text: string, before: readonly Variation[]) => [...before, readVariation(text)],
      [] as readonly Variation[],
    )
    .addOption(new Option("--grid", "try every combination (this is the default)").conflicts("random"))
    .option("--random <n>", "try this many combinations drawn by chance", wholeFrom(1, 1_000_000))
    .option("--seed <n>", "seed of the draw and of all chance in the runs, instead of the config's", seedOf)
    .option("--max <n>", "most combinations that may be tried", wholeFrom(1, 1_000_000), 1_000)
    .option("--folds <n>", "walk forward: choose on a part, judge on what follows, this many times", wholeFrom(1, 1_000))
    .option("--train <share>", "share of each fold on which options are chosen (default 0.7)", shareOf)
    .option("--jobs <n>", "runs at a time (default as many as pay, up to one a core)", wholeFrom(1, 256))
    .addOption(new Option("--by <score>", "what decides").choices(Object.keys(scores)).default("pnl"))
    .option("--top <n>", "how many points are listed", wholeFrom(1, 1_000_000), 20)
    .option("--fixture <dir>", "recorded market to replay, instead of the config's")
    .option("--no-limits", "let the service enforce no limits, to see what they cost")
    .addOption(fillsOption())
    .addOption(warmUpOption())
    .option("--out <dir>", "keep results in this folder as they come")
    .option("--resume", "go on with what is missing in --out")
    .option("--csv <file>", "write all runs as comma-separated values")
    .option("--html <file>", "write the scores as a table for a browser, one file that needs no network")
    .option("--json", "print everything as one JSON document")
    .action((path: string, flags: Flags) => sweep(path, flags, io, parts));
};

const shareOf = (text: string): number => {
  const share = Number(text);
  if (/^0?\.\d{1,6}$/.test(text) && share > 0 && share < 1) return share;
  throw new InvalidArgumentError("Write a share between 0 and 1, such as 0.7.");
};

const trainDefault = 0.7;

const sweep = async (path: string, flags: Flags, io: CliIo, { clock = createSystemClock() }: SweepParts): Promise<void> => {
  if (flags.resume && flags.out === undefined) throw new SluiceError("USAGE", "--resume: name the folder to go on with by --out DIR.");
  if (flags.train !== undefined && flags.folds === undefined)
    throw new SluiceError("USAGE", "--train: it is the share of a fold; add --folds N.");
  for (const file of [flags.csv, flags.html]) if (file !== undefined) checkPlace(file);
  // A config that is a function gets the command of the runs: backtests.
  const config = await loadConfigFile(path, { command: "backtest", clock });
  const variations = merged(await exportedBy(path), flags.vary);
  const [{ planSweep, runsOf }, { runSweep }, { openResults }] = await Promise.all([
    import("../backtest/sweep/sweep-plan.ts"),
    import("../backtest/sweep/sweep.ts"),
    import("../backtest/sweep/results-file.ts"),
  ]);
  const plan = planSweep(path, config, optionsOf(flags, variations));
  const file = flags.out === undefined ? undefined : openResults(flags.out, plan.identity, flags.resume === true);
  const threads = flags.jobs ?? availableParallelism();
  const most = Math.min(threads, runsOf(plan));
  const on = `${flags.jobs === undefined && most > 1 ? "up to " : ""}${counted(most, "thread")}`;
  io.err(`${printable(announcement(plan, runsOf(plan), on))}\n`);
  const startedAt = clock.now();
  const progress = transientLine(io, clock);
  const report = await runSweep(plan, {
    threads,
    ...(flags.jobs === undefined ? { sparing: clock } : {}),
    ...(file === undefined ? {} : { file }),
    onProgress: (run) => {
      progress.show(() => progressText(run, clock.now() - startedAt));
    },
    onStop: (stop) => io.onStop(stop),
  }).finally(progress.clear);
  await tell(report, flags, io);
  end(report, flags);
};

/** Said now, and not after an hour. */
const checkPlace = (file: string): void => {
  if (!existsSync(dirname(resolve(file))))
    throw new SluiceError("USAGE", `${file} cannot be written: there is no folder ${dirname(file)}.`);
};

const optionsOf = (flags: Flags, variations: readonly Variation[]) => {
  const { fixture, folds, seed, random, max, by, limits, train = trainDefault } = flags;
  const choice: Choice = random === undefined ? { kind: "grid" } : { kind: "random", count: random, seed: String(seed ?? 1) };
  return {
    variations,
    choice,
    max,
    by,
    ...(fixture === undefined ? {} : { fixture }),
    ...(folds === undefined ? {} : { folds: { count: folds, train } }),
    ...(seed === undefined ? {} : { seed: String(seed) }),
    ...(limits ? {} : { limits: false }),
    ...givenBy(flags),
  };
};

/** The file was loaded before; this is the same module again. */
const exportedBy = async (path: string): Promise<readonly Variation[]> => {
  const { sweep: exported } = (await import(pathToFileURL(resolve(path)).href)) as { readonly sweep?: unknown };
  return variationsIn(exported, path);
};

/** The command line outranks the file, option by option. */
const merged = (inFile: readonly Variation[], given: readonly Variation[]): readonly Variation[] => [
  ...inFile.filter(({ name }) => given.every((one) => one.name !== name)),
  ...given,
];

const announcement = ({ space, points, windows, fixture, manifest }: SweepPlan, runs: number, threads: string): string => {
  const span = duration(manifest.endAtMs - manifest.startAtMs);
  const grid = space.map(({ name, values }) => `${values.length} of ${name}`).join(" × ");
  const folds = windows.length === 0 ? "" : ` and ${counted(windows.length, "fold")}`;
  return `${counted(runs, "run")} of ${fixture} (${span}) on ${threads}: ${counted(points.length, "point")} of ${grid}${folds}`;
};

const progressText = ({ done, wanted, kept }: SweepProgress, elapsedMs: number): string => {
  const left = done > kept ? `, ${duration((elapsedMs / (done - kept)) * (wanted - done))} left` : "";
  return `${done} of ${wanted} runs${left}`;
};

const tell = async (report: SweepReport, flags: Flags, io: CliIo): Promise<void> => {
  if (flags.csv !== undefined) writeFileSync(flags.csv, (await import("../backtest/sweep/csv.ts")).csvOf(report));
  if (flags.html !== undefined) writeFileSync(flags.html, (await import("../backtest/sweep/html-page.ts")).sweepPage(report));
  if (flags.json) return io.out(`${JSON.stringify(report)}\n`);
  const { sweepText } = await import("../backtest/sweep/table.ts");
  io.out(sweepText(report, { columns: io.columns, colour: colourOf(io), top: flags.top }));
};

const reasonsMax = 5;

const end = ({ runs, results }: SweepReport, { out }: Flags): void => {
  const failed = results.flatMap((result) => (result.status === "failed" ? [result.error] : []));
  const unaccepted = results.flatMap((result) => (result.status === "unaccepted" ? [result.reason] : []));
  const missing = runs.wanted - runs.done - runs.failed - runs.unaccepted;
  if (failed.length > 0) throw allOf("STRATEGY_FAILED", `${counted(failed.length, "run")} of ${runs.wanted} failed:`, failed);
  if (missing > 0) {
    const remedy = out === undefined ? "Keep results with --out DIR, so that --resume can go on." : `Go on with --out ${out} --resume.`;
    throw new SluiceError("STOPPED", `Stopped with ${missing} of ${runs.wanted} runs missing. ${remedy}`);
  }
  if (runs.done === 0) throw allOf("ORDER_REFUSED", "No order was accepted in any run:", unaccepted);
};

const allOf = (code: ErrorCode, message: string, reasons: readonly string[]): SluiceError =>
  new SluiceError(code, message, [...new Set(reasons)].slice(0, reasonsMax));
