/**
 * Control room: the state and events of a running engine or a recorded run, and the actions an operator may take.
 *
 * @module sluice/control
 */
export {
  ControlDocument,
  type ControlUpdate,
  candleKey,
  candlesMax,
  mergeUpdates,
  ordersOverMax,
  rowsMax,
} from "./engine/control/control-document.ts";
export {
  type AccountPositionRow,
  type BalanceRow,
  type BookRow,
  type ByCurrency,
  type CandleRow,
  type ControlChange,
  type ControlRows,
  type EngineRow,
  type EquityRow,
  type EventRow,
  type FillRow,
  type HealthRow,
  type MarketRow,
  type MoneyRow,
  type OrderRow,
  type PlaybackState,
  type PositionRow,
  positionKey,
  type QueueRow,
  type QuotaRow,
  type SectionName,
  type SourceKind,
  type StrategyRow,
  type Unrecorded,
  type UserMoneyRow,
  userKey,
} from "./engine/control/control-rows.ts";
export {
  actionSchemas,
  type ControlAction,
  type ControlResult,
  type ControlSource,
  readAction,
} from "./engine/control/control-source.ts";
export { EngineSource, type SteeredRun } from "./engine/control/engine-source.ts";
export { EngineView, type WatchedAccount, type WatchedRun } from "./engine/control/engine-view.ts";
export type { ControlOptions } from "./engine/control/server/control-options.ts";
export { type ControlPlace, openControlRoom, takePlace } from "./engine/control/server/control-room.ts";
