/**
 * Durations of many actions, added up as they come: count, sum and longest exactly, percentiles from a bounded sample.
 *
 * Invariants: up to `keptMax` values all are kept; beyond it every second, then every fourth and so on, evenly spread
 * over the run.
 */
import { ascending, quantile } from "./quantile.ts";

/** Durations of many actions, in milliseconds. */
export interface Waits {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  /** Values, and their sum. */
  readonly count: number;
  readonly total: number;
}

export class Durations {
  readonly #keptMax: number;
  #kept: number[] = [];
  /** One in so many values is kept. */
  #step = 1;
  #count = 0;
  #total = 0;
  #max = 0;

  constructor(keptMax = Number.POSITIVE_INFINITY) {
    this.#keptMax = keptMax;
  }

  add(ms: number): void {
    if (this.#count % this.#step === 0) this.#kept.push(ms);
    this.#count++;
    this.#total += ms;
    this.#max = Math.max(this.#max, ms);
    if (this.#kept.length <= this.#keptMax) return;
    this.#kept = this.#kept.filter((_, index) => index % 2 === 0);
    this.#step *= 2;
  }

  get report(): Waits {
    const sorted = ascending(this.#kept);
    return {
      p50: quantile(sorted, 0.5),
      p99: quantile(sorted, 0.99),
      max: this.#max,
      count: this.#count,
      total: this.#total,
    };
  }
}
