/**
 * Recorded sessions: every input and output of an engine in a folder, replayed, and used as history, latency and market
 * of backtests.
 *
 * @module sluice/plugins/session
 */
export { type Divergence, differences, divergenceText, type FieldDifference } from "./divergence.ts";
export { fromFolder } from "./folder-history.ts";
export { ensureMarket } from "./market-fixture.ts";
export { configFacts, type RecordedEngine, type RecordOptions, recordEngine } from "./recorded-engine.ts";
export { type ReplayReport, replaySession } from "./replayer.ts";
export { createSessionFile, readSession, type Session } from "./session-file.ts";
export { type FromSessionOptions, fromSession, latencyOf } from "./session-latency.ts";
export { comparableFacts, sessionFile } from "./session-records.ts";
