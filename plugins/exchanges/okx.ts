/**
 * OKX v5 instead of the described service: `okx({ environment: "testnet", keys })` in a config.
 *
 * Not here: calls and answers (okx-dialect.ts).
 */
import type { LiveSpec } from "sluice/extension";
import { type ExchangeOptions, serviceAt } from "./exchange-service.ts";
import { okxExchange } from "./okx-exchange.ts";

/**
 * OKX v5 as the service of a config: `testnet` is its demo trading, which has keys of its own. `baseUrl` and `wsUrl` (a
 * host) are for the hosts of a region. Options that are not valid throw `CONFIG_INVALID`. On mainnet no order is sent
 * without `iTestedThis`.
 */
export const okx = (options: ExchangeOptions): LiveSpec => serviceAt(okxExchange, options);
