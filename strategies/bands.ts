/**
 * Offers at the edges of a band around the mean: buys at the lower one, sells at the upper one, and moves with every
 * bar. Needs the library it takes its indicator from: `npm install trading-signals`.
 */
import { filter, map } from "rxjs";
import { buy, defineStrategy, fromApproximate, sell } from "sluice";
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
      instId: {
        description: "Instrument to trade; the first that the service lists when left out.",
        type: "string",
        format: "inst-id",
      },
      barMs: { description: "Length of a bar in milliseconds.", type: "integer", minimum: 1000, default: 60000 },
      bars: { description: "Bars of the mean and its deviation.", type: "integer", minimum: 2, default: 20 },
      width: {
        description: "Distance of the edges from the mean, in standard deviations.",
        type: "number",
        exclusiveMinimum: 0,
        default: 2,
      },
      notional: {
        description: "Size of each order, in quote currency.",
        type: "string",
        format: "decimal",
        default: "100",
      },
    },
  },
  wanted: ({ market, listed, options: { instId = listed()[0]?.instId ?? "", barMs, bars, width, notional } }) =>
    market.candles(instId, barMs).pipe(
      map(({ closeFloat }) => closeFloat),
      streamed(() => new BollingerBands(bars, width)),
      // Without any movement there is no band, and nothing to earn between its edges.
      filter(({ lower, upper }) => lower > 0 && lower < upper),
      map(({ lower, upper }) => [
        buy({ slot: "buy", instId, ordType: "post_only", px: fromApproximate(lower, places), notional }),
        sell({ slot: "sell", instId, ordType: "post_only", px: fromApproximate(upper, places), notional }),
      ]),
    ),
});
