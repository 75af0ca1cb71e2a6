/**
 * BloFin v1 instead of the described service: `blofin({ environment: "testnet", keys })` in a config, or the dialect by itself.
 *
 * @module sluice/dialects/blofin
 */
import type { LiveSpec } from "../live/live-service.ts";
import { blofinExchange } from "./blofin-exchange.ts";
import { type ExchangeOptions, serviceAt } from "./exchange-service.ts";

export { blofinDialect } from "./blofin-dialect.ts";
export type { ExchangeOptions } from "./exchange-service.ts";

/**
 * BloFin v1 as the service of a config: `testnet` is its demo trading, which has a host and keys of its own. Options that are not valid
 * throw `CONFIG_INVALID`. On mainnet no order leaves without `iTestedThis`.
 */
export const blofin = (options: ExchangeOptions): LiveSpec => serviceAt(blofinExchange, options);
