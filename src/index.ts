/**
 * API for strategies, plugins, configs and programs that embed an engine.
 *
 * Not here: simulated trading (`sluice/backtest`), recorded runs (`sluice/plugins/session`).
 *
 * @module sluice
 */
export { fromEnv, fromFile, type LiveKey, type LiveUsers } from "./client/live/key-material.ts";
export { type LiveOptions, type LiveSpec, live, type OpenLive } from "./client/live/live-service.ts";
export type { OpenCounts, OpenService, ServiceSpec } from "./client/service-port.ts";
export type { Dialect, SocketBounds, WrittenCall } from "./client/transport/dialect.ts";
export { type Credentials, createCredentials, type Seal } from "./client/transport/secrets.ts";
export type { Signer, SignerOf } from "./client/transport/sign.ts";
export type { ParsedMessage, Push } from "./client/transport/socket-message.ts";
export type { ChannelArg, SocketRequest } from "./contract/channels.ts";
export { type Contract, createContract } from "./contract/contract.ts";
export type { EndpointName, InputOf, RecordOf } from "./contract/endpoints.ts";
export { formatInstId, type InstId, parseInstId } from "./contract/inst-id.ts";
export type { LayerSpec } from "./contract/layer-spec.ts";
export { environments, layers, paging, websocketLimits } from "./contract/limits.ts";
export { profileRows } from "./contract/overrides.ts";
export { defaultProfile, type OrdType, type Profile, type ProfileOverrides, type Side } from "./contract/profile.ts";
export type {
  BalanceRecord,
  ElementResult,
  InstrumentRecord,
  OrderRecord,
  OrderState,
  PositionRecord,
} from "./contract/schemas.ts";
export type { RequestTracer, TraceHeaders, WireRequest, WireResponse } from "./contract/transport.ts";
export {
  abs,
  add,
  approximate,
  compare,
  div,
  fromApproximate,
  isDecimal,
  isPositive,
  mul,
  neg,
  sub,
  sum,
  toStep,
} from "./decimal.ts";
export { createEngine, type Engine, type EngineOptions } from "./engine/engine.ts";
export { type ErrorCode, errorCodes, type Failure, isSluiceError, SluiceError } from "./errors.ts";
export type { Config, ConfigInput, JournalConfig, PluginEntry, QuotaConfig } from "./host/config.ts";
export type { LeverageConfig } from "./host/config-schema.ts";
export type {
  AboutEngine,
  Estimate,
  PlannedAction,
  PlotOptions,
  PluginContext,
  PositionEnding,
  PositionFilter,
  QuotaState,
  RequirePackage,
  StrategyContext,
  StreamsOfState,
  StreamsOfUser,
  Whom,
} from "./host/context.ts";
export {
  defineConfig,
  definePlugin,
  defineStrategy,
  type GivenOptions,
  type Naming,
  type PluginDefinition,
  type StrategyDefinition,
  type StrategyNaming,
} from "./host/define.ts";
export type {
  EndpointLatency,
  EngineHealth,
  OrdersOfEngine,
  ResourceHealth,
  Steering,
  StrategyView,
} from "./host/operator-view.ts";
export type { RestartPolicy } from "./host/restart-policy.ts";
export type { Isolation, Plugin, Strategy } from "./host/strategy.ts";
export type { EventMap } from "./journal/event-map.ts";
export type { Event, EventType, OrderPhase } from "./journal/events.ts";
export type { CandleHistory, HistoryCandle, HistorySource } from "./market/history.ts";
export type { BookLevel, BookView, Candle, HistoryOptions, Market, Quote, Trade } from "./market/market-data.ts";
export type { CancelResult, OrderFilter, Orders } from "./orders/manual-orders.ts";
export type { OrderUpdate } from "./orders/order-update.ts";
export type { Position } from "./orders/positions.ts";
export {
  bracket,
  oco,
  type ProtectionOptions,
  stopLoss,
  takeProfit,
  trailingStop,
} from "./orders/protection/builders.ts";
export type {
  PositionSide,
  Protect,
  ProtectPx,
  Trailing,
  Trigger,
  WantedProtection,
} from "./orders/protection/protect.ts";
export type { RuleSet } from "./orders/risk/pre-trade-checks.ts";
export type { RiskRules } from "./orders/risk/risk-limits.ts";
export type { AccountPosition } from "./orders/state/account-positions.ts";
export type { Freshness } from "./orders/state/resources.ts";
export type { Snapshot } from "./orders/state/snapshot.ts";
export type { Cross, OrderSpec, Wanted, WantedOrder } from "./orders/wanted-order.ts";
export type { Random } from "./random.ts";
export type { LayerState } from "./scheduler/quota/quota-state.ts";
