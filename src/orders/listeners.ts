/**
 * Listeners that are called in the order in which they were added.
 *
 * Invariants: a listener that is added or removed during a call does not change that call; each addition is separate,
 * even of the same function.
 */

export class Listeners<A extends readonly unknown[]> {
  #all: readonly { readonly listener: (...values: A) => void }[] = [];

  /** Adds a listener; the returned function removes it. */
  add(listener: (...values: A) => void): () => void {
    const own = { listener };
    this.#all = [...this.#all, own];
    return () => {
      this.#all = this.#all.filter((other) => other !== own);
    };
  }

  call(...values: A): void {
    for (const { listener } of this.#all) listener(...values);
  }

  get isEmpty(): boolean {
    return this.#all.length === 0;
  }
}
