/**
 * Record and replay: records every input and output of an engine, and replays a run from its inputs.
 *
 * @module sluice/session
 */
export { type Divergence, divergenceText } from "./verify/session/divergence.ts";
export { type RecordedEngine, recordEngine } from "./verify/session/recorded-engine.ts";
export { type ReplayReport, replaySession } from "./verify/session/replayer.ts";
export { createSessionFile, readSession, type Session } from "./verify/session/session-file.ts";
export { type FromSessionOptions, fromSession } from "./verify/session/session-latency.ts";
