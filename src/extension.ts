/**
 * API for authors of plugins that add parts to an engine.
 *
 * Not here: what strategies and configs use (`sluice`).
 *
 * @module sluice/extension
 */
export { type CliCommand, defineCommand } from "./cli/define-command.ts";
export { fixtureSummary } from "./cli/fixture-summary.ts";
export { type CliIo, jsonText, printable, transientLine } from "./cli/io.ts";
export type { Clock, Timer } from "./clock/clock.ts";
export { createSystemClock } from "./clock/system-clock.ts";
export { instTypeOf, readInstId } from "./contract/inst-id.ts";
export { checkOptions, type OptionRules } from "./contract/option-check.ts";
export { grid, plain } from "./decimal.ts";
export { didYouMean, messageOf } from "./errors.ts";
export type { Fixture, FixtureManifest, FixtureNote, WriteOptions } from "./market/tape/fixture.ts";
export {
  type FixtureSources,
  type FixtureWriter,
  type FixtureWriterOptions,
  openFixtureWriter,
} from "./market/tape/fixture-writer.ts";
export { microsecondsOf } from "./market/tape/import-instants.ts";
export { emptyColumns, type Series, seriesOf, type TapeInstrument } from "./market/tape/tape.ts";
export type { TextRow, TextSeries, TextSeriesOf } from "./market/tape/text-series.ts";
export { duration, percent } from "./report/number-format.ts";
export { RollingWindow } from "./scheduler/quota/rolling-window.ts";
