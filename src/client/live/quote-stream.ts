/**
 * Quote stream (best bid and ask) of one instrument: from tickers, or from the book where tickers are refused.
 *
 * Invariants: a quote has both sides; when one is empty or the channel is lost, the last quote is not replayed to new
 * subscribers; when no quotes are available at all, that is reported once.
 */
import { isDecimal, isPositive, plain } from "../../decimal.ts";
import type { HotStream } from "../../market/hot-stream.ts";
import type { Quote } from "../../market/market-data.ts";
import { type Best, quoteOf } from "./field-values.ts";
import type { InstrumentParts } from "./instrument-parts.ts";
import type { LiveBook } from "./live-book.ts";
import { WatchedStream } from "./watched-stream.ts";

/** `book` is the book that the books channel maintains. It is up to date when its messages arrive here. */
export const createQuoteStream = (parts: InstrumentParts, book: LiveBook): HotStream<Quote> => {
  const { instId, clock, tickers, books, toBase, onPx, onAnomaly, onError } = parts;
  let latest: Quote | undefined;
  let wanted = false;
  let said = false;
  const stream = new WatchedStream<Quote>({
    onError,
    latest: () => latest,
    onListened: (listened) => {
      wanted = listened;
      holdTickers(listened);
      fallBack();
    },
  });
  const fallBack = (): void => {
    holdBooks(wanted && tickers.refused);
    if (said || !tickers.refused || !books.refused) return;
    said = true;
    onAnomaly("market.silent", `${instId}: neither tickers nor books are available; there are no quotes`);
  };
  const show = (bid: Best | undefined, ask: Best | undefined): void => {
    latest = bid === undefined || ask === undefined ? undefined : quoteOf(instId, clock.now(), bid, ask);
    if (latest !== undefined && stream.observed) stream.next(latest);
  };
  const bestOf = (px: string, sz: string): Best | undefined => {
    const qty = isDecimal(px) && isDecimal(sz) && isPositive(px) && isPositive(sz) ? toBase(instId, sz, px) : undefined;
    return qty === undefined ? undefined : { px: plain(px), qty };
  };
  const holdTickers = tickers.join({
    take: ({ records }) => {
      for (const { last, bidPx, bidSz, askPx, askSz } of records) {
        if (isDecimal(last)) onPx(plain(last));
        show(bestOf(bidPx, bidSz), bestOf(askPx, askSz));
      }
    },
    state: (state) => {
      if (state !== "live") latest = undefined;
      // Until it is known whether tickers return, quotes come from the book.
      if (state === "refused" || state === "live") fallBack();
    },
  });
  const holdBooks = books.join({
    take: () => {
      if (tickers.refused) show(book.bids[0], book.asks[0]);
    },
    state: (state) => {
      if (!tickers.refused) return;
      if (state !== "live") latest = undefined;
      fallBack();
    },
  });
  return stream;
};
