/**
 * API for authors of plugins that add parts to an engine.
 *
 * Not here: what strategies and configs use (`sluice`).
 *
 * @module sluice/extension
 */
export { type GivenOptions, withOptions } from "./backtest/given-options.ts";
export { delaysMin } from "./backtest/latency.ts";
export { rowTakers } from "./backtest/row-dispatch.ts";
export { replayMarket } from "./backtest/serve/market-replay.ts";
export { type SimulatedUser, userOf } from "./backtest/simulated-service.ts";
export { type CliCommand, defineCommand } from "./cli/define-command.ts";
export { defineReportExporter, type ReportExporter } from "./cli/define-report-exporter.ts";
export { defineRunOption, type RunOption, type RunSurroundings } from "./cli/define-run-option.ts";
export { fixtureSummary } from "./cli/fixture-summary.ts";
export { type CliIo, colourOf, inkOf, jsonText, printable, transientLine } from "./cli/io.ts";
export { durationOf, namesOf, secondsOf, seedOf, wholeFrom, wholeIn } from "./cli/option-values.ts";
export { OutageWatch } from "./cli/outage.ts";
export { loadRow, readContributions } from "./cli/plugin-manifest.ts";
export { addReportExporters, type ReportFile, writeReportFiles } from "./cli/plugin-options.ts";
export { readJson, readOverrides } from "./cli/profile-file.ts";
export { type RunCounts, runEngine } from "./cli/run-engine.ts";
export { fillsOption, type GivenFlags, givenBy, warmUpOption } from "./cli/service-options.ts";
export { listenForStop } from "./cli/shutdown-signals.ts";
export { leftText, stepsText } from "./cli/time-left.ts";
export { checkPlace } from "./cli/written-files.ts";
export { type CancelNews, cancelAll, type Listed } from "./client/cancel-all.ts";
export type { Gateway, User } from "./client/gateway.ts";
export { placeOf } from "./client/live/live-place.ts";
export type { LiveSpec } from "./client/live/live-service.ts";
export { writeConfirmation } from "./client/live/size-unit-confirmation.ts";
export { isTurnedDown, type Outcome } from "./client/outcome.ts";
export { walkOrders } from "./client/paging.ts";
export { parseResponse } from "./client/parse-response.ts";
export type { OpenService, ServiceEnv, ServiceUser } from "./client/service-port.ts";
export type { Latency } from "./client/transport/in-process.ts";
export { proxyDispatcherOf, proxyOf } from "./client/transport/proxy.ts";
export { credentialsFromEnv } from "./client/transport/secrets.ts";
export { after, type Clock, every, type Timer } from "./clock/clock.ts";
export { letPromisesSettle, type PromiseWatch, watchPromises } from "./clock/microtasks.ts";
export { createServiceClock } from "./clock/service-clock.ts";
export { createSystemClock } from "./clock/system-clock.ts";
export { createVirtualClock, type VirtualClock } from "./clock/virtual-clock.ts";
export { assumptionText, readAssumption } from "./contract/assumption.ts";
export { type LayerName, limitHeaders } from "./contract/limits.ts";
export { checkOptions, type OptionRules, seedBounds } from "./contract/option-check.ts";
export { type FeeSign, isCancelable } from "./contract/profile.ts";
export { isActive } from "./contract/schemas.ts";
export { strictJson } from "./contract/strict-json.ts";
export type {
  RequestTracer,
  ResponseSink,
  TraceHeaders,
  Transport,
} from "./contract/transport.ts";
export { parseHuman, requestProblems } from "./contract/validate.ts";
export { decimal, type Grid, grid, plain } from "./decimal.ts";
export { type Decimal, read as readDecimal, spell as spellDecimal } from "./decimal-value.ts";
export { loadJournalCode } from "./engine/late-journal.ts";
export { type ClientOptions, type ClientUser, openClient } from "./engine/service-client.ts";
export { didYouMean, excerpt, messageOf } from "./errors.ts";
export { type CheckedConfig, checkConfig, pluginsIn } from "./host/config.ts";
export type { PositionFilter, RequirePackage, Whom } from "./host/context.ts";
export type { EngineExtension, EngineFacts, ExtensionContext } from "./host/engine-extension.ts";
export { outside } from "./host/execution-context.ts";
export { hasHidden, isSecret, withoutSecrets } from "./host/hidden-values.ts";
export { historySourceOf } from "./host/history-reader.ts";
export { exportsOf, loadConfigFile } from "./host/load.ts";
export type { OrdersOfEngine, ResourceHealth, Steering, StrategyView } from "./host/operator-view.ts";
export { groupHaltPrefix, type PositionDifference, type StandbyHealth } from "./host/operator-view.ts";
export { packageVersion } from "./host/plugin-requirements.ts";
export { hashOfConfig, hashOfSources } from "./host/source-hash.ts";
export { starter } from "./host/starter.ts";
export { startThread } from "./host/worker-start.ts";
export { createDecisions, type DecisionRecord } from "./journal/decisions.ts";
export type { Disk, DiskFile } from "./journal/disk.ts";
export { EventLog } from "./journal/event-log.ts";
export type { ActionClass, EventOf, EventText, EventTexts, EventType } from "./journal/events.ts";
export { fileDisk } from "./journal/file-disk.ts";
export { defaultFolder, ownFolder } from "./journal/own-folder.ts";
export { holdLock } from "./journal/process-lock.ts";
export { openWriteAheadLog } from "./journal/write-ahead-log.ts";
export { askedBars, BarCalendar, type BarGrid, gridName, gridOf, lengthName } from "./market/calendar/bar-calendar.ts";
export { cutTape, rowsBeforeWindow, type TimeWindow } from "./market/cut-tape.ts";
export { createFeed, type Feed } from "./market/feed.ts";
export { HotStream } from "./market/hot-stream.ts";
export { historyOfTape, type RecordedHistory } from "./market/recorded-history.ts";
export {
  type Fixture,
  type FixtureFinding,
  type FixtureManifest,
  type FixtureMeta,
  type FixtureNote,
  hashOfRows,
  type ImportedFile,
  readFixture as openFixture,
  readManifest,
  type WriteOptions,
} from "./market/tape/fixture.ts";
export { contentHashOf, parseManifest } from "./market/tape/fixture-manifest.ts";
export {
  type FixtureWriter,
  openFixtureWriter,
} from "./market/tape/fixture-writer.ts";
export { generateTape, instrumentFor } from "./market/tape/generate.ts";
export type { FixtureFeed } from "./market/tape/manifest-schema.ts";
export { type SeriesBuilder, seriesBuilder } from "./market/tape/series-builder.ts";
export {
  barsIn,
  type Column,
  columnNames,
  columnsOf,
  emptyColumns,
  markParts,
  rateStep,
  type Series,
  type SeriesKind,
  seriesName,
  seriesOf,
  type TapeInstrument,
  timeAt,
} from "./market/tape/tape.ts";
export { hideAfter, playedAt } from "./market/tape/visible-fixture.ts";
export { optionalPackage } from "./optional-package.ts";
export { averagePxOf, type Holding, noHolding, unrealisedOf, withFill } from "./orders/average-cost.ts";
export { type ClientOrderIds, createClientOrderIds, generations } from "./orders/client-order-id.ts";
export type { AccountPosition } from "./orders/state/account-positions.ts";
export type { ShareRead } from "./orders/state/read-sharing.ts";
export { wantedMark } from "./orders/wanted-order.ts";
export type { WatchdogStanding } from "./orders/watchdog-cancels.ts";
export { createRandom } from "./random.ts";
export { cut, type Ink, ink, padEnd, padStart, widthOf, wrapped } from "./report/ansi.ts";
export { csvLines } from "./report/csv-lines.ts";
export { amount, counted, duration, grouped, percent, signed } from "./report/number-format.ts";
export { type RecordedFill, type RecordedReportOptions, reportOf } from "./report/recorded-report.ts";
export type { Progress } from "./report/report.ts";
export {
  type KeyFigure,
  type ReportBlock,
  type ReportCell,
  type ReportColumn,
  type ReportSection,
  type ReportSections,
  type ReportSentence,
  type ReportTable,
  reportSections,
} from "./report/report-sections.ts";
export { returnsCsv } from "./report/return-series.ts";
export { perDay } from "./report/returns.ts";
export { valueTicks } from "./report/ticks.ts";
export { tradeCsv } from "./report/trade-csv.ts";
export { unsentIn } from "./report/warnings.ts";
export type { Division, DivisionFacts } from "./scheduler/quota/division.ts";
export { FixedWindow } from "./scheduler/quota/fixed-window.ts";
export { ForeignUsage, foreignRisk } from "./scheduler/quota/foreign-usage.ts";
export { layersOf } from "./scheduler/quota/layers.ts";
export { createLedger, type LayerState } from "./scheduler/quota/ledger.ts";
export type { Ceiling, LimitWindow } from "./scheduler/quota/limit-window.ts";
export { defaultReserve, exitCallsOf, exitReserve, type Rank, type ReservePolicy } from "./scheduler/quota/reserve.ts";
export { RollingWindow } from "./scheduler/quota/rolling-window.ts";
export { lateListings } from "./venue/late-listings.ts";
/** Answers of the service: success, refusal and each kind of failure, for plugins that serve or replay it. */
export * as venueAnswers from "./venue/responses.ts";
