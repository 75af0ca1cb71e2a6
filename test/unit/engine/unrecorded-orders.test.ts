/** Own orders that the service executed and the journal does not have: booked at the next start, once, and never sent again. */
import { concat, NEVER, of, Subject } from "rxjs";
import { beforeEach, describe, expect, it } from "vitest";
import type { Event, OrderRecord } from "../../../src/index.ts";
import { createClientOrderIds } from "../../../src/orders/client-order-id.ts";
import type { Wanted, WantedOrder } from "../../../src/orders/wanted-order.ts";
import {
  begun,
  crash,
  far,
  idsIn,
  type lifeOf,
  pass,
  stop,
  type World,
  worldOf,
} from "../../support/harness/engine.ts";
import { swap } from "../../support/harness/orders.ts";

const entry: WantedOrder = { slot: "in", instId: swap, side: "buy", ordType: "market", qty: "0.02" };
const exit: WantedOrder = { slot: "out", instId: swap, side: "sell", ordType: "market", qty: "0.02", reduceOnly: true };
const other: WantedOrder = { slot: "in", instId: swap, side: "sell", ordType: "market", qty: "0.03" };

let world: World;
let wanted$: Subject<readonly Wanted[]>;
let second$: Subject<readonly WantedOrder[]>;
let life: ReturnType<typeof lifeOf>;
let copy: Map<string, Buffer>;

const accountIn = ({ venue }: World): string =>
  venue.truth("main").positions.find(({ instId }) => instId === swap)?.pos ?? "0";
const want = async (...orders: readonly Wanted[]): Promise<void> => {
  wanted$.next(orders);
  await pass(world, 4_000);
};
const wantSecond = async (...orders: readonly WantedOrder[]): Promise<void> => {
  second$.next(orders);
  await pass(world, 4_000);
};
const anomalies = (what: string, events: readonly Event[] = life.events): readonly string[] =>
  events.flatMap((event) => (event.type === "anomaly" && event.what === what ? [event.detail] : []));
const fills = (events: readonly Event[] = life.events) => events.filter((event) => event.type === "fill");
const heldBy = (events: readonly Event[] = life.events): string => fills(events).at(-1)?.position ?? "none";

const begin = async (): Promise<void> => {
  wanted$ = new Subject();
  second$ = new Subject();
  world.wanted$ = wanted$;
  world.second$ = second$;
  life = await begun(world);
};
const keepCopy = (): void => {
  copy = new Map([...world.disk.files].map(([name, bytes]) => [name, Buffer.from(bytes)]));
};
const die = async (): Promise<void> => {
  await crash(world, life);
  world.disk.onStep = () => undefined;
};
const restore = async (): Promise<void> => {
  await die();
  world.disk.files.clear();
  for (const [name, bytes] of copy) await world.disk.create(name, bytes);
};

beforeEach(async () => {
  world = worldOf();
  world.show(60_000);
  await begin();
});

describe("A journal that lacks its last orders", () => {
  it("has the exit of one strategy booked, which is not sent again beside the position of another", async () => {
    await want(entry);
    keepCopy();
    await want(entry, exit);
    await wantSecond(other);
    expect(accountIn(world)).toBe("-0.03");
    await restore();
    await begin();
    await want(exit);
    expect(world.position(swap).qty).toBe("0");
    expect(anomalies("order.unrecorded")).toHaveLength(1);
    await pass(world, 120_000);
    await wantSecond({ ...other, slot: "out", side: "buy", reduceOnly: true });
    await pass(world, 60_000);
    expect(accountIn(world)).toBe("0");
    await stop(world, life.engine);
    // What was booked is in the journal from there on.
    await begin();
    await want(exit);
    await pass(world, 20_000);
    expect([world.position(swap).qty, accountIn(world)]).toEqual(["0", "0"]);
    expect(anomalies("order.unrecorded")).toEqual([]);
    await stop(world, life.engine);
  });

  it("has an entry booked, which is not placed once more, and protects it", async () => {
    const guarded = { ...entry, protect: { stopLoss: "59000" } };
    keepCopy();
    await want(guarded);
    await restore();
    await begin();
    await want(guarded);
    expect([world.position(swap).qty, accountIn(world)]).toEqual(["0.02", "0.02"]);
    world.show(58_900);
    await pass(world, 10_000);
    expect([world.position(swap).qty, accountIn(world)]).toEqual(["0", "0"]);
    await stop(world, life.engine);
  });

  it("has an entry and the stop that closed it booked", async () => {
    const guarded = { ...entry, protect: { stopLoss: "59000" } };
    keepCopy();
    await want(guarded);
    await wantSecond(other);
    world.show(58_900);
    await pass(world, 10_000);
    expect(accountIn(world)).toBe("-0.03");
    await restore();
    await begin();
    await want(guarded);
    world.show(58_800);
    await pass(world, 60_000);
    expect([world.position(swap).qty, accountIn(world)]).toEqual(["0", "-0.03"]);
    await stop(world, life.engine);
  });

  it("has a stop booked that closed what the journal protects", async () => {
    const guarded = { ...entry, protect: { stopLoss: "59000" } };
    await want(guarded);
    await wantSecond(other);
    keepCopy();
    world.show(58_900);
    await pass(world, 10_000);
    expect(accountIn(world)).toBe("-0.03");
    await restore();
    await begin();
    world.show(58_800);
    await pass(world, 60_000);
    expect([world.position(swap).qty, accountIn(world)]).toEqual(["0", "-0.03"]);
    await stop(world, life.engine);
  });

  it("has a stop booked that closed what the journal protects in several orders", async () => {
    const guarded = { ...entry, protect: { stopLoss: "59000" } };
    await want(guarded);
    await wantSecond(other);
    keepCopy();
    // Each order meets half of what it wants.
    world.show(58_900);
    for (const _ of [1, 2]) {
      world.venue.quote(swap, 589_000, 10, 589_010, 10, world.clock.now());
      await pass(world, 5_000);
    }
    expect(accountIn(world)).toBe("-0.03");
    await restore();
    await begin();
    world.show(58_800);
    await pass(world, 60_000);
    expect([world.position(swap).qty, accountIn(world)]).toEqual(["0", "-0.03"]);
    expect(anomalies("order.unrecorded")).toHaveLength(2);
    await stop(world, life.engine);
  });

  it("has what an order executed before it was canceled booked", async () => {
    keepCopy();
    world.venue.quote(swap, 600_000, 10, 600_010, 10, world.clock.now());
    const cut: WantedOrder = { slot: "in", instId: swap, side: "buy", ordType: "ioc", px: "60002", qty: "0.02" };
    await want(cut);
    expect(accountIn(world)).toBe("0.01");
    await restore();
    await begin();
    await want(cut);
    await pass(world, 20_000);
    expect([world.position(swap).qty, accountIn(world)]).toEqual(["0.01", "0.01"]);
    await stop(world, life.engine);
  });

  it("reports what no strategy claims, keeps it for the next run, and lets exits leave with the flag only", async () => {
    keepCopy();
    await want({ ...entry, slot: "x" });
    await wantSecond({ ...other, qty: "0.01" });
    expect(accountIn(world)).toBe("0.01");
    await restore();
    await begin();
    await want();
    await wantSecond({ ...other, qty: "0.01" });
    await pass(world, 20_000);
    expect(anomalies("order.unattributed")).toHaveLength(1);
    await wantSecond({ slot: "out", instId: swap, side: "buy", ordType: "market", qty: "0.01", reduceOnly: true });
    await pass(world, 20_000);
    // To buy is no reduction of what the account holds.
    expect(accountIn(world)).toBe("0.01");
    await crash(world, life);
    await begin();
    await want({ ...entry, slot: "x" });
    expect([world.position(swap).qty, accountIn(world)]).toEqual(["0.02", "0.01"]);
    await wantSecond({ slot: "out", instId: swap, side: "buy", ordType: "market", qty: "0.01", reduceOnly: true });
    await pass(world, 60_000);
    expect(accountIn(world)).toBe("0.02");
    await stop(world, life.engine);
  });

  it("with its disk full has the exit booked that left without a record", async () => {
    await want(entry);
    await wantSecond(other);
    await pass(world, 4_000);
    world.disk.isFull = true;
    await want(entry, exit);
    expect(accountIn(world)).toBe("-0.03");
    await crash(world, life);
    world.disk.isFull = false;
    await begin();
    await want(exit);
    await pass(world, 60_000);
    expect([world.position(swap).qty, accountIn(world)]).toEqual(["0", "-0.03"]);
    await stop(world, life.engine);
  });

  it.each(["1", "2", "3"])("that lost its last %s lines, has the orders of these lines booked", async (lines) => {
    await want(entry);
    await wantSecond(other);
    await want(entry, exit);
    await die();
    const [name = "", bytes] = [...world.disk.files].at(-1) ?? [];
    const kept = String(bytes)
      .split("\n")
      .slice(0, -1 - Number(lines));
    world.disk.files.delete(name);
    await world.disk.create(name, Buffer.from(kept.map((line) => `${line}\n`).join("")));
    await begin();
    await want(exit);
    await pass(world, 60_000);
    expect([world.position(swap).qty, accountIn(world)]).toEqual(["0", "-0.03"]);
    await stop(world, life.engine);
  });
});

describe("A whole journal", () => {
  it("is not changed: no order of the history is booked again", async () => {
    await want(entry);
    await want(entry, exit);
    await want({ ...entry, slot: "again" });
    await crash(world, life);
    await begin();
    await want(exit);
    await pass(world, 60_000);
    expect(heldBy()).not.toBe("0.04");
    expect([world.position(swap).qty, accountIn(world)]).toEqual(["0", "0"]);
    expect([anomalies("order.unrecorded"), anomalies("order.unattributed")]).toEqual([[], []]);
    await stop(world, life.engine);
  });

  it("that is new books nothing of orders before it", async () => {
    await want(entry);
    await die();
    world.disk.files.clear();
    await begin();
    await pass(world, 30_000);
    expect([fills(), anomalies("order.unattributed")]).toEqual([[], []]);
    await stop(world, life.engine);
  });
});

it("An adopted order that the journal lacks is in the journal, with what it executes", async () => {
  keepCopy();
  const resting = { ...far("rest", "59000"), qty: "0.02" };
  await want(resting);
  await restore();
  await begin();
  await want(resting);
  world.venue.trade(swap, "sell", 589_990, 50, world.clock.now());
  await pass(world, 40_000);
  expect(world.position(swap).qty).toBe("0.02");
  await want({ ...far("later", "30000") });
  await crash(world, life);
  world.wanted$ = concat(of([]), NEVER);
  life = await begun(world);
  await pass(world, 10_000);
  expect(world.position(swap).qty).toBe("0.02");
  await stop(world, life.engine);
});

it("An order of a process that led before is booked when it is told of after the start", async () => {
  const pushes$ = new Subject<OrderRecord>();
  world.pushes$ = pushes$;
  await want(entry);
  await wantSecond(other);
  const [sent = ""] = idsIn(life.events, "sent");
  await crash(world, life);
  await begin();
  world.venue.onOrder((_, record) => pushes$.next(record));
  await want(far("later", "30000"));
  const ids = createClientOrderIds("main");
  const clOrdId = ids.of(ids.slotHash("one", "out"), (ids.read(sent)?.generation ?? 0) + 50);
  const body = { instId: swap, side: "sell", ordType: "market", sz: "1200", clOrdId };
  const wire = { method: "POST", path: "/api/v1/trade/order", query: {}, body, key: "k1", ip: "late" } as const;
  world.venue.handle(wire, world.clock.now());
  await pass(world, 4_000);
  expect(accountIn(world)).toBe("-0.03");
  expect(world.position(swap).qty).toBe("0.02");
  await want(exit);
  await pass(world, 20_000);
  expect([world.position(swap).qty, accountIn(world)]).toEqual(["0", "-0.03"]);
  await stop(world, life.engine);
});

it("A stop that a process that led before sends late is booked, in whatever number of orders", async () => {
  const pushes$ = new Subject<OrderRecord>();
  world.pushes$ = pushes$;
  const guarded = { ...entry, protect: { stopLoss: "59000" } };
  await want(guarded);
  await wantSecond(other);
  const [sent = ""] = idsIn(life.events, "sent");
  await crash(world, life);
  await begin();
  world.venue.onOrder((_, record) => pushes$.next(record));
  await want(far("later", "30000"));
  const ids = createClientOrderIds("main");
  for (const later of [50, 51]) {
    const clOrdId = ids.of(ids.slotHash("one", "in.exit"), (ids.read(sent)?.generation ?? 0) + later);
    const body = { instId: swap, side: "sell", ordType: "market", sz: "600", clOrdId };
    const wire = { method: "POST", path: "/api/v1/trade/order", query: {}, body, key: "k1", ip: "late" } as const;
    world.venue.handle(wire, world.clock.now());
  }
  await pass(world, 1_000);
  expect(world.position(swap).qty).toBe("0");
  world.show(58_900);
  await pass(world, 60_000);
  expect([world.position(swap).qty, accountIn(world)]).toEqual(["0", "-0.03"]);
  expect(anomalies("order.unattributed")).toEqual([]);
  await stop(world, life.engine);
});
