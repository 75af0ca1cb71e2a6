/**
 * Runs of a sweep in the order in which they may begin: batches of trials, then the choice of each fold on the test
 * window that follows.
 *
 * Invariants: a batch depends on the results of those before it, in any order; each fold learns from its own trials
 * alone; a test exists only after all trainings of its fold have answered.
 * Not here: the runs (sweep.ts), the choice of points (sampling.ts).
 */
import type { Job } from "./job.ts";
import { type Bars, barsOf } from "./pruning.ts";
import { createSampler, type Point } from "./sampling.ts";
import { overridesOf } from "./space.ts";
import type { SweepPart } from "./sweep-parts.ts";
import type { SweepPlan } from "./sweep-plan.ts";
import { chosenIn, type Part, type Result } from "./sweep-report.ts";
import { bestFirst } from "./trial-order.ts";

export interface Task {
  readonly job: Job;
  readonly part: Part;
  readonly fold?: number;
  readonly point: number;
}

/** The points that were tried, in the order in which they came up first. */
export class PointNumbers {
  readonly points: Point[] = [];
  readonly #numbers = new Map<string, number>();

  of(point: Point): number {
    const key = point.join(" ");
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    this.#numbers.set(key, this.points.length);
    return this.points.push(point) - 1;
  }
}

export const optionsAt = (space: SweepPlan["space"], point: Point): Result["options"] =>
  Object.fromEntries(space.map(({ name, values }, at) => [name, values[point[at] ?? 0]]));

/**
 * Each call gives the next batch: on the whole recording, or on the training of every fold, of which each learns from
 * its own trials alone.
 */
export const batchesOf = (
  plan: SweepPlan,
  numbers: PointNumbers,
  results: ReadonlyMap<number, Result>,
): (() => readonly Task[]) => {
  const { trials, windows, objectives, prune, part } = plan;
  if (part !== undefined && windows.length === 0) return onlyBatch(pointsInPart(plan, numbers, part));
  const folds = windows.length === 0 ? [undefined] : [...windows.keys()].filter((fold) => isInPart(part, fold));
  const streams = folds.map((fold) => ({
    fold,
    first: (fold ?? 0) * trials,
    count: 0,
    sample: createSampler(plan, String(fold ?? "whole")),
  }));
  return () =>
    streams.flatMap((stream) => {
      const { fold, first, count, sample } = stream;
      const tried = Array.from({ length: count }, (_, at) => results.get(first + at) as Result);
      const points = sample(bestFirst(tried, objectives).map(({ point }) => numbers.points[point] as Point));
      stream.count += points.length;
      const bars = prune === true ? barsOf(tried.map((one) => ("rungs" in one ? (one.rungs ?? []) : []))) : undefined;
      const part = fold === undefined ? "whole" : "train";
      return points.map((point, at) =>
        taskOf(plan, { index: first + count + at, point, number: numbers.of(point), part, fold, bars }),
      );
    });
};

/** The points of a part; those of the other parts are numbered as well. */
const pointsInPart = (plan: SweepPlan, numbers: PointNumbers, part: SweepPart): readonly Task[] =>
  plan.points
    .map((point, index) => taskOf(plan, { index, point, number: numbers.of(point), part: "whole", fold: undefined }))
    .filter(({ job }) => isInPart(part, job.index));

const isInPart = (part: SweepPart | undefined, unit: number): boolean =>
  part === undefined || 1 + (unit % part.of) === part.index;

const onlyBatch = (tasks: readonly Task[]): (() => readonly Task[]) => {
  const batches = [tasks];
  return () => batches.pop() ?? [];
};

/**
 * Returns the tests: the choice of each fold's training on the fold's test window. Without a successful training there
 * is no test.
 */
export const testTasks = (
  plan: SweepPlan,
  numbers: PointNumbers,
  results: ReadonlyMap<number, Result>,
): readonly Task[] => {
  const { trials, windows, by } = plan;
  return windows.flatMap((_, fold) => {
    const chosen = chosenIn(results.values(), fold, trials, by);
    if (chosen === undefined) return [];
    const { point: number } = chosen;
    const point = numbers.points[number] as Point;
    return [taskOf(plan, { index: windows.length * trials + fold, point, number, part: "test", fold })];
  });
};

/**
 * Returns the index of a market. Markets have the order of sweep-markets.ts: training and test of each fold in turn.
 */
export const marketOf = (part: Part, fold: number | undefined): number =>
  fold === undefined ? 0 : 2 * fold + (part === "test" ? 1 : 0);

interface Wanted {
  readonly index: number;
  readonly point: Point;
  /** Number of the point. */
  readonly number: number;
  readonly part: Part;
  readonly fold: number | undefined;
  readonly bars?: Bars | undefined;
}

const taskOf = ({ space }: SweepPlan, { index, point, number, part, fold, bars }: Wanted): Task => ({
  job: {
    index,
    overrides: overridesOf(space, point),
    market: marketOf(part, fold),
    ...(bars === undefined ? {} : { bars }),
  },
  part,
  ...(fold === undefined ? {} : { fold }),
  point: number,
});
