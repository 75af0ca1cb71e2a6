/**
 * The live market of one instrument: its streams, and the channels that feed them.
 *
 * Invariants: a channel is subscribed only while one of its streams has listeners; what a lost channel told last is not offered
 * to newcomers; `at` is the instant of delivery, except that a bar carries the instant it closed.
 */
import type { Clock } from "../../clock/clock.ts";
import type { HotStream } from "../../market/hot-stream.ts";
import type { BookView, Candle, Quote, Trade } from "../../market/market-data.ts";
import { createBarStreams } from "./bar-streams.ts";
import { createBookStream } from "./book-stream.ts";
import type { ToBase } from "./quantities.ts";
import { createQuoteStream } from "./quote-stream.ts";
import { createSharedChannel, type SharedChannel, type SharedChannelOptions } from "./shared-channel.ts";
import { createTradeStream } from "./trade-stream.ts";

export interface InstrumentMarketOptions extends SharedChannelOptions {
  /** What the service's calendar says now, milliseconds since the epoch. */
  readonly serviceNow: () => number;
  readonly toBase: ToBase;
  /** Told what a subscriber threw. */
  readonly onError: (error: unknown) => void;
}

/** What the streams of one instrument share. */
export interface InstrumentParts extends InstrumentMarketOptions {
  readonly instId: string;
  readonly clock: Clock;
  readonly trades: SharedChannel<"trades">;
  readonly tickers: SharedChannel<"tickers">;
  readonly books: SharedChannel<"books">;
  readonly minutes: SharedChannel<"candle1m">;
  /** The price of the latest trade or bar. */
  readonly onPx: (px: string) => void;
}

export interface InstrumentMarket {
  readonly trades: HotStream<Trade>;
  readonly quotes: HotStream<Quote>;
  readonly books: HotStream<BookView>;
  candles(barMs: number): HotStream<Candle>;
  readonly lastPx: string | undefined;
  stop(): void;
}

export const createInstrumentMarket = (instId: string, options: InstrumentMarketOptions): InstrumentMarket => {
  let lastPx: string | undefined;
  const lines = {
    trades: createSharedChannel("trades", instId, options),
    tickers: createSharedChannel("tickers", instId, options),
    books: createSharedChannel("books", instId, options),
    minutes: createSharedChannel("candle1m", instId, options),
  };
  const parts: InstrumentParts = {
    ...options,
    ...lines,
    instId,
    onPx: (px) => {
      lastPx = px;
    },
  };
  // Who joins a line first hears first: bars before the trades that strategies act on, the book before the quotes made of it.
  const bars = createBarStreams(parts);
  const trades = createTradeStream(parts);
  const { stream: books, book } = createBookStream(parts);
  const quotes = createQuoteStream(parts, book);
  return {
    trades,
    quotes,
    books,
    candles: bars.of,
    get lastPx() {
      return lastPx;
    },
    stop: () => {
      for (const line of Object.values(lines)) line.stop();
      bars.stop();
      for (const stream of [trades, quotes, books]) stream.complete();
    },
  };
};
