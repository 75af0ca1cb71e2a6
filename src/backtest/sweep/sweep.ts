/**
 * Runs a planned sweep on several threads: trainings first, then what they chose on the time that follows.
 *
 * Invariants: results are kept as they come and reported by index; what was kept from an earlier run is not run again; the
 * recording is read once, and not at all when nothing is to be run; a test runs only when all trainings of its fold have answered.
 * Not here: what is asked for (sweep-plan.ts), the report (sweep-report.ts), threads (pool.ts).
 */

import type { Clock } from "../../clock/clock.ts";
import type { ReadMarket } from "../backtest-service.ts";
import type { Answer, Job } from "./job.ts";
import { createPool, type Pool } from "./pool.ts";
import type { ResultsFile } from "./results-file.ts";
import { readMarkets } from "./shared-market.ts";
import { overridesOf } from "./space.ts";
import { runsOf, type SweepPlan } from "./sweep-plan.ts";
import { chosenIn, type Part, type Result, reportOf, type SweepReport } from "./sweep-report.ts";
import { openThread } from "./thread.ts";

/** How far a sweep has come, in runs. */
export interface SweepProgress {
  readonly done: number;
  readonly wanted: number;
  /** Of those done, how many were kept from before. */
  readonly kept: number;
}

export interface SweepRun {
  /** Runs at a time. */
  readonly threads: number;
  /** Leaves threads unopened that would not pay, judged on this time; the report does not depend on it. */
  readonly sparing?: Clock;
  readonly file?: ResultsFile;
  readonly onProgress?: (progress: SweepProgress) => void;
  /** Called with a way to stop; what it returns is called at the end. */
  readonly onStop?: (stop: () => void) => () => void;
}

export const runSweep = async (plan: SweepPlan, run: SweepRun): Promise<SweepReport> => {
  const { configPath, settings } = plan;
  let markets: readonly ReadMarket[] | undefined;
  const { threads: size, sparing } = run;
  const pool = createPool({ size, ...(sparing === undefined ? {} : { sparing }) }, () => {
    markets ??= readMarkets(plan);
    return openThread({ configPath, settings, markets });
  });
  const leave = run.onStop?.(() => {
    void pool.close();
  });
  try {
    const results = await runAll(plan, run, pool);
    return reportOf(plan, results);
  } finally {
    await pool.close();
    leave?.();
  }
};

interface Task {
  readonly job: Job;
  readonly part: Part;
  readonly fold?: number;
  readonly point: number;
}

const runAll = async (plan: SweepPlan, run: SweepRun, pool: Pool): Promise<ReadonlyMap<number, Result>> => {
  const results = new Map<number, Result>();
  const options = plan.points.map((point) => Object.fromEntries(plan.space.map(({ name, values }, at) => [name, values[point[at] ?? 0]])));
  let kept = 0;
  const tell = (): void => {
    run.onProgress?.({ done: results.size, wanted: runsOf(plan), kept });
  };
  const runTasks = async (tasks: readonly Task[]): Promise<void> => {
    const byIndex = new Map(tasks.map((task) => [task.job.index, task]));
    for (const { job, point } of tasks) {
      const known = run.file?.kept.get(job.index);
      if (known?.point !== point) continue;
      results.set(job.index, known);
      kept++;
    }
    tell();
    await pool.run(
      tasks.map(({ job }) => job).filter(({ index }) => !results.has(index)),
      ({ index }, answer: Answer) => {
        const { part, fold, point } = byIndex.get(index) as Task;
        const result: Result = { index, part, ...(fold === undefined ? {} : { fold }), point, options: options[point] ?? {}, ...answer };
        results.set(index, result);
        run.file?.append(result);
        tell();
      },
    );
  };
  await runTasks(firstTasks(plan));
  await runTasks(testTasks(plan, results));
  return results;
};

/** Every point on the whole recording, or on the training of every fold. */
const firstTasks = (plan: SweepPlan): readonly Task[] => {
  const { points, windows } = plan;
  if (windows.length === 0) return points.map((_, point) => taskOf(plan, point, point, "whole"));
  return windows.flatMap((_, fold) => points.map((_point, point) => taskOf(plan, fold * points.length + point, point, "train", fold)));
};

/** What each fold's training chose, on the fold's test. Where no training succeeded there is nothing to test. */
const testTasks = (plan: SweepPlan, results: ReadonlyMap<number, Result>): readonly Task[] => {
  const { points, windows, by } = plan;
  return windows.flatMap((_, fold) => {
    const chosen = chosenIn(results.values(), fold, points, by);
    if (chosen === undefined) return [];
    const index = windows.length * points.length + fold;
    return [taskOf(plan, index, chosen.point, "test", fold)];
  });
};

/** Markets stand in the order of shared-market.ts: training and test of each fold in turn. */
const taskOf = (plan: SweepPlan, index: number, point: number, part: Part, fold?: number): Task => ({
  job: {
    index,
    overrides: overridesOf(plan.space, plan.points[point] ?? []),
    market: fold === undefined ? 0 : 2 * fold + (part === "test" ? 1 : 0),
  },
  part,
  ...(fold === undefined ? {} : { fold }),
  point,
});
