// What a strategy, a plugin or a config is written with.

// Where to trade.
export {
  type BacktestOptions,
  backtest,
  type EmbeddedOptions,
  type PaperOptions,
  paper,
  type ReadMarket,
} from "./backtest/backtest-service.ts";
// Recorded markets.
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
export { fromEnv, fromFile, type LiveKey, type LiveUsers } from "./client/live/key-material.ts";
export { type LiveOptions, type LiveSpec, live, type OpenLive } from "./client/live/live-service.ts";
export type { OpenService, ServiceSpec } from "./client/service-port.ts";
export { type Credentials, createCredentials } from "./client/transport/secrets.ts";
export { type Contract, createContract } from "./contract/contract.ts";
// The service, as data, and a copy of it to trade against.
export { asyncApi } from "./contract/documents/asyncapi.ts";
export { openApi } from "./contract/documents/openapi.ts";
export type { EndpointName, InputOf, RecordOf } from "./contract/endpoints.ts";
export { formatInstId, type InstId, parseInstId } from "./contract/inst-id.ts";
export { environments, layers, paging, websocketLimits } from "./contract/limits.ts";
export { profileRows } from "./contract/overrides.ts";
export { defaultProfile, type Profile, type ProfileOverrides } from "./contract/profile.ts";
export type { BalanceRecord, ElementResult, InstrumentRecord, OrderRecord, OrderState, PositionRecord } from "./contract/schemas.ts";
export { abs, add, approximate, compare, div, fromApproximate, isDecimal, isPositive, mul, neg, sub, sum, toStep } from "./decimal.ts";
// Running it inside a program of one's own.
export { createEngine, type Engine, type EngineOptions } from "./engine/engine.ts";
export { type ErrorCode, errorCodes, isSluiceError, SluiceError } from "./errors.ts";
export type { Config, ConfigInput, QuotaConfig, WatchdogConfig } from "./host/config.ts";
export type { Estimate, PlannedAction, PluginContext, PositionEnding, QuotaState, StrategyContext } from "./host/context.ts";
export { defineConfig, definePlugin, defineStrategy, type PluginDefinition, type StrategyDefinition } from "./host/define.ts";
export type { LeverageConfig } from "./host/leverage-config.ts";
export type { Isolation, Plugin, Strategy } from "./host/strategy.ts";
export type { StrategyState } from "./host/strategy-host.ts";
export type { Event, EventType } from "./journal/events.ts";
export type { BookView, Candle, Market, Quote, Trade } from "./market/market-data.ts";
export { writeFixture } from "./market/tape/fixture.ts";
export { createTape, type Tape } from "./market/tape/tape.ts";
export { readVisibleFixture as readFixture } from "./market/tape/visible-fixture.ts";
export type { CancelResult, OrderFilter, Orders } from "./orders/manual-orders.ts";
export type { OrderUpdate } from "./orders/order-update.ts";
export type { Snapshot } from "./orders/state/polled-resource.ts";
export type { OrderSpec, WantedOrder } from "./orders/wanted-order.ts";
export type { RunDetails } from "./report/details.ts";
export type { LiquidationReport, RunReport, StrategyReport } from "./report/report.ts";
export { reportText } from "./report/report-text.ts";
export { tearsheet } from "./report/tearsheet.ts";
export type { LayerSpec } from "./scheduler/quota/layers.ts";
export type { FillVolume, Queue } from "./venue/queue-model.ts";
export { type FaultPlan, parseFaultPlan } from "./venue/server/fault-plan.ts";
export { startVenueServer, type VenueServer, type VenueServerOptions } from "./venue/server/server.ts";
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
export { type Divergence, divergenceText } from "./verify/session/divergence.ts";
export { type RecordedEngine, recordEngine } from "./verify/session/recorded-engine.ts";
export { type ReplayReport, replaySession } from "./verify/session/replayer.ts";
export { createSessionFile, readSession, type Session } from "./verify/session/session-file.ts";
export { type FromSessionOptions, fromSession } from "./verify/session/session-latency.ts";
