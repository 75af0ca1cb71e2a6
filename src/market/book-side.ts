/**
 * One side of an order book: price levels, sorted, each made once and shown as often as it is asked for.
 *
 * Invariants: prices are unique and sorted from the worst to the best, so that changes near the top move few cells; a level of
 * quantity 0 is not kept; a list of levels that was handed out does not change any more: the next change is made to a copy, which
 * costs one copy of pointers however many levels there are.
 */
export interface BookSide<Level> {
  readonly best: Level | undefined;
  set(px: number, qty: number): void;
  clear(): void;
  /** All levels, worst first. */
  levels(): readonly Level[];
}

/** `better` is 1 for bids (a higher price is better) and -1 for asks; `make` makes what is shown of a level. */
export const createBookSide = <Level>(better: 1 | -1, make: (px: number, qty: number) => Level): BookSide<Level> => {
  let prices = new Float64Array(64);
  let levels: Level[] = [];
  let handedOut = false;
  const slotOf = (price: number): number => {
    let low = 0;
    let high = levels.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (((prices[middle] as number) - price) * better < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const grow = (): void => {
    const before = prices;
    prices = new Float64Array(before.length * 2);
    prices.set(before);
  };
  const own = (): Level[] => {
    if (handedOut) levels = levels.slice();
    handedOut = false;
    return levels;
  };
  return {
    get best() {
      return levels.at(-1);
    },
    set: (price, quantity) => {
      const slot = slotOf(price);
      const size = levels.length;
      const known = slot < size && prices[slot] === price;
      if (quantity === 0) {
        if (!known) return;
        prices.copyWithin(slot, slot + 1, size);
        own().splice(slot, 1);
      } else if (known) own()[slot] = make(price, quantity);
      else {
        if (size === prices.length) grow();
        prices.copyWithin(slot + 1, slot, size);
        prices[slot] = price;
        own().splice(slot, 0, make(price, quantity));
      }
    },
    clear: () => {
      levels = [];
      handedOut = false;
    },
    levels: () => {
      handedOut = true;
      return levels;
    },
  };
};
