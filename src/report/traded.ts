/**
 * Orders and money of a run, of all strategies together, from what was counted and sampled.
 *
 * Invariants: exact; what strategies made, what was charged and what came from elsewhere add up to the change of
 * equity.
 * Not here: counting (trade-statistics.ts), sampling (run-samples.ts), the rest of a report (report.ts).
 */
import { add, div, isPositive, sub, sum } from "../decimal.ts";
import { benchmarkReport } from "./benchmark.ts";
import { type Drawdown, drawdownOf, thin } from "./equity.ts";
import type { OpenOrders, RunReport } from "./report.ts";
import { returnsOf } from "./returns.ts";
import type { RunSamples } from "./run-samples.ts";
import type { Prices, TradeStatistics } from "./trade-statistics.ts";

interface TradedRun {
  readonly tally: TradeStatistics;
  readonly samples: RunSamples;
  readonly currency: string;
  /** Prices at the end. */
  readonly prices: Prices;
  /** Length of the time that counts. */
  readonly ms: number;
  /** Orders that rest at the end. */
  readonly open: OpenOrders;
  /** Drawdown by all prices, where more of them were looked at than were sampled. */
  readonly drawdown?: Drawdown;
}

export const tradedIn = ({ tally, samples, currency, prices, ms, open, drawdown }: TradedRun) => {
  const { equity } = samples;
  const [start, end] = [equity[0]?.equity ?? "0", equity.at(-1)?.equity ?? "0"];
  const positions = tally.positions(prices);
  const [pnl, fees, volume] = [sub(end, start), tally.fees, tally.volume];
  const unrealised = sum(positions.map((position) => position.unrealised));
  const realised = tally.realised;
  const costs = costsOf(tally);
  const returns = returnsOf(equity, ms);
  const benchmark = samples.benchmark && benchmarkReport(samples.benchmark, ms);
  return {
    orders: orderCounts(tally),
    fills: tally.total("fills"),
    open,
    volume,
    turnover: isPositive(start) ? div(volume, start, 4) : "0",
    pnl,
    fees,
    realised,
    unrealised,
    ...costs,
    elsewhere: sub(
      pnl,
      sub(sub(sub(add(realised, unrealised), fees), costs.funding ?? "0"), lostTo(costs.liquidations)),
    ),
    liquidity: tally.liquidity,
    trades: tally.trades(prices),
    ...samples.portfolio(prices, ms),
    positions,
    currency,
    equity: thin(equity),
    drawdown: drawdown ?? drawdownOf(equity),
    ...(returns && { returns }),
    ...(benchmark && { benchmark }),
  };
};

/** Orders of all strategies, by their ending. */
export const orderCounts = (tally: Pick<TradeStatistics, "total">): RunReport["orders"] => ({
  placed: tally.total("placed"),
  canceled: tally.total("canceled"),
  filled: tally.total("filled"),
  rejected: tally.total("rejected"),
  refused: tally.total("refused"),
});

const firstLiquidations = 10;

/** Charges of the service other than the fees of fills; empty where it charged nothing. */
const costsOf = (tally: TradeStatistics): Pick<RunReport, "funding" | "liquidations"> => {
  const funding = tally.funding;
  const all = tally.liquidations;
  const total = (of: "value" | "fee" | "covered"): string => sum(all.map((one) => one[of]));
  const liquidations = {
    count: all.length,
    value: total("value"),
    fees: total("fee"),
    covered: total("covered"),
    first: all.slice(0, firstLiquidations).map(({ at, uid, instId, side, qty }) => ({ at, uid, instId, side, qty })),
  };
  return { ...(funding !== undefined && { funding }), ...(all.length > 0 && { liquidations }) };
};

const lostTo = (liquidations: RunReport["liquidations"]): string =>
  liquidations === undefined ? "0" : sub(liquidations.fees, liquidations.covered);
