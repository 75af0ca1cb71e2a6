/**
 * Which points of a space are tried: all of them, or some drawn by chance.
 *
 * Invariants: a point comes once; the same space, count and seed give the same points in the same order; the count is bounded
 * before any point is made.
 */
import { SluiceError } from "../../errors.ts";
import { createRandom } from "../../random.ts";
import { type Space, sizeOf } from "./space.ts";

/** One index of a value for each dimension. */
export type Point = readonly number[];

export type Choice = { readonly kind: "grid" } | { readonly kind: "random"; readonly count: number; readonly seed: string };

export const choose = (space: Space, choice: Choice, max: number): readonly Point[] => {
  const size = sizeOf(space);
  const wanted = choice.kind === "grid" ? size : Math.min(size, choice.count);
  if (wanted > max) throw tooMany(space, wanted, max);
  return choice.kind === "grid" || wanted === size
    ? Array.from({ length: size }, (_, index) => pointAt(space, index))
    : drawn(space, wanted, choice.seed);
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
