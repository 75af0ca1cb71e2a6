/** Assumptions behind the figures of a run, as a report lists them. */

/** An assumption: what it is about, what is assumed, and what follows from it for the figures. */
export interface Assumption {
  /** Such as "Latency". */
  readonly what: string;
  /** Such as "lognormal, median 25 ms each way". */
  readonly value: string;
  /** Such as "prices move on before an order arrives"; empty where there is none. */
  readonly consequence: string;
}

/**
 * An assumption in one line.
 *
 * @param assumption - as a report lists it
 * @returns text without a full stop
 */
export const assumptionText = ({ what, value, consequence }: Assumption): string =>
  `${what}${value === "" ? "" : `: ${value}`}${consequence === "" ? "" : `; ${consequence}`}`;

/**
 * Reads an assumption of a stored report or session; those of earlier versions are sentences, many with their subject
 * before a colon.
 *
 * @param stored - a record or a sentence
 * @returns the record
 */
export const readAssumption = (stored: Assumption | string): Assumption => {
  if (typeof stored !== "string") return stored;
  const [what = "", ...rest] = stored.split(": ");
  return { what, value: rest.join(": "), consequence: "" };
};
