/** The exchanges that the embedded service can speak as, by name. */
import type { ServedDialect } from "../served-dialect.ts";
import { servedBlofin } from "./served-blofin.ts";
import { servedOkx } from "./served-okx.ts";

export const servedDialects: Readonly<Record<string, ServedDialect>> = Object.fromEntries(
  [servedOkx(), servedOkx(true), servedBlofin].map((dialect) => [dialect.name, dialect]),
);
