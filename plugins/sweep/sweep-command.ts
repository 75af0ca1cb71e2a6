/**
 * `sluice sweep <config>`: runs a config many times with varied options and reports the best ones and their
 * significance.
 *
 * Invariants: with --json stdout holds one JSON document and nothing else; the number of runs is printed before the
 * first one starts; when stopped it prints the results so far, and keeps them where --out names a folder.
 * Not here: options (sweep-config.ts), the runs (sweep.ts), the report (table.ts, html-page.ts).
 */

import { writeFileSync } from "node:fs";
import { basename } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import { type ErrorCode, SluiceError } from "sluice";
import {
  type CliIo,
  type Clock,
  checkPlace,
  colourOf,
  counted,
  createSystemClock,
  defineCommand,
  duration,
  fillsOption,
  type GivenFlags,
  givenBy,
  jsonText,
  leftText,
  printable,
  seedOf,
  transientLine,
  warmUpOption,
  wholeFrom,
  wholeIn,
} from "sluice/extension";
import { partOf, queueAddress } from "./command-options.ts";
import { type Score, scores } from "./scores.ts";
import type { SweepProgress } from "./sweep.ts";
import { type SweepOptions, type SweepStart, samplers, shareRemedy, sweep, sweepBounds } from "./sweep-config.ts";
import { type SweepPart, spellPart } from "./sweep-parts.ts";
import type { SweepReport } from "./sweep-report.ts";

export interface SweepParts {
  readonly clock?: Clock;
}

interface Flags extends GivenFlags {
  readonly vary: readonly string[];
  readonly grid?: true;
  readonly random?: number;
  readonly sampler?: (typeof samplers)[number];
  readonly trials?: number;
  readonly batch?: number;
  readonly prune?: true;
  readonly objective?: readonly Score[];
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
  readonly part?: SweepPart;
  readonly merge?: readonly string[];
  readonly workers?: string;
  readonly csv?: string;
  readonly html?: string;
  readonly reports?: number;
  readonly json?: true;
}

const addSweepCommand = (program: Command, io: CliIo, parts: SweepParts = {}): void => {
  program
    .command("sweep")
    .description("Run a config many times with varied options of its strategies, on all cores, and compare.")
    .argument("<config>", "config file, such as config/backtest.ts")
    .option(
      "--vary <option=values>",
      "vary an option: ladder.levels=1..5, maker.width=1..9/2, ladder.step=0.0001..0.01/log9 or 0.001,0.002; once for each option",
      (text: string, before: readonly string[]) => [...before, text],
      [] as readonly string[],
    )
    .addOption(new Option("--grid", "try every combination (this is the default)").conflicts(["random", "sampler"]))
    .addOption(
      new Option(
        "--sampler <name>",
        "try all (grid), some by chance (random), or where results are good (tpe)",
      ).choices(samplers),
    )
    .option(
      "--trials <n>",
      "how many combinations random and tpe try (default 100), on each fold's training",
      wholeIn(sweepBounds.trials),
    )
    .option("--random <n>", "the same as --sampler random --trials <n>", wholeIn(sweepBounds.random))
    .option(
      "--batch <n>",
      "with tpe or --prune: runs before their results count (default 8)",
      wholeIn(sweepBounds.batch),
    )
    .option(
      "--prune",
      "give up runs that made less than the median at 25, 50 or 75 % of the time; they are counted, and never ranked",
    )
    .option("--seed <n>", "seed of the draw and of all chance in the runs, instead of the config's", seedOf)
    .option("--max <n>", "most combinations that may be tried", wholeIn(sweepBounds.max), 1_000)
    .option(
      "--folds <n>",
      "walk forward: choose on a part, judge on what follows, this many times",
      wholeIn(sweepBounds.folds),
    )
    .option("--train <share>", "share of each fold on which options are chosen (default 0.7)", shareOf)
    .option("--jobs <n>", "runs at a time (default as many as pay, up to one a core)", wholeIn(sweepBounds.jobs))
    .addOption(new Option("--by <score>", "what decides").choices(Object.keys(scores)).default("pnl"))
    .addOption(
      new Option("--objective <scores>", "what decides, as a list such as pnl,drawdown: several give a Pareto front")
        .argParser(objectivesOf)
        .conflicts("by"),
    )
    .option("--top <n>", "how many points are listed", wholeFrom(1, 1_000_000), 20)
    .option("--fixture <dir>", "recorded market to replay, instead of the config's")
    .option("--no-limits", "let the service enforce no limits, to see what they cost")
    .addOption(fillsOption())
    .addOption(warmUpOption())
    .option("--out <dir>", "keep results in this folder as they come")
    .option("--resume", "go on with what is missing in --out")
    .option("--part <i/n>", "run this part alone, 1/n to n/n, to be merged with the others; needs --out", partOf)
    .addOption(
      new Option("--merge <dirs...>", "run nothing: report from the folders of all parts, as one run would").conflicts([
        "part",
        "resume",
        "jobs",
      ]),
    )
    .addOption(
      new Option(
        "--workers <address>",
        "run on the workers of this queue: redis://HOST:PORT, postgres://HOST:PORT/DATABASE or env:NAME; start them with sluice worker",
      ).conflicts(["jobs", "merge"]),
    )
    .option("--csv <file>", "write all runs as comma-separated values")
    .option(
      "--html <file>",
      "write a page for a browser: pictures and a table of all runs, one file that needs no network",
    )
    .option(
      "--reports <n>",
      "with --html: write the reports of n runs to a folder next to it, tests and the best first",
      wholeFrom(1, 10_000),
    )
    .option("--json", "print everything as one JSON document")
    .action((path: string, flags: Flags) => sweepFile(path, flags, io, parts));
};

/** `maxDrawdown` is how others call it. */
const objectivesOf = (text: string): readonly Score[] => {
  const names = text.split(",").map((name) => (name.trim() === "maxDrawdown" ? "drawdown" : name.trim()));
  const unknown = names.find((name) => !Object.hasOwn(scores, name));
  if (unknown !== undefined)
    throw new InvalidArgumentError(`"${unknown}" is no score. There is ${Object.keys(scores).join(", ")}.`);
  return [...new Set(names)] as Score[];
};

const shareOf = (text: string): number => {
  const share = Number(text);
  if (/^0?\.\d{1,6}$/.test(text) && share > 0 && share < 1) return share;
  throw new InvalidArgumentError(shareRemedy);
};

const sweepFile = async (
  path: string,
  flags: Flags,
  io: CliIo,
  { clock = createSystemClock() }: SweepParts,
): Promise<void> => {
  // Checked now, and not after an hour of runs.
  for (const file of [flags.csv, flags.html]) if (file !== undefined) checkPlace(file);
  if (flags.reports !== undefined && flags.html === undefined)
    throw new SluiceError("USAGE", "--reports: the page of --html leads to them. Name its file with --html FILE.");
  const written = new Set<number>();
  const progress = transientLine(io, clock);
  const stop = new AbortController();
  let startedAt = 0;
  let leave = (): void => undefined;
  const options: SweepOptions = {
    ...optionsOf(flags),
    ...(flags.reports !== undefined &&
      flags.html !== undefined && {
        reports: { dir: pagesBeside(flags.html), top: flags.reports, onPage: (index) => written.add(index) },
      }),
    signal: stop.signal,
    onNotice: (text) => {
      progress.clear();
      io.err(`${printable(text)}\n`);
    },
    onStart: (start) => {
      io.err(`${printable(announcement(start, flags))}\n`);
      startedAt = clock.now();
      leave = io.onStop(() => stop.abort());
    },
    onProgress: (run) => {
      progress.show(() => progressText(run, clock.now() - startedAt));
    },
  };
  const report = await sweep(path, options, clock).finally(() => {
    leave();
    progress.clear();
  });
  await tell(report, flags, written, io);
  end(report, flags);
};

const optionsOf = (flags: Flags): SweepOptions => {
  const {
    vary,
    random,
    sampler,
    trials,
    batch,
    prune,
    seed,
    max,
    folds,
    train,
    jobs,
    by,
    objective,
    fixture,
    limits,
    out,
    resume,
    part,
    merge,
    workers,
  } = flags;
  return {
    vary,
    max,
    by: objective ?? by,
    limits,
    ...(random !== undefined && { random }),
    ...(sampler !== undefined && { sampler }),
    ...(trials !== undefined && { trials }),
    ...(batch !== undefined && { batch }),
    ...(prune !== undefined && { prune }),
    ...(seed !== undefined && { seed }),
    ...(folds !== undefined && { folds }),
    ...(train !== undefined && { train }),
    ...(jobs !== undefined && { jobs }),
    ...(fixture !== undefined && { fixture }),
    ...(out !== undefined && { out }),
    ...(resume !== undefined && { resume }),
    ...(part !== undefined && { part }),
    ...(merge !== undefined && { merge }),
    ...(workers !== undefined && { workers: queueAddress(workers) }),
    ...givenBy(flags),
  };
};

const announcement = (
  { space, points, folds, fixture, startAtMs, endAtMs, runs, threads }: SweepStart,
  { jobs, part, merge, workers }: Flags,
): string => {
  const on = `${jobs === undefined && threads > 1 ? "up to " : ""}${counted(threads, "thread")}`;
  const grid = space.map(({ name, values }) => `${values.length} of ${name}`).join(" × ");
  const forward = folds === 0 ? "" : ` and ${counted(folds, "fold")}`;
  const here = workers === undefined ? `on ${on}` : "on workers";
  const place = merge === undefined ? here : `from ${counted(merge.length, "part")}`;
  const share = part === undefined ? "" : `; part ${spellPart(part)} of them`;
  return `${counted(runs, "run")} of ${fixture} (${duration(endAtMs - startAtMs)}) ${place}: ${counted(points, "point")} of ${grid}${forward}${share}`;
};

const progressText = ({ done, wanted, kept }: SweepProgress, elapsedMs: number): string => {
  return `${done} of ${wanted} runs${leftText(done - kept, wanted - kept, elapsedMs)}`;
};

/** `out/map.html` has its runs in `out/map-runs`. */
const pagesBeside = (file: string): string => `${file.replace(/\.html?$/, "")}-runs`;

const tell = async (report: SweepReport, flags: Flags, written: ReadonlySet<number>, io: CliIo): Promise<void> => {
  if (flags.csv !== undefined) writeFileSync(flags.csv, (await import("./csv.ts")).csvOf(report));
  const { html } = flags;
  if (html !== undefined) {
    const { sweepPage } = await import("./html-page.ts");
    const folder = encodeURIComponent(basename(pagesBeside(html)));
    writeFileSync(
      html,
      sweepPage(report, { reportOf: (index) => (written.has(index) ? `${folder}/${index}.html` : undefined) }),
    );
  }
  if (flags.json) return io.out(`${jsonText(report)}\n`);
  const { sweepText } = await import("./table.ts");
  io.out(sweepText(report, { columns: io.columns, colour: colourOf(io), top: flags.top }));
};

const reasonsMax = 5;

const end = ({ runs, results, part }: SweepReport, { out, workers }: Flags): void => {
  const failed = results.flatMap((result) => (result.status === "failed" ? [result.error] : []));
  const unaccepted = results.flatMap((result) => (result.status === "unaccepted" ? [result.reason] : []));
  const missing = runs.wanted - runs.done - runs.failed - runs.unaccepted - (runs.pruned ?? 0);
  if (failed.length > 0)
    throw allOf("STRATEGY_FAILED", `${counted(failed.length, "run")} of ${runs.wanted} failed:`, failed);
  if (missing > 0) {
    const remedy =
      workers !== undefined && out === undefined
        ? "Results are kept with the queue: ask for the same again to go on."
        : out === undefined
          ? "Keep results with --out DIR, so that --resume can go on."
          : `Go on with --out ${out} --resume.`;
    throw new SluiceError("STOPPED", `Stopped with ${missing} of ${runs.wanted} runs missing. ${remedy}`);
  }
  // What one part lacks another may have.
  if (runs.done === 0 && part === undefined)
    throw allOf("ORDER_REFUSED", "No order was accepted in any run:", unaccepted);
};

const allOf = (code: ErrorCode, message: string, reasons: readonly string[]): SluiceError =>
  new SluiceError(code, message, [...new Set(reasons)].slice(0, reasonsMax));

export default defineCommand("sweep", addSweepCommand);
