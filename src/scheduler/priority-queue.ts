/**
 * A stable heap: least key first, first in first out among equals.
 *
 * Invariants: push and pop are O(log n); removed entries are skipped when they surface and swept when they are the majority.
 * Keys stand in an array of their own, four children to a parent: with very many entries the time goes into fetching memory, and
 * so an entry itself is only looked at when it comes or leaves.
 */

export interface Queued {
  readonly key: number;
  /** Rises with each entry pushed. */
  readonly order: number;
  removed: boolean;
}

export class PriorityQueue<E extends Queued> {
  #entries: E[] = [];
  #keys: number[] = [];
  #orders: number[] = [];
  #removed = 0;

  get size(): number {
    return this.#entries.length - this.#removed;
  }

  push(entry: E): void {
    const { key, order } = entry;
    const entries = this.#entries;
    const keys = this.#keys;
    const orders = this.#orders;
    let index = entries.length;
    entries.push(entry);
    keys.push(key);
    orders.push(order);
    while (index > 0) {
      const parent = (index - 1) >> 2;
      const other = keys[parent] as number;
      if (other < key || (other === key && (orders[parent] as number) < order)) break;
      entries[index] = entries[parent] as E;
      keys[index] = other;
      orders[index] = orders[parent] as number;
      index = parent;
    }
    entries[index] = entry;
    keys[index] = key;
    orders[index] = order;
  }

  /** The least entry, or undefined. */
  head(): E | undefined {
    for (let top = this.#entries[0]; top !== undefined; top = this.#entries[0]) {
      if (!top.removed) return top;
      this.#take();
      this.#removed--;
    }
    return undefined;
  }

  pop(): E | undefined {
    return this.head() === undefined ? undefined : this.#take();
  }

  remove(entry: E): void {
    if (entry.removed) return;
    entry.removed = true;
    this.#removed++;
    if (this.#removed > 64 && this.#removed * 2 > this.#entries.length) this.#sweep();
  }

  #sweep(): void {
    const alive = this.#entries.filter((entry) => !entry.removed);
    this.#entries = [];
    this.#keys = [];
    this.#orders = [];
    this.#removed = 0;
    for (const entry of alive) this.push(entry);
  }

  #take(): E {
    const top = this.#entries[0] as E;
    const entry = this.#entries.pop() as E;
    const key = this.#keys.pop() as number;
    const order = this.#orders.pop() as number;
    if (this.#entries.length > 0) this.#down(entry, key, order);
    return top;
  }

  #down(entry: E, key: number, order: number): void {
    const entries = this.#entries;
    const keys = this.#keys;
    const orders = this.#orders;
    const size = entries.length;
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
      entries[index] = entries[child] as E;
      keys[index] = least;
      orders[index] = orders[child] as number;
      index = child;
    }
    entries[index] = entry;
    keys[index] = key;
    orders[index] = order;
  }
}
