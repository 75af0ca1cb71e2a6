/**
 * One side of an order book: sorted price levels in two columns.
 *
 * Invariants: prices are unique and sorted from the worst to the best, so that changes near the top move few cells; a level of
 * quantity 0 is not kept.
 */
export interface BookSide {
  readonly size: number;
  set(px: number, qty: number): void;
  clear(): void;
  /** Copies of the best `depth` levels, worst first. */
  top(depth: number): { readonly px: Float64Array; readonly qty: Float64Array };
}

/** `better` is 1 for bids (a higher price is better) and -1 for asks. */
export const createBookSide = (better: 1 | -1): BookSide => {
  let px = new Float64Array(64);
  let qty = new Float64Array(64);
  let size = 0;
  const slotOf = (price: number): number => {
    let low = 0;
    let high = size;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (((px[middle] as number) - price) * better < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const grow = (): void => {
    const [oldPx, oldQty] = [px, qty];
    px = new Float64Array(size * 2);
    qty = new Float64Array(size * 2);
    px.set(oldPx);
    qty.set(oldQty);
  };
  const move = (to: number, from: number): void => {
    px.copyWithin(to, from, size);
    qty.copyWithin(to, from, size);
  };
  return {
    get size() {
      return size;
    },
    set: (price, quantity) => {
      const slot = slotOf(price);
      const known = slot < size && px[slot] === price;
      if (quantity === 0) {
        if (!known) return;
        move(slot, slot + 1);
        size--;
        return;
      }
      if (!known) {
        if (size === px.length) grow();
        move(slot + 1, slot);
        size++;
        px[slot] = price;
      }
      qty[slot] = quantity;
    },
    clear: () => {
      size = 0;
    },
    top: (depth) => {
      const from = Math.max(0, size - depth);
      return { px: px.slice(from, size), qty: qty.slice(from, size) };
    },
  };
};
