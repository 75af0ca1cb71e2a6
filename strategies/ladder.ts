/**
 * Rests `levels` orders a side at fixed distances from the middle, and rebuilds the ladder once the middle has drifted
 * by a step.
 */
import { distinctUntilChanged, map, scan } from "rxjs";
import { abs, add, compare, defineStrategy, mul, sub } from "sluice";

export default defineStrategy({
  name: "ladder",
  options: {
    type: "object",
    additionalProperties: false,
    properties: {
      /** Default: the first instrument that the service lists. */
      instId: { type: "string", format: "inst-id" },
      levels: { type: "integer", minimum: 1, maximum: 20, default: 3 },
      /** Distance between two levels as a share of the price. */
      step: { type: "string", format: "decimal", default: "0.001" },
      notional: { type: "string", format: "decimal", default: "100" },
    },
  },
  desired: ({ market, listed, options: { instId = listed()[0]?.instId ?? "", levels, step, notional } }) =>
    market.quotes(instId).pipe(
      scan((middle, { mid }) => (compare(abs(sub(mid, middle)), mul(middle, step)) > 0 ? mid : middle), "0"),
      distinctUntilChanged(),
      map((middle) =>
        Array.from({ length: levels }, (_, index) => mul(mul(middle, step), String(index + 1))).flatMap(
          (away, index) => [
            {
              slot: `bid ${index + 1}`,
              instId,
              side: "buy" as const,
              ordType: "post_only" as const,
              px: sub(middle, away),
              notional,
            },
            {
              slot: `ask ${index + 1}`,
              instId,
              side: "sell" as const,
              ordType: "post_only" as const,
              px: add(middle, away),
              notional,
            },
          ],
        ),
      ),
    ),
});
