/** One life after another on one journal and one service: no order is lost, none is placed twice. */
import { concat, NEVER, Observable, of } from "rxjs";
import { describe, expect, it } from "vitest";
import { letPromisesSettle } from "../../src/backtest/wall.ts";
import type { Clock } from "../../src/clock/clock.ts";
import { createVirtualClock } from "../../src/clock/virtual-clock.ts";
import { createContract, createEngine, createVenue, type Engine, type Event, type ServiceSpec, type Venue } from "../../src/index.ts";
import { createRandom } from "../../src/random.ts";
import { inProcess } from "../../src/transport/in-process.ts";
import type { Transport, WireRequest } from "../../src/transport/transport.ts";
import { btc, far, strategy, swap } from "../backtest/arena.ts";
import { type MemoryDisk, memoryDisk } from "../journal/memory-disk.ts";

const keys = [{ name: "k1", permissions: ["read", "trade_futures", "trade_spot"] }];
const wanted = [far("a", "30000"), far("b", "29000")];

interface World {
  readonly clock: ReturnType<typeof createVirtualClock>;
  readonly venue: Venue;
  readonly disk: MemoryDisk;
  /** Counts everything that can be the last thing a life did. */
  step: (what: string) => void;
  /** Milliseconds a placement is on its way. */
  placementMs: number;
  /** Requests whose answer is lost, or that never arrive. */
  lose: (request: WireRequest) => "request" | "answer" | undefined;
  instance: number;
}

const worldOf = (): World => {
  const clock = createVirtualClock(1_700_000_000_000);
  const venue = createVenue({
    contract: createContract(),
    instruments: [btc],
    users: [{ uid: "main", keys, balances: { USDT: "100000" } }],
    fees: { SPOT: { makerBps: "2", takerBps: "5" }, SWAP: { makerBps: "2", takerBps: "5" } },
    enforceLimits: true,
  });
  venue.quote(swap, 600_000, 10, 600_010, 10, clock.now());
  return { clock, venue, disk: memoryDisk(), step: () => undefined, placementMs: 20, lose: () => undefined, instance: ++worlds };
};
let worlds = 0;

class Dead extends Error {}

/** A process: when it is killed nothing of it runs any more, and what it sent arrives all the same. */
const lifeOf = (world: World) => {
  let alive = true;
  const clock: Clock = {
    now: () => world.clock.now(),
    wallNow: () => world.clock.wallNow(),
    setTimer: (at, run) => world.clock.setTimer(at, () => (alive ? run() : undefined)),
  };
  const wireOf = (entryMs: number): Transport =>
    inProcess({
      clock: world.clock,
      latency: { name: "constant", entryMs: () => entryMs, responseMs: () => 20, feedMs: () => 0 },
      timeoutMs: 3_000,
      handle: (request, at) => {
        const fate = world.lose(request);
        if (fate === "request") return undefined;
        const { method, path, query, body, key } = request;
        const response = world.venue.handle({ method, path, query, body, key, ip: "local" }, at);
        return fate === "answer" ? undefined : response;
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
  const transport: Transport = (request) =>
    new Observable((subscriber) => {
      if (!alive) return undefined;
      const { endpoint } = request;
      if (endpoint === "placeOrder") doing("send");
      const answers = wireOf(endpoint === "placeOrder" ? world.placementMs : 20)(request).subscribe({
        next: (response) => {
          if (!alive) return;
          try {
            if (endpoint === "placeOrder") doing("answer");
          } catch {
            return;
          }
          subscriber.next(response);
          subscriber.complete();
        },
        error: (error: unknown) => {
          if (alive) subscriber.error(error);
        },
      });
      return () => {
        answers.unsubscribe();
      };
    });
  const service: ServiceSpec = {
    kind: `world ${world.instance}`,
    open: () => ({
      clock,
      transport,
      market: { trades: () => NEVER, quotes: () => NEVER, books: () => NEVER, candles: () => NEVER, lastPx: () => undefined },
      users: [{ uid: "main", ip: "local", keys, pushes$: NEVER, pushing$: of(false) }],
      assumptions: [],
      start: () => undefined,
      stop: () => undefined,
    }),
  };
  const disk: MemoryDisk = Object.create(world.disk) as MemoryDisk;
  world.disk.onStep = doing;
  const events: Event[] = [];
  const engine = createEngine(
    { service, strategies: [strategy("one", { desired: () => concat(of(wanted), NEVER) })], journal: { dir: "journal" } },
    { openDisk: async () => disk },
  );
  engine.events$.subscribe((event) => events.push(event));
  return {
    engine,
    events,
    kill: () => {
      alive = false;
    },
    isAlive: () => alive,
  };
};

/** Lets time pass until the promise settles. */
const until = async (world: World, promise: Promise<unknown>): Promise<void> => {
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
const pass = async (world: World, ms: number): Promise<void> => {
  const at = world.clock.now() + ms;
  await letPromisesSettle();
  while (world.clock.step(at)) await letPromisesSettle();
  world.clock.advanceTo(at);
};
const begun = async (world: World) => {
  const life = lifeOf(world);
  const start = life.engine.start();
  await until(world, start);
  await start;
  return life;
};
const idsIn = (events: readonly Event[], phase: string): ReadonlySet<string> =>
  new Set(events.flatMap((event) => (event.type === "order.changed" && event.phase === phase ? [event.clOrdId] : [])));
/** What is under way when a process dies still arrives; what the machine held for it is let go. */
const crash = async (world: World, life: ReturnType<typeof lifeOf>): Promise<void> => {
  life.kill();
  await pass(world, 1_000);
  await until(world, life.engine.stop());
};
const resting = ({ venue }: World): readonly string[] =>
  venue
    .truth("main")
    .orders.filter(({ state }) => state === "live")
    .map(({ px }) => px)
    .sort();
const stop = async (world: World, engine: Engine): Promise<void> => until(world, engine.stop());

describe("a journal of an engine", () => {
  it("is told of every placement before it leaves, and of every end", async () => {
    const world = worldOf();
    const order: string[] = [];
    world.step = (what) => order.push(what);
    const { engine, events } = await begun(world);
    await pass(world, 5_000);
    expect(resting(world)).toEqual(["29000", "30000"]);
    for (const [index, what] of order.entries()) {
      if (what === "send") expect(order.slice(0, index).filter((step) => step.startsWith("sync")).length).toBeGreaterThan(0);
    }
    await until(world, engine.stop({ cancel: true }));
    const text = [...world.disk.files.values()].map(String).join("");
    expect(text.match(/"type":"sent"/g)).toHaveLength(2);
    expect(text.match(/"type":"over"/g)).toHaveLength(2);
    expect(events.find(({ type }) => type === "journal.opened")).toMatchObject({ life: 1, unresolved: 0 });
  });

  it("finds what a killed life sent and never heard of, and does not place it again", async () => {
    const world = worldOf();
    world.lose = ({ endpoint }) => (endpoint === "placeOrder" ? "answer" : undefined);
    const first = await begun(world);
    await pass(world, 500);
    await crash(world, first);
    world.lose = () => undefined;
    const second = await begun(world);
    expect(second.events.find(({ type }) => type === "journal.opened")).toMatchObject({ life: 2, unresolved: 2 });
    await pass(world, 120_000);
    expect(resting(world)).toEqual(["29000", "30000"]);
    expect(world.venue.truth("main").orders).toHaveLength(2);
    await stop(world, second.engine);
  });

  it("keeps the exposure of an order that cannot be found until its absence is proved, then places it anew", async () => {
    const world = worldOf();
    world.lose = ({ endpoint }) => (endpoint === "placeOrder" ? "request" : undefined);
    const first = await begun(world);
    await pass(world, 500);
    await crash(world, first);
    world.lose = () => undefined;
    const second = await begun(world);
    await pass(world, 10_000);
    expect(resting(world)).toEqual([]);
    expect(idsIn(second.events, "unknown").size).toBe(2);
    await pass(world, 120_000);
    expect(idsIn(second.events, "absent")).toEqual(idsIn(second.events, "unknown"));
    expect(resting(world)).toEqual(["29000", "30000"]);
    await stop(world, second.engine);
  });

  it("that cannot be written stops new orders and nothing else: they are not sent, and say why", async () => {
    const world = worldOf();
    let appended = 0;
    world.step = (what) => {
      // The first is the life itself, the second the placements.
      if (what.startsWith("append") && ++appended === 2) world.disk.failSyncs(1);
    };
    const { engine, events } = await begun(world);
    const known: (readonly unknown[])[] = [];
    engine.pending$.subscribe(({ value }) => known.push(value));
    await pass(world, 30_000);
    expect(world.venue.truth("main").orders).toEqual([]);
    const refused = events.filter(({ type }) => type === "order.refused");
    expect(refused).toHaveLength(2);
    expect(refused[0]).toMatchObject({
      reason: expect.stringMatching(/journal cannot be written \(EIO.*No order leaves without it/) as string,
    });
    expect(known.length).toBeGreaterThan(1);
    expect(engine.quotaNow().inFlight).toBe(0);
    await until(world, engine.stop());
  });

  it("waits with its end, as long as it is told to, until the fate of every order that was sent is known", async () => {
    const world = worldOf();
    world.lose = ({ endpoint }) => (endpoint === "placeOrder" ? "answer" : undefined);
    const first = await begun(world);
    await pass(world, 500);
    world.lose = () => undefined;
    const before = world.clock.now();
    await until(world, first.engine.stop({ settleMs: 60_000 }));
    expect(world.clock.now() - before).toBeGreaterThan(1_000);
    expect(world.clock.now() - before).toBeLessThan(30_000);
    const phases = first.events.flatMap((event) => (event.type === "order.changed" ? [event.phase] : []));
    expect(phases.filter((phase) => phase === "live")).toHaveLength(2);
    const other = worldOf();
    other.lose = ({ endpoint }) => (endpoint === "placeOrder" ? "request" : undefined);
    const second = await begun(other);
    await pass(other, 500);
    const from = other.clock.now();
    await until(other, second.engine.stop({ settleMs: 2_000 }));
    expect(other.clock.now() - from).toBe(2_000);
  });

  it("is held by one engine at a time", async () => {
    const world = worldOf();
    const first = await begun(world);
    const second = lifeOf(world);
    await expect(second.engine.start()).rejects.toThrow(/Another engine on this machine holds .*Stop it first/);
    await stop(world, first.engine);
    const third = await begun(world);
    await stop(world, third.engine);
  });
});

describe("killed at any moment", () => {
  const story = async (fate: "lost" | "kept" | "torn", stopAt: number, placementMs: number): Promise<number> => {
    const world = { ...worldOf(), placementMs };
    let steps = 0;
    world.step = () => {
      if (++steps === stopAt) throw new Dead();
    };
    const first = lifeOf(world);
    const start = first.engine.start();
    start.catch(() => undefined);
    await pass(world, 6_000);
    await crash(world, first);
    world.step = () => undefined;
    world.disk.crash(fate, createRandom(stopAt));
    world.placementMs = 20;
    const second = await begun(world);
    await pass(world, 150_000);
    const { orders } = world.venue.truth("main");
    expect(resting(world), `killed at step ${stopAt}`).toEqual(["29000", "30000"]);
    expect(orders, `killed at step ${stopAt}`).toHaveLength(2);
    await stop(world, second.engine);
    return steps;
  };

  // Twenty seconds: the first life's placements arrive when the second has looked through all lists and not found them.
  it.each([20, 20_000])(
    "with placements %i ms on their way: every wanted order exists once in the end, whatever the disk kept",
    async (placementMs) => {
      for (const fate of ["lost", "kept", "torn"] as const) {
        const steps = await story(fate, 0, placementMs);
        expect(steps).toBeGreaterThan(5);
        for (let stopAt = 1; stopAt <= steps; stopAt++) await story(fate, stopAt, placementMs);
      }
    },
  );
});
