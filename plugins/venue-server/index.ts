/**
 * The embedded exchange as a server on a port, with fault injection and OpenAPI and AsyncAPI documents, in its own
 * words or in those of another exchange.
 *
 * @module sluice/plugins/venue-server
 */
export { asyncApi } from "./documents/asyncapi.ts";
export { openApi } from "./documents/openapi.ts";
export { type FaultPlan, parseFaultPlan } from "./server/fault-plan.ts";
export { readRequest } from "./server/parse-message.ts";
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
} from "./server/served-dialect.ts";
export { startVenueServer, type VenueServer, type VenueServerOptions } from "./server/server.ts";
