/**
 * Everything one instrument offers: its streams, what they replay, and how rows of a series reach them.
 *
 * Invariants: rows become objects only while there is a subscriber; the latest quote is rebuilt from its row when a
 * subscriber comes, so keeping it costs two stores an event.
 */
import { checkBarLength } from "./bar-length.ts";
import { Bars } from "./bars.ts";
import { BookTrack, type BookTrackOptions } from "./book-track.ts";
import { HotStream } from "./hot-stream.ts";
import { type Print, printOf } from "./last-quotes.ts";
import type { Quote, Trade } from "./market-data.ts";
import type { CandleSeries, QuoteSeries, Series, TradeSeries } from "./tape/tape.ts";
import { QuoteView, type Scale, TradeView } from "./views.ts";

/**
 * The way of one series to its streams. A class for each kind: the player's loop tells few shapes apart faster than
 * many closures.
 */
export interface Route {
  /** Takes a row that is delivered at `at`. */
  take(row: number, at: number): void;
}

/** Where the price of the latest trade or bar stands: a place costs less to note than a number. */
interface LastPx {
  column: Float64Array | undefined;
  row: number;
}

export class Channel {
  readonly trades: HotStream<Trade>;
  /** Prices of trades and of recorded bars. */
  readonly prints: HotStream<Print>;
  readonly book: BookTrack;
  /** Bars that no recorded length can give, as of the last `bind`. */
  readonly fromTrades: Bars[] = [];
  readonly #scale: Scale;
  readonly #hot: { readonly onError?: (error: unknown) => void };
  readonly #quote: LatestQuote;
  readonly #last: LastPx = { column: undefined, row: 0 };
  readonly #lengths = new Map<number, Bars>();
  /** Recorded length -> the longer bars it builds. */
  readonly #longer = new Map<number, Bars[]>();

  constructor(scale: Scale, options: BookTrackOptions) {
    this.#scale = scale;
    this.#hot = options.onError === undefined ? {} : { onError: options.onError };
    this.#quote = new LatestQuote(scale, this.#hot);
    this.trades = new HotStream<Trade>(this.#hot);
    this.prints = new HotStream<Print>(this.#hot);
    this.book = new BookTrack(scale, options);
  }

  get quotes(): HotStream<Quote> {
    return this.#quote.stream;
  }

  /** Price of the latest trade or bar; undefined before any. */
  get lastPx(): string | undefined {
    const ticks = this.#last.column?.[this.#last.row];
    return ticks === undefined ? undefined : this.#scale.tick.format(ticks);
  }

  /** The bars of one length; the same object every time. */
  barsOf(barMs: number): Bars {
    const known = this.#lengths.get(barMs);
    if (known !== undefined) return known;
    checkBarLength(barMs);
    const bars = new Bars(this.#scale, barMs, this.#hot);
    this.#lengths.set(barMs, bars);
    return bars;
  }

  /** Decides where each length of bars comes from, given the recorded lengths. */
  bind(recordedMs: readonly number[]): void {
    this.fromTrades.length = 0;
    this.#longer.clear();
    for (const bars of this.#lengths.values()) {
      const source = recordedMs.filter((ms) => bars.barMs % ms === 0).sort((a, b) => b - a)[0];
      if (source === undefined) this.fromTrades.push(bars);
      else if (source !== bars.barMs) this.#longer.set(source, [...(this.#longer.get(source) ?? []), bars]);
    }
  }

  route(series: Series, shiftMs: number, opened: (closesAt: number) => void): Route {
    const { trades, fromTrades, prints } = this;
    const last = this.#last;
    const scale = this.#scale;
    switch (series.kind) {
      case "trade":
        return new TradeRoute(series, { scale, trades, fromTrades, last, prints }, opened);
      case "quote":
        return new QuoteRoute(series, this.#quote);
      case "level":
        return new OtherRoute(this.book.route(series));
      case "candle":
        return new CandleRoute(series, this.#lengths.get(series.barMs), this.#longer.get(series.barMs) ?? [], shiftMs, {
          scale,
          last,
          prints,
        });
      case "funding":
      case "mark":
      case "change":
        return new OtherRoute(() => undefined);
    }
  }

  complete(): void {
    for (const stream of [this.trades, this.prints, this.quotes, this.book.stream]) stream.complete();
    for (const bars of this.#lengths.values()) bars.stream.complete();
  }
}

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

/** What trades and bars share. */
interface PriceParts {
  readonly scale: Scale;
  readonly last: LastPx;
  readonly prints: HotStream<Print>;
}

interface TradeParts extends PriceParts {
  readonly trades: HotStream<Trade>;
  readonly fromTrades: readonly Bars[];
}

class TradeRoute implements Route {
  readonly #series: TradeSeries;
  readonly #scale: Scale;
  readonly #stream: HotStream<Trade>;
  readonly #bars: readonly Bars[];
  readonly #opened: (closesAt: number) => void;
  readonly #last: LastPx;
  readonly #prints: HotStream<Print>;

  constructor(
    series: TradeSeries,
    { scale, trades, fromTrades, last, prints }: TradeParts,
    opened: (closesAt: number) => void,
  ) {
    this.#series = series;
    this.#scale = scale;
    this.#stream = trades;
    this.#bars = fromTrades;
    this.#opened = opened;
    this.#last = last;
    this.#prints = prints;
  }

  take(row: number, at: number): void {
    this.#last.column = this.#series.px;
    this.#last.row = row;
    if (this.#bars.length > 0) this.#build(row, at);
    if (this.#prints.observed) this.#print(row, at);
    if (this.#stream.observed) this.#stream.next(new TradeView(this.#scale, this.#series, row, at));
  }

  #print(row: number, at: number): void {
    this.#prints.next(printOf(this.#scale.tick.format(this.#series.px[row] as number), at));
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
  readonly #parts: PriceParts;

  constructor(
    series: CandleSeries,
    exact: Bars | undefined,
    longer: readonly Bars[],
    shiftMs: number,
    parts: PriceParts,
  ) {
    this.#series = series;
    this.#exact = exact;
    this.#longer = longer;
    this.#shiftMs = shiftMs;
    this.#parts = parts;
  }

  take(row: number): void {
    const series = this.#series;
    const { last, prints, scale } = this.#parts;
    last.column = series.close;
    last.row = row;
    const closedAt = (series.at[row] as number) + this.#shiftMs;
    if (prints.observed) {
      const [px, low, high] = [series.close, series.low, series.high].map((column) =>
        scale.tick.format(column[row] as number),
      );
      prints.next({ px: px as string, low: low as string, high: high as string, since: closedAt - series.barMs });
    }
    this.#exact?.recorded(closedAt, series, row);
    for (const bars of this.#longer) bars.shorter(closedAt, series, row);
  }
}
