/**
 * A stable queue: the entry with the least key comes first; entries with equal keys come first in, first out.
 *
 * Invariants: push and pop are O(log n), and O(1) for entries that arrive in the sequence in which they leave, as most
 * do: those are kept in a row, the others in a heap, and the better of the two heads is next. Removed entries are
 * skipped when they reach the head, and removed together when they are the majority. Keys are kept in arrays of their
 * own, with four children to a parent: with very many entries most time is spent on memory access, so an entry is only
 * read when it arrives or leaves.
 */

export interface Queued {
  removed: boolean;
}

/** Smallest number of passed places that is worth removing from the front of the row. */
const passedMin = 1_024;

export class PriorityQueue<E extends Queued> {
  /** Entries in order, from `#first` on. Earlier places were passed. */
  #row: (E | undefined)[] = [];
  #rowKeys: number[] = [];
  #rowOrders: number[] = [];
  #first = 0;
  #end = 0;
  #heap: E[] = [];
  #keys: number[] = [];
  #orders: number[] = [];
  #removed = 0;
  /** The least entry, if it is known. */
  #best: E | undefined;

  /** Number of entries that wait. */
  size = 0;

  /** Adds an entry. `order` has to grow with each entry. */
  push(entry: E, key: number, order: number): void {
    this.size++;
    const end = this.#end;
    if (end > this.#first && key < (this.#rowKeys[end - 1] as number)) {
      this.#best = undefined;
      this.#up(entry, key, order);
      return;
    }
    this.#row[end] = entry;
    this.#rowKeys[end] = key;
    this.#rowOrders[end] = order;
    this.#end = end + 1;
  }

  /** The least entry, or undefined. */
  head(): E | undefined {
    // If the heap is empty, the row holds the least entry.
    let best =
      this.#best ?? (this.#heap.length === 0 && this.#first < this.#end ? this.#row[this.#first] : this.#top());
    while (best?.removed === true) {
      this.#drop();
      this.#removed--;
      best = this.#top();
    }
    this.#best = best;
    return best;
  }

  /** The key of the least entry. Call it only while there is one. */
  headKey(): number {
    return (this.#inRow() ? this.#rowKeys[this.#first] : this.#keys[0]) as number;
  }

  pop(): E | undefined {
    const best = this.#best;
    const top = best?.removed === false ? best : this.head();
    if (top === undefined) return undefined;
    this.size--;
    this.#drop();
    return top;
  }

  remove(entry: E): void {
    if (entry.removed) return;
    entry.removed = true;
    this.size--;
    this.#removed++;
    if (this.#removed > 64 && this.#removed > this.size) this.#sweep();
  }

  /** True if the head of the row is the least of all. */
  #inRow(): boolean {
    if (this.#first === this.#end) return false;
    if (this.#heap.length === 0) return true;
    const key = this.#rowKeys[this.#first] as number;
    const other = this.#keys[0] as number;
    return key < other || (key === other && (this.#rowOrders[this.#first] as number) < (this.#orders[0] as number));
  }

  #top(): E | undefined {
    return this.#inRow() ? this.#row[this.#first] : this.#heap[0];
  }

  /** Removes the least entry. */
  #drop(): void {
    this.#best = undefined;
    if (this.#heap.length > 0 && !this.#inRow()) {
      this.#dropHeap();
      return;
    }
    this.#row[this.#first++] = undefined;
    if (this.#first === this.#end) {
      this.#first = 0;
      this.#end = 0;
    } else if (this.#first >= passedMin && this.#first * 2 > this.#end) this.#closeUp();
  }

  /** Frees the places that were passed. */
  #closeUp(): void {
    this.#row = this.#row.slice(this.#first, this.#end);
    this.#rowKeys = this.#rowKeys.slice(this.#first, this.#end);
    this.#rowOrders = this.#rowOrders.slice(this.#first, this.#end);
    this.#end -= this.#first;
    this.#first = 0;
  }

  #sweep(): void {
    const kept: { readonly entry: E; readonly key: number; readonly order: number }[] = [];
    const keep = (entry: E, key: number, order: number): void => {
      if (!entry.removed) kept.push({ entry, key, order });
    };
    for (let index = this.#first; index < this.#end; index++)
      keep(this.#row[index] as E, this.#rowKeys[index] as number, this.#rowOrders[index] as number);
    this.#heap.forEach((entry, index) => {
      keep(entry, this.#keys[index] as number, this.#orders[index] as number);
    });
    this.#first = 0;
    this.#end = 0;
    this.#row = [];
    this.#rowKeys = [];
    this.#rowOrders = [];
    this.#heap = [];
    this.#keys = [];
    this.#orders = [];
    this.#removed = 0;
    this.size = 0;
    this.#best = undefined;
    for (const { entry, key, order } of kept.sort((a, b) => a.key - b.key || a.order - b.order))
      this.push(entry, key, order);
  }

  #up(entry: E, key: number, order: number): void {
    const heap = this.#heap;
    const keys = this.#keys;
    const orders = this.#orders;
    let index = heap.length;
    heap.push(entry);
    keys.push(key);
    orders.push(order);
    while (index > 0) {
      const parent = (index - 1) >> 2;
      const other = keys[parent] as number;
      if (other < key || (other === key && (orders[parent] as number) < order)) break;
      heap[index] = heap[parent] as E;
      keys[index] = other;
      orders[index] = orders[parent] as number;
      index = parent;
    }
    heap[index] = entry;
    keys[index] = key;
    orders[index] = order;
  }

  #dropHeap(): void {
    const entry = this.#heap.pop() as E;
    const key = this.#keys.pop() as number;
    const order = this.#orders.pop() as number;
    if (this.#heap.length > 0) this.#down(entry, key, order);
  }

  #down(entry: E, key: number, order: number): void {
    const heap = this.#heap;
    const keys = this.#keys;
    const orders = this.#orders;
    const size = heap.length;
    let index = 0;
    for (;;) {
      const first = 4 * index + 1;
      if (first >= size) break;
      let child = first;
      let least = keys[first] as number;
      const last = Math.min(first + 4, size);
      for (let next = first + 1; next < last; next++) {
        const other = keys[next] as number;
        if (other < least || (other === least && (orders[next] as number) < (orders[child] as number))) {
          child = next;
          least = other;
        }
      }
      if (least > key || (least === key && (orders[child] as number) > order)) break;
      heap[index] = heap[child] as E;
      keys[index] = least;
      orders[index] = orders[child] as number;
      index = child;
    }
    heap[index] = entry;
    keys[index] = key;
    orders[index] = order;
  }
}
