/**
 * Tree-structured Parzen estimator: points that are likely among good trials and unlikely among the others.
 *
 * Each trial of a group is a kernel over all axes at once, and an even kernel represents the points that were not
 * tried. Kernels are logistic densities cut at the ends of an ordered axis, because their mass and its inverse have
 * closed forms; on an axis of names a kernel is its own name and a little of all others.
 *
 * Invariants: pure; the same trials and the same source of chance give the same points in the same order.
 * Not here: the choice of good trials, and unique points (sampling.ts).
 */
import type { Random } from "sluice";

/** One index of a value for each dimension. */
export type Point = readonly number[];

/** Axis of a point: the number of its indexes, and its kind. */
export interface Axis {
  readonly size: number;
  /** Neighbours are alike, as with numbers; otherwise values are names. */
  readonly ordered: boolean;
}

const candidates = 24;
/** Standard deviation of a kernel around one trial, as a share of the axis; more trials make it narrower. */
const width = 0.1;
const scaleOfDeviation = Math.sqrt(3) / Math.PI;

/** Points drawn where `good` trials are, the most promising first. There is at least one good trial. */
export const suggestions = (
  axes: readonly Axis[],
  good: readonly Point[],
  bad: readonly Point[],
  random: Random,
): readonly Point[] => {
  const [likely, unlikely] = [mixtureOf(axes, good), mixtureOf(axes, bad)];
  const drawn = Array.from({ length: candidates }, () => {
    const kernels = likely[random.whole(0, likely.length - 1)] as Mixture[number];
    const point = kernels.map((kernel) => kernel.draw(random));
    return { point, merit: densityOf(likely, point) / densityOf(unlikely, point) };
  });
  return drawn.sort((a, b) => b.merit - a.merit).map(({ point }) => point);
};

interface Kernel {
  /** The probability of an index. */
  readonly mass: (index: number) => number;
  readonly draw: (random: Random) => number;
}

/** Equal parts; one kernel for each axis. */
type Mixture = readonly (readonly Kernel[])[];

const mixtureOf = (axes: readonly Axis[], points: readonly Point[]): Mixture => {
  const deviation = width * Math.max(1, points.length) ** (-1 / (axes.length + 4));
  const others = 1 / (points.length + 1);
  const even = axes.map(({ size }) => evenKernel(size));
  return [
    ...points.map((point) =>
      axes.map(({ size, ordered }, axis) => {
        const at = point[axis] as number;
        return ordered ? logisticKernel((at + 0.5) / size, deviation, size) : namedKernel(at, others, size);
      }),
    ),
    even,
  ];
};

const densityOf = (mixture: Mixture, point: Point): number => {
  let total = 0;
  for (const kernels of mixture) {
    let mass = 1;
    for (let axis = 0; axis < kernels.length; axis++) mass *= (kernels[axis] as Kernel).mass(point[axis] as number);
    total += mass;
  }
  return total / mixture.length;
};

const evenKernel = (size: number): Kernel => ({ mass: () => 1 / size, draw: (random) => random.whole(0, size - 1) });

const namedKernel = (own: number, others: number, size: number): Kernel => ({
  mass: (index) => ((index === own ? 1 : 0) + others) / (1 + size * others),
  draw: (random) => (random.next() < 1 / (1 + size * others) ? own : random.whole(0, size - 1)),
});

const logistic = (x: number): number => 1 / (1 + Math.exp(-x));

/** Around `centre` on an axis from 0 to 1 of `size` cells. */
const logisticKernel = (centre: number, deviation: number, size: number): Kernel => {
  const scale = deviation * scaleOfDeviation;
  const [from, to] = [logistic(-centre / scale), logistic((1 - centre) / scale)];
  return {
    mass: (index) => {
      const [low, high] = [(index / size - centre) / scale, ((index + 1) / size - centre) / scale];
      // Both tails by the lower one: near 1 the difference would be lost.
      return (low > 0 ? logistic(-low) - logistic(-high) : logistic(high) - logistic(low)) / (to - from);
    },
    draw: (random) => {
      const share = from + random.next() * (to - from);
      const x = centre + scale * Math.log(share / (1 - share));
      return Math.min(size - 1, Math.max(0, Math.floor(x * size)));
    },
  };
};
