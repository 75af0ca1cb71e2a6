/**
 * Functions whose minimum a sampler searches, and what it finds in so many trials: Branin, Hartmann in six dimensions, a Rosenbrock
 * valley over a number, a whole number, a ratio and a name, and Branin with noise of the size of its differences.
 */
import { type Choice, choose, createSampler, type Point } from "../../../../plugins/sweep/sampling.ts";
import type { Space } from "../../../../plugins/sweep/space.ts";
import { createRandom } from "../../../../src/random.ts";

export interface Problem {
  readonly space: Space;
  readonly value: (point: Point) => number;
  /** Standard deviation of what a trial adds to it. */
  readonly noise?: number;
}

const fine = 2_000;

const axis = (name: string, size: number, ordered = true): Space[number] => {
  const values = Array.from({ length: size }, (_, index) => index);
  return { name, strategy: "s", option: name, values, ordered };
};

const along = (point: Point, at: number, from: number, to: number): number =>
  from + ((to - from) * (point[at] ?? 0)) / (fine - 1);

const branin = (point: Point): number => {
  const [x, y] = [along(point, 0, -5, 10), along(point, 1, 0, 15)];
  const valley = y - (5.1 / (4 * Math.PI ** 2)) * x * x + (5 / Math.PI) * x - 6;
  return valley ** 2 + 10 * (1 - 1 / (8 * Math.PI)) * Math.cos(x) + 10;
};

/** Weight, widths and centre of each of the four hills, the centres in ten-thousandths. */
const hills = [
  [1, [10, 3, 17, 3.5, 1.7, 8], [1312, 1696, 5569, 124, 8283, 5886]],
  [1.2, [0.05, 10, 17, 0.1, 8, 14], [2329, 4135, 8307, 3736, 1004, 9991]],
  [3, [3, 3.5, 1.7, 10, 17, 8], [2348, 1451, 3522, 2883, 3047, 6650]],
  [3.2, [17, 8, 0.05, 10, 0.1, 14], [4047, 8828, 8732, 5743, 1091, 381]],
] as const;

const hartmann = (point: Point): number =>
  -hills.reduce((sum, [weight, widths, centre]) => {
    const away = point.reduce(
      (total, _, at) => total + (widths[at] ?? 0) * (along(point, at, 0, 1) - (centre[at] ?? 0) / 10_000) ** 2,
      0,
    );
    return sum + weight * Math.exp(-away);
  }, 0);

const costOfName = [1, 0, 3, 2];

const rosenbrock = (point: Point): number => {
  const [x, y, ratio] = [along(point, 0, -2, 2), -1 + 0.1 * (point[1] ?? 0), along(point, 2, -4, 0)];
  return (1 - x) ** 2 + 5 * (y - x * x) ** 2 + 2 * (ratio + 2.5) ** 2 + 1.5 * (costOfName[point[3] ?? 0] ?? 0);
};

const plane = [axis("x", fine), axis("y", fine)];

export const problems: Readonly<Record<string, Problem>> = {
  branin: { space: plane, value: branin },
  hartmann6: { space: Array.from({ length: 6 }, (_, index) => axis(`x${index}`, fine)), value: hartmann },
  "rosenbrock, mixed": {
    space: [axis("x", fine), axis("y", 41), axis("ratio", fine), axis("name", 4, false)],
    value: rosenbrock,
  },
  "branin, noisy": { space: plane, value: branin, noise: 5 },
};

/** The true value at the best of `trials` trials, as they appeared. */
export const found = (
  { space, value, noise = 0 }: Problem,
  kind: "random" | "tpe",
  seed: number,
  trials: number,
  batch = 8,
): number => {
  const choice: Choice = { kind, count: trials, seed: String(seed), batch };
  const sample = createSampler({ space, choice, points: choose(space, choice, trials), possible: () => true }, "");
  const chance = createRandom(seed).fork("noise");
  const tried: { readonly point: Point; readonly seen: number }[] = [];
  for (let points = sample([]); points.length > 0; points = sample(tried.map(({ point }) => point))) {
    tried.push(...points.map((point) => ({ point, seen: value(point) + noise * chance.normal() })));
    tried.sort((a, b) => a.seen - b.seen);
  }
  return value(tried[0]?.point ?? []);
};

export const medianOf = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return ((sorted[Math.floor((sorted.length - 1) / 2)] ?? 0) + (sorted[Math.floor(sorted.length / 2)] ?? 0)) / 2;
};
