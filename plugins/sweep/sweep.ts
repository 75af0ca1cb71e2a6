/**
 * Runs a planned sweep on several threads: trainings batch by batch, then the chosen options on the test windows.
 *
 * Invariants: results are stored as they arrive and reported by index; stored results of an earlier run are not run
 * again; the recording is read once, and not at all when nothing is to be run.
 * Not here: the plan (sweep-plan.ts), the order of runs (sweep-tasks.ts), the report (sweep-report.ts), threads
 * (pool.ts).
 */

import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { ReadMarket } from "sluice/backtest";
import type { Clock } from "sluice/extension";
import type { Answer, Job } from "./job.ts";
import { createPool, type Pool } from "./pool.ts";
import type { ResultsFile } from "./results-file.ts";
import { overridesOf } from "./space.ts";
import { readMarkets } from "./sweep-markets.ts";
import { runsOf, type SweepPlan } from "./sweep-plan.ts";
import { type Result, reportOf, type SweepReport } from "./sweep-report.ts";
import { batchesOf, marketOf, optionsAt, PointNumbers, type Task, testTasks } from "./sweep-tasks.ts";
import { openThread } from "./thread.ts";

/** Progress of a sweep, in runs. */
export interface SweepProgress {
  readonly done: number;
  readonly wanted: number;
  /** Number of finished runs that were kept from an earlier sweep. */
  readonly kept: number;
}

/** Pages of the reports of single runs. */
export interface RunPages {
  /** Folder in which each is INDEX.html. */
  readonly dir: string;
  readonly top: number;
  /** Called with the index of each run whose page was written. */
  readonly onPage?: (index: number) => void;
}

export interface SweepRun {
  /** Runs at a time. */
  readonly threads: number;
  /** Leaves threads unopened that would not pay, judged on this time; the report does not depend on it. */
  readonly sparing?: Clock;
  readonly file?: ResultsFile;
  /** Pool that runs the jobs, instead of threads of this process; the pages of `pages` are made here. */
  readonly pool?: Pool;
  /** Write the reports of the first runs: tests, then the ranking. */
  readonly pages?: RunPages;
  readonly onProgress?: (progress: SweepProgress) => void;
  /** Called with a function that stops the sweep; the returned function is called at the end. */
  readonly onStop?: (stop: () => void) => () => void;
}

export const runSweep = async (plan: SweepPlan, run: SweepRun): Promise<SweepReport> => {
  const { configPath, settings } = plan;
  let markets: readonly ReadMarket[] | undefined;
  const { threads: size, sparing } = run;
  const threads = createPool({ size, ...(sparing === undefined ? {} : { sparing }) }, () => {
    markets ??= readMarkets(plan);
    return openThread({ configPath, settings, markets });
  });
  const pool = run.pool ?? threads;
  const close = () => Promise.all([pool.close(), threads.close()]);
  const leave = run.onStop?.(() => {
    void close();
  });
  try {
    const report = reportOf(plan, await runAll(plan, run, pool));
    if (run.pages !== undefined) await writePages(plan, report, run.pages, threads);
    return report;
  } finally {
    await close();
    leave?.();
  }
};

const runAll = async (plan: SweepPlan, run: SweepRun, pool: Pool): Promise<ReadonlyMap<number, Result>> => {
  const results = new Map<number, Result>();
  const numbers = new PointNumbers();
  let kept = 0;
  const tell = (): void => {
    run.onProgress?.({ done: results.size, wanted: runsOf(plan), kept });
  };
  /** False when it was stopped before all had answered. */
  const runTasks = async (tasks: readonly Task[]): Promise<boolean> => {
    const byIndex = new Map(tasks.map((task) => [task.job.index, task]));
    const optionsOf = ({ point }: Task): Result["options"] => optionsAt(plan.space, numbers.points[point] ?? []);
    for (const task of tasks) {
      const known = run.file?.kept.get(task.job.index);
      if (known === undefined || !isDeepStrictEqual(known.options, optionsOf(task))) continue;
      results.set(task.job.index, known);
      kept++;
    }
    tell();
    await pool.run(
      tasks.map(({ job }) => job).filter(({ index }) => !results.has(index)),
      ({ index }, answer: Answer) => {
        const task = byIndex.get(index) as Task;
        const { part, fold, point } = task;
        const result: Result = {
          index,
          part,
          ...(fold === undefined ? {} : { fold }),
          point,
          options: optionsOf(task),
          ...answer,
        };
        results.set(index, result);
        run.file?.append(result);
        tell();
      },
    );
    return tasks.every(({ job }) => results.has(job.index));
  };
  const nextTasks = batchesOf(plan, numbers, results);
  for (let tasks = nextTasks(); tasks.length > 0; tasks = nextTasks()) if (!(await runTasks(tasks))) return results;
  await runTasks(testTasks(plan, numbers, results));
  return results;
};

/** Makes the same runs again to write their pages, because stored results have no details. */
const writePages = async (
  plan: SweepPlan,
  { results, ranking }: SweepReport,
  { dir, top, onPage }: RunPages,
  pool: Pool,
): Promise<void> => {
  const tests = results.filter(({ part, status }) => part === "test" && status === "done").map(({ index }) => index);
  const chosen = [...tests, ...ranking.flatMap(({ runs }) => runs)].slice(0, top);
  mkdirSync(dir, { recursive: true });
  const byIndex = new Map(results.map((result) => [result.index, result]));
  const jobs = chosen.map((index): Job => {
    const { options, fold, part } = byIndex.get(index) as Result;
    const point = plan.space.map(({ name, values }) =>
      values.findIndex((value) => isDeepStrictEqual(value, options[name])),
    );
    return {
      index,
      overrides: overridesOf(plan.space, point),
      market: marketOf(part, fold),
      page: resolve(dir, `${index}.html`),
    };
  });
  await pool.run(jobs, ({ index }, answer) => {
    if (answer.status === "done") onPage?.(index);
  });
};
