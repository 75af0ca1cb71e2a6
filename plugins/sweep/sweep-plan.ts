/**
 * Plan of a sweep: the points to try, the windows to try them on, and the resulting jobs.
 *
 * Invariants: every mistake in options, values, config and fixture is reported here, before anything runs; jobs are
 * numbered from 0 by fold, then by point; tests come after all trainings, one for each fold.
 * Not here: running (sweep.ts), spelling of values (option-values.ts).
 */
import { resolve } from "node:path";
import { isSluiceError, SluiceError } from "sluice";
import type { BacktestSpec } from "sluice/backtest";
import {
  type CheckedConfig,
  checkConfig,
  type FixtureManifest,
  type GivenOptions,
  hashOfConfig,
  packageVersion,
  readManifest,
  withOptions,
} from "sluice/extension";
import { type Fold, foldsOf } from "./folds.ts";
import type { JobSettings } from "./job.ts";
import { type Choice, choose, countOf, type Point } from "./sampling.ts";
import type { Score } from "./scores.ts";
import { nameOf, overridesOf, type Space, spaceOf, type Variation, varied } from "./space.ts";
import { checkDivision, countInPart, type SweepPart } from "./sweep-parts.ts";

export interface SweepOptions extends GivenOptions {
  /** Folder of a recorded market, instead of the config's. */
  readonly fixture?: string;
  readonly variations: readonly Variation[];
  readonly choice: Choice;
  /** Most points that may be tried. */
  readonly max: number;
  readonly by: Score;
  /** Objectives in addition to `by`, which is the first of them. */
  readonly objectives?: readonly Score[];
  /** Give up runs that fall behind. */
  readonly prune?: boolean;
  readonly folds?: { readonly count: number; readonly train: number };
  readonly seed?: string;
  readonly limits?: boolean;
  /** These runs alone; all when left out. */
  readonly part?: SweepPart;
}

export interface SweepPlan extends SweepOptions {
  readonly configPath: string;
  readonly fixture: string;
  readonly manifest: FixtureManifest;
  readonly space: Space;
  /** Number of points that are tried, on each fold's training where there are folds. */
  readonly trials: number;
  /** Points to try, if they are known before anything runs; otherwise empty. */
  readonly points: readonly Point[];
  readonly possible: (point: Point) => boolean;
  readonly objectives: readonly Score[];
  /** Traded windows; the warm-up of each lies before it. */
  readonly windows: readonly Fold[];
  /** Warm-up, as given or else the config's; a backtest of a window reads this much of the recording before it. */
  readonly warmUpMs: number;
  readonly settings: JobSettings;
  /** The seed that all runs have. */
  readonly runSeed: string;
  /** Everything the results depend on; a sweep is resumed only with results of the same identity. */
  readonly identity: Readonly<Record<string, unknown>>;
}

/** Returns the number of runs in the requested part. */
export const runsOf = ({ trials, windows, part = whole }: Pick<SweepPlan, "trials" | "windows" | "part">): number =>
  windows.length === 0 ? countInPart(trials, part) : countInPart(windows.length, part) * (trials + 1);

const whole: SweepPart = { index: 1, of: 1 };

export const planSweep = (configPath: string, given: unknown, options: SweepOptions): SweepPlan => {
  const config = checkConfig(withOptions(given, options));
  const fixture = fixtureOf(config, options.fixture);
  const manifest = readManifest(resolve(fixture));
  const space = spaceOf(config.strategies, options.variations);
  const { folds, seed, limits, choice, max, by, objectives = [by], prune = false } = options;
  const [trials, points] = [countOf(space, choice, max), choose(space, choice, max)];
  checkPoints(config, space, points);
  checkPruning(prune, objectives);
  const { warmUpMs = 0 } = (config.service as BacktestSpec).options;
  const windows =
    folds === undefined ? [] : foldsOf(manifest.startAtMs + warmUpMs, manifest.endAtMs, folds.count, folds.train);
  const settings = {
    ...(seed === undefined ? {} : { seed }),
    ...(limits === undefined ? {} : { limits }),
    ...(options.fills === undefined ? {} : { fills: options.fills }),
    ...(options.warmUpMs === undefined ? {} : { warmUpMs: options.warmUpMs }),
  };
  const runSeed = seed ?? String(config.seed);
  const identity = {
    config: hashOfConfig(configPath, config),
    fixture: manifest.contentHash,
    name: fixture,
    version: packageVersion(),
    space: space.map(({ name, values }) => ({ name, values })),
    choice,
    folds: folds ?? null,
    by: folds === undefined && choice.kind !== "tpe" ? null : objectives.join(),
    prune,
    seed: runSeed,
    limits: limits ?? null,
  };
  const possible = (point: Point): boolean => problemsOf(config, space, point) === undefined;
  if (options.part !== undefined) checkDivision({ trials, windows, choice }, options.part);
  const tried = { space, trials, points, possible, objectives };
  return { ...options, ...tried, configPath, fixture, manifest, windows, warmUpMs, settings, runSeed, identity };
};

/** Pruning needs a profit: at a rung a run has made some profit, but other scores are not known that early. */
const checkPruning = (prune: boolean, objectives: readonly Score[]): void => {
  const [by = "pnl"] = objectives;
  if (!prune || (objectives.length === 1 && (by === "pnl" || by === "sharpe"))) return;
  throw new SluiceError(
    "USAGE",
    `--prune gives up runs by their profit so far, which shows little about ${objectives.join(" and ")}. Choose by pnl or by sharpe alone, or leave --prune out.`,
  );
};

const fixtureOf = ({ service }: CheckedConfig, given: string | undefined): string => {
  if (service.kind !== "backtest") {
    throw new SluiceError(
      "CONFIG_INVALID",
      `config.service is ${service.kind}(…); a sweep needs service: backtest({ fixture: "…" }).`,
    );
  }
  const fixture = given ?? (service as BacktestSpec).options.fixture;
  if (fixture !== undefined) return fixture;
  throw new SluiceError(
    "CONFIG_INVALID",
    'No recorded market is named. Write fixture: "path/to/fixture" in backtest({ … }), or give --fixture DIR.',
  );
};

/** Values were checked one by one; a schema may also object to how they meet. */
const checkPoints = (config: CheckedConfig, space: Space, points: readonly Point[]): void => {
  for (const point of points) {
    const problems = problemsOf(config, space, point);
    if (problems !== undefined) throw new SluiceError("USAGE", `${nameOf(space, point)} is not possible:`, problems);
  }
};

const problemsOf = (config: CheckedConfig, space: Space, point: Point): readonly string[] | undefined => {
  try {
    varied(config, overridesOf(space, point));
    return undefined;
  } catch (error) {
    if (!isSluiceError(error)) throw error;
    return error.issues.length === 0 ? [error.message] : error.issues;
  }
};
