/**
 * Config of one engine of the soak: more placements always waiting than there is quota for, or three every 20 s, and some five cancels a minute.
 *
 * Invariants: what is placed rests far from the market or is canceled at once by the service, so that nothing is ever executed.
 */

import { catchError, defer, EMPTY, interval, mergeMap, range, repeat, switchMap, timer } from "rxjs";
import { defineConfig, defineStrategy, fromEnv, live } from "sluice";
import sharedQuota from "sluice/plugins/shared-quota";
import { createContract } from "../../../src/contract/contract.ts";
import { layersOf } from "../../../src/scheduler/quota/layers.ts";

const instId = "BTC-USDT-SWAP";
const waiting = 6;

/** Keeps placements waiting; the service cancels each, as nothing trades at its price. */
const saturate = defineStrategy({
  name: "saturate",
  options: { type: "object", additionalProperties: false, properties: {} },
  run: ({ orders }) =>
    range(0, waiting).pipe(
      mergeMap((lane) =>
        defer(() =>
          orders.place({ instId, side: "buy", ordType: "ioc", px: String(90_000 + lane), notional: "100" }),
        ).pipe(
          catchError(() => EMPTY),
          repeat({ delay: 50 }),
        ),
      ),
    ),
});

/** Three placements at once every 20 s. */
const bursts = defineStrategy({
  name: "bursts",
  options: { type: "object", additionalProperties: false, properties: {} },
  run: ({ orders }) =>
    interval(20_000).pipe(
      switchMap(() => range(0, 3)),
      mergeMap((lane) =>
        defer(() =>
          orders.place({ instId, side: "buy", ordType: "ioc", px: String(90_000 + lane), notional: "100" }),
        ).pipe(catchError(() => EMPTY)),
      ),
    ),
});

/** Lets an order rest for five seconds, cancels it, which is urgent, and places the next five seconds later. */
const comeAndGo = defineStrategy({
  name: "come-and-go",
  options: { type: "object", additionalProperties: false, properties: {} },
  run: ({ orders }) =>
    defer(() =>
      orders.place({ instId, side: "buy", ordType: "post_only", px: "89000", notional: "100", tag: "rests" }),
    ).pipe(
      switchMap(({ phase }) =>
        phase === "live" ? timer(5_000).pipe(switchMap(() => orders.cancel({ tag: "rests" }))) : EMPTY,
      ),
      catchError(() => EMPTY),
      repeat({ delay: 5_000 }),
    ),
});

const contract = createContract();
const env = (name: string): string => process.env[name] ?? "";

const requests = Number(env("SOAK_ADDRESS_REQUESTS"));
const uid = env("SOAK_UID");

export default defineConfig({
  service: live({
    environment: "testnet",
    baseUrl: env("SLUICE_BASE_URL"),
    push: env("SOAK_PUSH") !== "no",
    ...(uid === "" ? { keys: [fromEnv("SLUICE")] } : { users: { [uid]: [fromEnv("SLUICE")] } }),
  }),
  instance: env("SOAK_NAME"),
  journal: { dir: env("SOAK_JOURNAL") },
  strategies: [env("SOAK_LOAD") === "bursts" ? bursts({}) : saturate({}), comeAndGo({})],
  quota: {
    ...(requests !== 1_200 && {
      layers: layersOf(contract).map((layer) => (layer.scope === "ip" ? { ...layer, capacity: requests } : layer)),
    }),
  },
  plugins: [
    sharedQuota({
      store: { env: "SOAK_STORE" },
      group: "soak",
      name: env("SOAK_MEMBER"),
      share: Number(env("SOAK_SHARE")),
      of: Number(env("SOAK_OF")),
    }),
  ],
});
