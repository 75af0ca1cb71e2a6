/**
 * Config of one engine of the soak: more placements always waiting than there is quota for, and six cancels a minute.
 *
 * Invariants: what is placed rests far from the market or is canceled at once by the service, so that nothing is ever executed.
 */

import { catchError, defer, EMPTY, interval, map, mergeMap, range, repeat, startWith } from "rxjs";
import { defineConfig, defineStrategy, fromEnv, live } from "sluice";

const instId = "BTC-USDT-SWAP";
const waiting = 6;

/** Keeps placements waiting; the service cancels each, as nothing trades at its price. */
const saturate = defineStrategy({
  name: "saturate",
  options: { type: "object", additionalProperties: false, properties: {} },
  run: ({ orders }) =>
    range(0, waiting).pipe(
      mergeMap((lane) =>
        defer(() => orders.place({ instId, side: "buy", ordType: "ioc", px: String(90_000 + lane), notional: "100" })).pipe(
          catchError(() => EMPTY),
          repeat({ delay: 50 }),
        ),
      ),
    ),
});

/** Wants an order for five seconds and none for five: each time a placement, and a cancel that is urgent. */
const comeAndGo = defineStrategy({
  name: "come-and-go",
  options: { type: "object", additionalProperties: false, properties: {} },
  desired: () =>
    interval(5_000).pipe(
      startWith(-1),
      map((step) =>
        step % 2 === 0 ? [] : [{ slot: "one", instId, side: "buy", ordType: "post_only", px: "89000", notional: "100" } as const],
      ),
    ),
});

const env = (name: string): string => process.env[name] ?? "";

export default defineConfig({
  service: live({ environment: "testnet", baseUrl: env("SLUICE_BASE_URL"), keys: [fromEnv("SLUICE")] }),
  instance: env("SOAK_NAME"),
  journal: { dir: env("SOAK_JOURNAL") },
  strategies: [saturate({}), comeAndGo({})],
  quota: { shared: { store: { env: "SOAK_STORE" }, group: "soak", name: env("SOAK_MEMBER"), of: Number(env("SOAK_OF")) } },
});
