/**
 * A stable binary heap: least key first, first in first out among equals.
 *
 * Invariants: push and pop are O(log n); removed entries are skipped when they surface and swept when they are the majority.
 */

export interface Queued {
  key: number;
  order: number;
  removed: boolean;
}

const before = (a: Queued, b: Queued): boolean => a.key < b.key || (a.key === b.key && a.order < b.order);

export class PriorityQueue<E extends Queued> {
  #heap: E[] = [];
  #removed = 0;

  get size(): number {
    return this.#heap.length - this.#removed;
  }

  push(entry: E): void {
    this.#heap.push(entry);
    this.#up(this.#heap.length - 1);
  }

  /** The least entry, or undefined. */
  head(): E | undefined {
    for (let top = this.#heap[0]; top !== undefined; top = this.#heap[0]) {
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
    if (this.#removed > 64 && this.#removed * 2 > this.#heap.length) this.#sweep();
  }

  #sweep(): void {
    const alive = this.#heap.filter((entry) => !entry.removed);
    this.#heap = [];
    this.#removed = 0;
    for (const entry of alive) this.push(entry);
  }

  #take(): E {
    const heap = this.#heap;
    const top = heap[0] as E;
    const last = heap.pop() as E;
    if (heap.length > 0) this.#down(last);
    return top;
  }

  #up(start: number): void {
    const heap = this.#heap;
    const entry = heap[start] as E;
    let index = start;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const other = heap[parent] as E;
      if (!before(entry, other)) break;
      heap[index] = other;
      index = parent;
    }
    heap[index] = entry;
  }

  #down(entry: E): void {
    const heap = this.#heap;
    const size = heap.length;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= size) break;
      if (child + 1 < size && before(heap[child + 1] as E, heap[child] as E)) child++;
      const other = heap[child] as E;
      if (!before(other, entry)) break;
      heap[index] = other;
      index = child;
    }
    heap[index] = entry;
  }
}
