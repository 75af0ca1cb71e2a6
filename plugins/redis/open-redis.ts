/**
 * Opens connections to a store. Their code is loaded by the first call.
 */
import type { ConnectionOptions, DialSettings, RedisConnection } from "./redis-connection.ts";
import type { StoreClient } from "./store-client.ts";

/**
 * Makes a connection that dials by itself, and again when it is lost.
 *
 * @throws PACKAGE_MISSING where `ioredis` is not installed.
 */
export const openRedis = async <Name extends string>(
  options: ConnectionOptions<Name>,
): Promise<RedisConnection<Name>> => (await import("./redis-connection.ts")).RedisConnection.open(options);

/** Makes a client of the server at `url`, or of the primary that its sentinels name. */
export const dialRedis = async (url: string, needs: string, settings: DialSettings): Promise<StoreClient> =>
  (await import("./redis-connection.ts")).dialledClient(url, needs, settings);
