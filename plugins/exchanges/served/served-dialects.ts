/** Exchanges whose API the embedded service can implement, by name. */
import type { ServedDialect } from "sluice/plugins/venue-server";
import { servedBlofin } from "./served-blofin.ts";
import { servedOkx } from "./served-okx.ts";

/**
 * Dialects that the embedded service can use on the wire instead of the described service's API: `dialect` of
 * `startVenueServer`, over a contract by `servedContract`. `okx-demo` wants the header of OKX's demo environment, `okx`
 * takes calls with and without it.
 */
export const servedDialects = {
  okx: servedOkx(),
  "okx-demo": servedOkx(true),
  blofin: servedBlofin,
} as const satisfies Readonly<Record<string, ServedDialect>>;
