/**
 * The live market of one instrument: its streams, and the channels that feed them.
 *
 * Invariants: a channel is subscribed only while one of its streams has subscribers; the last value of a lost channel
 * is not replayed to new subscribers; `at` is the time of delivery; that of a bar is its close.
 */
import type { AskedBars } from "../../market/calendar/bar-calendar.ts";
import type { HotStream } from "../../market/hot-stream.ts";
import type { BookView, Candle, Quote, Trade } from "../../market/market-data.ts";
import { BarStreams } from "./bar-streams.ts";
import { createBookStream } from "./book-stream.ts";
import { channelsOf, type InstrumentMarketOptions, type InstrumentParts } from "./instrument-parts.ts";
import { createQuoteStream } from "./quote-stream.ts";
import { createTradeStream } from "./trade-stream.ts";

export interface InstrumentMarket {
  readonly trades: HotStream<Trade>;
  readonly quotes: HotStream<Quote>;
  readonly books: HotStream<BookView>;
  candles(asked: AskedBars): HotStream<Candle>;
  readonly lastPx: string | undefined;
  stop(): void;
}

export const createInstrumentMarket = (instId: string, options: InstrumentMarketOptions): InstrumentMarket => {
  let lastPx: string | undefined;
  const channels = channelsOf(instId, options);
  const parts: InstrumentParts = {
    ...options,
    ...channels,
    instId,
    onPx: (px) => {
      lastPx = px;
    },
  };
  // Readers of a channel receive in the order in which they joined: bars before the trades that strategies act on, and
  // the book before its quotes.
  const bars = new BarStreams(parts);
  const trades = createTradeStream(parts);
  const { stream: books, book } = createBookStream(parts);
  const quotes = createQuoteStream(parts, book);
  return {
    trades,
    quotes,
    books,
    candles: (asked) => bars.of(asked),
    get lastPx() {
      return lastPx;
    },
    stop: () => {
      for (const channel of Object.values(channels)) channel.stop();
      bars.stop();
      for (const stream of [trades, quotes, books]) stream.complete();
    },
  };
};
