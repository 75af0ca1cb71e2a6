/**
 * Offers at the edges of a band around the mean: buys at the lower one, sells at the upper one, and moves with every
 * bar. Needs the library it takes its indicator from: `npm install trading-signals`.
 */
import { filter, map } from "rxjs";
import { defineStrategy, fromApproximate } from "sluice";
import { BollingerBands } from "trading-signals";
import { streamed } from "./streamed.ts";

/** The engine brings prices onto the tick; this only has to be finer than any. */
const places = 8;

export default defineStrategy({
  name: "bands",
  options: {
    type: "object",
    additionalProperties: false,
    properties: {
      /** Default: the first instrument that the service lists. */
      instId: { type: "string", format: "inst-id" },
      barMs: { type: "integer", minimum: 1000, default: 60000 },
      bars: { type: "integer", minimum: 2, default: 20 },
      /** Distance of the edges from the mean, in standard deviations. */
      width: { type: "number", exclusiveMinimum: 0, default: 2 },
      notional: { type: "string", format: "decimal", default: "100" },
    },
  },
  desired: ({ market, listed, options: { instId = listed()[0]?.instId ?? "", barMs, bars, width, notional } }) => {
    const order = { instId, ordType: "post_only", notional } as const;
    return market.candles(instId, barMs).pipe(
      map(({ closeFloat }) => closeFloat),
      streamed(() => new BollingerBands(bars, width)),
      // Without any movement there is no band, and nothing to earn between its edges.
      filter(({ lower, upper }) => lower > 0 && lower < upper),
      map(({ lower, upper }) => [
        { slot: "buy", side: "buy" as const, px: fromApproximate(lower, places), ...order },
        { slot: "sell", side: "sell" as const, px: fromApproximate(upper, places), ...order },
      ]),
    );
  },
});
