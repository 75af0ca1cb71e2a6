/**
 * Samplers of the option space: grid, random, and TPE.
 *
 * Invariants: a point comes once; the same space, choice and results give the same points in the same order, for any
 * number of runs at a time; the count is bounded before any point is made; a running trial counts as a poor one, so
 * that the points of a batch differ.
 * Not here: the estimator (parzen.ts), the order of trials (trial-order.ts).
 */
import { type Random, SluiceError } from "sluice";
import { createRandom } from "sluice/extension";
import { type Axis, type Point, suggestions } from "./parzen.ts";
import { type Space, sizeOf } from "./space.ts";

export type { Point };

/** `batch` is how many trials are chosen before the next results count. */
export type Choice =
  | { readonly kind: "grid"; readonly batch?: number }
  | { readonly kind: "random"; readonly count: number; readonly seed: string; readonly batch?: number }
  | { readonly kind: "tpe"; readonly count: number; readonly seed: string; readonly batch: number };

/** The next points to try, given all that were tried, the best first; none when all that are wanted were tried. */
type Sampler = (bestFirst: readonly Point[]) => readonly Point[];

/** Returns the number of points that will be tried; throws USAGE if it is greater than `max`. */
export const countOf = (space: Space, choice: Choice, max: number): number => {
  const size = sizeOf(space);
  const wanted = choice.kind === "grid" ? size : Math.min(size, choice.count);
  if (wanted > max) throw tooMany(space, wanted, max);
  return wanted;
};

/** Every point that will be tried, where that is known before anything runs; else none. */
export const choose = (space: Space, choice: Choice, max: number): readonly Point[] => {
  const wanted = countOf(space, choice, max);
  if (choice.kind === "grid" || wanted === sizeOf(space))
    return Array.from({ length: wanted }, (_, index) => pointAt(space, index));
  return choice.kind === "random" ? drawn(space, wanted, choice.seed) : [];
};

interface Sampled {
  readonly space: Space;
  readonly choice: Choice;
  /** Points of `choose`. */
  readonly points: readonly Point[];
  /** Returns true if the strategies accept the options of a point; only such points are tried. */
  readonly possible: (point: Point) => boolean;
}

/** Creates a sampler. `stream` distinguishes the samplers of one sweep: those of its folds. */
export const createSampler = ({ space, choice, points, possible }: Sampled, stream: string): Sampler => {
  if (points.length > 0) return (tried) => points.slice(tried.length, tried.length + (choice.batch ?? points.length));
  const { count, seed, batch } = choice as Extract<Choice, { readonly kind: "tpe" }>;
  const learn = createLearner(space, createRandom(seed).fork(`sweep/tpe/${stream}`), possible);
  return (tried) => learn(tried, Math.min(batch, count - tried.length));
};

/** Number of trials that are drawn by chance before the estimator is used. */
const firstDrawn = 10;
/** Share of trials that count as good, and their largest number. */
const [goodShare, goodMax] = [0.1, 25] as const;
/** Largest number of draws for a point that was not tried yet and is possible. */
const attemptsMax = 10_000;

const createLearner = (space: Space, random: Random, possible: (point: Point) => boolean) => {
  const axes = space.map(({ values, ordered }): Axis => ({ size: values.length, ordered }));
  const [rankOf, indexOf] = [space.map(ranksOf), space.map(({ values, ordered }) => ascending(values, ordered))];
  const toAxes = (point: Point): Point => point.map((index, axis) => rankOf[axis]?.[index] ?? 0);
  const toValues = (place: Point): Point => place.map((rank, axis) => indexOf[axis]?.[rank] ?? 0);
  const used = new Set<string>();
  const fresh = (place: Point): boolean => !used.has(place.join(" ")) && possible(toValues(place));
  const byChance = (): Point => {
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      const place = axes.map(({ size }) => random.whole(0, size - 1));
      if (fresh(place)) return place;
    }
    throw new SluiceError(
      "USAGE",
      `After ${used.size} trials no other combination was found that the strategies take. Ask for fewer with --trials.`,
    );
  };
  return (bestFirst: readonly Point[], wanted: number): readonly Point[] => {
    const tried = bestFirst.map(toAxes);
    const good = tried.slice(0, Math.min(goodMax, Math.ceil(goodShare * tried.length)));
    const batch: Point[] = [];
    while (batch.length < wanted) {
      const learned =
        tried.length < firstDrawn
          ? undefined
          : suggestions(axes, good, [...tried.slice(good.length), ...batch], random).find(fresh);
      const place = learned ?? byChance();
      used.add(place.join(" "));
      batch.push(place);
    }
    return batch.map(toValues);
  };
};

/** Indices of values in the order of the axis: numbers by size, names as they were written. */
const ascending = (values: readonly unknown[], ordered: boolean): readonly number[] => {
  const indices = [...values.keys()];
  return ordered ? indices.sort((a, b) => Number(values[a]) - Number(values[b])) : indices;
};

const ranksOf = ({ values, ordered }: Space[number]): readonly number[] => {
  const ranks: number[] = [];
  for (const [rank, index] of ascending(values, ordered).entries()) ranks[index] = rank;
  return ranks;
};

/** The last dimension turns fastest. */
const pointAt = (space: Space, index: number): Point => {
  const point: number[] = [];
  let rest = index;
  for (const { values } of [...space].reverse()) {
    point.unshift(rest % values.length);
    rest = Math.floor(rest / values.length);
  }
  return point;
};

/** Without replacement: a point drawn before is drawn again. There are more points than are wanted, so this ends. */
const drawn = (space: Space, count: number, seed: string): readonly Point[] => {
  const random = createRandom(seed).fork("sweep");
  const points = new Map<string, Point>();
  while (points.size < count) {
    const point = space.map(({ values }) => random.whole(0, values.length - 1));
    points.set(point.join(" "), point);
  }
  return [...points.values()];
};

const tooMany = (space: Space, wanted: number, max: number): SluiceError => {
  const product = space.map(({ name, values }) => `${values.length} of ${name}`).join(" × ");
  return new SluiceError(
    "USAGE",
    `${wanted} points (${product}) are more than --max ${max}. Allow them with --max ${wanted}, or draw some with --random ${max}.`,
  );
};
