/**
 * Report of a sweep: every run, the order of the points, and the share of luck in the best result.
 *
 * Invariants: a report holds plain JSON and depends on plan and results alone: not on the number of threads, the order
 * in which runs finished, or a resumption; runs are in the order of their index.
 * Not here: formats (table.ts, csv.ts, html-page.ts).
 */
import { approximate } from "sluice";
import type { TimeWindow } from "sluice/extension";
import type { Answer } from "./job.ts";
import { frontsOf } from "./pareto.ts";
import type { Choice } from "./sampling.ts";
import { type Figures, ranked, type Score, scoreOf, scores } from "./scores.ts";
import { type SelectionBias, selectionBiasOf } from "./selection-bias.ts";
import type { SweepPart } from "./sweep-parts.ts";
import type { SweepPlan } from "./sweep-plan.ts";
import { runsOf } from "./sweep-plan.ts";

export type Part = "whole" | "train" | "test";

export type Result = {
  readonly index: number;
  readonly part: Part;
  /** Number of the fold, from 0; only with folds. */
  readonly fold?: number;
  /** Number of the point in the sweep. */
  readonly point: number;
  /** Varied options, with their values in this run. */
  readonly options: Readonly<Record<string, unknown>>;
} & Answer;

export type Done = Extract<Result, { readonly status: "done" }>;

/** One point over all its runs that decide: the whole, or every training. */
export interface PointScore {
  readonly point: number;
  readonly options: Readonly<Record<string, unknown>>;
  /** Decimal text; the median where there are several runs. */
  readonly score: string;
  readonly runs: readonly number[];
  /**
   * With several objectives: the scores of all of them, and whether no other point is better in one and as good in the
   * others.
   */
  readonly scores?: Readonly<Partial<Record<Score, string>>>;
  readonly onFront?: boolean;
}

export interface FoldReport {
  readonly fold: number;
  readonly train: TimeWindow;
  readonly test: TimeWindow;
  /** The point that was best in training; left out while that is not known. */
  readonly chosen?: { readonly point: number; readonly options: Readonly<Record<string, unknown>> };
  readonly inSample?: Figures;
  readonly outOfSample?: Figures;
  readonly luck?: SelectionBias;
}

/** Result of a sweep: every run, the points in order of their score, and the result of the choice on later data. */
export interface SweepReport {
  readonly config: string;
  readonly fixture: {
    readonly name: string;
    readonly contentHash: string;
    readonly startAtMs: number;
    readonly endAtMs: number;
  };
  readonly seed: string;
  readonly by: Score;
  /** Objectives, if there are several; `by` is the first of them, and chooses in each fold. */
  readonly objectives?: readonly Score[];
  readonly choice: Choice;
  readonly space: readonly { readonly name: string; readonly values: readonly unknown[] }[];
  /**
   * Part of the sweep, if only a part was requested: the other runs do not count as wanted, and the best result is
   * known only after a merge.
   */
  readonly part?: SweepPart;
  readonly runs: {
    readonly wanted: number;
    readonly done: number;
    readonly failed: number;
    readonly unaccepted: number;
    /** Given up early; where that was allowed. */
    readonly pruned?: number;
  };
  /**
   * The best first; without runs that failed, were given up or had no order accepted. With several objectives the front
   * is first.
   */
  readonly ranking: readonly PointScore[];
  readonly luck?: SelectionBias;
  readonly folds?: readonly FoldReport[];
  readonly results: readonly Result[];
}

export const reportOf = (plan: SweepPlan, byIndex: ReadonlyMap<number, Result>): SweepReport => {
  const { by, objectives, fixture, manifest, windows, prune } = plan;
  const results = [...byIndex.values()].sort((a, b) => a.index - b.index);
  const count = (status: Result["status"]): number => results.filter((result) => result.status === status).length;
  const ranking = rankingOf(results, objectives);
  const luck =
    windows.length === 0
      ? selectionBiasOf(
          ranking.map(({ score }) => approximate(score)),
          scores[by],
          count("pruned"),
        )
      : undefined;
  return {
    config: plan.configPath,
    fixture: {
      name: fixture,
      contentHash: manifest.contentHash,
      startAtMs: manifest.startAtMs,
      endAtMs: manifest.endAtMs,
    },
    seed: plan.runSeed,
    by,
    ...(objectives.length > 1 ? { objectives } : {}),
    choice: plan.choice,
    space: plan.space.map(({ name, values }) => ({ name, values })),
    ...(plan.part === undefined ? {} : { part: plan.part }),
    runs: {
      wanted: runsOf(plan),
      done: count("done"),
      failed: count("failed"),
      unaccepted: count("unaccepted"),
      ...(prune === true ? { pruned: count("pruned") } : {}),
    },
    ranking,
    ...(luck === undefined ? {} : { luck }),
    ...(windows.length === 0 ? {} : { folds: windows.map((_, fold) => foldReport(plan, results, fold)) }),
    results,
  };
};

/** Returns the reason for which a run has no figures. */
export const reasonOf = (result: Exclude<Result, Done>): string => {
  if (result.status === "failed") return result.error;
  if (result.status === "unaccepted") return result.reason;
  return `given up at ${100 * result.at} % of the time with pnl ${result.pnl}, below ${result.bar}, the median of the runs before it`;
};

export const isDone = (result: Result): result is Done => result.status === "done";

const rankingOf = (results: readonly Result[], objectives: readonly Score[]): readonly PointScore[] => {
  const [by] = objectives as readonly [Score];
  const byPoint = new Map<number, Done[]>();
  for (const result of results) {
    if (!isDone(result) || result.part === "test") continue;
    byPoint.set(result.point, [...(byPoint.get(result.point) ?? []), result]);
  }
  const middleOf = (runs: readonly Done[], by: Score): Done =>
    ranked(runs, by, figures)[Math.floor(runs.length / 2)] as Done;
  const points = [...byPoint].map(([point, runs]) => {
    const medians = Object.fromEntries(objectives.map((one) => [one, scoreOf(middleOf(runs, one).figures, one)]));
    return {
      point,
      runs,
      options: middleOf(runs, by).options,
      medians: medians as Readonly<Partial<Record<Score, string>>>,
    };
  });
  points.sort((a, b) => a.point - b.point);
  return frontsOf(points, objectives, ({ medians }) => medians).flatMap((front, rank) =>
    front.map(({ point, options, runs, medians }) => ({
      point,
      options,
      score: medians[by] as string,
      runs: runs.map(({ index }) => index),
      ...(objectives.length > 1 ? { scores: medians, onFront: rank === 0 } : {}),
    })),
  );
};

const figures = (run: Done): Figures => run.figures;

/** Returns the best training of a fold once all of them are known; later data has no influence. */
export const chosenIn = (results: Iterable<Result>, fold: number, trials: number, by: Score): Done | undefined => {
  const trainings = [...results].filter((result) => result.part === "train" && result.fold === fold);
  if (trainings.length < trials) return undefined;
  trainings.sort((a, b) => a.index - b.index);
  return ranked(trainings.filter(isDone), by, figures)[0];
};

const foldReport = ({ windows, trials, by }: SweepPlan, results: readonly Result[], fold: number): FoldReport => {
  const { train, test } = windows[fold] as { train: TimeWindow; test: TimeWindow };
  const best = chosenIn(results, fold, trials, by);
  if (best === undefined) return { fold, train, test };
  const tested = results.find((result) => result.part === "test" && result.fold === fold);
  const trained = results.filter(
    (result): result is Done => result.part === "train" && result.fold === fold && isDone(result),
  );
  const luck = selectionBiasOf(
    trained.map((run) => approximate(scoreOf(run.figures, by))),
    scores[by],
    results.filter((result) => result.status === "pruned" && result.fold === fold).length,
  );
  return {
    fold,
    train,
    test,
    chosen: { point: best.point, options: best.options },
    inSample: best.figures,
    ...(tested !== undefined && isDone(tested) ? { outOfSample: tested.figures } : {}),
    ...(luck === undefined ? {} : { luck }),
  };
};
