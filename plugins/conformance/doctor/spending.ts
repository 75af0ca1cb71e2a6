/**
 * Weight of calls, read from the growth of the service's count of used weight between two answers.
 *
 * Invariants: pure; a reading is made only within one minute of the service and where exactly one call is in question,
 * the costs of the others being known; other programs of the same user can only make readings too large, never too
 * small.
 */
import type { EndpointName } from "sluice/dialect";

export interface Call {
  readonly endpoint: EndpointName;
  readonly signed: boolean;
  readonly ending: "done" | "failed" | "unanswered";
  readonly at: number;
}

/** Growth of the count of used weight over the calls since it was last reported. */
export interface Sample {
  readonly calls: readonly Call[];
  readonly delta: number;
  /** The service's minute turned in between: the count began again. */
  readonly turned: boolean;
}

type WeightOf = (endpoint: EndpointName) => number;

/** Returns the weight added by the picked call, once for each sample in which it is the only one picked. */
export const readingsOf = (
  samples: readonly Sample[],
  picked: (call: Call) => boolean,
  weightOf: WeightOf,
): readonly number[] =>
  samples.flatMap(({ calls, delta, turned }) => {
    const others = calls.filter((call) => !picked(call));
    if (turned || calls.length - others.length !== 1 || others.some(({ ending }) => ending !== "done")) return [];
    const rest = delta - others.reduce((sum, { endpoint, signed }) => sum + (signed ? weightOf(endpoint) : 0), 0);
    return rest < 0 ? [] : [rest];
  });

export type Reading =
  | { readonly kind: "value"; readonly value: number }
  | { readonly kind: "none" }
  | { readonly kind: "unsure"; readonly of: readonly number[] };

/**
 * Conclusion from the readings about an assumed value. One reading that equals it confirms it, as other clients can
 * only add; a different value must appear twice.
 */
export const readingOf = (readings: readonly number[], assumed: number): Reading => {
  if (readings.length === 0) return { kind: "none" };
  if (readings.includes(assumed)) return { kind: "value", value: assumed };
  const lowest = Math.min(...readings);
  const seen = readings.filter((reading) => reading === lowest).length;
  return seen >= 2 ? { kind: "value", value: lowest } : { kind: "unsure", of: readings };
};
