/**
 * Everything one instrument offers: its streams, what they replay, and how rows of a series reach them.
 *
 * Invariants: rows become objects only while somebody observes; the latest quote is rebuilt from its row when a subscriber
 * comes, so keeping it costs two stores an event.
 */
import { SluiceError } from "../errors.ts";
import { Bars } from "./bars.ts";
import { type BookTrack, type BookTrackOptions, createBookTrack } from "./book-track.ts";
import { HotStream } from "./hot-stream.ts";
import type { Quote, Trade } from "./market-data.ts";
import type { CandleSeries, QuoteSeries, Series, TradeSeries } from "./tape.ts";
import { QuoteView, type Scale, TradeView } from "./views.ts";

/** Takes a row that is delivered at `at`. */
export type Route = (row: number, at: number) => void;

export interface Channel {
  readonly trades: HotStream<Trade>;
  readonly quotes: HotStream<Quote>;
  readonly book: BookTrack;
  /** Price of the latest trade or bar, in ticks; undefined before any. */
  readonly lastPx: number | undefined;
  /** A count of ticks as decimal text. */
  readonly format: (ticks: number) => string;
  /** The bars of one length; the same object every time. */
  barsOf(barMs: number): Bars;
  /** Bars that no recorded length can give, as of the last `bind`. */
  readonly fromTrades: readonly Bars[];
  /** Decides where each length of bars comes from, given the recorded lengths. */
  bind(recordedMs: readonly number[]): void;
  route(series: Series, shiftMs: number, opened: (closesAt: number) => void): Route;
  complete(): void;
}

export const createChannel = (scale: Scale, options: BookTrackOptions): Channel => {
  const { onError } = options;
  const hot = onError === undefined ? {} : { onError };
  const quote = createLatestQuote(scale, hot);
  const trades = new HotStream<Trade>(hot);
  const book = createBookTrack(scale, options);
  const last: { px: number | undefined } = { px: undefined };
  const lengths = new Map<number, Bars>();
  const fromTrades: Bars[] = [];
  /** Recorded length -> the longer bars it builds. */
  const longer = new Map<number, Bars[]>();
  return {
    trades,
    quotes: quote.stream,
    book,
    fromTrades,
    format: (ticks) => scale.tick.format(ticks),
    get lastPx() {
      return last.px;
    },
    barsOf: (barMs) => {
      const known = lengths.get(barMs);
      if (known !== undefined) return known;
      checkLength(barMs);
      const bars = new Bars(scale, barMs, hot);
      lengths.set(barMs, bars);
      return bars;
    },
    bind: (recordedMs) => {
      fromTrades.length = 0;
      longer.clear();
      for (const bars of lengths.values()) {
        const source = recordedMs.filter((ms) => bars.barMs % ms === 0).sort((a, b) => b - a)[0];
        if (source === undefined) fromTrades.push(bars);
        else if (source !== bars.barMs) longer.set(source, [...(longer.get(source) ?? []), bars]);
      }
    },
    route: (series, shiftMs, opened) => {
      switch (series.kind) {
        case "trade":
          return tradeRoute(series, scale, trades, fromTrades, opened, last);
        case "quote":
          return quote.route(series);
        case "level":
          return book.route(series);
        case "candle":
          return candleRoute(series, lengths.get(series.barMs), longer.get(series.barMs) ?? [], shiftMs, last);
      }
    },
    complete: () => {
      for (const stream of [trades, quote.stream, book.stream]) stream.complete();
      for (const bars of lengths.values()) bars.stream.complete();
    },
  };
};

const checkLength = (barMs: number): void => {
  if (Number.isSafeInteger(barMs) && barMs > 0) return;
  throw new SluiceError("CONFIG_INVALID", `candles: ${barMs} is not a bar length; give whole milliseconds, such as 60000 for a minute.`);
};

const createLatestQuote = (scale: Scale, hot: { readonly onError?: (error: unknown) => void }) => {
  let series: QuoteSeries | undefined;
  let row = 0;
  let at = 0;
  const latest = (): Quote | undefined => (series === undefined ? undefined : quoteAt(scale, series, row, at));
  const stream = new HotStream<Quote>({ ...hot, latest });
  const route =
    (from: QuoteSeries): Route =>
    (nextRow, nextAt) => {
      series = from;
      row = nextRow;
      at = nextAt;
      if (stream.observed) stream.next(quoteAt(scale, from, nextRow, nextAt));
    };
  return { stream, route };
};

const quoteAt = (scale: Scale, { bidPx, bidQty, askPx, askQty }: QuoteSeries, row: number, at: number): Quote =>
  new QuoteView(scale, at, bidPx[row] as number, bidQty[row] as number, askPx[row] as number, askQty[row] as number);

const tradeRoute = (
  { side, px, qty }: TradeSeries,
  scale: Scale,
  stream: HotStream<Trade>,
  bars: readonly Bars[],
  opened: (closesAt: number) => void,
  last: { px: number | undefined },
): Route => {
  return (row, at) => {
    last.px = px[row] as number;
    for (let index = 0; index < bars.length; index++) {
      const one = bars[index] as Bars;
      const before = one.closesAt;
      one.trade(at, px[row] as number, qty[row] as number);
      if (one.closesAt !== before) opened(one.closesAt);
    }
    if (stream.observed) stream.next(new TradeView(scale, at, side[row] as number, px[row] as number, qty[row] as number));
  };
};

const candleRoute = (
  series: CandleSeries,
  exact: Bars | undefined,
  longer: readonly Bars[],
  shiftMs: number,
  last: { px: number | undefined },
): Route => {
  const { at: closes, open, high, low, close, volume, barMs } = series;
  return (row) => {
    last.px = close[row] as number;
    if (!(exact?.stream.observed || longer.length > 0)) return;
    const closedAt = (closes[row] as number) + shiftMs;
    const bar = {
      open: open[row] as number,
      high: high[row] as number,
      low: low[row] as number,
      close: close[row] as number,
      volume: volume[row] as number,
    };
    exact?.recorded(closedAt, bar);
    for (const bars of longer) bars.shorter(closedAt, barMs, bar);
  };
};
