/**
 * Price of each instrument of a tape at its end: the last mark, else the last mid, else the last trade, else the
 * last close.
 *
 * Invariants: the same rule as the embedded service's, so that the results of strategies add up to that of the account.
 */
import { add, div, grid, mul } from "../decimal.ts";
import {
  type LevelSeries,
  type MarkSeries,
  markParts,
  type QuoteSeries,
  type Series,
  type Tape,
} from "../market/tape/tape.ts";
import { bidAt } from "./candle-prints.ts";
import type { FillChoice } from "./fill-choice.ts";
import type { FillModel } from "./fill-models.ts";
import { doubleLastTrade } from "./fill-trades.ts";

/** Rank of each kind of series as a source of prices; none for a series without prices. */
const worth: Readonly<Record<Series["kind"], number>> = {
  mark: 5,
  quote: 4,
  level: 3,
  trade: 2,
  candle: 1,
  funding: 0,
  change: 0,
};

/** As the fill models read the tape, where they are given. */
export const lastPrices = (tape: Tape, fills?: Pick<FillChoice, "models" | "plays">): ReadonlyMap<string, string> => {
  const found = new Map<string, string>();
  // The better source comes first, because a book has to be played from its first row.
  const series = tape.series.filter((one) => one.at.length > 0 && worth[one.kind] > 0 && fills?.plays(one) !== false);
  for (const one of series.sort((a, b) => worth[b.kind] - worth[a.kind])) {
    const instrument = tape.instruments[one.instrument];
    if (instrument === undefined || found.has(instrument.instId)) continue;
    const { instId, tickSize } = instrument;
    const px = one.kind === "mark" ? lastMark(one, tickSize) : lastPx(one, tickSize, fills?.models[one.instrument]);
    if (px !== undefined) found.set(instId, px);
  }
  return found;
};

const lastMark = ({ px, part }: MarkSeries, tickSize: string): string => {
  const places = String(markParts).length - 1;
  const ticks = add(String(px.at(-1) ?? 0), div(String(part.at(-1) ?? 0), String(markParts), places));
  return mul(ticks, tickSize);
};

const lastPx = (series: Series, tickSize: string, model?: FillModel): string | undefined => {
  const shown = model?.from === "trades" && series.kind === "trade" ? doubleLastTrade(series) : undefined;
  const doubled = shown ?? doubleLast(series);
  const ticks = grid(tickSize);
  // Half a tick has one more digit than the tick.
  return doubled === undefined ? undefined : div(ticks.format(doubled), "2", ticks.places + 1);
};

/** Twice the last price in ticks; undefined where the series shows none. */
const doubleLast = (series: Series): number | undefined => {
  const row = series.at.length - 1;
  switch (series.kind) {
    case "quote":
      return doubleQuote(series, row);
    case "level":
      return doubleTop(series);
    case "trade":
      return 2 * (series.px[row] as number);
    case "candle":
      return 2 * bidAt(series.close[row] as number, series.low[row] as number, series.high[row] as number) + 1;
    case "funding":
    case "mark":
    case "change":
      return undefined;
  }
};

const doubleQuote = ({ bidPx, bidQty, askPx, askQty }: QuoteSeries, row: number): number | undefined =>
  bidQty[row] === 0 || askQty[row] === 0 ? undefined : (bidPx[row] as number) + (askPx[row] as number);

const doubleTop = ({ side, px, qty, snapshot, at }: LevelSeries): number | undefined => {
  const bids = new Set<number>();
  const asks = new Set<number>();
  for (let row = 0; row < at.length; row++) {
    if (snapshot[row] === 1) {
      bids.clear();
      asks.clear();
    }
    const half = side[row] === 1 ? bids : asks;
    if (qty[row] === 0) half.delete(px[row] as number);
    else half.add(px[row] as number);
  }
  if (bids.size === 0 || asks.size === 0) return undefined;
  // A book may contain more prices than a function call can take as arguments.
  const best = (prices: Set<number>, sign: 1 | -1): number =>
    [...prices].reduce((a, b) => (sign * b > sign * a ? b : a));
  return best(bids, 1) + best(asks, -1);
};
