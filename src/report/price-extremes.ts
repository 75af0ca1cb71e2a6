/**
 * Lowest and highest recorded price of any stretch of time: of quotes, trades or bars, as a picture of the run shows
 * them.
 *
 * Invariants: each series is gone through once, when something is asked of it first; a question takes logarithmic time.
 * Of bars all that overlap the stretch count, because the instant of an extreme within a bar is not known.
 * Not here: which series shows an instrument's prices, and how (price-lines.ts).
 */
import { div, type Grid, grid } from "../decimal.ts";
import { rowsBefore } from "../market/recorded-history.ts";
import { barsBefore, openingsOf, type Series, type Tape } from "../market/tape/tape.ts";
import { doublesAt, priceSeriesOf } from "./price-lines.ts";
import type { Extremes } from "./trade-list.ts";

export const priceExtremes = (tape: Tape): Extremes => {
  const indexes = new Map<string, SeriesExtremes | undefined>();
  return (instId, fromAt, untilAt) => {
    if (!indexes.has(instId)) indexes.set(instId, indexOf(tape, instId));
    return indexes.get(instId)?.between(fromAt, untilAt);
  };
};

const indexOf = (tape: Tape, instId: string): SeriesExtremes | undefined => {
  const instrument = tape.instruments.findIndex((one) => one.instId === instId);
  const found = tape.instruments[instrument];
  const series = priceSeriesOf(tape, instrument);
  return found === undefined || series === undefined ? undefined : new SeriesExtremes(series, grid(found.tickSize));
};

/** The first price of each instrument that shows any. */
export const firstPrices = (tape: Tape): ReadonlyMap<string, string> =>
  new Map(
    tape.instruments.flatMap(({ instId, tickSize }, instrument) => {
      const series = priceSeriesOf(tape, instrument);
      const row = series?.at.findIndex((_, index) => doublesAt(series, index)[2] !== 0) ?? -1;
      if (series === undefined || row < 0) return [];
      const steps = grid(tickSize);
      return [[instId, div(steps.format(doublesAt(series, row)[2]), "2", steps.places + 1)] as const];
    }),
  );

const blockRows = 64;

/** Extremes of blocks of rows, and of ever larger groups of blocks: node `n` covers nodes `2n` and `2n + 1`. */
class SeriesExtremes {
  readonly #series: Series;
  readonly #steps: Grid;
  readonly #openedAt: ((row: number) => number) | undefined;
  readonly #blocks: number;
  readonly #lows: Float64Array;
  readonly #highs: Float64Array;
  /** Answer of the question under way. */
  #low = 0;
  #high = 0;

  constructor(series: Series, steps: Grid) {
    this.#series = series;
    this.#steps = steps;
    this.#openedAt = series.kind === "candle" ? openingsOf(series) : undefined;
    const blocks = Math.ceil(series.at.length / blockRows);
    this.#blocks = blocks;
    this.#lows = new Float64Array(2 * blocks);
    this.#highs = new Float64Array(2 * blocks);
    for (let node = 2 * blocks - 1; node > 0; node--) {
      this.#reset();
      if (node >= blocks) this.#scan((node - blocks) * blockRows, (node - blocks + 1) * blockRows);
      else for (const child of [2 * node, 2 * node + 1]) this.#join(child);
      this.#lows[node] = this.#low;
      this.#highs[node] = this.#high;
    }
  }

  between(fromAt: number, untilAt: number): { readonly low: string; readonly high: string } | undefined {
    const series = this.#series;
    const { at } = series;
    // A bar that ended with the instant is over; the one that begins with it is not held through.
    const first = rowsBefore(at, fromAt, series.kind === "candle");
    const end = series.kind === "candle" ? barsBefore(series, untilAt, this.#openedAt) : rowsBefore(at, untilAt, true);
    this.#reset();
    this.#cover(first, end);
    return this.#high < this.#low ? undefined : { low: this.#text(this.#low), high: this.#text(this.#high) };
  }

  #cover(first: number, end: number): void {
    let [left, right] = [Math.ceil(first / blockRows), Math.floor(end / blockRows)];
    if (left >= right) {
      this.#scan(first, end);
      return;
    }
    this.#scan(first, left * blockRows);
    this.#scan(right * blockRows, end);
    for (left += this.#blocks, right += this.#blocks; left < right; left >>= 1, right >>= 1) {
      if (left & 1) this.#join(left++);
      if (right & 1) this.#join(--right);
    }
  }

  #reset(): void {
    this.#low = Number.POSITIVE_INFINITY;
    this.#high = Number.NEGATIVE_INFINITY;
  }

  #join(node: number): void {
    this.#low = Math.min(this.#low, this.#lows[node] as number);
    this.#high = Math.max(this.#high, this.#highs[node] as number);
  }

  #scan(first: number, end: number): void {
    const rows = Math.min(end, this.#series.at.length);
    for (let row = first; row < rows; row++) {
      const [low, high, last] = doublesAt(this.#series, row);
      if (last === 0) continue;
      this.#low = Math.min(this.#low, low);
      this.#high = Math.max(this.#high, high);
    }
  }

  #text(doubled: number): string {
    return div(this.#steps.format(doubled), "2", this.#steps.places + 1);
  }
}
