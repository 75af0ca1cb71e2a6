/**
 * Equity, exposure and prices of a stored span, sampled at the instants at which prices were stored.
 *
 * Invariants: an instant is one sample; a price serves until the next one; before any was stored that of a fill serves.
 */
import { add, sum } from "../../decimal.ts";
import type { EquityPoint } from "../equity.ts";
import type { ExposurePoint } from "../portfolio.ts";
import type { TradeStatistics } from "../trade-statistics.ts";
import type { Row } from "./sqlite.ts";

export const text = (row: Row, name: string): string => String(row[name] ?? "");

/** Equity over time: the capital, and what strategies have made by their fills and the prices stored. */
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

  mark(row: Row): void {
    this.prices.set(text(row, "instId"), text(row, "px"));
  }

  /** Prices of one instant are one sample. */
  markAt(row: Row): void {
    const at = Number(row["at"]);
    if (this.#markedAt !== undefined && this.#markedAt !== at) this.take(this.#markedAt);
    this.#markedAt = at;
    this.mark(row);
  }

  /** A price of a fill serves until one was stored. */
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
