/**
 * Rests one order on each side at the best price, moves only when the market has moved away by more than `keepWithin`,
 * and stops offering a side once it has traded `most` orders more than the other: what it bought it first sells again.
 */
import { combineLatest, filter, map, scan, startWith } from "rxjs";
import { buy, defineStrategy, sell } from "sluice";

export default defineStrategy({
  name: "join-best",
  options: {
    type: "object",
    additionalProperties: false,
    properties: {
      instId: {
        description: "Instrument to trade; the first that the service lists when left out.",
        type: "string",
        format: "inst-id",
      },
      notional: {
        description: "Size of each order, in quote currency.",
        type: "string",
        format: "decimal",
        default: "100",
      },
      keepWithin: {
        description: "A resting order this near to the best price keeps its place in the queue.",
        type: "string",
        format: "decimal",
        default: "0",
      },
      most: {
        description: "How many filled orders one side may be ahead of the other.",
        type: "integer",
        minimum: 1,
        default: 3,
      },
    },
  },
  wanted: ({ market, own, listed, options: { instId = listed()[0]?.instId ?? "", notional, keepWithin, most } }) => {
    const ahead$ = own.updates$.pipe(
      filter(({ phase }) => phase === "filled"),
      scan((ahead, { spec }) => (spec?.side === "buy" ? ahead + 1 : ahead - 1), 0),
      startWith(0),
    );
    const order = { instId, notional, keepWithin };
    return combineLatest([market.quotes(instId), ahead$]).pipe(
      map(([{ bidPx, askPx }, ahead]) => [
        ...(ahead < most ? [buy({ slot: "buy", ordType: "post_only", px: bidPx, ...order })] : []),
        ...(ahead > -most ? [sell({ slot: "sell", ordType: "post_only", px: askPx, ...order })] : []),
      ]),
    );
  },
});
