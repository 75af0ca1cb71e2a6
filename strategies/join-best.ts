/**
 * Rests one order on each side at the best price, and moves only when the market has moved away by more than `keepWithin`.
 */
import { distinctUntilChanged, map } from "rxjs";
import { defineStrategy } from "sluice";

export default defineStrategy({
  name: "join-best",
  options: {
    type: "object",
    additionalProperties: false,
    properties: {
      /** The first product the service lists when left out. */
      instId: { type: "string", format: "inst-id" },
      notional: { type: "string", format: "decimal", default: "100" },
      /** A resting order this near to the best price keeps its place in the queue. */
      keepWithin: { type: "string", format: "decimal", default: "0" },
      sides: { type: "array", items: { type: "string", enum: ["buy", "sell"] }, default: ["buy", "sell"] },
    },
  },
  desired: ({ market, listed, options: { instId = listed()[0]?.instId ?? "", notional, keepWithin, sides } }) =>
    market.quotes(instId).pipe(
      distinctUntilChanged((a, b) => a.bidPx === b.bidPx && a.askPx === b.askPx),
      map(({ bidPx, askPx }) =>
        sides.map((side) => ({
          slot: side,
          instId,
          side,
          ordType: "post_only" as const,
          px: side === "buy" ? bidPx : askPx,
          notional,
          keepWithin,
        })),
      ),
    ),
});
