/**
 * The book of one instrument as its channel tells it: a whole one first, then changes.
 *
 * Invariants: nothing is shown before a whole book was told; prices are unique and compared exactly; a level of size 0 is not
 * kept; what is shown is a copy and never changes; a book that crosses itself, or has more levels than any market, is a problem
 * and is not shown.
 */
import type { BookMessage } from "../../contract/channels.ts";
import { approximate, compare, isZero, plain } from "../../decimal.ts";
import type { BookLevel } from "../../market/market-data.ts";

export interface LiveBook {
  /** Takes one message; returns what is wrong with the book now, if anything. */
  take(whole: boolean, messages: readonly BookMessage[]): string | undefined;
  /** Whether a whole book was told. */
  readonly known: boolean;
  readonly bids: readonly BookLevel[];
  readonly asks: readonly BookLevel[];
  clear(): void;
}

/** Base currency of a level's size, or undefined where that cannot be known. */
type LevelQty = (sz: string, px: string) => string | undefined;

const levelsMax = 5_000;

export const createLiveBook = (levelQty: LevelQty): LiveBook => {
  const bids = createSide(-1, levelQty);
  const asks = createSide(1, levelQty);
  let known = false;
  const clear = (): void => {
    known = false;
    bids.clear();
    asks.clear();
  };
  const problem = (): string | undefined => {
    const [bid, ask] = [bids.levels[0], asks.levels[0]];
    if (bid !== undefined && ask !== undefined && compare(bid.px, ask.px) >= 0) return `the book crosses itself: ${bid.px} and ${ask.px}`;
    return Math.max(bids.levels.length, asks.levels.length) > levelsMax ? `the book has more than ${levelsMax} levels a side` : undefined;
  };
  return {
    get known() {
      return known;
    },
    get bids() {
      return bids.levels;
    },
    get asks() {
      return asks.levels;
    },
    clear,
    take: (whole, messages) => {
      if (whole) clear();
      else if (!known) return "a change came before a whole book";
      known = true;
      for (const message of messages) {
        for (const [px, sz] of message.bids) if (!bids.set(px, sz)) return sizeProblem;
        for (const [px, sz] of message.asks) if (!asks.set(px, sz)) return sizeProblem;
      }
      return problem();
    },
  };
};

const sizeProblem = "a size cannot be told in base currency";

interface Side {
  readonly levels: readonly BookLevel[];
  set(px: string, sz: string): boolean;
  clear(): void;
}

/** Best first; `direction` is 1 where a lower price is better. */
const createSide = (direction: 1 | -1, levelQty: LevelQty): Side => {
  let levels: BookLevel[] = [];
  /** Rounded prices: enough to find nearly every place; equal ones are told apart exactly. */
  let floats: number[] = [];
  let shown: readonly BookLevel[] | undefined;
  const order = (index: number, px: string, float: number): number => {
    const known = floats[index] as number;
    return (known === float ? compare((levels[index] as BookLevel).px, px) : known - float) * direction;
  };
  const placeOf = (px: string, float: number): number => {
    let low = 0;
    let high = levels.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (order(middle, px, float) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return {
    get levels() {
      shown ??= Object.freeze(levels.slice());
      return shown;
    },
    set: (price, sz) => {
      const px = plain(price);
      const float = approximate(px);
      const place = placeOf(px, float);
      const found = place < levels.length && order(place, px, float) === 0 ? 1 : 0;
      shown = undefined;
      if (isZero(sz)) {
        levels.splice(place, found);
        floats.splice(place, found);
        return true;
      }
      const qty = levelQty(sz, px);
      if (qty === undefined) return false;
      levels.splice(place, found, Object.freeze({ px, qty }));
      floats.splice(place, found, float);
      return true;
    },
    clear: () => {
      levels = [];
      floats = [];
      shown = undefined;
    },
  };
};
