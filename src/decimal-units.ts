/**
 * Decimals in whole units of their finest place: sums that are added to often and read seldom, and quotients that come
 * out even.
 *
 * Invariants: a sum has the text that adding one by one would give it, of any length; an even quotient is exact or
 * undefined.
 * Not here: arithmetic on text (decimal.ts), positions at average cost (orders/average-cost.ts).
 */
import { add, digitsOf, formatCount, readPlaces, safeMax, sub } from "./decimal.ts";

/** A running sum of decimal text. What is added is read once; text is made when it is asked for. */
export class RunningSum {
  #units = 0;
  /** How many digits of the units are fraction. */
  #places = 0;
  /** The sum, once it has more digits than a number holds. */
  #long: string | undefined;

  constructor(text = "0") {
    this.add(text);
  }

  get text(): string {
    return this.#long ?? formatCount(this.#units, this.#places);
  }

  /** Adds the text, or with the sign -1 takes it away. */
  add(text: string, sign: 1 | -1 = 1): void {
    let added = sign * digitsOf(text);
    let units = this.#units;
    let places = this.#places;
    if (readPlaces > places) {
      units *= 10 ** (readPlaces - places);
      places = readPlaces;
    } else if (readPlaces < places) added *= 10 ** (places - readPlaces);
    // Magnitudes first: no sum of what was rounded passes for exact.
    if (this.#long === undefined && Math.abs(units) + Math.abs(added) <= safeMax) {
      this.#units = units + added;
      this.#places = places;
    } else this.#long = sign === 1 ? add(this.text, text) : sub(this.text, text);
  }
}

/** Steps finer than this are not tried: quotients elsewhere are cut there. */
const placesMax = 12;

/** Steps read before: instruments have few. */
const known = new Map<string, { readonly unit: number; readonly places: number }>();
const knownMax = 256;

const readStep = (text: string): { readonly unit: number; readonly places: number } => {
  const step = { unit: digitsOf(text), places: readPlaces };
  if (known.size >= knownMax) known.clear();
  known.set(text, step);
  return step;
};

/**
 * The shortest text of a whole number of positive steps; undefined where it is no such number, or is not known to be.
 */
export const stepsIn = (text: string, step: string): string | undefined => {
  const { unit, places } = known.get(step) ?? readStep(step);
  const scaled = digitsOf(text) * 10 ** (places - readPlaces);
  return unit > 0 && scaled % unit === 0 && Math.abs(scaled) <= safeMax ? formatCount(scaled, places) : undefined;
};

/**
 * `a` over `by` where that is a whole number of positive steps, in the text `div` and `toStep` would give it; undefined
 * where it is not, or is not known to be.
 */
export const evenQuotient = (a: string, by: string, step: string): string | undefined => {
  const dividend = digitsOf(a);
  let shift = -readPlaces;
  const divisor = digitsOf(by);
  shift += readPlaces;
  const { unit, places } = known.get(step) ?? readStep(step);
  shift += places;
  const over = shift > 0 ? dividend * 10 ** shift : dividend;
  const under = divisor * unit * (shift < 0 ? 10 ** -shift : 1);
  if (
    !(Math.abs(over) <= safeMax && under <= safeMax && divisor > 0 && unit > 0) ||
    places > placesMax ||
    over % under !== 0
  )
    return undefined;
  const scaled = (over / under) * unit;
  return Math.abs(scaled) <= safeMax ? formatCount(scaled, places) : undefined;
};
