/**
 * Equity of a run over time: its deepest fall, and a thinned copy that keeps the picture.
 *
 * Invariants: money is decimal text and exact; a share is of the high that equity fell from; thinning never hides a
 * fall.
 * Not here: returns and risk (returns.ts).
 */
import { compare, div, isPositive, mul, sub } from "../decimal.ts";
import { assert } from "../errors.ts";

/** Equity at an instant, milliseconds since the epoch. */
export interface EquityPoint {
  readonly at: number;
  readonly equity: string;
}

/** The deepest falls of the equity. */
export interface Drawdown {
  /** Deepest fall below an earlier high, in currency; "0" when equity never fell. */
  readonly max: string;
  /** Deepest fall as a share of the high it fell from, in percent with at most four digits. */
  readonly maxPercent: string;
}

const equityPointsMax = 200;

/** The deepest fall of a value below its best so far, as it comes. */
export class DeepestFall {
  #high: string | undefined;
  #max = "0";
  #maxPercent = "0";

  take(value: string): void {
    if (this.#high === undefined || compare(value, this.#high) > 0) this.#high = value;
    const fall = sub(this.#high, value);
    if (compare(fall, this.#max) > 0) this.#max = fall;
    // A share of zero, or of a debt, has no meaning.
    const percent = isPositive(this.#high) ? div(mul(fall, "100"), this.#high, 4) : "0";
    if (compare(percent, this.#maxPercent) > 0) this.#maxPercent = percent;
  }

  get drawdown(): Drawdown {
    return { max: this.#max, maxPercent: this.#maxPercent };
  }
}

/** Feed it every point, not the thinned ones: the deepest fall may lie between two of those. */
export const drawdownOf = (equity: readonly EquityPoint[]): Drawdown => {
  const fall = new DeepestFall();
  for (const { equity: value } of equity) fall.take(value);
  return fall.drawdown;
};

/**
 * At most `pointsMax` points that keep the picture: the first and the last, and of each stretch in between its lowest
 * and its highest, so that thinning never hides a fall.
 */
export const thin = (equity: readonly EquityPoint[], pointsMax: number = equityPointsMax): readonly EquityPoint[] => {
  assert(pointsMax >= 4, `at least four points are kept, not ${pointsMax}`);
  if (equity.length <= pointsMax) return equity;
  const inner = equity.length - 2;
  const stretches = Math.floor((pointsMax - 2) / 2);
  const kept = new Set([0, equity.length - 1]);
  for (let stretch = 0; stretch < stretches; stretch++) {
    const from = 1 + Math.floor((stretch * inner) / stretches);
    const to = 1 + Math.floor(((stretch + 1) * inner) / stretches);
    for (const index of extremes(equity, from, to)) kept.add(index);
  }
  return equity.filter((_, index) => kept.has(index));
};

const extremes = (equity: readonly EquityPoint[], from: number, to: number): readonly [number, number] => {
  const valueAt = (index: number): string => (equity[index] as EquityPoint).equity;
  let low = from;
  let high = from;
  for (let index = from + 1; index < to; index++) {
    if (compare(valueAt(index), valueAt(low)) < 0) low = index;
    if (compare(valueAt(index), valueAt(high)) > 0) high = index;
  }
  return [low, high];
};
