/**
 * The book of one instrument, kept up only as far as somebody looks.
 *
 * Invariants: an emitted book holds every row delivered so far and none after it; a snapshot row empties the book first;
 * rows of one instant are one change, so a half-applied message is never shown; emitted books do not change.
 */
import { createBookSide } from "./book-side.ts";
import { HotStream } from "./hot-stream.ts";
import type { BookView } from "./market-data.ts";
import type { LevelSeries } from "./tape/tape.ts";
import { BookLevelView, BookSnapshot, type Scale } from "./views.ts";

export interface BookTrack {
  readonly stream: HotStream<BookView>;
  /** Starts over with `series`; the result takes rows as they are delivered. */
  route(series: LevelSeries): (row: number, at: number) => void;
}

export interface BookTrackOptions {
  readonly onError?: (error: unknown) => void;
  readonly bookDepth?: number;
}

export const createBookTrack = (scale: Scale, { onError, bookDepth = Number.POSITIVE_INFINITY }: BookTrackOptions): BookTrack => {
  const make = (px: number, qty: number): BookLevelView => new BookLevelView(scale, px, qty);
  const bids = createBookSide(1, make);
  const asks = createBookSide(-1, make);
  let series: LevelSeries | undefined;
  let applied = 0;
  let delivered = 0;
  let deliveredAt = 0;
  const catchUp = ({ side, px, qty, snapshot }: LevelSeries): void => {
    for (; applied < delivered; applied++) {
      if (snapshot[applied] === 1) {
        bids.clear();
        asks.clear();
      }
      (side[applied] === 1 ? bids : asks).set(px[applied] as number, qty[applied] as number);
    }
  };
  const view = (): BookView | undefined => {
    if (series === undefined || delivered === 0) return undefined;
    catchUp(series);
    return new BookSnapshot(scale.instId, deliveredAt, bids.levels(), asks.levels(), bookDepth);
  };
  const stream = new HotStream<BookView>({ ...(onError ? { onError } : {}), latest: view });
  return {
    stream,
    route: (next) => {
      if (next !== series) {
        bids.clear();
        asks.clear();
        series = next;
        applied = 0;
        delivered = 0;
      }
      const { at: times } = next;
      return (row, at) => {
        delivered = row + 1;
        deliveredAt = at;
        if (!stream.observed || times[row + 1] === times[row]) return;
        const book = view();
        if (book !== undefined) stream.next(book);
      };
    },
  };
};
