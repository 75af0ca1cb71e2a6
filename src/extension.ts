/**
 * API for authors of plugins that add parts to an engine.
 *
 * Not here: what strategies and configs use (`sluice`).
 *
 * @module sluice/extension
 */
export { cutTape } from "./backtest/sweep/cut.ts";
export { type PushedFixture, pushFixtures } from "./backtest/sweep/workers/fixture-source.ts";
export { type CliCommand, defineCommand } from "./cli/define-command.ts";
export { fixtureSummary } from "./cli/fixture-summary.ts";
export { type CliIo, inkOf, jsonText, printable, transientLine } from "./cli/io.ts";
export { wholeIn } from "./cli/option-values.ts";
export { readContributions } from "./cli/plugin-manifest.ts";
export { readOverrides } from "./cli/profile-file.ts";
export { stepsText } from "./cli/time-left.ts";
export { cancelAll, type Listed } from "./client/cancel-all.ts";
export { placeOf } from "./client/live/live-place.ts";
export { writeConfirmation } from "./client/live/size-unit-confirmation.ts";
export { credentialsFromEnv } from "./client/transport/secrets.ts";
export { after, type Clock, type Timer } from "./clock/clock.ts";
export { createSystemClock } from "./clock/system-clock.ts";
export { instTypeOf, readInstId } from "./contract/inst-id.ts";
export { checkOptions, type OptionRules } from "./contract/option-check.ts";
export { parseHuman } from "./contract/validate.ts";
export { decimal, grid, plain } from "./decimal.ts";
export { didYouMean, excerpt, messageOf } from "./errors.ts";
export { type CheckedConfig, checkConfig } from "./host/config.ts";
export { loadConfigFile } from "./host/load.ts";
export {
  type Fixture,
  type FixtureFinding,
  type FixtureManifest,
  type FixtureMeta,
  type FixtureNote,
  type ImportedFile,
  readFixture as openFixture,
  readManifest,
  type WriteOptions,
} from "./market/tape/fixture.ts";
export {
  type FixtureSources,
  type FixtureWriter,
  type FixtureWriterOptions,
  openFixtureWriter,
} from "./market/tape/fixture-writer.ts";
export type { FixtureFeed } from "./market/tape/manifest-schema.ts";
export {
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
} from "./market/tape/tape.ts";
export type { TextRow, TextSeries, TextSeriesOf } from "./market/tape/text-series.ts";
export { optionalPackage } from "./optional-package.ts";
export { createRandom } from "./random.ts";
export { cut, type Ink, padEnd, widthOf, wrapped } from "./report/ansi.ts";
export { duration, grouped, percent } from "./report/number-format.ts";
export { RollingWindow } from "./scheduler/quota/rolling-window.ts";
export { doctorGroup, type GroupReport } from "./verify/doctor/doctor-group.ts";
