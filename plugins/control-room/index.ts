/**
 * Control room: the state and events of a running engine or a recorded run, and the actions an operator may take.
 *
 * Not here: the plugin for a config (`sluice/plugins/dashboard`).
 *
 * @module sluice/plugins/control-room
 */
export {
  ControlDocument,
  type ControlUpdate,
  candleKey,
  candlesMax,
  mergeUpdates,
  ordersOverMax,
  rowsMax,
} from "./control-document.ts";
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
} from "./control-rows.ts";
export {
  actionSchemas,
  type ControlAction,
  type ControlResult,
  type ControlSource,
  readAction,
} from "./control-source.ts";
export { EngineSource, type SteeredRun } from "./engine-source.ts";
export { EngineView, type WatchedAccount, type WatchedRun } from "./engine-view.ts";
export { runningPorts } from "./port-file.ts";
export { EngineRelay } from "./relay/engine-relay.ts";
export { type PortLink, readLink } from "./relay/upstream-port.ts";
export type { ControlOptions } from "./server/control-options.ts";
export { type ControlPlace, openControlRoom, takePlace } from "./server/control-room.ts";
