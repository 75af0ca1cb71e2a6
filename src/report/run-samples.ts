/**
 * Samples of a run: its equity, the profit of its strategies, what they held and the prices of instruments, at the same
 * instants.
 *
 * Invariants: all are taken together, so that they belong together; where only so many are kept, every second one is
 * dropped, so that what remains is evenly spread, and the instants lie further apart from then on.
 * Not here: when samples are taken and where values come from (backtest/equity-samples.ts, run-recorder.ts).
 */
import { add } from "../decimal.ts";
import { type Benchmark, buyAndHold } from "./benchmark.ts";
import type { StrategyLine } from "./details.ts";
import type { EquityPoint } from "./equity.ts";
import { type Correlations, correlationOf, type ExposurePoint, exposureReport } from "./portfolio.ts";
import type { RunReport } from "./report.ts";
import type { Prices, TradeStatistics } from "./trade-statistics.ts";

export class RunSamples {
  equity: EquityPoint[] = [];
  exposure: ExposurePoint[] = [];
  readonly #tally: TradeStatistics;
  #prices: ReadonlyMap<string, string>[] = [];
  /** Index of each strategy in the lists of profits. */
  readonly #indexes = new Map<string, number>();
  /** Lists, because a map of each sample takes several times as much. */
  #profits: (readonly string[])[] = [];

  constructor(tally: TradeStatistics) {
    this.#tally = tally;
  }

  /** `prices` are those of instruments; what is held is valued by `marks`, which are the same where left out. */
  add(at: number, equity: string, prices: ReadonlyMap<string, string>, marks: Prices = prices): void {
    this.#prices.push(prices);
    this.#profits.push(this.#profitsAt(marks));
    this.exposure.push({ at: Math.round(at), ...this.#tally.exposure(marks) });
    this.equity.push({ at: Math.round(at), equity });
  }

  /** Profits by the strategies' indexes; texts and lists that have not changed are those of the sample before. */
  #profitsAt(marks: Prices): readonly string[] {
    const before = this.#profits.at(-1) ?? [];
    const profits: string[] = [];
    let isSame = true;
    for (const [name, profit] of this.#tally.profits(marks)) {
      const index = this.#indexes.get(name) ?? this.#indexes.size;
      this.#indexes.set(name, index);
      const known = before[index];
      isSame &&= known === profit;
      profits[index] = known === profit ? known : profit;
    }
    return isSame && profits.length === before.length ? before : profits;
  }

  /** Drops every second sample. */
  halve(): void {
    const half = <T>(values: readonly T[]): T[] => values.filter((_, index) => index % 2 === 0);
    this.equity = half(this.equity);
    this.exposure = half(this.exposure);
    this.#prices = half(this.#prices);
    this.#profits = half(this.#profits);
  }

  /** Prices of instruments at each sample. */
  get prices(): readonly { readonly at: number; readonly prices: ReadonlyMap<string, string> }[] {
    return this.equity.map(({ at }, index) => ({ at, prices: this.#prices[index] ?? new Map() }));
  }

  get strategies(): readonly StrategyLine[] {
    const names = [...this.#indexes.keys()].slice(0, this.#profits[0]?.length ?? 0);
    const points = (own: number): readonly EquityPoint[] =>
      this.equity.map(({ at }, index) => ({ at, equity: this.#profits[index]?.[own] ?? "0" }));
    return names.map((strategy, index) => ({ strategy, points: points(index) }));
  }

  /** Instruments, exposure, and how returns of strategies and prices of what they traded went together. */
  portfolio(prices: Prices, ms: number): Pick<RunReport, "perInstrument" | "exposure" | "correlation"> {
    const perInstrument = this.#tally.instruments(prices);
    const correlation = this.#correlations(Object.keys(perInstrument), ms);
    const exposure = exposureReport(this.exposure);
    return { perInstrument, exposure, ...(Object.keys(correlation).length > 0 && { correlation }) };
  }

  /** Buy and hold of the instrument that was traded first; undefined where none was. */
  get benchmark(): Benchmark | undefined {
    const { firstTraded } = this.#tally;
    if (firstTraded === undefined) return undefined;
    return buyAndHold(
      firstTraded,
      this.equity,
      this.#prices.map((prices) => prices.get(firstTraded)),
    );
  }

  /** Of strategies, each as if it alone had traded with the equity at the start. */
  #correlations(traded: readonly string[], ms: number): Correlations {
    const start = this.equity[0]?.equity ?? "0";
    const own = this.strategies.map(({ strategy, points }) => ({
      name: strategy,
      points: points.map(({ at, equity }) => ({ at, equity: add(start, equity) })),
    }));
    const prices = traded.map((instId) => ({
      name: instId,
      points: this.equity.map(({ at }, index) => ({ at, equity: this.#prices[index]?.get(instId) ?? "0" })),
    }));
    const [strategies, instruments] = [correlationOf(own, ms), correlationOf(prices, ms)];
    return { ...(strategies && { strategies }), ...(instruments && { instruments }) };
  }
}
