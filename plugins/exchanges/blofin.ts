/**
 * BloFin v1 instead of the described service: `blofin({ environment: "testnet", keys })` in a config.
 *
 * Not here: calls and answers (blofin-dialect.ts).
 */
import type { LiveSpec } from "sluice/extension";
import { blofinExchange } from "./blofin-exchange.ts";
import { type ExchangeOptions, serviceAt } from "./exchange-service.ts";

/**
 * BloFin v1 as the service of a config: `testnet` is its demo trading, which has a host and keys of its own. Options
 * that are not valid throw `CONFIG_INVALID`. On mainnet no order is sent without `iTestedThis`.
 */
export const blofin = (options: ExchangeOptions): LiveSpec => serviceAt(blofinExchange, options);
