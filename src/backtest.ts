/**
 * Simulated trading: backtests of recordings, paper trading, fill and latency models, fixtures and reports.
 *
 * @module sluice/backtest
 */

export {
  type BacktestOptions,
  type BacktestSpec,
  backtest,
  type EmbeddedOptions,
  type PaperOptions,
  paper,
  type ReadMarket,
} from "./backtest/backtest-service.ts";
export {
  type BarPath,
  bookFills,
  candleFills,
  type FillModel,
  type FillSource,
  type Fills,
  type QueueOptions,
  quoteFills,
  tradeFills,
} from "./backtest/fill-models.ts";
export type { FundingChoice, FundingSchedule } from "./backtest/funding-schedule.ts";
export {
  constant,
  type EmpiricalOptions,
  empirical,
  type LatencyModel,
  type LognormalOptions,
  lognormal,
  ways,
} from "./backtest/latency.ts";
export { type FromFixtureOptions, fromFixture } from "./backtest/recorded-feed.ts";
export { type RunOptions, runBacktest } from "./backtest/runner.ts";
export { withDetails } from "./backtest/with-details.ts";
export type { Assumption } from "./contract/assumption.ts";
export type { LivePrices, OpenPrices } from "./market/live-prices.ts";
export { type WrittenFixture, writeFixture } from "./market/tape/fixture.ts";
export { type GenerateMarketOptions, generateMarket } from "./market/tape/generate-market.ts";
export { createTape, type Tape } from "./market/tape/tape.ts";
export { readVisibleFixture as readFixture } from "./market/tape/visible-fixture.ts";
export type { Benchmark, BenchmarkReport } from "./report/benchmark.ts";
export type { Coverage } from "./report/coverage.ts";
export type { FillDetail, OrderLife, PositionLine, RunDetails, StrategyLine } from "./report/details.ts";
export type { DrawdownPeriod } from "./report/drawdowns.ts";
export type { Drawdown, EquityPoint } from "./report/equity.ts";
export type { PlotLine } from "./report/plot-recorder.ts";
export type { CorrelationMatrix, Correlations, ExposurePoint, ExposureReport } from "./report/portfolio.ts";
export type { PriceLine } from "./report/price-lines.ts";
export type { QuotaMinute } from "./report/quota-minutes.ts";
export type { MoreRejections, RejectionReason } from "./report/rejection-reasons.ts";
export type {
  InstrumentReport,
  LiquidationReport,
  Liquidity,
  OpenOrders,
  PositionReport,
  RunReport,
  StrategyReport,
} from "./report/report.ts";
export { reportText } from "./report/report-text.ts";
export type { ReturnPoint } from "./report/return-series.ts";
export type { MonthReturn, Returns, RollingFigures, SingleReturns } from "./report/returns.ts";
export type { TradeLists, TradeRecord } from "./report/trade-list.ts";
export type { TradeReport } from "./report/trades.ts";
export type { FillVolume, Queue } from "./venue/queue-model.ts";
export {
  createVenue,
  type Fees,
  type FeeTier,
  type Fill,
  type Funding,
  type Liquidation,
  type Venue,
  type VenueInstrument,
  type VenueOptions,
  type VenueRequest,
  type VenueResponse,
} from "./venue/venue.ts";
