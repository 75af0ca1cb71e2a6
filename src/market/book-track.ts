/**
 * The book of one instrument, kept up only as far as a subscriber asks.
 *
 * Invariants: an emitted book holds every row delivered so far and none after it; a snapshot row empties the book
 * first; rows of one instant are one change, so a half-applied message is never shown; emitted books do not change.
 */
import { BookSide } from "./book-side.ts";
import { HotStream } from "./hot-stream.ts";
import type { BookView } from "./market-data.ts";
import type { LevelSeries } from "./tape/tape.ts";
import { BookLevelView, BookSnapshot, type Scale } from "./views.ts";

export interface BookTrackOptions {
  readonly onError?: (error: unknown) => void;
  readonly bookDepth?: number;
}

export class BookTrack {
  readonly stream: HotStream<BookView>;
  readonly #scale: Scale;
  readonly #depth: number;
  readonly #bids = new BookSide<BookLevelView>(1);
  readonly #asks = new BookSide<BookLevelView>(-1);
  #series: LevelSeries | undefined;
  #applied = 0;
  #delivered = 0;
  #deliveredAt = 0;

  constructor(scale: Scale, { onError, bookDepth = Number.POSITIVE_INFINITY }: BookTrackOptions) {
    this.#scale = scale;
    this.#depth = bookDepth;
    this.stream = new HotStream<BookView>({ ...(onError ? { onError } : {}), latest: () => this.#view() });
  }

  /** Starts over with `series`; the result takes rows as they are delivered. */
  route(series: LevelSeries): (row: number, at: number) => void {
    if (series !== this.#series) {
      this.#clear();
      this.#series = series;
      this.#applied = 0;
      this.#delivered = 0;
    }
    const { at: times } = series;
    return (row, at) => {
      this.#delivered = row + 1;
      this.#deliveredAt = at;
      if (!this.stream.observed || times[row + 1] === times[row]) return;
      const book = this.#view();
      if (book !== undefined) this.stream.next(book);
    };
  }

  #view(): BookView | undefined {
    if (this.#series === undefined || this.#delivered === 0) return undefined;
    this.#catchUp(this.#series);
    return new BookSnapshot(
      this.#scale.instId,
      this.#deliveredAt,
      this.#bids.levels(),
      this.#asks.levels(),
      this.#depth,
    );
  }

  #catchUp({ side, px, qty, snapshot }: LevelSeries): void {
    for (; this.#applied < this.#delivered; this.#applied++) {
      const row = this.#applied;
      if (snapshot[row] === 1) this.#clear();
      const [price, size] = [px[row] as number, qty[row] as number];
      const level = size === 0 ? undefined : new BookLevelView(this.#scale, price, size);
      (side[row] === 1 ? this.#bids : this.#asks).set(price, level);
    }
  }

  #clear(): void {
    this.#bids.clear();
    this.#asks.clear();
  }
}
