/**
 * A sweep of a config file, used by programs and by `sluice sweep`.
 *
 * Invariants: every possible mistake is reported before anything runs; the number of runs is reported before the first
 * one starts; the modules of a sweep are loaded on first use.
 * Not here: the search space (space.ts), the runs (sweep.ts), formats of a report (table.ts, csv.ts, html-page.ts).
 */
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { SluiceError } from "sluice";
import {
  type Clock,
  checkOptions,
  createSystemClock,
  exportsOf,
  type GivenOptions,
  loadConfigFile,
  type OptionRules,
  seedBounds,
} from "sluice/extension";
import type { Pool } from "./pool.ts";
import type { ResultsFile } from "./results-file.ts";
import type { Choice } from "./sampling.ts";
import { type Score, scores } from "./scores.ts";
import { readVariation, type Variation, variationsIn } from "./space.ts";
import type { RunPages, SweepProgress } from "./sweep.ts";
import { checkPart, type SweepPart, spellPart } from "./sweep-parts.ts";
import type { SweepOptions as PlanOptions, SweepPlan } from "./sweep-plan.ts";
import type { SweepReport } from "./sweep-report.ts";

/** Description of a sweep that is about to run. */
export interface SweepStart extends Pick<SweepPlan, "fixture" | "space"> {
  readonly runs: number;
  readonly points: number;
  /** 0 without walk-forward. */
  readonly folds: number;
  readonly startAtMs: number;
  readonly endAtMs: number;
  /** Runs at a time, at most. */
  readonly threads: number;
}

/** Options of `sweep`: those of the command. */
export interface SweepOptions extends GivenOptions {
  /**
   * Values by option (`{ "ladder.levels": "1..5", "ladder.step": ["0.001", "0.002"] }`), or as on the command line
   * (`["ladder.levels=1..5"]`). They override the `sweep` export of the config file, option by option.
   */
  readonly vary?: Readonly<Record<string, string | readonly unknown[]>> | readonly string[];
  /**
   * Sampler of combinations: all (`grid`, the default), random ones (`random`), or guided by earlier results (`tpe`).
   */
  readonly sampler?: SamplerName;
  /**
   * Number of combinations that `random` and `tpe` try, default 100, or all where there are fewer. With folds this many
   * on each training.
   */
  readonly trials?: number;
  /** Number of trials; the same as `sampler: "random"` with this number of `trials`. */
  readonly random?: number;
  /**
   * Number of runs made before their results are used, for `tpe` and `prune`; default 8. The report depends on it, and
   * not on `jobs`.
   */
  readonly batch?: number;
  /**
   * Give up runs that have made less than the median at a quarter, a half or three quarters of the time. For pnl or
   * sharpe alone.
   */
  readonly prune?: boolean;
  /** Seed of the draw and of all chance in the runs, instead of the config's. */
  readonly seed?: number;
  /** Most combinations that may be tried, default 1,000. */
  readonly max?: number;
  /** Walk forward: choose on a part, judge on what follows, this many times. */
  readonly folds?: number;
  /** Share of each fold on which options are chosen, default 0.7. */
  readonly train?: number;
  /** Runs at a time; as many as pay when left out, up to one a core. */
  readonly jobs?: number;
  /**
   * Score that ranks the runs, default `pnl`. With several scores the Pareto front is reported; in folds the first
   * decides.
   */
  readonly by?: Score | readonly Score[];
  /** Folder of a recorded market, instead of the config's. */
  readonly fixture?: string;
  /** False: the service enforces no limits, to measure their cost. */
  readonly limits?: boolean;
  /** Keep results in this folder as they come. */
  readonly out?: string;
  /** Continue with the runs that are missing in `out`. */
  readonly resume?: boolean;
  /** Run this part alone, to be merged with the others; needs `out`. `{ index: 1, of: 8 }` is the first of eight. */
  readonly part?: SweepPart;
  /** Folders of all parts, in any order: nothing is run, and the report is that of one run. */
  readonly merge?: readonly string[];
  /**
   * Address of a Redis or Valkey, `redis://` or `rediss://`: workers there run the sweep (`sluice worker`), and jobs
   * with results are not run again.
   */
  readonly workers?: string;
  /**
   * Write the pages of single runs' reports as INDEX.html to a folder: tests first, then the ranking. Each is run once
   * more for it.
   */
  readonly reports?: RunPages;
  /** Called once, before the first run. */
  readonly onStart?: (start: SweepStart) => void;
  readonly onProgress?: (progress: SweepProgress) => void;
  /** Called with `workers`: receives the number of workers, and the workers that refuse with their reasons. */
  readonly onNotice?: (text: string) => void;
  /** Ends the sweep early: its report contains the finished runs, `runs.done` of `runs.wanted`. */
  readonly signal?: AbortSignal;
}

export const samplers = ["grid", "random", "tpe"] as const;
type SamplerName = (typeof samplers)[number];

export const sweepBounds = {
  trials: { least: 1, most: 1_000_000 },
  batch: { least: 1, most: 10_000 },
  random: { least: 1, most: 1_000_000 },
  seed: seedBounds,
  max: { least: 1, most: 1_000_000 },
  folds: { least: 1, most: 1_000 },
  jobs: { least: 1, most: 256 },
} as const;

export const shareRemedy = "Write a share between 0 and 1, such as 0.7.";

const text = { type: "string" };
const score = { enum: Object.keys(scores) };
const rules: OptionRules = {
  wholes: sweepBounds,
  others: {
    vary: { type: ["object", "array"], items: text, additionalProperties: { type: ["string", "array"] } },
    train: { type: "number" },
    sampler: { enum: samplers },
    prune: { type: "boolean" },
    by: { anyOf: [score, { type: "array", items: score, minItems: 1, uniqueItems: true }] },
    fixture: text,
    limits: { type: "boolean" },
    fills: {},
    warmUpMs: { type: "number", minimum: 0 },
    out: text,
    resume: { type: "boolean" },
    part: {
      type: "object",
      required: ["index", "of"],
      properties: { index: { type: "number" }, of: { type: "number" } },
    },
    merge: { type: "array", items: text, minItems: 1 },
    workers: text,
    reports: { type: "object" },
    onStart: {},
    onProgress: {},
    onNotice: {},
    signal: {},
  },
};

/**
 * Runs the config in this file many times with varied options of its strategies, on all cores, and compares: the report
 * is what `sluice sweep --json` prints. Throws `USAGE` or `CONFIG_INVALID` before anything runs; runs that failed are
 * in the report. `clock` is for progress only.
 */
export const sweep = async (
  path: string,
  options: SweepOptions = {},
  clock: Clock = createSystemClock(),
): Promise<SweepReport> => {
  check(options);
  const given = givenIn(options.vary);
  // A config that is a function gets the command of the runs: backtests.
  const config = await loadConfigFile(path, { command: "backtest", clock });
  const variations = merged(await exportedBy(path), given);
  const [{ planSweep, runsOf }, { runSweep }, { collectResults, openResults }] = await Promise.all([
    import("./sweep-plan.ts"),
    import("./sweep.ts"),
    import("./results-file.ts"),
  ]);
  const { jobs, out, resume = false, signal, onProgress, reports, part, merge } = options;
  const plan = planSweep(path, config, planOptions(options, variations));
  const pool = await poolOf(plan, options, clock);
  const head = { ...plan.identity, ...(part !== undefined && { part: spellPart(part) }) };
  const opened = (dir: string): ResultsFile =>
    merge === undefined ? openResults(dir, head, resume) : collectResults(dir, head);
  const file = out === undefined ? undefined : await orClose(pool, () => opened(out));
  const threads = jobs ?? availableParallelism();
  options.onStart?.(startOf(plan, runsOf(plan), threads));
  const report = await runSweep(plan, {
    threads,
    ...(jobs === undefined ? { sparing: clock } : {}),
    ...(file === undefined ? {} : { file }),
    ...(pool === undefined ? {} : { pool }),
    ...(onProgress === undefined ? {} : { onProgress }),
    ...(reports === undefined ? {} : { pages: reports }),
    ...(signal === undefined ? {} : { onStop: (stop) => whenAborted(signal, stop) }),
  });
  file?.end();
  return report;
};

const check = (options: SweepOptions): void => {
  checkOptions("sweep", rules, options);
  const { resume, out, train, folds } = options;
  if (resume === true && out === undefined)
    throw new SluiceError("USAGE", "--resume: name the folder to go on with by --out DIR.");
  if (train !== undefined && !(train > 0 && train < 1))
    throw new SluiceError("USAGE", `sweep.train: ${train} is invalid. ${shareRemedy}`);
  checkSampling(options);
  checkParts(options);
  if (train !== undefined && folds === undefined)
    throw new SluiceError("USAGE", "--train: it is the share of a fold; add --folds N.");
};

const checkSampling = ({ sampler, random, trials, batch, prune }: SweepOptions): void => {
  const drawn = sampler ?? (random === undefined ? "grid" : "random");
  if (random !== undefined && (drawn !== "random" || trials !== undefined))
    throw new SluiceError("USAGE", "--random N is --sampler random --trials N. Write one of them.");
  if (trials !== undefined && drawn === "grid")
    throw new SluiceError("USAGE", "--trials: a grid tries everything. Add --sampler tpe or --sampler random.");
  if (batch !== undefined && drawn !== "tpe" && prune !== true)
    throw new SluiceError(
      "USAGE",
      "--batch: results count for the next batch with --sampler tpe or --prune only. Add one of them.",
    );
};

const orClose = async <T>(pool: Pool | undefined, run: () => T): Promise<T> => {
  try {
    return run();
  } catch (error) {
    await pool?.close();
    throw error;
  }
};

/** Opens the pool that runs the jobs if this process does not: a merge of finished parts, or workers elsewhere. */
const poolOf = async (
  plan: SweepPlan,
  { merge, workers, out, onNotice = () => undefined }: SweepOptions,
  clock: Clock,
): Promise<Pool | undefined> => {
  if (merge !== undefined) return (await import("./merged-parts.ts")).mergedParts(merge, plan);
  if (workers === undefined) return undefined;
  const { openQueuePool } = await import("./workers/queue-pool.ts");
  return openQueuePool(plan, { url: workers, clock, durable: out !== undefined, onNotice });
};

const checkParts = ({ part, merge, out, resume }: SweepOptions): void => {
  if (part !== undefined) checkPart(part);
  if (part !== undefined && out === undefined)
    throw new SluiceError("USAGE", "--part: name the folder that keeps the part for --merge by --out DIR.");
  if (merge !== undefined && (part !== undefined || resume === true))
    throw new SluiceError("USAGE", "--merge runs nothing: leave --part and --resume out.");
};

const choiceOf = ({ sampler, random, trials = random ?? 100, seed = 1, batch = 8, prune }: SweepOptions): Choice => {
  const kind = sampler ?? (random === undefined ? "grid" : "random");
  if (kind === "tpe") return { kind, count: trials, seed: String(seed), batch };
  const batched = prune === true ? { batch } : {};
  return kind === "grid" ? { kind, ...batched } : { kind, count: trials, seed: String(seed), ...batched };
};

const givenIn = (vary: SweepOptions["vary"] = {}): readonly Variation[] =>
  isList(vary)
    ? vary.map(readVariation)
    : Object.entries(vary).map(([name, values]) => ({ name, values, place: `vary "${name}"` }));

const isList = (vary: NonNullable<SweepOptions["vary"]>): vary is readonly string[] => Array.isArray(vary);

const planOptions = (options: SweepOptions, variations: readonly Variation[]): PlanOptions => {
  const {
    fixture,
    folds,
    seed,
    max = 1_000,
    by = "pnl",
    prune,
    limits = true,
    train = 0.7,
    fills,
    warmUpMs,
    part,
  } = options;
  const objectives = typeof by === "string" ? [by] : by;
  return {
    variations,
    choice: choiceOf(options),
    max,
    by: objectives[0] as Score,
    objectives,
    ...(prune === undefined ? {} : { prune }),
    ...(fixture === undefined ? {} : { fixture }),
    ...(folds === undefined ? {} : { folds: { count: folds, train } }),
    ...(seed === undefined ? {} : { seed: String(seed) }),
    ...(limits ? {} : { limits: false }),
    ...(fills === undefined ? {} : { fills }),
    ...(warmUpMs === undefined ? {} : { warmUpMs }),
    ...(part === undefined ? {} : { part }),
  };
};

/** The file was loaded before; this is the same module again. */
const exportedBy = async (path: string): Promise<readonly Variation[]> => {
  const { sweep: exported } = (await exportsOf(pathToFileURL(resolve(path)).href)) as { readonly sweep?: unknown };
  return variationsIn(exported, path);
};

/** Merges variations; given ones override those of the file, option by option. */
const merged = (inFile: readonly Variation[], given: readonly Variation[]): readonly Variation[] => [
  ...inFile.filter(({ name }) => given.every((one) => one.name !== name)),
  ...given,
];

const startOf = (
  { fixture, space, trials, windows, manifest }: SweepPlan,
  runs: number,
  threads: number,
): SweepStart => ({
  fixture,
  space,
  runs,
  points: trials,
  folds: windows.length,
  startAtMs: manifest.startAtMs,
  endAtMs: manifest.endAtMs,
  threads: Math.min(threads, runs),
});

const whenAborted = (signal: AbortSignal, stop: () => void): (() => void) => {
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  return () => {
    signal.removeEventListener("abort", stop);
  };
};
