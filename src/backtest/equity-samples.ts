/**
 * Equity of a run, profit of its strategies and prices of its instruments, at the same instants.
 *
 * Invariants: valued by the embedded service's own prices, so that what strategies made adds up to what the account made.
 * Not here: taking them (runner.ts), what follows from them (report/).
 */
import { sum } from "../decimal.ts";
import { type Benchmark, buyAndHold } from "../report/benchmark.ts";
import type { StrategyLine } from "../report/details.ts";
import type { EquityPoint } from "../report/equity.ts";
import { dayEnds } from "../report/return-series.ts";
import type { TradeStatistics } from "../report/trade-statistics.ts";
import type { OpenBacktest } from "./backtest-service.ts";

const stepsPerRun = 400;

/** Instants at which a run is sampled after its start: equal steps, and the end of each day in UTC where days are told apart. */
export const sampleTimes = (fromAt: number, untilAt: number): readonly number[] => {
  const steps = Array.from({ length: stepsPerRun }, (_, index) => fromAt + ((untilAt - fromAt) * (index + 1)) / stepsPerRun);
  return [...new Set([...steps, ...dayEnds(fromAt, untilAt)])].sort((a, b) => a - b);
};

export class EquitySamples {
  readonly equity: EquityPoint[] = [];
  readonly #service: Pick<OpenBacktest, "simulated" | "tape" | "users">;
  readonly #tally: TradeStatistics;
  readonly #prices: ReadonlyMap<string, string>[] = [];
  readonly #profits: ReadonlyMap<string, string>[] = [];

  constructor(service: Pick<OpenBacktest, "simulated" | "tape" | "users">, tally: TradeStatistics) {
    this.#service = service;
    this.#tally = tally;
  }

  take(at: number): void {
    const { simulated, tape, users } = this.#service;
    const { venue } = simulated;
    const prices = new Map<string, string>();
    for (const { instId } of tape.instruments) {
      const px = venue.markPx(instId);
      if (px !== undefined) prices.set(instId, px);
    }
    this.#prices.push(prices);
    this.#profits.push(this.#tally.profits(prices));
    this.equity.push({ at: Math.round(at), equity: sum(users.map(({ uid }) => venue.equity(uid))) });
  }

  get strategies(): readonly StrategyLine[] {
    const names = [...(this.#profits[0]?.keys() ?? [])];
    const points = (name: string): readonly EquityPoint[] =>
      this.equity.map(({ at }, index) => ({ at, equity: this.#profits[index]?.get(name) ?? "0" }));
    return names.map((strategy) => ({ strategy, points: points(strategy) }));
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
}
