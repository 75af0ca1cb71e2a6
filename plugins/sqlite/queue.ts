/**
 * Queue of entries between the events and the file.
 *
 * Invariants: at most `queueMax` entries wait; entries that do not fit are counted and reported; entries that could not
 * be written keep waiting.
 */
import type { Entry, RunStore } from "./run-store.ts";

interface Bounds {
  readonly path: string;
  readonly batchMax: number;
  readonly queueMax: number;
}

/** Entries between what happens and the file. */
export class Queue {
  readonly #store: RunStore;
  readonly #options: Bounds;
  readonly #print: (line: string) => void;
  #entries: Entry[] = [];
  /** Number of entries already examined: each is examined once, also while the file cannot be written. */
  #completed = 0;
  #lost = 0;
  #isFailing = false;

  constructor(store: RunStore, options: Bounds, print: (line: string) => void) {
    this.#store = store;
    this.#options = options;
    this.#print = print;
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  put(entry: Entry): void {
    if (this.#entries.length < this.#options.queueMax) {
      this.#entries.push(entry);
      return;
    }
    if (this.#lost++ === 0) this.#print(`${this.#options.queueMax} entries wait to be written: what comes now is lost`);
  }

  /** Executed of orders, as far as each is known now, for fills that came since the last time. */
  complete(totals: ReadonlyMap<string, string>): void {
    const last = new Map<string, number>();
    for (; this.#completed < this.#entries.length; this.#completed++) {
      const entry = this.#entries[this.#completed];
      if (entry?.kind === "fill") last.set(entry.fill.clOrdId, this.#completed);
    }
    for (const [clOrdId, index] of last) {
      const entry = this.#entries[index];
      const total = totals.get(clOrdId);
      if (entry?.kind === "fill" && total !== undefined) this.#entries[index] = { ...entry, total };
    }
  }

  /** Writes what waits, at most `most` batches; what fails waits for the next time. */
  flush(most = 1): void {
    for (let batch = 0; batch < most && this.#entries.length > 0; batch++) {
      const entries = this.#entries.slice(0, this.#options.batchMax);
      try {
        this.#store.write(entries);
      } catch (error) {
        if (!this.#isFailing)
          this.#print(
            `${this.#options.path} cannot be written (${error instanceof Error ? error.message : "no reason given"}); it is tried again`,
          );
        this.#isFailing = true;
        return;
      }
      if (this.#isFailing) this.#print(`${this.#options.path} is written again`);
      this.#isFailing = false;
      this.#entries = this.#entries.slice(entries.length);
      this.#completed = Math.max(0, this.#completed - entries.length);
    }
  }

  end(): void {
    this.flush(Number.POSITIVE_INFINITY);
    const lost = this.#lost + this.#entries.length;
    if (lost > 0) this.#print(`${lost} entries were not written`);
  }
}
