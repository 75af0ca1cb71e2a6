/**
 * The numbers of the description's section on limits. Each appears here and nowhere else.
 *
 * Not here: weights (endpoints.ts), how windows are anchored and what refused calls cost (profile.ts).
 */

/** Names of the three described rate-limit layers. */
export type LayerName = "ip" | "key" | "uid";

/** A described rate-limit layer: its capacity in a window. */
export interface Layer {
  readonly name: LayerName;
  /** Unit that a call adds: itself, or its endpoint's weight. */
  readonly unit: "requests" | "weight";
  readonly capacity: number;
  readonly windowMs: number;
}

/**
 * The three rate-limit layers of the service: requests a minute by address, requests a second by key, weight a minute
 * by user.
 */
export const layers = {
  ip: { name: "ip", unit: "requests", capacity: 1200, windowMs: 60_000 },
  key: { name: "key", unit: "requests", capacity: 10, windowMs: 1_000 },
  uid: { name: "uid", unit: "weight", capacity: 1200, windowMs: 60_000 },
} as const satisfies Record<LayerName, Layer>;

/** Response headers, in lower case, that state what is left or used of each layer. */
export const limitHeaders = {
  ipRemaining: "x-ratelimit-ip-remaining",
  keyRemaining: "x-ratelimit-key-remaining",
  uidUsed: "x-ratelimit-uid-weight-used",
} as const;

/** HTTP status of an answer that a rate limit refused: the request was not executed. */
export const limitedStatus = 429;

/** Page sizes of the service's listings. */
export const paging = { limitMax: 100, limitDefault: 20 } as const;

/** As texts: a limit up to `limitMax`, and an ordId that the embedded service can read. */
export const pagePatterns = { limit: "^([1-9]\\d?|100)$", cursor: "^\\d{1,30}$" } as const;

/** Limits of the service on WebSocket connections and subscriptions. */
export const websocketLimits = { connectionsPerIp: 30, subscriptionsPerConnection: 100 } as const;

/** Beginning of every path of the described service. */
export const versionPrefix = "/api/v1/";

/** The environments that the service describes, by the name a config gives. */
export const environments = {
  mainnet: { baseUrl: "{base_url}", sameProducts: false },
  testnet: { baseUrl: "{testnet_base_url}", sameProducts: false },
} as const;

export type Environment = keyof typeof environments;
