/**
 * Stores in Redis or Valkey, as several plugins use them: addresses in configs and on command lines, and connections.
 *
 * Invariants: importing this file loads no client and no other part of Sluice.
 *
 * @module sluice/plugins/redis
 */
export { givenAddress } from "./address-option.ts";
export { NotSent } from "./not-sent.ts";
export { dialRedis, openRedis } from "./open-redis.ts";
export type { ConnectionOptions, DialSettings, RedisConnection } from "./redis-connection.ts";
export {
  addressForms,
  addressIn,
  isStoreAddress,
  type StoreAddress,
  shownAddress,
  storeAddressSchema,
} from "./store-address.ts";
export type { Scripted, StoreClient } from "./store-client.ts";
