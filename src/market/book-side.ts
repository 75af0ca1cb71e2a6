/**
 * One side of an order book: price levels, sorted, each made once and shown as often as it is asked for.
 *
 * Invariants: prices are unique and sorted from the worst to the best, so that changes near the top move few cells; a
 * list of levels that was handed out does not change any more: the next change is made to a copy, which costs one copy
 * of pointers for any number of levels. Prices whose numbers are rounded have their exact order in addition: `exact`
 * compares a level with the price of the same number.
 */
export class BookSide<Level> {
  readonly #better: 1 | -1;
  readonly #exact: (level: Level, price: string) => number;
  #prices = new Float64Array(64);
  #levels: Level[] = [];
  #handedOut = false;

  /** `better` is 1 for bids (a higher price is better) and -1 for asks. */
  constructor(better: 1 | -1, exact: (level: Level, price: string) => number = () => 0) {
    this.#better = better;
    this.#exact = exact;
  }

  get best(): Level | undefined {
    return this.#levels.at(-1);
  }

  get size(): number {
    return this.#levels.length;
  }

  /** All levels, worst first. */
  levels(): readonly Level[] {
    this.#handedOut = true;
    return this.#levels;
  }

  /** The level at a price; undefined takes it away. */
  set(price: number, level: Level | undefined, exact = ""): void {
    const slot = this.#slotOf(price, exact);
    const size = this.#levels.length;
    const known = slot < size && this.#prices[slot] === price && this.#exact(this.#levels[slot] as Level, exact) === 0;
    if (level === undefined) {
      if (!known) return;
      this.#prices.copyWithin(slot, slot + 1, size);
      this.#own().splice(slot, 1);
    } else if (known) this.#own()[slot] = level;
    else {
      if (size === this.#prices.length) this.#grow();
      this.#prices.copyWithin(slot + 1, slot, size);
      this.#prices[slot] = price;
      this.#own().splice(slot, 0, level);
    }
  }

  clear(): void {
    this.#levels = [];
    this.#handedOut = false;
  }

  /** The first level that is not worse. */
  #slotOf(price: number, exact: string): number {
    let low = 0;
    let high = this.#levels.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const known = this.#prices[middle] as number;
      const difference = known === price ? this.#exact(this.#levels[middle] as Level, exact) : known - price;
      if (difference * this.#better < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #grow(): void {
    const before = this.#prices;
    this.#prices = new Float64Array(before.length * 2);
    this.#prices.set(before);
  }

  #own(): Level[] {
    if (this.#handedOut) this.#levels = this.#levels.slice();
    this.#handedOut = false;
    return this.#levels;
  }
}
