/**
 * Whether rows of the recording change nothing at the embedded service but the prices it knows.
 *
 * That is so while nobody's order rests there and nobody holds a position, whose margin is looked at with every price. Where volume
 * counts, an order also leaves a mark on what is displayed, which lasts until it is displayed anew: there it is so until the first
 * order has come. A product that comes or goes decides what becomes of the prints around it, and so do bars that overlap.
 * Not here: what is made of it (player.ts, late-rows.ts).
 */
import { isActive } from "../contract/order-states.ts";
import type { Tape } from "../market/tape.ts";
import type { Venue } from "../venue/venue.ts";
import { overlaps } from "./candle-prints.ts";
import type { FillChoice } from "./fill-choice.ts";

export const watchQuiet = (tape: Tape, venue: Venue, uids: readonly string[], { models }: Pick<FillChoice, "models">): (() => boolean) => {
  if (tape.series.some((series) => series.kind === "change" || (series.kind === "candle" && overlaps(series)))) return () => false;
  const lasting = models.some((model) => model?.volume === "traded");
  const resting = new Set<string>();
  let quiet = true;
  let known = true;
  const happened = (): void => {
    known = false;
  };
  venue.onOrder((_, { ordId, state }) => {
    if (isActive(state)) resting.add(ordId);
    else resting.delete(ordId);
    happened();
  });
  venue.onFill(happened);
  venue.onLiquidation(happened);
  return () => {
    if (known) return quiet;
    known = true;
    quiet = !lasting && resting.size === 0 && !uids.some((uid) => venue.holdsPosition(uid));
    return quiet;
  };
};
