/**
 * API for strategies, plugins, configs and programs that embed an engine.
 *
 * Not here: simulated trading (`sluice/backtest`), recorded runs (`sluice/plugins/session`).
 *
 * @module sluice
 */
export { fromEnv, fromFile } from "./client/live/key-material.ts";
export { type LiveOptions, live } from "./client/live/live-service.ts";
export type { ServiceSpec } from "./client/service-port.ts";

export { type Credentials, createCredentials } from "./client/transport/secrets.ts";

export { formatInstId, parseInstId } from "./contract/inst-id.ts";

export type { Side } from "./contract/profile.ts";
export type { BalanceRecord, InstrumentRecord, OrderRecord, PositionRecord } from "./contract/schemas.ts";

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
export type { Config, ConfigInput } from "./host/config.ts";

export type { Account, Own, PluginContext, QuotaState, StrategyContext } from "./host/context.ts";
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
export type { EngineHealth } from "./host/operator-view.ts";

export type { Plugin, Strategy } from "./host/strategy.ts";
export type { EventMap } from "./journal/event-map.ts";
export type { Event, PluginEvents } from "./journal/events.ts";
export type { BarLength } from "./market/calendar/bar-calendar.ts";
export type { CandleHistory, HistoryCandle, HistorySource } from "./market/history.ts";
export type { BookLevel, BookView, Candle, CandleOptions, Market, Quote, Trade } from "./market/market-data.ts";
export { buy, sell } from "./orders/buy-sell.ts";
export type { Orders } from "./orders/manual-orders.ts";
export type { OrderUpdate } from "./orders/order-update.ts";
export type { Position } from "./orders/positions.ts";
export { bracket, oco, stopLoss, takeProfit, trailingStop } from "./orders/protection/builders.ts";
export type { Protect } from "./orders/protection/protect.ts";

export type { RiskRules } from "./orders/risk/risk-limits.ts";

export type { Snapshot } from "./orders/state/snapshot.ts";
export type { OrderSpec, Wanted, WantedOrder } from "./orders/wanted-order.ts";
export type { Random } from "./random.ts";
