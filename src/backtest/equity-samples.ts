/**
 * Equity of a run, profit of its strategies and prices of its instruments, at the same instants.
 *
 * Invariants: valued by the embedded service's own prices, so that what strategies made adds up to what the account made.
 * Not here: taking them (runner.ts), what follows from them (report/).
 */
import { add, sub, sum } from "../decimal.ts";
import { type Benchmark, buyAndHold } from "../report/benchmark.ts";
import type { StrategyLine } from "../report/details.ts";
import type { EquityPoint } from "../report/equity.ts";
import { type Correlations, correlationOf, type ExposurePoint, exposureReport } from "../report/portfolio.ts";
import type { RunReport } from "../report/report.ts";
import { dayEnds } from "../report/return-series.ts";
import type { TradeStatistics } from "../report/trade-statistics.ts";
import type { OpenBacktest } from "./backtest-service.ts";

type Sampled = Pick<OpenBacktest, "simulated" | "tape" | "users" | "currency">;

const stepsPerRun = 400;

/** Instants at which a run is sampled after its start: equal steps, and the end of each day in UTC where days are told apart. */
export const sampleTimes = (fromAt: number, untilAt: number): readonly number[] => {
  const steps = Array.from({ length: stepsPerRun }, (_, index) => fromAt + ((untilAt - fromAt) * (index + 1)) / stepsPerRun);
  return [...new Set([...steps, ...dayEnds(fromAt, untilAt)])].sort((a, b) => a - b);
};

export class EquitySamples {
  readonly equity: EquityPoint[] = [];
  readonly exposure: ExposurePoint[] = [];
  readonly #service: Sampled;
  readonly #tally: TradeStatistics;
  readonly #prices: ReadonlyMap<string, string>[] = [];
  readonly #profits: ReadonlyMap<string, string>[] = [];

  constructor(service: Sampled, tally: TradeStatistics) {
    this.#service = service;
    this.#tally = tally;
  }

  take(at: number): void {
    const { simulated, tape, users, currency } = this.#service;
    const { venue } = simulated;
    const prices = new Map<string, string>();
    for (const { instId } of tape.instruments) {
      const px = venue.markPx(instId);
      if (px !== undefined) prices.set(instId, px);
    }
    this.#prices.push(prices);
    this.#profits.push(this.#tally.profits(prices));
    this.exposure.push({ at: Math.round(at), ...this.#tally.exposure(prices) });
    this.equity.push({ at: Math.round(at), equity: sum(users.map(({ uid }) => venue.equity(uid, currency))) });
  }

  /** What the equity has changed by so far. */
  get change(): string {
    return sub(this.equity.at(-1)?.equity ?? "0", this.equity[0]?.equity ?? "0");
  }

  get strategies(): readonly StrategyLine[] {
    const names = [...(this.#profits[0]?.keys() ?? [])];
    const points = (name: string): readonly EquityPoint[] =>
      this.equity.map(({ at }, index) => ({ at, equity: this.#profits[index]?.get(name) ?? "0" }));
    return names.map((strategy) => ({ strategy, points: points(strategy) }));
  }

  /** Instruments, exposure, and how returns of strategies and prices of what they traded went together. */
  portfolio(prices: ReadonlyMap<string, string>, ms: number): Pick<RunReport, "perInstrument" | "exposure" | "correlation"> {
    const perInstrument = this.#tally.instruments(prices);
    const correlation = this.#correlations(Object.keys(perInstrument), ms);
    const exposure = exposureReport(this.exposure);
    return { perInstrument, exposure, ...(Object.keys(correlation).length > 0 && { correlation }) };
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
