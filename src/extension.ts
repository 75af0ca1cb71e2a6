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
export { openForAdding } from "./market/tape/fixture-addition.ts";
export { append, growing, held } from "./market/tape/import-columns.ts";
export { createDecimalPool, type DecimalColumn, parseDecimal } from "./market/tape/import-decimals.ts";
export { microsecondsOf } from "./market/tape/import-instants.ts";
export { createNotes } from "./market/tape/read-recording.ts";
export { emptyColumns, type Series, seriesOf, type TapeInstrument } from "./market/tape/tape.ts";
export { joinTapes } from "./market/tape/tape-join.ts";
export { duration, percent } from "./report/number-format.ts";
export { RollingWindow } from "./scheduler/quota/rolling-window.ts";
