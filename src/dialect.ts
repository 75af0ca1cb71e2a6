/**
 * API for authors of exchanges: dialects of the client, and what both sides of the wire have in common.
 *
 * Not here: how an exchange is served (`sluice/plugins/venue-server`), the exchanges of the package
 * (`sluice/plugins/exchanges`).
 *
 * @module sluice/dialect
 */
export type { OpenLive } from "./client/live/live-service.ts";
export type { Dialect, SocketBounds, WrittenCall } from "./client/transport/dialect.ts";
export { type OpenTransport, openTransport, type TransportOptions } from "./client/transport/open-transport.ts";
export type { Seal } from "./client/transport/secrets.ts";
export { type Signer, type SignerOf, signerOf } from "./client/transport/sign.ts";
export type { ParsedMessage, Push } from "./client/transport/socket-message.ts";
export type { ChannelArg, SocketRequest } from "./contract/channels.ts";
export { type Contract, createContract, exchangeContract } from "./contract/contract.ts";
export type { EndpointName, InputOf, RecordOf } from "./contract/endpoints.ts";
export { instTypeOf, readInstId } from "./contract/inst-id.ts";
export type { LayerSpec } from "./contract/layer-spec.ts";
export { environments, layers, limitedStatus, paging, websocketLimits } from "./contract/limits.ts";
export { profileRows } from "./contract/overrides.ts";
export { defaultProfile, type ExtraLayer, type Profile, type ProfileOverrides } from "./contract/profile.ts";
export type { AmendBody, CancelBody, ElementResult, PlaceBody } from "./contract/schemas.ts";
export type { WireRequest, WireResponse } from "./contract/transport.ts";
export { plain } from "./decimal.ts";
/** Parts of the described service on the wire, for those who serve or ask it without an engine. */
export * as wire from "./wire.ts";
