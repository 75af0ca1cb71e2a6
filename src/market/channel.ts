/**
 * Everything one instrument offers: its streams, what they replay, and how rows of a series reach them.
 *
 * Invariants: rows become objects only while there is a subscriber; the latest quote is rebuilt from its row when a
 * subscriber comes, so keeping it costs two stores an event.
 */
import { chooseSource, sourceOf } from "./bar-sources.ts";
import { Bars } from "./bars.ts";
import { BookTrack, type BookTrackOptions } from "./book-track.ts";
import { type AskedBars, BarCalendar, gridName } from "./calendar/bar-calendar.ts";
import { HotStream } from "./hot-stream.ts";
import { type Print, printOf } from "./last-quotes.ts";
import type { Quote, Trade } from "./market-data.ts";
import { type CandleSeries, gridNameIn, type QuoteSeries, type Series, type TradeSeries } from "./tape/tape.ts";
import { type BarColumns, openedBy, QuoteView, type Scale, TradeView } from "./views.ts";

/**
 * Carries one series to its streams. A class for each kind: the player's loop distinguishes few shapes faster than
 * many closures.
 */
export interface Route {
  /** Takes a row that is delivered at `at`. */
  take(row: number, at: number): void;
}

/** Row of the latest trade's or bar's price: an index costs less to store than a number. */
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
  /** By the grid asked for. */
  readonly #bars = new Map<string, Bars>();
  /** By the name of recorded bars: what they are, and what they build. */
  readonly #exact = new Map<string, Bars[]>();
  readonly #longer = new Map<string, Bars[]>();

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

  /** The bars of one grid; the same object every time. */
  barsOf(asked: AskedBars): Bars {
    const name = `${gridName(asked.grid)}${asked.isExplicit ? "!" : ""}`;
    const known = this.#bars.get(name);
    if (known !== undefined) return known;
    const bars = new Bars(this.#scale, asked, this.#hot);
    this.#bars.set(name, bars);
    return bars;
  }

  /** Decides where bars come from, given the recorded ones. `fromAt` is when the recording begins. */
  bind(recorded: readonly CandleSeries[], fromAt: number, shiftMs = 0): void {
    this.fromTrades.length = 0;
    this.#exact.clear();
    this.#longer.clear();
    if (this.#bars.size === 0) return;
    const sources = recorded.map((series) => sourceOf(series, shiftMs));
    for (const bars of this.#bars.values()) {
      const { source, isExact, calendar } = chooseSource(bars.asked, sources);
      bars.follow(calendar);
      if (source === undefined) {
        this.fromTrades.push(bars);
        // What was delivered before the bars were asked for is not in them.
        if (this.#last.column === undefined) bars.wholeFrom = Math.min(bars.wholeFrom, fromAt);
        continue;
      }
      const of = isExact ? this.#exact : this.#longer;
      of.set(source.name, [...(of.get(source.name) ?? []), bars]);
    }
  }

  /** All bars that were asked for. */
  get bars(): Iterable<Bars> {
    return this.#bars.values();
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
        return this.#candleRoute(series, shiftMs, opened);
      case "funding":
      case "mark":
      case "change":
        return new OtherRoute(() => undefined);
    }
  }

  #candleRoute(series: CandleSeries, shiftMs: number, opened: (closesAt: number) => void): Route {
    const name = gridNameIn(series);
    const [exact, longer] = [this.#exact.get(name) ?? [], this.#longer.get(name) ?? []];
    const parts = { scale: this.#scale, last: this.#last, prints: this.prints, exact, longer, shiftMs, opened };
    return new CandleRoute(series, parts);
  }

  complete(): void {
    for (const stream of [this.trades, this.prints, this.quotes, this.book.stream]) stream.complete();
    for (const bars of this.#bars.values()) bars.stream.complete();
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

/** Members that trades and bars share. */
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

interface CandleParts extends PriceParts {
  readonly exact: readonly Bars[];
  readonly longer: readonly Bars[];
  readonly shiftMs: number;
  readonly opened: (dueAt: number) => void;
}

class CandleRoute implements Route {
  readonly #series: CandleSeries;
  /** The series, with the calendar of its bars where they have one. */
  readonly #columns: BarColumns;
  readonly #parts: CandleParts;

  constructor(series: CandleSeries, parts: CandleParts) {
    this.#series = series;
    this.#columns = series.grid === undefined ? series : { ...series, calendar: new BarCalendar(series.grid) };
    this.#parts = parts;
  }

  take(row: number, at: number): void {
    const series = this.#series;
    const { last, exact, longer, prints, scale, shiftMs } = this.#parts;
    last.column = series.close;
    last.row = row;
    const closedAt = (series.at[row] as number) + shiftMs;
    if (prints.observed) {
      const [px, low, high] = [series.close, series.low, series.high].map((column) =>
        scale.tick.format(column[row] as number),
      );
      prints.next({
        px: px as string,
        low: low as string,
        high: high as string,
        since: openedBy(this.#columns, closedAt),
      });
    }
    for (const bars of exact) bars.recorded(closedAt, this.#columns, row);
    if (longer.length > 0) this.#build(row, closedAt, at);
  }

  #build(row: number, closedAt: number, at: number): void {
    const series = this.#series;
    const { longer, shiftMs, opened } = this.#parts;
    const nextAt = row + 1 < series.at.length ? (series.at[row + 1] as number) + shiftMs : closedAt;
    const bar = { openedAt: openedBy(this.#columns, closedAt), closedAt, lateMs: Math.max(0, at - closedAt), nextAt };
    for (const bars of longer) {
      bars.shorter(bar, this.#columns, row);
      if (bars.dueAt !== Number.POSITIVE_INFINITY) opened(bars.dueAt);
    }
  }
}
