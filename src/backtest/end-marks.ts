/**
 * Prices that value a run at its end.
 *
 * Invariants: looking them up plays a recorded book to its end, so a report does it once.
 * Not here: the last price of each instrument (last-prices.ts).
 */
import type { OpenBacktest } from "./backtest-service.ts";
import { lastPrices } from "./last-prices.ts";

/** By instrument. */
export type EndMarks = ReadonlyMap<string, string>;

/** The embedded service's own mark of open positions, otherwise the last price of the tape. */
export const endMarks = ({ simulated, tape, users }: Pick<OpenBacktest, "simulated" | "tape" | "users">): EndMarks => {
  const positions = users.flatMap(({ uid }) => simulated.venue.holdings(uid).positions);
  const held = positions.filter(({ markPx = "" }) => markPx !== "");
  return new Map([
    ...lastPrices(tape, simulated.filledBy),
    ...held.map(({ instId, markPx = "0" }) => [instId, markPx] as const),
  ]);
};
