/** One life after another of an engine, on one journal and one service, killed wherever a test says. */

import { concat, defer, merge, NEVER, type Observable, of, Subject } from "rxjs";
import { inProcess } from "../../../src/client/transport/in-process.ts";
import type { Clock } from "../../../src/clock/clock.ts";
import { letPromisesSettle } from "../../../src/clock/microtasks.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { createContract } from "../../../src/contract/contract.ts";
import type { ProfileOverrides } from "../../../src/contract/profile.ts";
import type { Transport, WireRequest, WireResponse } from "../../../src/contract/transport.ts";
import { loadJournalCode } from "../../../src/engine/late-journal.ts";
import type { JournalConfig } from "../../../src/host/config.ts";
import type { Own } from "../../../src/host/context.ts";
import {
  type Config,
  createEngine,
  defineStrategy,
  type Engine,
  type Event,
  type OrderRecord,
  type ServiceSpec,
  type StrategyContext,
} from "../../../src/index.ts";
import type { Quote } from "../../../src/market/market-data.ts";
import type { Wanted, WantedOrder } from "../../../src/orders/wanted-order.ts";
import { createVenue, type Venue } from "../../../src/venue/venue.ts";
import { type MemoryDisk, memoryDisk } from "./memory-disk.ts";

// No time passes on a virtual clock while it is loaded.
await loadJournalCode();

// Runs outside of a test runner as well.
const swap = "BTC-USDT-SWAP";
const btc = { instId: swap, tickSize: "0.1", lotSize: "0.001" };
export const eth = { instId: "ETH-USDT-SWAP", tickSize: "0.1", lotSize: "0.001" };
export const far = (slot: string, px: string): WantedOrder => ({ slot, instId: swap, side: "buy", px, qty: "0.01" });

export const keys = [{ name: "k1", permissions: ["read", "trade_futures", "trade_spot"] }];

export interface World {
  readonly clock: ReturnType<typeof createVirtualClock>;
  venue: Venue;
  readonly disk: MemoryDisk;
  /** Counts everything that can be the last thing a life did. */
  step: (what: string) => void;
  /** The machine's calendar against the steady scale. */
  wallOffsetMs: number;
  /** Milliseconds a placement is on its way. */
  placementMs: number;
  /** Requests whose answer is lost, or that never arrive. */
  lose: (request: WireRequest) => "request" | "answer" | undefined;
  /** What is answered to a request that never arrives. */
  answerLost?: (request: WireRequest) => WireResponse | undefined;
  /** What is read instead of an answer. */
  spoil: (request: WireRequest, answer: WireResponse) => WireResponse;
  /** What is pushed of orders, and whether the engine may rely on it. */
  pushes$: Observable<OrderRecord>;
  pushing$: Observable<boolean>;
  /** What the strategy holds, as it sees it. */
  position: Own["position"];
  /** What the strategy wants. */
  wanted$: Observable<readonly Wanted[]>;
  /** Shows a price: it is quoted at the service, and told to the engine that runs. */
  show: (bidPx: number) => void;
  /** What a market feed tells: the last price shown first. */
  quotes$: Observable<Quote>;
  /** The engine looks after itself as it does on real time. */
  watchful: boolean;
  /** What a second strategy of the user wants; without it there is none. */
  second$?: Observable<readonly WantedOrder[]>;
  /** Rows in which the service differs, on both sides. */
  readonly profile: ProfileOverrides;
  plugins?: Config["plugins"];
  journal: Partial<JournalConfig>;
  orders: NonNullable<Config["orders"]>;
  instance: number;
}

/** A service with one product and more where given, one user and its limits, quoted around 60,000. */
export const venueOf = (
  clock: Clock,
  firstOrdId = "1000000000",
  profile: ProfileOverrides = {},
  more: readonly (typeof btc & { readonly contractValue?: string })[] = [],
): Venue => {
  const venue = createVenue({
    contract: createContract(profile),
    instruments: [btc, ...more],
    users: [{ uid: "main", keys, balances: { USDT: "100000" } }],
    fees: { SPOT: { makerBps: "2", takerBps: "5" }, SWAP: { makerBps: "2", takerBps: "5" } },
    enforceLimits: true,
    firstOrdId,
  });
  venue.quote(swap, 600_000, 10, 600_010, 10, clock.now());
  return venue;
};

/** Another service takes the place of this one, with higher order ids and no memory; nothing may rest then. */
export const renewVenue = (world: World): void => {
  world.venue = venueOf(world.clock, String(++venues * 1_000_000_000));
};
let venues = 1;

export const worldOf = (profile: ProfileOverrides = {}): World => {
  const clock = createVirtualClock(1_700_000_000_000);
  const venue = venueOf(clock, undefined, profile);
  const wanted$ = concat(of([far("a", "30000"), far("b", "29000")]), NEVER);
  const quiet = { step: () => undefined, lose: () => undefined, placementMs: 20, wallOffsetMs: 0 };
  const plain = { spoil: (_: WireRequest, answer: WireResponse) => answer, pushes$: NEVER, pushing$: of(false) };
  const position = (): never => {
    throw new Error("no strategy has begun");
  };
  const { tell, quotes$ } = shownMarket();
  const show = (bidPx: number): void => {
    world.venue.quote(swap, bidPx * 10, 1_000, bidPx * 10 + 1, 1_000, clock.now());
    tell(bidPx, clock.now());
  };
  const own = { profile, watchful: false, disk: memoryDisk(), journal: {}, orders: {}, instance: ++worlds };
  const world: World = { position, clock, venue, ...quiet, ...plain, wanted$, show, quotes$, ...own };
  return world;
};

const shownMarket = () => {
  const quoted$ = new Subject<Quote>();
  let last: Quote | undefined;
  return {
    tell: (bidPx: number, at: number): void => {
      const askPx = bidPx + 0.1;
      const amounts = {
        bidPx: String(bidPx),
        bidQty: "1",
        askPx: String(askPx),
        askQty: "1",
        mid: String(bidPx + 0.05),
      };
      last = { instId: swap, at, ...amounts, bidFloat: bidPx, askFloat: askPx, midFloat: bidPx + 0.05 };
      quoted$.next(last);
    },
    quotes$: merge(
      defer(() => (last === undefined ? NEVER : of(last))),
      quoted$,
    ),
  };
};
let worlds = 0;

export class Dead extends Error {}

const noOptions = { type: "object", additionalProperties: false, properties: {} } as const;
const writes: readonly string[] = ["placeOrder", "amendOrder", "cancelBatch"];

const wantedOf =
  (world: World) =>
  ({ own }: Pick<StrategyContext<never>, "own">): Observable<readonly Wanted[]> => {
    world.position = own.position;
    return world.wanted$;
  };

/** A process: when it is killed nothing of it runs any more, and what it sent arrives all the same. */
export const lifeOf = (world: World) => {
  let alive = true;
  const clock: Clock = {
    now: () => world.clock.now(),
    wallNow: () => world.clock.wallNow() + world.wallOffsetMs,
    setTimer: (at, run) => world.clock.setTimer(at, () => (alive ? run() : undefined)),
  };
  const wireOf = (entryMs: number): Transport =>
    inProcess({
      clock: world.clock,
      latency: { name: "constant", entryMs: () => entryMs, responseMs: () => 20, feedMs: () => 0 },
      timeoutMs: 3_000,
      handle: (request, at) => {
        const fate = world.lose(request);
        if (fate === "request") return world.answerLost?.(request);
        const { method, path, query, body, key } = request;
        const response = world.venue.handle({ method, path, query, body, key, ip: "local" }, at);
        return fate === "answer" ? undefined : world.spoil(request, response);
      },
    });
  const doing = (what: string): void => {
    if (!alive) throw new Dead();
    try {
      world.step(what);
    } catch (error) {
      alive = false;
      throw error;
    }
  };
  const transport: Transport = (request, sink) => {
    if (!alive) return;
    const { endpoint } = request;
    if (writes.includes(endpoint)) doing(`send ${endpoint}`);
    wireOf(endpoint === "placeOrder" || endpoint === "amendOrder" ? world.placementMs : 20)(request, {
      response: (response) => {
        if (!alive) return;
        try {
          if (writes.includes(endpoint)) doing(`answer ${endpoint}`);
        } catch {
          return;
        }
        sink.response(response);
      },
      failed: (error) => {
        if (alive) sink.failed(error);
      },
      get closed() {
        return sink.closed;
      },
    });
  };
  const service: ServiceSpec = {
    // A lock is the machine's: whoever tests at the same time has another name.
    kind: `world ${process.pid} ${process.env["VITEST_POOL_ID"] ?? ""} ${world.instance}`,
    open: () => ({
      clock,
      transport,
      market: {
        trades: () => NEVER,
        quotes: () => world.quotes$,
        books: () => NEVER,
        candles: () => NEVER,
        lastPx: () => undefined,
      },
      users: [{ uid: "main", ip: "local", keys, pushes$: world.pushes$, pushing$: world.pushing$ }],
      assumptions: [],
      watchful: world.watchful,
      start: () => undefined,
      stop: () => undefined,
    }),
  };
  const disk: MemoryDisk = Object.create(world.disk) as MemoryDisk;
  world.disk.onStep = doing;
  const events: Event[] = [];
  const { second$ } = world;
  const second =
    second$ === undefined ? [] : [defineStrategy({ name: "two", options: noOptions, wanted: () => second$ })({})];
  const engine = createEngine(
    {
      service,
      strategies: [defineStrategy({ name: "one", options: noOptions, wanted: wantedOf(world) })({}), ...second],
      journal: { dir: "journal", ...world.journal },
      orders: world.orders,
      profile: world.profile,
      plugins: world.plugins ?? [],
    },
    { openDisk: async () => disk },
  );
  const watching = engine.events$.subscribe((event) => events.push(event));
  return {
    engine,
    events,
    /** Remembers no events from now on. */
    forget: () => {
      watching.unsubscribe();
      events.length = 0;
    },
    kill: () => {
      alive = false;
    },
    isAlive: () => alive,
  };
};

/** Lets time pass until the promise settles. */
export const until = async (world: World, promise: Promise<unknown>): Promise<void> => {
  let done = false;
  const end = (): void => {
    done = true;
  };
  promise.then(end, end);
  while (!done) {
    await letPromisesSettle();
    if (!done) world.clock.step();
  }
};
export const pass = async (world: World, ms: number): Promise<void> => {
  const at = world.clock.now() + ms;
  await letPromisesSettle();
  while (world.clock.step(at)) await letPromisesSettle();
  world.clock.advanceTo(at);
};
export const begun = async (world: World) => {
  const life = lifeOf(world);
  const start = life.engine.start();
  await until(world, start);
  await start;
  return life;
};
export const idsIn = (events: readonly Event[], phase: string): ReadonlySet<string> =>
  new Set(events.flatMap((event) => (event.type === "order.changed" && event.phase === phase ? [event.clOrdId] : [])));
/** What is under way when a process dies still arrives; what the machine held for it is let go. */
export const crash = async (world: World, life: ReturnType<typeof lifeOf>): Promise<void> => {
  life.kill();
  await pass(world, 1_000);
  await until(world, life.engine.stop());
};
export const resting = ({ venue }: World): readonly string[] =>
  venue
    .truth("main")
    .orders.filter(({ state }) => state === "live")
    .map(({ px }) => px)
    .sort();
export const stop = async (world: World, engine: Engine): Promise<void> => until(world, engine.stop());
