/**
 * Equity, exposure and prices of recorded time, sampled at the instants at which prices were recorded.
 *
 * Invariants: an instant is one sample; a price serves until the next one; before any was recorded that of a fill
 * serves.
 */
import { add, sum } from "../decimal.ts";
import type { EquityPoint } from "./equity.ts";
import type { ExposurePoint } from "./portfolio.ts";
import type { TradeStatistics } from "./trade-statistics.ts";

/** The price of an instrument at an instant. */
export interface RecordedMark {
  readonly at: number;
  readonly instId: string;
  readonly px: string;
}

/** Equity over time: the capital, and what strategies have made by their fills and the prices recorded. */
export class Samples {
  readonly equity: EquityPoint[] = [];
  readonly exposure: ExposurePoint[] = [];
  readonly prices = new Map<string, string>();
  readonly #tally: TradeStatistics;
  readonly #capital: string;
  readonly #profits: ReadonlyMap<string, string>[] = [];
  #markedAt: number | undefined;

  constructor(tally: TradeStatistics, capital: string) {
    this.#tally = tally;
    this.#capital = capital;
  }

  mark({ instId, px }: Pick<RecordedMark, "instId" | "px">): void {
    this.prices.set(instId, px);
  }

  /** Prices of one instant are one sample. */
  markAt(mark: RecordedMark): void {
    const { at } = mark;
    if (this.#markedAt !== undefined && this.#markedAt !== at) this.take(this.#markedAt);
    this.#markedAt = at;
    this.mark(mark);
  }

  /** A price of a fill serves until one was recorded. */
  priced(instId: string, px: string): void {
    if (!this.prices.has(instId)) this.prices.set(instId, px);
  }

  take(at: number): void {
    if (this.#markedAt !== undefined && this.#markedAt < at) this.#note(this.#markedAt);
    this.#markedAt = undefined;
    this.#note(at);
  }

  ofStrategy(name: string): readonly EquityPoint[] {
    return this.equity.map(({ at }, index) => ({ at, equity: this.#profits[index]?.get(name) ?? "0" }));
  }

  #note(at: number): void {
    const profits = this.#tally.profits(this.prices);
    if (this.equity.at(-1)?.at === at) {
      this.equity.pop();
      this.exposure.pop();
      this.#profits.pop();
    }
    this.#profits.push(profits);
    this.exposure.push({ at, ...this.#tally.exposure(this.prices) });
    this.equity.push({ at, equity: add(this.#capital, sum([...profits.values()])) });
  }
}
