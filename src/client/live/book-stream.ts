/**
 * Order book stream of one instrument, one value for each message.
 *
 * Invariants: only complete and consistent books are emitted; any other book is dropped and requested again; a new
 * subscriber receives the current book, if there is one.
 */
import type { HotStream } from "../../market/hot-stream.ts";
import type { BookView } from "../../market/market-data.ts";
import type { InstrumentParts } from "./instrument-parts.ts";
import { LiveBook } from "./live-book.ts";
import type { SharedChannelMessage } from "./shared-channel.ts";
import { WatchedStream } from "./watched-stream.ts";

interface BookStream {
  readonly stream: HotStream<BookView>;
  readonly book: LiveBook;
}

export const createBookStream = ({ instId, clock, books, toBase, onError }: InstrumentParts): BookStream => {
  const book = new LiveBook((sz, px) => toBase(instId, sz, px));
  let bookAt = 0;
  const view = (): BookView | undefined =>
    book.known ? Object.freeze({ instId, at: bookAt, bids: book.bids, asks: book.asks }) : undefined;
  const stream = new WatchedStream<BookView>({
    onError,
    latest: view,
    onListened: (listened) => {
      hold(listened);
    },
  });
  const problemOf = ({ records, whole, action }: SharedChannelMessage<"books">): string | undefined => {
    if (!whole) return "a message of the book is unreadable";
    return book.take(action === "snapshot" || (action === undefined && !book.known), records);
  };
  const hold = books.join({
    take: (message) => {
      if (message.records.length === 0 && message.whole) return;
      const problem = problemOf(message);
      if (problem !== undefined) {
        // The channel's loss, which follows at once, clears the book.
        books.repair(problem);
        return;
      }
      bookAt = clock.now();
      const now = stream.observed ? view() : undefined;
      if (now !== undefined) stream.next(now);
    },
    state: (state) => {
      if (state !== "live") book.clear();
    },
  });
  return { stream, book };
};
