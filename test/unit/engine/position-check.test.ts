/** What an account holds against what strategies hold: told once, when it lasts, and once when it is over. */
import { concat, NEVER, type Observable, of, ReplaySubject, Subject } from "rxjs";
import { beforeEach, describe, expect, it } from "vitest";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import type { PositionRecord } from "../../../src/contract/schemas.ts";
import { checkPositions } from "../../../src/engine/position-check.ts";
import type { Event } from "../../../src/index.ts";
import { EventLog } from "../../../src/journal/event-log.ts";
import type { Positions } from "../../../src/orders/positions.ts";
import type { AccountPosition } from "../../../src/orders/state/account-positions.ts";
import type { Snapshot } from "../../../src/orders/state/snapshot.ts";
import type { WantedOrder } from "../../../src/orders/wanted-order.ts";
import {
  begun,
  eth,
  far,
  type lifeOf,
  pass,
  stop,
  venueOf,
  type World,
  worldOf,
} from "../../support/harness/engine.ts";

const swap = "BTC-USDT-SWAP";
const entry: WantedOrder = { slot: "in", instId: swap, side: "buy", px: "60001", qty: "0.02" };

let world: World;

beforeEach(() => {
  world = worldOf();
  world.watchful = true;
  world.show(60_000);
});

const begin = async (
  wanted$: Observable<readonly WantedOrder[]> = concat(of([entry]), NEVER),
): Promise<ReturnType<typeof lifeOf>> => {
  world.wanted$ = wanted$;
  const life = await begun(world);
  await pass(world, 5_000);
  return life;
};

/** Somebody with the same account, by another program. */
const byHand = (path: string, body: object): void => {
  const request = {
    method: "POST",
    path: `/api/v1/trade/${path}`,
    query: {},
    body,
    key: "k1",
    ip: "elsewhere",
  } as const;
  world.venue.handle(request, world.clock.now());
};
const closeByHand = (): void => byHand("close-position", { instId: swap });
const trade = (side: string, qty: number): void => {
  byHand("order", { instId: swap, side, ordType: "market", sz: String(qty * 60_001) });
};
const positionIn = ({ venue }: World): string =>
  venue.truth("main").positions.find(({ instId }) => instId === swap)?.pos ?? "0";

const told = (events: readonly Event[]): readonly string[] =>
  events.flatMap((event) => {
    if (event.type === "anomaly" && event.what === "position.differs") return [event.detail];
    return event.type === "position.agreed" ? [`agreed at ${event.pos}`] : [];
  });
const reads = (events: readonly Event[]): number =>
  events.filter((event) => event.type === "action.sent" && event.endpoint === "positions").length;

it("A position closed by hand is told once, names both sides and what to do, and is part of the engine's health", async () => {
  const life = await begin();
  expect(positionIn(world)).toBe("0.02");
  await pass(world, 130_000);
  expect(told(life.events)).toEqual([]);
  closeByHand();
  await pass(world, 90_000);
  expect(told(life.events)).toEqual([
    "BTC-USDT-SWAP of user main: the account has 0, strategies hold 0.02 by their own fills (one 0.02). Something else has traded it or holds it too (a close by hand, another program), or it was liquidated. If nothing is held any more, stop and start again with --reset-risk-counters-of BTC-USDT-SWAP, after which no strategy holds anything of it",
  ]);
  await pass(world, 600_000);
  expect(told(life.events)).toHaveLength(1);
  const holders = [{ strategy: "one", qty: "0.02" }];
  expect(life.engine.health().differences).toEqual([
    { user: "main", instId: swap, account: "0", held: "0.02", holders },
  ]);
  await stop(world, life.engine);
});

it("A read of before a fill shows no difference", () => {
  const clock = createVirtualClock(1_000);
  const journal = new EventLog(clock.now, () => undefined);
  const details: string[] = [];
  journal.on(["anomaly"], ({ detail }) => details.push(detail));
  const read$ = new ReplaySubject<Snapshot<readonly PositionRecord[]>>(1);
  const read = (at: number): void => {
    clock.advanceTo(at);
    read$.next({ value: [], at, stale: false });
  };
  let filled: (strategy: string) => void = () => undefined;
  let qty = "0";
  const positions = {
    instruments: () => new Set(qty === "0" ? [] : [swap]),
    holders: () => [{ strategy: "one", qty }],
    listen: (listener: typeof filled) => {
      filled = listener;
      return () => undefined;
    },
  };
  const orderManager = { orders: () => [], positions: positions as unknown as Positions };
  const account = { user: { uid: "main" }, orderManager, resources: { positions: { watch: () => read$ } } };
  checkPositions({ clock, journal, accounts: [account], isKept: true, stopped$: NEVER });
  read(2_000);
  clock.advanceTo(3_000);
  qty = "0.02";
  filled("one");
  read(4_000);
  expect(details).toEqual([]);
  read(5_000);
  expect(details).toHaveLength(1);
});

it("What it advises adopts the account as it is: the next run holds nothing of it and what it held of others, and nothing differs", async () => {
  world.venue = venueOf(world.clock, "5000000000", {}, [eth]);
  world.show(60_000);
  world.venue.quote(eth.instId, 20_000, 1_000, 20_001, 1_000, world.clock.now());
  const other: WantedOrder = { slot: "other", instId: eth.instId, side: "buy", px: "2000.1", qty: "0.5" };
  const life = await begin(concat(of([entry, other]), NEVER));
  expect([world.position(swap).qty, world.position(eth.instId).qty]).toEqual(["0.02", "0.5"]);
  closeByHand();
  await pass(world, 90_000);
  await stop(world, life.engine);
  world.journal = { resetRiskCounters: [swap] };
  const next = await begin(concat(of([]), NEVER));
  await pass(world, 200_000);
  const { qty, avgPx } = world.position(eth.instId);
  expect([world.position(swap).qty, qty, avgPx]).toEqual(["0", "0.5", "2000.1"]);
  expect(told(next.events)).toEqual([]);
  await stop(world, next.engine);
});

it("An instrument that the journal does not know is refused with those that it knows, and nothing is reset", async () => {
  const life = await begin();
  await stop(world, life.engine);
  world.journal = { resetRiskCounters: [swap, "BTC-USDT-SWOP"] };
  await expect(begin()).rejects.toThrow(
    /Counters of BTC-USDT-SWOP cannot be reset: the journal in .*journal knows only BTC-USDT-SWAP\. Did you mean "BTC-USDT-SWAP"\?/,
  );
  world.journal = {};
  const next = await begin(concat(of([]), NEVER));
  expect(world.position(swap).qty).toBe("0.02");
  await stop(world, next.engine);
});

it("A position changed by hand is told, its close by the engine ends it, and that is told too", async () => {
  const life = await begin();
  trade("buy", 0.01);
  await pass(world, 90_000);
  expect(told(life.events)).toEqual([expect.stringContaining("the account has 0.03, strategies hold 0.02")]);
  expect(told(life.events)[0]).toContain(
    `sluice ctl close --inst ${swap} --yes (or stop, and sluice close with the config), which halts`,
  );
  life.engine.closePositions("both", { instId: swap }).subscribe();
  await pass(world, 90_000);
  expect(positionIn(world)).toBe("0");
  expect(told(life.events).slice(1)).toEqual(["agreed at 0"]);
  expect(life.engine.health().differences).toEqual([]);
  await stop(world, life.engine);
});

it("What is put right by hand is in agreement again", async () => {
  const life = await begin();
  trade("sell", 0.01);
  await pass(world, 90_000);
  trade("buy", 0.01);
  await pass(world, 70_000);
  expect(told(life.events)).toEqual([expect.stringContaining("the account has 0.01"), "agreed at 0.02"]);
  await stop(world, life.engine);
});

it("Differences that come and go are told three times an hour, and always part of the health", async () => {
  const life = await begin();
  for (let round = 0; round < 6; round++) {
    trade("sell", 0.01);
    await pass(world, 90_000);
    expect(life.engine.health().differences).toHaveLength(1);
    trade("buy", 0.01);
    await pass(world, 90_000);
    expect(life.engine.health().differences).toEqual([]);
  }
  expect(told(life.events)).toHaveLength(6);
  await pass(world, 3_600_000);
  trade("sell", 0.01);
  await pass(world, 90_000);
  expect(told(life.events)).toHaveLength(7);
  await stop(world, life.engine);
});

it("With an order that rests all the time it takes four reads", async () => {
  const life = await begin(concat(of([entry, far("rest", "30000")]), NEVER));
  await pass(world, 55_000);
  closeByHand();
  const before = reads(life.events);
  await pass(world, 45_000);
  expect(told(life.events)).toEqual([]);
  await pass(world, 20_000);
  expect(told(life.events)).toHaveLength(1);
  expect(reads(life.events) - before).toBe(4);
  await stop(world, life.engine);
});

it("Strategies that trade all the time, and each other's opposite, differ from nothing", async () => {
  const wanted$ = new Subject<readonly WantedOrder[]>();
  world.second$ = concat(of([{ slot: "short", instId: swap, side: "sell", px: "59999", qty: "0.05" } as const]), NEVER);
  const life = await begin(wanted$);
  for (let round = 0; round < 100; round++) {
    wanted$.next([
      { slot: "m", instId: swap, side: round % 3 === 0 ? "sell" : "buy", ordType: "market", qty: "0.01", round },
    ]);
    await pass(world, 3_700);
  }
  expect(life.events.filter(({ type }) => type === "fill").length).toBeGreaterThan(90);
  expect(told(life.events)).toEqual([]);
  await stop(world, life.engine);
});

it("Positions are read once a minute from the first fill on, and not before", async () => {
  const idle = await begin(concat(of([far("rest", "30000")]), NEVER));
  await pass(world, 600_000);
  expect(reads(idle.events)).toBe(0);
  await stop(world, idle.engine);
  const life = await begin();
  await pass(world, 595_000);
  expect(reads(life.events)).toBe(10);
  await stop(world, life.engine);
});

describe("At a service that counts contracts", () => {
  const inContracts = { order: { szUnit: { SPOT: "base", SWAP: "contracts" } } } as const;
  const tenth = { ...eth, contractValue: "0.1" };
  const held: WantedOrder = { slot: "in", instId: eth.instId, side: "buy", px: "2000.1", qty: "0.5" };

  const holding = async (): Promise<ReturnType<typeof lifeOf>> => {
    world = worldOf(inContracts);
    world.watchful = true;
    world.venue = venueOf(world.clock, "5000000000", inContracts, [tenth]);
    world.show(60_000);
    world.venue.quote(eth.instId, 20_000, 1_000, 20_001, 1_000, world.clock.now());
    return begin(concat(of([held]), NEVER));
  };

  it("a position held alone differs from nothing, and every position and event of the account counts base currency", async () => {
    const life = await holding();
    const seen: (readonly AccountPosition[])[] = [];
    life.engine.account.positions$.subscribe(({ value }) => seen.push(value));
    await pass(world, 200_000);
    expect(world.venue.truth("main").positions).toMatchObject([{ instId: eth.instId, pos: "5" }]);
    expect(told(life.events)).toEqual([]);
    expect(seen.at(-1)).toMatchObject([{ instId: eth.instId, pos: "0.5", contracts: "5" }]);
    const endings: unknown[] = [];
    life.engine.closePositions("test").subscribe((ending) => endings.push(ending));
    await pass(world, 10_000);
    expect(endings).toMatchObject([{ kind: "closed", pos: "0.5", left: "0" }]);
    const ofAccount = life.events.flatMap((event) =>
      event.type === "position.closing" || event.type === "position.closed" ? [event.pos] : [],
    );
    expect(ofAccount).toEqual(["0.5", "0.5"]);
    await stop(world, life.engine);
  });

  it("a difference is told in base currency on both sides", async () => {
    const life = await holding();
    byHand("order", { instId: eth.instId, side: "sell", ordType: "market", sz: "2" });
    await pass(world, 90_000);
    expect(told(life.events)).toEqual([expect.stringContaining("the account has 0.3, strategies hold 0.5")]);
    expect(life.engine.health().differences).toMatchObject([{ account: "0.3", held: "0.5" }]);
    await stop(world, life.engine);
  });
});
