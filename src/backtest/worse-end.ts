/**
 * Choice of the end of a bar that a pessimistic path reaches first: the worse one for the account.
 *
 * Positions with stops and take-profits are valued first: on the way low-high and on the way high-low each is closed at
 * the first of its levels, and the way that leaves less money at the close is taken. Where both leave the same, an end
 * that meets only resting buys, or only resting sells, comes second, so that a fill is not followed by the favourable
 * end of its bar. A held take-profit counts as a resting order. Where both ends meet resting orders, the end that
 * reaches a stop comes first.
 *
 * Invariants: exact decimals; the answer depends on the bar, resting orders and held exits alone.
 * Not here: the prints of a bar (candle-prints.ts).
 */
import type { PathExit } from "../client/service-port.ts";
import { add, compare, mul, sub } from "../decimal.ts";

/** The rest of a bar, and the best prices of our own resting orders, decimal text; undefined where none rests. */
interface BarAhead {
  /** Current price. */
  readonly px: string;
  readonly low: string;
  readonly high: string;
  readonly close: string;
  readonly bidPx: string | undefined;
  readonly askPx: string | undefined;
}

/** Profit of the exits on a path, compared with holding every position until the close. */
const gainOn = (path: readonly string[], close: string, exits: readonly PathExit[]): string =>
  exits.reduce((gain, { side, qty, exitOn }) => {
    const px = exitOn(path);
    if (px === undefined) return gain;
    return add(gain, mul(qty, side === "sell" ? sub(px, close) : sub(close, px)));
  }, "0");

/** Returns true if only `a` holds, false if only `b` does, undefined for both or neither. */
const only = (a: boolean, b: boolean): boolean | undefined => (a === b ? undefined : a);

/** Returns true if the low comes first, false if the high does, undefined if neither end is worse. */
export const isLowWorse = (
  { px, low, high, close, bidPx, askPx }: BarAhead,
  exits: readonly PathExit[],
): boolean | undefined => {
  const lowFirst = gainOn([px, low, high, close], close, exits);
  const highFirst = gainOn([px, high, low, close], close, exits);
  const order = compare(lowFirst, highFirst);
  if (order !== 0) return order < 0;

  const isMet = (level: string | undefined, end: "low" | "high"): boolean =>
    level !== undefined && (end === "low" ? compare(level, low) >= 0 : compare(level, high) <= 0);
  const closing = (side: PathExit["side"]): readonly PathExit[] => exits.filter((exit) => exit.side === side);
  const [sells, buys] = [closing("sell"), closing("buy")];

  const meetsBuys = isMet(bidPx, "low") || buys.some(({ takeProfitPx }) => isMet(takeProfitPx, "low"));
  const meetsSells = isMet(askPx, "high") || sells.some(({ takeProfitPx }) => isMet(takeProfitPx, "high"));
  const stopsAtLow = sells.some(({ stopPx }) => isMet(stopPx, "low"));
  const stopsAtHigh = buys.some(({ stopPx }) => isMet(stopPx, "high"));

  return only(meetsSells, meetsBuys) ?? only(stopsAtLow, stopsAtHigh);
};
