/**
 * Applies the rows of a tape at the embedded service.
 *
 * Invariants: a snapshot takes away exactly the levels it does not show, so that an order keeps its place behind those
 * that stay; bars are printed only where nothing finer was recorded, or where nothing else is to be filled from.
 */
import type { Clock } from "../clock/clock.ts";
import { grid, mul } from "../decimal.ts";
import {
  type ChangeSeries,
  type LevelSeries,
  type QuoteSeries,
  rateStep,
  type Series,
  type Tape,
  type TapeInstrument,
} from "../market/tape/tape.ts";
import type { Venue } from "../venue/venue.ts";
import type { BarFollowers } from "./bar-followers.ts";
import { withoutLostVolumes } from "./bar-volumes.ts";
import { CandlePlayer, isPlayed, type LateBars } from "./candle-prints.ts";
import type { FillChoice } from "./fill-choice.ts";
import { TradeQuote, tradeTaker } from "./fill-trades.ts";

/** Takes row `row` of its series; `now` is the service's own time. */
export interface RowTaker {
  (row: number, now: number): void;
  /** For rows that are applied in bulk: reads the necessary facts from the rows before `row`. */
  readonly skipTo?: (row: number) => void;
  /** The same of bars, whose prints come between rows. */
  readonly bars?: LateBars;
}

type Fills = Pick<FillChoice, "models" | "plays">;

/** Prices that are kept where one tape follows another, by instrument. */
interface KeptPrices {
  /** Best prices by the trades. */
  readonly prints: Map<string, TradeQuote>;
  readonly followers: ReadonlyMap<string, BarFollowers>;
}

/**
 * One taker for each series of the tape; of those that `fills` does not read one that does nothing.
 *
 * @param tape - the market
 * @param venue - the exchange that takes its rows
 * @param clock - of the exchange
 * @param skewMs - the exchange's calendar less that of the rows
 * @param fills - how orders fill
 * @param kept - best prices by the trades, and followers of bars
 * @returns one taker for each series of the tape; of those that `fills` does not read one that does nothing
 */
export const rowTakers = (
  tape: Tape,
  venue: Venue,
  clock: Clock,
  skewMs: number,
  fills?: Fills,
  { prints, followers }: KeptPrices = { prints: new Map(), followers: new Map() },
): readonly RowTaker[] =>
  tape.series.map((series) => {
    if (fills?.plays(series) === false) return () => undefined;
    const { instId } = tape.instruments[series.instrument] as TapeInstrument;
    if (series.kind !== "trade" || fills?.models[series.instrument]?.from !== "trades") {
      return takerOf(series, tape, venue, clock, skewMs, { fills, followers });
    }
    const quote = prints.get(instId) ?? new TradeQuote();
    prints.set(instId, quote);
    return tradeTaker(series, instId, venue, quote);
  });

const sideOf = (sign: number | undefined): "buy" | "sell" => ((sign ?? 0) > 0 ? "buy" : "sell");

const takerOf = (
  series: Series,
  tape: Tape,
  venue: Venue,
  clock: Clock,
  skewMs: number,
  { fills, followers }: { readonly fills: Fills | undefined; readonly followers: KeptPrices["followers"] },
): RowTaker => {
  const instrument = tape.instruments[series.instrument] as TapeInstrument;
  const { instId } = instrument;
  const model = fills?.models[series.instrument];
  switch (series.kind) {
    case "quote": {
      const { bidPx, bidQty, askPx, askQty } = series;
      return (row, now) => {
        venue.quote(
          instId,
          bidPx[row] as number,
          bidQty[row] as number,
          askPx[row] as number,
          askQty[row] as number,
          now,
        );
      };
    }
    case "trade": {
      const { side, px, qty } = series;
      return (row, now) => {
        venue.trade(instId, sideOf(side[row]), px[row] as number, qty[row] as number, now);
      };
    }
    case "level": {
      const quotes = tape.series.find((one) => one.kind === "quote" && one.instrument === series.instrument);
      return levelTaker(series, quotes as QuoteSeries | undefined, instId, venue);
    }
    case "candle": {
      if (fills === undefined && !isPlayed(series, tape.series)) return () => undefined;
      const bounded = model?.volume === "traded" ? withoutLostVolumes(series) : series;
      const bars = new CandlePlayer(venue, clock, instId, bounded, skewMs, model?.path, followers.get(instId));
      return Object.assign((row: number): void => bars.take(row), { bars });
    }
    case "mark": {
      const { px, part } = series;
      return (row, now) => {
        venue.mark(instId, px[row] as number, part[row] as number, now);
      };
    }
    case "funding": {
      const { sign, rate } = series;
      const rates = grid(rateStep);
      return (row, now) => {
        venue.funding(instId, rates.format((sign[row] as number) * (rate[row] as number)), now);
      };
    }
    case "change":
      return changeTaker(series, instrument, venue);
  }
};

/** The rules of a row, which hold from then on; an instrument that is listed again begins with an empty book. */
const changeTaker = (
  { tick, lot, listed }: ChangeSeries,
  { instId, tickSize, lotSize }: TapeInstrument,
  venue: Venue,
): RowTaker => {
  return (row, now) => {
    if (listed[row] === 0) {
      if (venue.lists(instId)) venue.delist(instId, now);
      return;
    }
    // Rows are counted in the tape's steps, not in those of the rules.
    if (!venue.lists(instId)) venue.list({ instId, tickSize, lotSize }, now);
    venue.change(instId, { tickSize: mul(tickSize, String(tick[row])), lotSize: mul(lotSize, String(lot[row])) }, now);
  };
};

/** Applies the rules of the start of the tape, because they were in force before it, too. */
export const openAsRecorded = (tape: Tape, venue: Venue, now: number): void => {
  for (const series of tape.series) {
    if (series.kind !== "change" || series.at[0] !== tape.startAt) continue;
    changeTaker(series, tape.instruments[series.instrument] as TapeInstrument, venue)(0, now);
  }
};

const levelTaker = (levels: LevelSeries, quotes: QuoteSeries | undefined, instId: string, venue: Venue): RowTaker => {
  const { side, px, qty, snapshot, at } = levels;
  const show: RowTaker = (row, now) => {
    venue.level(instId, sideOf(side[row]), px[row] as number, qty[row] as number, now);
  };
  // Only a later snapshot has anything to take away.
  if (snapshot.lastIndexOf(1) <= 0) return show;
  const shown = { buy: new Set<number>(), sell: new Set<number>() };
  const quotedBefore = quotes === undefined ? () => undefined : quotedPrices(quotes, shown);
  const empty = (row: number, now: number): void => {
    const next = { buy: new Set<number>(), sell: new Set<number>() };
    quotedBefore(at[row] as number);
    // The rows of a snapshot share its instant.
    for (let index = row; index < at.length && at[index] === at[row]; index++)
      next[sideOf(side[index])].add(px[index] as number);
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

/** Adds the prices that quotes have shown before an instant, which the book keeps as levels; each quote once. */
const quotedPrices = (
  { at, bidPx, bidQty, askPx, askQty }: QuoteSeries,
  shown: Readonly<Record<"buy" | "sell", Set<number>>>,
): ((before: number) => void) => {
  let row = 0;
  return (before) => {
    for (; row < at.length && (at[row] as number) < before; row++) {
      if (bidQty[row] !== 0) shown.buy.add(bidPx[row] as number);
      if (askQty[row] !== 0) shown.sell.add(askPx[row] as number);
    }
  };
};
