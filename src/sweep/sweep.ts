/**
 * Runs a planned sweep on several threads: trainings first, then what they chose on the time that follows.
 *
 * Invariants: results are kept as they come and reported by index; what was kept from an earlier run is not run again; folders made
 * for windows are gone when it ends; a test runs only when all trainings of its fold have answered.
 * Not here: what is asked for (plan.ts), what is told (report.ts), threads (pool.ts).
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { readFixture, writeFixture } from "../backtest/fixture.ts";
import { SluiceError } from "../errors.ts";
import { cutTape } from "./cut.ts";
import type { Window } from "./folds.ts";
import type { Answer, Job } from "./job.ts";
import { runsOf, type SweepPlan } from "./plan.ts";
import { createPool, type Pool } from "./pool.ts";
import { chosenIn, type Part, type Result, reportOf, type SweepReport } from "./report.ts";
import type { ResultsFile } from "./results-file.ts";
import { overridesOf } from "./space.ts";
import { openThread } from "./thread.ts";

export interface SweepProgress {
  readonly done: number;
  readonly wanted: number;
  /** Of those done, how many were kept from before. */
  readonly kept: number;
}

export interface SweepRun {
  readonly threads: number;
  readonly file?: ResultsFile;
  readonly onProgress?: (progress: SweepProgress) => void;
  /** Called with a way to stop; what it returns is called at the end. */
  readonly onStop?: (stop: () => void) => () => void;
}

export const runSweep = async (plan: SweepPlan, run: SweepRun): Promise<SweepReport> => {
  const pool = createPool(run.threads, () => openThread({ configPath: plan.configPath, settings: plan.settings }));
  const leave = run.onStop?.(() => {
    void pool.close();
  });
  const markets = plan.windows.length === 0 ? undefined : makeMarkets(plan);
  try {
    const results = await runAll(plan, run, pool, markets?.dir ?? "");
    return reportOf(plan, results);
  } finally {
    await pool.close();
    markets?.remove();
    leave?.();
  }
};

interface Task {
  readonly job: Job;
  readonly part: Part;
  readonly fold?: number;
  readonly point: number;
}

const runAll = async (plan: SweepPlan, run: SweepRun, pool: Pool, dir: string): Promise<ReadonlyMap<number, Result>> => {
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
  await runTasks(firstTasks(plan, dir));
  await runTasks(testTasks(plan, dir, results));
  return results;
};

/** Every point on the whole recording, or on the training of every fold. */
const firstTasks = (plan: SweepPlan, dir: string): readonly Task[] => {
  const { points, windows, fixture } = plan;
  if (windows.length === 0) return points.map((_, point) => taskOf(plan, point, point, "whole", fixture, fixture));
  return windows.flatMap((_, fold) =>
    points.map((_point, point) =>
      taskOf(plan, fold * points.length + point, point, "train", folderOf(dir, fold, "train"), marketOf(plan, fold, "train"), fold),
    ),
  );
};

/** What each fold's training chose, on the fold's test. Where no training succeeded there is nothing to test. */
const testTasks = (plan: SweepPlan, dir: string, results: ReadonlyMap<number, Result>): readonly Task[] => {
  const { points, windows, by } = plan;
  return windows.flatMap((_, fold) => {
    const chosen = chosenIn(results.values(), fold, points, by);
    if (chosen === undefined) return [];
    const index = windows.length * points.length + fold;
    return [taskOf(plan, index, chosen.point, "test", folderOf(dir, fold, "test"), marketOf(plan, fold, "test"), fold)];
  });
};

const taskOf = (plan: SweepPlan, index: number, point: number, part: Part, fixture: string, market: string, fold?: number): Task => ({
  job: { index, overrides: overridesOf(plan.space, plan.points[point] ?? []), fixture, market },
  part,
  ...(fold === undefined ? {} : { fold }),
  point,
});

const marketOf = ({ fixture }: SweepPlan, fold: number, part: "train" | "test"): string => `${fixture}, ${part} of fold ${fold + 1}`;
const folderOf = (dir: string, fold: number, part: "train" | "test"): string => join(dir, `${part}-${fold + 1}`);

/** Each window as a recording of its own: read once here, so that a worker reads no more than it runs on. */
const makeMarkets = (plan: SweepPlan): { readonly dir: string; readonly remove: () => void } => {
  const { tape } = readFixture(resolve(plan.fixture));
  const dir = mkdtempSync(join(tmpdir(), "sluice-sweep-"));
  const remove = (): void => {
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    for (const [fold, windows] of plan.windows.entries()) {
      for (const part of ["train", "test"] as const) {
        const cut = cutTape(tape, windows[part]);
        if (cut.endAt <= cut.startAt) throw emptyWindow(fold, part, windows[part]);
        writeFixture(folderOf(dir, fold, part), cut, { source: marketOf(plan, fold, part) });
      }
    }
  } catch (error) {
    remove();
    throw error;
  }
  return { dir, remove };
};

const emptyWindow = (fold: number, part: string, { fromAt, toAt }: Window): SluiceError => {
  const [from, to] = [fromAt, toAt].map((at) => new Date(at).toISOString());
  return new SluiceError("USAGE", `--folds: the ${part} part of fold ${fold + 1}, ${from} to ${to}, holds no market. Take fewer folds.`);
};
