/**
 * Rests one order on each side at the best price, moves only when the market has moved away by more than `keepWithin`,
 * and stops offering a side once it has traded `most` orders more than the other: what it bought it first sells again.
 */
import { combineLatest, filter, map, scan, startWith } from "rxjs";
import { defineStrategy } from "sluice";

export default defineStrategy({
  name: "join-best",
  options: {
    type: "object",
    additionalProperties: false,
    properties: {
      /** Default: the first instrument that the service lists. */
      instId: { type: "string", format: "inst-id" },
      notional: { type: "string", format: "decimal", default: "100" },
      /** A resting order this near to the best price keeps its place in the queue. */
      keepWithin: { type: "string", format: "decimal", default: "0" },
      /** How many filled orders one side may be ahead of the other. */
      most: { type: "integer", minimum: 1, default: 3 },
    },
  },
  desired: ({
    market,
    orders,
    listed,
    options: { instId = listed()[0]?.instId ?? "", notional, keepWithin, most },
  }) => {
    const ahead$ = orders.updates$.pipe(
      filter(({ phase }) => phase === "filled"),
      scan((ahead, { spec }) => (spec?.side === "buy" ? ahead + 1 : ahead - 1), 0),
      startWith(0),
    );
    const order = { instId, ordType: "post_only", notional, keepWithin } as const;
    return combineLatest([market.quotes(instId), ahead$]).pipe(
      map(([{ bidPx, askPx }, ahead]) => [
        ...(ahead < most ? [{ slot: "buy", side: "buy" as const, px: bidPx, ...order }] : []),
        ...(ahead > -most ? [{ slot: "sell", side: "sell" as const, px: askPx, ...order }] : []),
      ]),
    );
  },
});
