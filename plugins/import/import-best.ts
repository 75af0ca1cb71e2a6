/**
 * The latest best prices, and corrections of older book messages by them.
 *
 * A recording holds messages as they arrived. Book changes are sent in bundles, so that one may arrive after a newer
 * best price, as shown by the update ids of the exchange, which both kinds of message carry.
 * Invariants: in a message older than the best prices before it a level better than the best is removed and the best
 * has the quantity of the latest best price; all other levels, and all newer messages, are unchanged.
 * Not here: the chain of book messages (import-book.ts).
 */
import type { BookLevels } from "./import-book.ts";
import type { Parts } from "./import-decimals.ts";

export class BestPrices {
  #id = Number.NEGATIVE_INFINITY;
  readonly #best = new Float64Array(8);

  /** A quote: bid, its quantity, ask, its quantity; undefined where it carries no update id. */
  note(updateId: number | undefined, parts: Parts): void {
    this.#id = updateId ?? Number.NEGATIVE_INFINITY;
    for (let index = 0; index < this.#best.length; index++) this.#best[index] = parts[index] as number;
  }

  /**
   * Returns the levels corrected by the best prices; the same object if nothing changes. A snapshot contains the best
   * prices in any case.
   */
  corrected(lastId: number, levels: BookLevels, snapshot: boolean): BookLevels {
    if (lastId >= this.#id) return levels;
    const bids = correctedSide(levels.bids, 1, this.#best.subarray(0, 4), snapshot);
    const asks = correctedSide(levels.asks, -1, this.#best.subarray(4), snapshot);
    return bids === levels.bids && asks === levels.asks ? levels : { bids, asks };
  }
}

/** Larger is better. Equal decimals have equal parts, so that they are equal here, too. */
const rankOf = (parts: Parts, index: number, sign: 1 | -1): number =>
  (sign * (parts[index] as number)) / 10 ** (parts[index + 1] as number);

const correctedSide = (side: Parts, sign: 1 | -1, best: Float64Array, snapshot: boolean): Parts => {
  const [, , qty = 0, places = 0] = best;
  const bestRank = qty > 0 ? rankOf(best, 0, sign) : Number.NEGATIVE_INFINITY;
  const levels = Array.from(side);
  let changed = false;
  let shown = qty === 0;
  for (let index = 0; index < levels.length; index += 4) {
    const rank = rankOf(levels, index, sign);
    if (rank < bestRank) continue;
    const [right, rightPlaces] = rank === bestRank ? [qty, places] : [0, 0];
    if (rank === bestRank) shown = true;
    if (levels[index + 2] === right && levels[index + 3] === rightPlaces) continue;
    levels[index + 2] = right;
    levels[index + 3] = rightPlaces;
    changed = true;
  }
  if (!snapshot || shown) return changed ? levels : side;
  return [...levels, ...best];
};
