import {
  filter,
  firstValueFrom,
  map,
  type Observable,
  of,
  ReplaySubject,
  Subject,
  startWith,
  switchMap,
  take,
  tap,
  timeout,
  toArray,
} from "rxjs";
import { afterEach, describe, expect, it } from "vitest";
import type { FaultPlan } from "../../../plugins/venue-server/server/faults.ts";
import { startVenueServer, type VenueServer } from "../../../plugins/venue-server/server/server.ts";
import { live, type OpenLive } from "../../../src/client/live/live-service.ts";
import { createCredentials } from "../../../src/client/transport/secrets.ts";
import { after } from "../../../src/clock/clock.ts";
import { createSystemClock } from "../../../src/clock/system-clock.ts";
import { createContract } from "../../../src/contract/contract.ts";
import { createEngine, defineStrategy, type Engine, type Event, type WantedOrder } from "../../../src/index.ts";
import { createRandom } from "../../../src/random.ts";
import { createVenue } from "../../../src/venue/venue.ts";

const instId = "BTC-USDT-SWAP";
const permissions = ["read", "trade_futures", "trade_spot"];
const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const serve = async (faults?: FaultPlan): Promise<VenueServer> => {
  const contract = createContract();
  const venue = createVenue({
    contract,
    instruments: [{ instId, tickSize: "0.1", lotSize: "0.001" }],
    users: [{ uid: "ann", keys: [{ name: "ann-1", permissions }], balances: { USDT: "100000" } }],
    fees: { SPOT: { makerBps: "2", takerBps: "5" }, SWAP: { makerBps: "2", takerBps: "5" } },
    enforceLimits: true,
  });
  const server = await startVenueServer({
    venue,
    contract,
    clock: createSystemClock(),
    random: createRandom("server"),
    keys: [{ apiKey: "ann-1", secretKey: "ann-1 secret", passphrase: "ann-1 phrase", uid: "ann", permissions }],
    ...(faults === undefined ? {} : { faults }),
  });
  closing.push(() => server.close());
  const at = createSystemClock().now();
  venue.quote(instId, 999_990, 1_000, 1_000_010, 1_000, at);
  server.board.ticker({ instId, last: "100000", bidPx: "99999", bidSz: "1", askPx: "100001", askSz: "1", at });
  return server;
};

const ann = (secretKey = "ann-1 secret") =>
  createCredentials({ apiKey: "ann-1", secretKey, passphrase: "ann-1 phrase" });

/** Wants one bid far below the market from the first quote on after `begin$`, until it is told that this was enough. */
const start = (
  server: VenueServer,
  secretKey = "ann-1 secret",
  begin$: Observable<unknown> = of(0),
): { engine: Engine; events: Event[]; enough: Subject<void> } => {
  const enough = new Subject<void>();
  const strategy = defineStrategy({
    name: "one-bid",
    options: { type: "object", additionalProperties: false, properties: {} },
    wanted: ({ market }) => {
      const bid = (px: string): WantedOrder => ({
        slot: "bid",
        instId,
        side: "buy",
        ordType: "post_only",
        px,
        notional: "1000",
      });
      const none: WantedOrder[] = [];
      return begin$.pipe(
        take(1),
        switchMap(() => market.quotes(instId).pipe(take(1))),
        switchMap(({ bidPx }) =>
          enough.pipe(
            map(() => none),
            startWith([bid(String(Number(bidPx) / 2))]),
          ),
        ),
      );
    },
  });
  const credentials = ann(secretKey);
  const engine = createEngine({
    service: live({ environment: "testnet", baseUrl: server.url, keys: [{ credentials }] }),
    strategies: [strategy({})],
  });
  const events: Event[] = [];
  engine.events$.subscribe((event) => events.push(event));
  closing.push(async () => {
    await engine.stop();
    await (engine.service as OpenLive).stop();
  });
  return { engine, events, enough };
};

const phase = (engine: Engine, wanted: string): Promise<unknown> =>
  firstValueFrom(
    engine.updates$.pipe(
      switchMap(({ phase: now }) => (now === wanted ? of(now) : [])),
      timeout(10_000),
    ),
  );

describe("Market data over the network:", () => {
  it("trades, quotes, books and bars are what the service shows, through lost, repeated and swapped messages", async () => {
    const server = await serve({
      socket: (["gap", "duplicate", "reorder"] as const).map((kind) => ({
        kind,
        channel: "books",
        count: 1,
        fromMs: 0,
      })),
    });
    const clock = createSystemClock();
    const errors: unknown[] = [];
    const service = live({ environment: "testnet", baseUrl: server.url, keys: [{ credentials: ann() }] }).open({
      contract: createContract(),
      random: createRandom("market"),
      onError: (error) => errors.push(error),
      onAnomaly: (what, detail) => errors.push(new Error(`live: ${what}: ${detail}`)),
      leave: () => undefined,
    });
    closing.push(() => service.stop());
    await service.load?.();
    const level = (side: "buy" | "sell", px: string, sz: string): void => {
      const at = clock.now();
      server.board.level({ instId, side, px, sz, at });
      server.board.flush(at);
    };
    level("buy", "1", "1");
    level("sell", "1000", "1");
    const { market } = service;
    const trade = firstValueFrom(market.trades(instId));
    const bar = firstValueFrom(market.candles(instId, 60_000));
    const quote = firstValueFrom(market.quotes(instId));
    const shown: string[] = [];
    const whole = firstValueFrom(
      market.books(instId).pipe(
        tap(({ bids }) => shown.push(bids.map(({ px }) => px).join(" "))),
        filter(({ bids }) => bids.length === 20),
        timeout(20_000),
      ),
    );
    service.start();
    // The first quote says that the channels are subscribed.
    expect(await quote).toMatchObject({ bidPx: "99999", askPx: "100001", mid: "100000" });
    for (let px = 2; px <= 20; px++) {
      level("buy", String(px), "1");
      await firstValueFrom(after(clock, 2));
    }
    server.board.trade({ instId, px: "100000.5", sz: "0.25", side: "sell", at: clock.now() });
    server.board.candle(
      { instId, ts: "1699999980000", open: "1", high: "2", low: "0.5", close: "1.5", volume: "3", confirm: "1" },
      clock.now(),
    );
    expect(await trade).toMatchObject({ px: "100000.5", qty: "0.25", side: "sell" });
    expect(await bar).toMatchObject({
      at: 1_700_000_040_000,
      open: "1",
      high: "2",
      low: "0.5",
      close: "1.5",
      volume: "3",
    });
    expect((await whole).bids[0]).toEqual({ px: "20", qty: "1" });
    // Every book shown is a whole one: all prices from its best down to 1.
    for (const prices of shown)
      expect(prices).toBe(
        Array.from({ length: prices.split(" ").length }, (_, i, n = prices.split(" ").length) => n - i).join(" "),
      );
    expect(service.anomalies.get("channel.repaired")).toBeGreaterThan(0);
  });
});

describe("An engine on a service over the network", () => {
  it("places an order on a quote, sees it live by push, takes it back, and leaves nothing open", async () => {
    const server = await serve();
    const { engine, events, enough } = start(server);
    const pushing = firstValueFrom((engine.service.users[0]?.pushing$ ?? of(false)).pipe(toArray()));
    const pushed: string[] = [];
    engine.service.users[0]?.pushes$.subscribe(({ state, px }) => pushed.push(`${state} ${px}`));
    const resting = phase(engine, "live");
    await engine.start();
    await resting;
    const gone = phase(engine, "canceled");
    enough.next();
    await gone;
    expect(pushed).toEqual(["live 49999.5", "canceled 49999.5"]);
    const reads = (): number =>
      events.filter((event) => event.type === "action.sent" && event.endpoint === "getOrder").length;
    expect(reads()).toBe(0);
    await engine.stop();
    await (engine.service as OpenLive).stop();
    expect(await pushing).toEqual([false, true]);
    expect((engine.service as OpenLive).counts()).toEqual({ requests: 0, sockets: 0, subscriptions: 0 });
    expect(events.filter(({ type }) => type === "anomaly")).toEqual([]);
    await server.close();
    expect(server.counts()).toMatchObject({ connections: 0, sockets: 0 });
  });

  it("a message that is lost is noticed at the next one: pushing turns, and the state is read", async () => {
    const server = await serve({ socket: [{ kind: "gap", channel: "orders", count: 1 }] });
    // What is lost is then the first record of the order, however long the login takes.
    const whole = new ReplaySubject<void>(1);
    const { engine, enough } = start(server, undefined, whole);
    const turns: boolean[] = [];
    engine.service.users[0]?.pushing$.subscribe((turn) => {
      turns.push(turn);
      if (turn) whole.next();
    });
    const accepted = phase(engine, "acked");
    await engine.start();
    await accepted;
    const gone = phase(engine, "canceled");
    enough.next();
    await gone;
    expect(turns).toEqual([false, true, false, true]);
    expect((engine.service as OpenLive).anomalies.get("channel.repaired")).toBe(1);
  });

  it("a wrong secret is said, nothing is pushed, and the engine can be stopped", async () => {
    const server = await serve();
    const { engine, events } = start(server, "another secret");
    const turns: boolean[] = [];
    engine.service.users[0]?.pushing$.subscribe((turn) => turns.push(turn));
    const said = firstValueFrom(
      engine.events$.pipe(filter((event) => event.type === "anomaly" && event.what === "login.refused")),
    );
    const end = expect(engine.start()).rejects.toThrow(/was stopped while it started/);
    await said;
    await engine.stop();
    await end;
    expect(turns).toEqual([false]);
    expect(JSON.stringify(events)).not.toContain("secret");
  });
});
