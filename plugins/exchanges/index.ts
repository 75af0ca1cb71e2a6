/**
 * OKX v5 and BloFin v1 as services of a config, and the embedded service in their words.
 *
 * @module sluice/plugins/exchanges
 */
import type { servedDialects as Served } from "./served/served-dialects.ts";

export { blofin } from "./blofin.ts";
export { blofinDialect } from "./blofin-dialect.ts";
export type { ExchangeOptions } from "./exchange-service.ts";
export { okx } from "./okx.ts";
export { okxDialect } from "./okx-dialect.ts";

/**
 * Loads the dialects in which the embedded service can answer, by name: `dialect` of `startVenueServer`, over a
 * contract by `servedContract`. `okx-demo` requires the header of OKX's demo environment, `okx` accepts calls with and
 * without it.
 */
export const servedDialects = async (): Promise<typeof Served> =>
  (await import("./served/served-dialects.ts")).servedDialects;
