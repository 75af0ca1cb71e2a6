/**
 * Config of a process that holds a position with a stop, as one of two: it enters while the price is between 100 400 and 100 600, and the
 * stop of the strategy `first` is at 99 000. Where there is a second strategy, it holds the other side, or more of the same coin.
 */
import { combineLatest, map, scan } from "rxjs";
import { defineConfig, defineStrategy, fromEnv, live, type WantedOrder } from "sluice";
import standby from "sluice/plugins/standby";

interface Holding {
  readonly name: string;
  readonly instId: string;
  readonly side: "buy" | "sell";
  readonly qty: string;
  readonly stop: string;
}

const env = (name: string): string => process.env[name] ?? "";
const holdings = JSON.parse(env("TRIAL_HOLDINGS")) as readonly Holding[];

const holderOf = ({ name, instId, side, qty, stop }: Holding) =>
  defineStrategy({
    name,
    options: { type: "object", additionalProperties: false, properties: {} },
    wanted: ({ market, own, now }) =>
      combineLatest([market.quotes(instId), own.positions$]).pipe(
        map(
          ([{ bidPx }]) => Number(bidPx) > 100_400 && Number(bidPx) < 100_600 && Number(own.position(instId).qty) === 0,
        ),
        scan((round: number | undefined, isDue) => (isDue ? (round ?? Math.floor(now())) : undefined), undefined),
        map((round): readonly WantedOrder[] =>
          round === undefined
            ? []
            : [{ slot: `entry ${round}`, instId, side, ordType: "market", qty, protect: { stopLoss: stop } }],
        ),
      ),
  });

/** Wide enough never to be in the way. */
const layers = [
  { name: "uid", scope: "uid", unit: "weight", capacity: 60_000, windowMs: 60_000, anchor: "wall_clock", banMs: 0 },
] as const;

export default defineConfig({
  service: live({ environment: "testnet", baseUrl: env("TRIAL_URL"), keys: [fromEnv("TRIAL")], timeoutMs: 2_000 }),
  profile: { auth: { toleranceMs: Number(env("TRIAL_TOLERANCE_MS")) } },
  quota: { layers },
  journal: { dir: env("TRIAL_DIR") },
  strategies: holdings.map((holding) => holderOf(holding)({})),
  plugins: [
    standby({
      store: env("TRIAL_STORE"),
      group: "partition",
      name: env("TRIAL_NAME"),
      leaseMs: Number(env("TRIAL_LEASE_MS")),
    }),
  ],
});
