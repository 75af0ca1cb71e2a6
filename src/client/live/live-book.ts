/**
 * Order book of one instrument, built from its channel: a snapshot first, then changes.
 *
 * Invariants: no book before the first snapshot; prices are unique and compared exactly; levels of size 0 are removed;
 * the book handed out is a copy and never changes; a crossed book, or one with implausibly many levels, is reported as
 * a problem and not handed out.
 */
import type { BookMessage } from "../../contract/channels.ts";
import { approximate, compare, isZero, plain } from "../../decimal.ts";
import { BookSide } from "../../market/book-side.ts";
import type { BookLevel } from "../../market/market-data.ts";

/** Base currency of a level's size, or undefined where that cannot be known. */
type LevelQty = (sz: string, px: string) => string | undefined;

const levelsMax = 5_000;
const sizeProblem = "a size cannot be converted to base currency";

export class LiveBook {
  readonly #levelQty: LevelQty;
  readonly #bids = new Side(1);
  readonly #asks = new Side(-1);
  #known = false;

  constructor(levelQty: LevelQty) {
    this.#levelQty = levelQty;
  }

  /** True if a snapshot has arrived. */
  get known(): boolean {
    return this.#known;
  }

  /** Best first. */
  get bids(): readonly BookLevel[] {
    return this.#bids.shown;
  }

  get asks(): readonly BookLevel[] {
    return this.#asks.shown;
  }

  clear(): void {
    this.#known = false;
    this.#bids.clear();
    this.#asks.clear();
  }

  /** Takes one message; returns what is wrong with the book now, if anything. */
  take(whole: boolean, messages: readonly BookMessage[]): string | undefined {
    if (whole) this.clear();
    else if (!this.#known) return "a change came before a whole book";
    this.#known = true;
    for (const message of messages) {
      for (const [px, sz] of message.bids) if (!this.#set(this.#bids, px, sz)) return sizeProblem;
      for (const [px, sz] of message.asks) if (!this.#set(this.#asks, px, sz)) return sizeProblem;
    }
    return this.#problem();
  }

  #set(side: Side, price: string, sz: string): boolean {
    const px = plain(price);
    if (isZero(sz)) {
      side.set(approximate(px), undefined, px);
      return true;
    }
    const qty = this.#levelQty(sz, px);
    if (qty !== undefined) side.set(approximate(px), Object.freeze({ px, qty }), px);
    return qty !== undefined;
  }

  #problem(): string | undefined {
    const [bid, ask] = [this.#bids.best, this.#asks.best];
    if (bid !== undefined && ask !== undefined && compare(bid.px, ask.px) >= 0)
      return `the book crosses itself: ${bid.px} and ${ask.px}`;
    return Math.max(this.#bids.size, this.#asks.size) > levelsMax
      ? `the book has more than ${levelsMax} levels a side`
      : undefined;
  }
}

/** Levels by exact price; what is shown of them is made once between changes. */
class Side extends BookSide<BookLevel> {
  #worstFirst: readonly BookLevel[] | undefined;
  #shown: readonly BookLevel[] = [];

  constructor(better: 1 | -1) {
    super(better, (level, px) => compare(level.px, px));
  }

  get shown(): readonly BookLevel[] {
    const levels = this.levels();
    if (levels !== this.#worstFirst) this.#shown = Object.freeze(levels.toReversed());
    this.#worstFirst = levels;
    return this.#shown;
  }
}
