/**
 * Samples of a backtest: their instants and their valuation.
 *
 * Invariants: values use the embedded service's own prices, so that the results of strategies add up to that of the
 * account.
 * Not here: taking them (runner.ts), what is kept of them (report/run-samples.ts).
 */
import { sub, sum } from "../decimal.ts";
import { dayEnds } from "../report/return-series.ts";
import { RunSamples } from "../report/run-samples.ts";
import type { TradeStatistics } from "../report/trade-statistics.ts";
import type { OpenBacktest } from "./backtest-service.ts";

type Sampled = Pick<OpenBacktest, "simulated" | "tape" | "users" | "currency">;

const stepsPerRun = 400;

/**
 * Instants at which a run is sampled after its start: equal steps, and the end of each UTC day if days are reported
 * separately.
 */
export const sampleTimes = (fromAt: number, untilAt: number): readonly number[] => {
  const steps = Array.from(
    { length: stepsPerRun },
    (_, index) => fromAt + ((untilAt - fromAt) * (index + 1)) / stepsPerRun,
  );
  return [...new Set([...steps, ...dayEnds(fromAt, untilAt)])].sort((a, b) => a - b);
};

export class EquitySamples extends RunSamples {
  readonly #service: Sampled;

  constructor(service: Sampled, tally: TradeStatistics) {
    super(tally);
    this.#service = service;
  }

  take(at: number): void {
    const { simulated, tape, users, currency } = this.#service;
    const { venue } = simulated;
    const prices = new Map<string, string>();
    for (const { instId } of tape.instruments) {
      const px = venue.markPx(instId);
      if (px !== undefined) prices.set(instId, px);
    }
    this.add(at, sum(users.map(({ uid }) => venue.equity(uid, currency))), prices);
  }

  /** Change of the equity so far. */
  get change(): string {
    return sub(this.equity.at(-1)?.equity ?? "0", this.equity[0]?.equity ?? "0");
  }
}
