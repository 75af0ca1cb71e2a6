/**
 * Rests `levels` orders a side at fixed distances from the middle, and rebuilds the ladder once the middle has drifted
 * by a step.
 */
import { distinctUntilChanged, map, scan } from "rxjs";
import { abs, add, buy, compare, defineStrategy, mul, sell, sub } from "sluice";

export default defineStrategy({
  name: "ladder",
  options: {
    type: "object",
    additionalProperties: false,
    properties: {
      instId: {
        description: "Instrument to trade; the first that the service lists when left out.",
        type: "string",
        format: "inst-id",
      },
      levels: { description: "Orders on each side.", type: "integer", minimum: 1, maximum: 20, default: 3 },
      step: {
        description: "Distance between two levels as a share of the price.",
        type: "string",
        format: "decimal",
        default: "0.001",
      },
      notional: {
        description: "Size of each order, in quote currency.",
        type: "string",
        format: "decimal",
        default: "100",
      },
    },
  },
  wanted: ({ market, listed, options: { instId = listed()[0]?.instId ?? "", levels, step, notional } }) =>
    market.quotes(instId).pipe(
      scan((middle, { mid }) => (compare(abs(sub(mid, middle)), mul(middle, step)) > 0 ? mid : middle), "0"),
      distinctUntilChanged(),
      map((middle) =>
        Array.from({ length: levels }, (_, index) => mul(mul(middle, step), String(index + 1))).flatMap(
          (away, index) => [
            buy({ slot: `bid ${index + 1}`, instId, ordType: "post_only", px: sub(middle, away), notional }),
            sell({ slot: `ask ${index + 1}`, instId, ordType: "post_only", px: add(middle, away), notional }),
          ],
        ),
      ),
    ),
});
