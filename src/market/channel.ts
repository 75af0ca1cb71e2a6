/**
 * Everything one instrument offers: its streams, what they replay, and how rows of a series reach them.
 *
 * Invariants: rows become objects only while there is a subscriber; the latest quote is rebuilt from its row when a subscriber
 * comes, so keeping it costs two stores an event.
 */
import { checkBarLength } from "./bar-length.ts";
import { Bars } from "./bars.ts";
import { BookTrack, type BookTrackOptions } from "./book-track.ts";
import { HotStream } from "./hot-stream.ts";
import type { Quote, Trade } from "./market-data.ts";
import type { CandleSeries, QuoteSeries, Series, TradeSeries } from "./tape/tape.ts";
import { QuoteView, type Scale, TradeView } from "./views.ts";

/** The way of one series to its streams. A class for each kind: the player's loop tells few shapes apart faster than many closures. */
export interface Route {
  /** Takes a row that is delivered at `at`. */
  take(row: number, at: number): void;
}

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

/** Where the price of the latest trade or bar stands: a place costs less to note than a number. */
interface LastPx {
  column: Float64Array | undefined;
  row: number;
}

export const createChannel = (scale: Scale, options: BookTrackOptions): Channel => {
  const { onError } = options;
  const hot = onError === undefined ? {} : { onError };
  const quote = new LatestQuote(scale, hot);
  const trades = new HotStream<Trade>(hot);
  const book = new BookTrack(scale, options);
  const last: LastPx = { column: undefined, row: 0 };
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
      return last.column?.[last.row];
    },
    barsOf: (barMs) => {
      const known = lengths.get(barMs);
      if (known !== undefined) return known;
      checkBarLength(barMs);
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
          return new TradeRoute(series, { scale, trades, fromTrades, last }, opened);
        case "quote":
          return new QuoteRoute(series, quote);
        case "level":
          return new OtherRoute(book.route(series));
        case "candle":
          return new CandleRoute(series, lengths.get(series.barMs), longer.get(series.barMs) ?? [], shiftMs, last);
        case "funding":
        case "mark":
        case "change":
          return new OtherRoute(() => undefined);
      }
    },
    complete: () => {
      for (const stream of [trades, quote.stream, book.stream]) stream.complete();
      for (const bars of lengths.values()) bars.stream.complete();
    },
  };
};

/** The quotes of one instrument, and which row was the latest. */
class LatestQuote {
  readonly stream: HotStream<Quote>;
  readonly #scale: Scale;
  #series: QuoteSeries | undefined;
  #row = 0;
  #at = 0;
  constructor(scale: Scale, hot: { readonly onError?: (error: unknown) => void }) {
    this.#scale = scale;
    this.stream = new HotStream<Quote>({
      ...hot,
      latest: () => (this.#series === undefined ? undefined : new QuoteView(scale, this.#series, this.#row, this.#at)),
    });
  }
  take(series: QuoteSeries, row: number, at: number): void {
    this.#series = series;
    this.#row = row;
    this.#at = at;
    if (this.stream.observed) this.stream.next(new QuoteView(this.#scale, series, row, at));
  }
}

interface TradeParts {
  readonly scale: Scale;
  readonly trades: HotStream<Trade>;
  readonly fromTrades: readonly Bars[];
  readonly last: LastPx;
}

class TradeRoute implements Route {
  readonly #series: TradeSeries;
  readonly #scale: Scale;
  readonly #stream: HotStream<Trade>;
  readonly #bars: readonly Bars[];
  readonly #opened: (closesAt: number) => void;
  readonly #last: LastPx;

  constructor(series: TradeSeries, { scale, trades, fromTrades, last }: TradeParts, opened: (closesAt: number) => void) {
    this.#series = series;
    this.#scale = scale;
    this.#stream = trades;
    this.#bars = fromTrades;
    this.#opened = opened;
    this.#last = last;
  }

  take(row: number, at: number): void {
    this.#last.column = this.#series.px;
    this.#last.row = row;
    if (this.#bars.length > 0) this.#build(row, at);
    if (this.#stream.observed) this.#stream.next(new TradeView(this.#scale, this.#series, row, at));
  }

  #build(row: number, at: number): void {
    const { px, qty } = this.#series;
    for (const bars of this.#bars) {
      const before = bars.closesAt;
      bars.trade(at, px[row] as number, qty[row] as number);
      if (bars.closesAt !== before) this.#opened(bars.closesAt);
    }
  }
}

class QuoteRoute implements Route {
  readonly #series: QuoteSeries;
  readonly #latest: LatestQuote;
  constructor(series: QuoteSeries, latest: LatestQuote) {
    this.#series = series;
    this.#latest = latest;
  }
  take(row: number, at: number): void {
    this.#latest.take(this.#series, row, at);
  }
}

/** Rows of the other kinds are rarer. */
class OtherRoute implements Route {
  readonly take: (row: number, at: number) => void;
  constructor(take: (row: number, at: number) => void) {
    this.take = take;
  }
}

class CandleRoute implements Route {
  readonly #series: CandleSeries;
  readonly #exact: Bars | undefined;
  readonly #longer: readonly Bars[];
  readonly #shiftMs: number;
  readonly #last: LastPx;

  constructor(series: CandleSeries, exact: Bars | undefined, longer: readonly Bars[], shiftMs: number, last: LastPx) {
    this.#series = series;
    this.#exact = exact;
    this.#longer = longer;
    this.#shiftMs = shiftMs;
    this.#last = last;
  }

  take(row: number): void {
    const series = this.#series;
    this.#last.column = series.close;
    this.#last.row = row;
    const closedAt = (series.at[row] as number) + this.#shiftMs;
    this.#exact?.recorded(closedAt, series, row);
    for (const bars of this.#longer) bars.shorter(closedAt, series, row);
  }
}
