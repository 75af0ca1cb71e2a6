/**
 * The embedded exchange: in your own program or as a server on a port, with fault injection, and its OpenAPI and AsyncAPI documents.
 *
 * @module sluice/venue
 */
export { asyncApi } from "./contract/documents/asyncapi.ts";
export { openApi } from "./contract/documents/openapi.ts";
export type { Refusal } from "./venue/responses.ts";
export { type FaultPlan, parseFaultPlan } from "./venue/server/fault-plan.ts";
export { readRequest } from "./venue/server/parse-message.ts";
export {
  type Call,
  type Claim,
  type Headers,
  type KeyProblem,
  type Question,
  type ServedDialect,
  type Service,
  type Speech,
  servedContract,
  type Wanted,
} from "./venue/server/served-dialect.ts";
export { startVenueServer, type VenueServer, type VenueServerOptions } from "./venue/server/server.ts";
export {
  createVenue,
  type Fees,
  type FeeTier,
  type Fill,
  type Funding,
  type Liquidation,
  type Venue,
  type VenueInstrument,
  type VenueOptions,
  type VenueRequest,
  type VenueResponse,
} from "./venue/venue.ts";
