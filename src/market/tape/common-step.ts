/**
 * Steps that divide several others, and columns that count in steps.
 *
 * Not here: decimals (decimal.ts).
 */
import { div, grid } from "../../decimal.ts";

/** Columns of all kinds of series that count ticks. */
export const priceColumns: ReadonlySet<string> = new Set([
  "px",
  "bidPx",
  "askPx",
  "open",
  "high",
  "low",
  "close",
  "tick",
]);
/** Columns of all kinds of series that count lots. */
export const quantityColumns: ReadonlySet<string> = new Set(["qty", "bidQty", "askQty", "volume", "lot"]);

/** The largest step that divides both. */
export const commonStep = (a: string, b: string): string => {
  if (a === b) return a;
  const places = Math.max(grid(a).places, grid(b).places);
  const [x, y] = [a, b].map((step) => grid(decimalOf(1, places)).parse(step)) as [number, number];
  return decimalOf(commonDivisor(x, y), places);
};

/** `count` divided by ten to the `places`, as text. */
export const decimalOf = (count: number, places: number): string =>
  div(String(count), `1${"0".repeat(places)}`, places);

/** The greatest common divisor of two counts; the other one where one is 0. */
export const commonDivisor = (a: number, b: number): number => {
  let divisor = b;
  for (let rest = a; rest !== 0; ) {
    const next = divisor % rest;
    divisor = rest;
    rest = next;
  }
  return divisor;
};
