/**
 * Known offenders: what does not keep the rules of tidy.test.ts yet. The lists only shrink.
 */

/** Files that import each other in a circle. */
export const cyclicFiles: readonly string[] = [
  // report
];

/** Functions and methods that are too long. */
export const longFunctions: readonly string[] = [
  // backtest
  // backtest/serve
  // backtest
  // client
  // engine
  "src/engine/engine.ts createEngine",
  "src/engine/placement-journal.ts createPlacementJournal",
  "src/engine/start-watch.ts createStartWatch",
  // engine/watchdog
  // host
  "src/host/strategy-host.ts createStrategyHost",
  // journal
  "src/journal/write-ahead-log.ts openWriteAheadLog",
  // market
  // orders
  "src/orders/order-resolver.ts createOrderResolver",
  // report
  // venue/server
];

/** Exports that no other file of src takes. */
export const unusedExports: readonly string[] = [
  // backtest
  // backtest/sweep
  // client
  // client
  "src/client/outcome.ts OutcomeKind",
  // src
  // engine/watchdog
  // host
  "src/host/load.ts LoadOptions",
  "src/host/restart-policy.ts backoffMs",
  // journal
  "src/journal/event-emitter.ts noticeName",
  "src/journal/record-chain.ts Line",
  "src/journal/record-chain.ts markOf",
  "src/journal/write-ahead-log.ts WriteAheadLogOptions",
  // market
  // market/tape
  // orders
  "src/orders/plan.ts SlotView",
  // orders/risk
  "src/orders/risk/loss-limits.ts profitOf",
  "src/orders/risk/order-throttle.ts takeToken",
  "src/orders/risk/risk-limits.ts Standing",
  // orders/state
  "src/orders/state/order-store.ts mergeRecords",
  // report
  // scheduler/quota
  "src/scheduler/quota/foreign-usage.ts poissonQuantile",
  "src/scheduler/quota/ledger.ts LedgerOptions",
  // venue/server
  "src/venue/server/fault-plan.ts httpFaults",
  "src/venue/server/fault-plan.ts socketFaults",
  "src/venue/server/faults.ts HttpFaultRule",
  "src/venue/server/public-channels.ts PublicMessage",
  // venue
  "src/venue/setup.ts VenueKey",
  "src/venue/setup.ts VenueUser",
];
