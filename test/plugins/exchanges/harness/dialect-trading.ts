/**
 * One strategy against the embedded service over the loopback, in the described service's words or another exchange's: the config
 * differs by one line, the market is moved by the test, and both sides tell what they made of it.
 */
import { BehaviorSubject, switchMap, take } from "rxjs";
import type { TestContext } from "vitest";
import { blofin } from "../../../../plugins/exchanges/blofin.ts";
import { okx } from "../../../../plugins/exchanges/okx.ts";
import { servedDialects } from "../../../../plugins/exchanges/served/served-dialects.ts";
import type { FaultPlan } from "../../../../plugins/venue-server/server/faults.ts";
import {
  describedService,
  type ServedDialect,
  servedContract,
} from "../../../../plugins/venue-server/server/served-dialect.ts";
import { startVenueServer } from "../../../../plugins/venue-server/server/server.ts";
import { type LiveSpec, live, type OpenLive } from "../../../../src/client/live/live-service.ts";
import { createCredentials } from "../../../../src/client/transport/secrets.ts";
import { createSystemClock } from "../../../../src/clock/system-clock.ts";
import type { ProfileOverrides } from "../../../../src/contract/profile.ts";
import { mul } from "../../../../src/decimal.ts";
import { createEngine, defineStrategy, type Event, type OrderUpdate, type WantedOrder } from "../../../../src/index.ts";
import { createRandom } from "../../../../src/random.ts";
import { createVenue, type Fill } from "../../../../src/venue/venue.ts";
import { everything } from "../../../support/harness/venue.ts";

type Options = Parameters<typeof okx>[0] & { readonly baseUrl: string };

interface Variant {
  readonly served: ServedDialect;
  /** Base currency in one of what orders count. */
  readonly unit: string;
  /** The line of the config that differs. */
  readonly service: (options: Options) => LiveSpec;
  readonly profile?: ProfileOverrides;
}

const inBase: ProfileOverrides = { order: { szUnit: { SPOT: "base", SWAP: "base" } } };

export const variants: Readonly<Record<string, Variant>> = {
  described: { served: describedService, unit: "1", service: live, profile: inBase },
  okx: { served: servedDialects["okx-demo"], unit: "0.01", service: okx },
  blofin: { served: servedDialects.blofin, unit: "0.01", service: blofin },
};

export const instId = "BTC-USDT-SWAP";
const listed = { instId, tickSize: "0.1", lotSize: "0.001", contractValue: "0.01" };

const venueFor = ({ served, profile }: Variant) => {
  const contract = servedContract(served, profile);
  const venue = createVenue({
    contract,
    instruments: [listed],
    users: [{ uid: "ann", keys: [{ name: "ann-1", permissions: everything }], balances: { USDT: "100000" } }],
    fees: { SPOT: { makerBps: "2", takerBps: "5" }, SWAP: { makerBps: "2", takerBps: "5" } },
    enforceLimits: true,
  });
  return { contract, venue };
};

/** Engine and service side by side; what is wanted and how the market moves is the test's to say. */
export const traded = async (
  name: string,
  onTestFinished: TestContext["onTestFinished"],
  faults: FaultPlan = {},
  profile?: ProfileOverrides,
) => {
  const variant: Variant = {
    ...(variants[name] as Variant),
    ...(profile && { profile: { ...variants[name]?.profile, ...profile } }),
  };
  const { contract, venue } = venueFor(variant);
  const key = { apiKey: "ann-1", secretKey: "ann-1 secret", passphrase: "ann-1 phrase" };
  const clock = createSystemClock();
  const server = await startVenueServer({
    venue,
    contract,
    clock,
    random: createRandom("server"),
    dialect: variant.served,
    keys: [{ ...key, uid: "ann", permissions: everything }],
    faults,
  });
  const fills: Fill[] = [];
  venue.onFill((fill) => fills.push(fill));
  const wanted$ = new BehaviorSubject<readonly WantedOrder[]>([]);
  const strategy = defineStrategy({
    name: "told",
    options: { type: "object", additionalProperties: false, properties: {} },
    // Like any strategy it begins with the market.
    wanted: ({ market }) =>
      market.quotes(instId).pipe(
        take(1),
        switchMap(() => wanted$),
      ),
  });
  const engine = createEngine({
    service: variant.service({
      environment: "testnet",
      baseUrl: server.url,
      keys: [{ credentials: createCredentials(key) }],
    }),
    ...(variant.profile !== undefined && { profile: variant.profile }),
    strategies: [strategy({})],
  });
  const events: Event[] = [];
  const updates: OrderUpdate[] = [];
  engine.events$.subscribe((event) => events.push(event));
  engine.updates$.subscribe((update) => updates.push(update));
  onTestFinished(async () => {
    await engine.stop();
    await (engine.service as OpenLive).stop();
    await server.close();
  });
  const now = () => server.faults.clock.now();
  return {
    venue,
    engine,
    events,
    updates,
    wanted$,
    fills,
    /** Best bid and ask in ticks of a tenth. */
    quote: (bid: number, ask: number) => {
      venue.quote(instId, bid, 100_000, ask, 100_000, now());
      const [bidPx, askPx] = [bid, ask].map((px) => mul(String(px), "0.1")) as [string, string];
      server.board.ticker({ instId, last: bidPx, bidPx, bidSz: "100", askPx, askSz: "100", at: now() });
    },
    print: (side: "buy" | "sell", px: number, lots: number) => venue.trade(instId, side, px, lots, now()),
    /** Orders as the service has them, oldest first, in base currency and with fees as costs. */
    orders: () =>
      [...venue.truth("ann").orders].reverse().map(({ side, ordType, px, sz, state, avgPx, accFillSz }) => {
        const [size, filled] = [mul(sz, variant.unit), mul(accFillSz, variant.unit)];
        return { side, ordType, px, size, state, avgPx, filled };
      }),
    /** What the engine made of them: how each order ended. */
    endings: () =>
      updates
        .filter(({ isFinal }) => isFinal)
        .map(({ phase, filledQty, avgPx }) => ({ phase, filledQty, avgPx: avgPx ?? "" })),
    money: () => ({
      balances: venue.truth("ann").balances,
      equity: venue.equity("ann"),
      positions: venue.truth("ann").positions.length,
    }),
  };
};
