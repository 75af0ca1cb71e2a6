/**
 * Config of a process that trades as one of two: rungs that move and market orders while the price is high, rungs at rest while it is low.
 *
 * What differs between processes and trials comes from the environment. Its plugin prints what the engine knows, for comparison with what
 * the service knows.
 */
import { distinctUntilChanged, map, type Observable, of, switchMap, timer } from "rxjs";
import { defineConfig, definePlugin, defineStrategy, fromEnv, live, type WantedOrder } from "sluice";
import sharedQuota from "sluice/plugins/shared-quota";
import standby from "sluice/plugins/standby";

const instId = "BTC-USDT-SWAP";
const env = (name: string): string => process.env[name] ?? "";
const stepMs = Number(env("TRIAL_STEP_MS"));
const noOptions = { type: "object", additionalProperties: false, properties: {} } as const;

const rung = (slot: string, px: number): WantedOrder => ({ slot, instId, side: "buy", px: String(px), qty: "0.01" });

/** In each step one of two rungs moves, and a market order of a slot of its own goes this way or that. */
const steps = (now: () => number): Observable<readonly WantedOrder[]> =>
  timer(0, stepMs).pipe(
    map(() => {
      const step = Math.floor(now() / stepMs);
      const [side, qty] = step % 3 === 0 ? (["sell", "0.004"] as const) : (["buy", "0.003"] as const);
      const taker: WantedOrder = { slot: `taker ${step}`, instId, side, ordType: "market", qty };
      return [rung("low", 50_000 + (step % 2)), rung("lower", 49_000 + ((step + 1) % 2)), taker];
    }),
  );

const trader = defineStrategy({
  name: "trader",
  options: noOptions,
  wanted: ({ market, now }) =>
    market.quotes(instId).pipe(
      map(({ bidPx }) => Number(bidPx) > 90_000),
      distinctUntilChanged(),
      switchMap((isBusy) => (isBusy ? steps(now) : of([rung("low", 50_000), rung("lower", 49_000)]))),
    ),
});

const report = definePlugin({
  name: "report",
  options: noOptions,
  setup: ({ every, print, strategies, openOrders, health }) => {
    every(100, () => {
      const [view] = strategies();
      const { qty = "0", realised = "0", fees = "0" } = view?.positions.get(instId) ?? {};
      const open = openOrders().map(({ clOrdId, phase }) => ({ clOrdId, phase }));
      print(
        `REPORT ${JSON.stringify({ qty, realised, fees, open, mode: view?.mode, standbys: health().standby.standbys })}`,
      );
    });
  },
});

const isShared = env("TRIAL_SHARED") !== "";
/** Wide enough never to be in the way, unless the quota is what is tried. */
const layers = [
  { name: "uid", scope: "uid", unit: "weight", capacity: 60_000, windowMs: 60_000, anchor: "wall_clock", banMs: 0 },
] as const;

export default defineConfig({
  service: live({ environment: "testnet", baseUrl: env("TRIAL_URL"), keys: [fromEnv("TRIAL")], timeoutMs: 2_000 }),
  profile: { auth: { toleranceMs: Number(env("TRIAL_TOLERANCE_MS")) } },
  quota: isShared ? {} : { layers },
  journal: { dir: env("TRIAL_DIR") },
  strategies: [trader({})],
  plugins: [
    isShared && sharedQuota({ store: env("TRIAL_STORE"), group: "trial", of: 1 }),
    standby({
      store: env("TRIAL_STORE"),
      group: "trial",
      name: env("TRIAL_NAME"),
      leaseMs: Number(env("TRIAL_LEASE_MS")),
    }),
    report({}),
  ],
});
