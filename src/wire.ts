/**
 * Parts of the described service on the wire: the namespace `wire` of `sluice/dialect`. What a served exchange answers
 * with, and what those need who ask a service without an engine.
 *
 * Not here: what a dialect is made of (dialect.ts).
 */
export { type Outcome, type Unlisted, unlistedIn, unlistedText } from "./client/outcome.ts";
export { parseResponse } from "./client/parse-response.ts";
export { joinedRecords } from "./client/split-read.ts";
export { faultyName, type KeyFault, keyFaults } from "./client/transport/sign.ts";
/** Messages of the WebSocket, one schema each. */
export * as channels from "./contract/channels.ts";
export { endpointNames } from "./contract/contract.ts";
export type { Endpoint } from "./contract/endpoints.ts";
export { type Layer, type LayerName, limitHeaders, pagePatterns, versionPrefix } from "./contract/limits.ts";
export type { Anchor, SzUnit } from "./contract/profile.ts";
export { elementVerdict } from "./contract/rejections.ts";
/** Records, queries and bodies of the endpoints, one schema each. */
export * as schemas from "./contract/schemas.ts";
export { shortFields } from "./contract/short-fields.ts";
/** Parts and place of a signature. */
export * as signing from "./contract/signing.ts";
export type { Transport } from "./contract/transport.ts";
export { requestProblems } from "./contract/validate.ts";
