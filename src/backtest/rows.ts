/**
 * Applies the rows of a tape at the embedded service.
 *
 * Invariants: a snapshot takes away exactly the levels it does not show, so that an order keeps its place behind those that stay;
 * bars are printed only where nothing finer was recorded.
 */
import type { Clock } from "../clock/clock.ts";
import type { LevelSeries, Series, Tape } from "../market/tape.ts";
import type { Venue } from "../venue/venue.ts";
import { createCandlePlayer, isPlayed } from "./candle-prints.ts";

/** Takes row `row` of its series; `now` is the service's own time. */
export type RowTaker = (row: number, now: number) => void;

/** One taker for each series of the tape. */
export const rowTakers = (tape: Tape, venue: Venue, clock: Clock, skewMs: number): readonly RowTaker[] =>
  tape.series.map((series) => takerOf(series, tape, venue, clock, skewMs));

const sideOf = (sign: number | undefined): "buy" | "sell" => ((sign ?? 0) > 0 ? "buy" : "sell");

const takerOf = (series: Series, tape: Tape, venue: Venue, clock: Clock, skewMs: number): RowTaker => {
  const instId = tape.instruments[series.instrument]?.instId ?? "";
  switch (series.kind) {
    case "quote": {
      const { bidPx, bidQty, askPx, askQty } = series;
      return (row, now) => {
        venue.quote(instId, bidPx[row] as number, bidQty[row] as number, askPx[row] as number, askQty[row] as number, now);
      };
    }
    case "trade": {
      const { side, px, qty } = series;
      return (row, now) => {
        venue.trade(instId, sideOf(side[row]), px[row] as number, qty[row] as number, now);
      };
    }
    case "level":
      return levelTaker(series, instId, venue);
    case "candle": {
      if (!isPlayed(series, tape.series)) return () => undefined;
      const player = createCandlePlayer(venue, clock, instId, series, skewMs);
      return (row) => {
        player.closed(row);
      };
    }
  }
};

const levelTaker = ({ side, px, qty, snapshot, at }: LevelSeries, instId: string, venue: Venue): RowTaker => {
  const show: RowTaker = (row, now) => {
    venue.level(instId, sideOf(side[row]), px[row] as number, qty[row] as number, now);
  };
  // Only a later snapshot has anything to take away.
  if (snapshot.lastIndexOf(1) <= 0) return show;
  const shown = { buy: new Set<number>(), sell: new Set<number>() };
  const empty = (row: number, now: number): void => {
    const next = { buy: new Set<number>(), sell: new Set<number>() };
    // The rows of a snapshot share its instant.
    for (let index = row; index < at.length && at[index] === at[row]; index++) next[sideOf(side[index])].add(px[index] as number);
    for (const which of ["buy", "sell"] as const) {
      for (const price of shown[which]) if (!next[which].has(price)) venue.level(instId, which, price, 0, now);
      shown[which].clear();
    }
  };
  return (row, now) => {
    if (snapshot[row] === 1) empty(row, now);
    const prices = shown[sideOf(side[row])];
    if (qty[row] === 0) prices.delete(px[row] as number);
    else prices.add(px[row] as number);
    show(row, now);
  };
};
