/** A journal whose disk is full: exits and cancels leave, nothing else does, and all of it is written when there is room again. */
import { Subject } from "rxjs";
import { beforeEach, describe, expect, it } from "vitest";
import type { Event } from "../../../src/index.ts";
import type { Wanted, WantedOrder } from "../../../src/orders/wanted-order.ts";
import {
  begun,
  crash,
  far,
  type lifeOf,
  pass,
  resting,
  stop,
  until,
  type World,
  worldOf,
} from "../../support/harness/engine.ts";

const swap = "BTC-USDT-SWAP";
const entry: WantedOrder = { slot: "in", instId: swap, side: "buy", px: "60001", qty: "0.02" };
const exit: WantedOrder = { slot: "out", instId: swap, side: "sell", ordType: "market", qty: "0.02", reduceOnly: true };

let world: World;
let wanted$: Subject<readonly Wanted[]>;
let life: ReturnType<typeof lifeOf>;

const positionIn = ({ venue }: World): string =>
  venue.truth("main").positions.find(({ instId }) => instId === swap)?.pos ?? "0";
const want = async (...orders: readonly Wanted[]): Promise<void> => {
  wanted$.next(orders);
  await pass(world, 2_000);
};
const typed = (events: readonly Event[], type: Event["type"]): readonly Event[] =>
  events.filter((event) => event.type === type);

/** Holds 0.02, one order rests, and the disk is full from here on. */
beforeEach(async () => {
  world = worldOf();
  world.show(60_000);
  wanted$ = new Subject();
  world.wanted$ = wanted$;
  life = await begun(world);
  await want(entry, far("a", "30000"));
  await pass(world, 40_000);
  expect([positionIn(world), resting(world)]).toEqual(["0.02", ["30000"]]);
  world.disk.isFull = true;
});

describe("While the disk of the journal is full", () => {
  it("an exit and a cancel leave, an order that opens does not, and it is told once and seen in the health", async () => {
    await want(entry, far("b", "29000"));
    expect(resting(world)).toEqual([]);
    await want(entry, far("b", "28000"));
    await want(entry, exit, far("b", "27000"));
    await pass(world, 40_000);
    expect([positionIn(world), resting(world)]).toEqual(["0", []]);
    expect(typed(life.events, "journal.failed")).toHaveLength(1);
    expect(typed(life.events, "order.refused")).toHaveLength(1);
    expect(life.events.find(({ type }) => type === "anomaly")).toMatchObject({
      what: "journal.unrecorded",
      detail: expect.stringMatching(/^the exit s\w{19} leaves without a record/) as string,
    });
    expect(life.engine.health().journal).toMatchObject({
      state: "failed",
      reason: expect.stringMatching(/ENOSPC.*only exits and cancels do/) as string,
    });
    await until(
      world,
      life.engine.stop().catch(() => undefined),
    );
  });

  it("a stop that the engine holds closes what it protects", async () => {
    world.disk.isFull = false;
    await want(entry, {
      slot: "more",
      instId: swap,
      side: "buy",
      px: "60001",
      qty: "0.03",
      protect: { stopLoss: "59000" },
    });
    await pass(world, 40_000);
    expect(positionIn(world)).toBe("0.05");
    world.disk.isFull = true;
    world.show(58_900);
    await pass(world, 40_000);
    expect(positionIn(world)).toBe("0.02");
    await until(
      world,
      life.engine.stop().catch(() => undefined),
    );
  });

  it("goes on by itself when there is room again, with nothing missing for the next run", async () => {
    await want(entry, exit, far("b", "29000"));
    await pass(world, 30_000);
    expect(positionIn(world)).toBe("0");
    world.disk.isFull = false;
    await pass(world, 6_000);
    expect(typed(life.events, "journal.restored")).toMatchObject([{ unrecorded: 1 }]);
    expect(resting(world)).toEqual(["29000"]);
    expect(life.engine.health().journal.state).toBe("open");
    await crash(world, life);
    wanted$ = new Subject();
    world.wanted$ = wanted$;
    const next = await begun(world);
    await want(far("b", "29000"));
    await pass(world, 60_000);
    expect(world.position(swap).qty).toBe("0");
    expect(resting(world)).toEqual(["29000"]);
    expect(typed(next.events, "anomaly")).toEqual([]);
    await stop(world, next.engine);
  });

  it("a process that stops writes what it missed, where there is room by then", async () => {
    await want(entry, exit);
    await pass(world, 30_000);
    world.disk.isFull = false;
    await stop(world, life.engine);
    const next = await begun(world);
    await pass(world, 10_000);
    expect(world.position(swap).qty).toBe("0");
    await stop(world, next.engine);
  });

  it("a process that dies before has its exits found by their ids where they rest", async () => {
    await want(entry, { slot: "out", instId: swap, side: "sell", px: "70000", qty: "0.02", reduceOnly: true });
    await pass(world, 10_000);
    expect(resting(world)).toEqual(["70000"]);
    await crash(world, life);
    world.disk.isFull = false;
    wanted$ = new Subject();
    world.wanted$ = wanted$;
    const next = await begun(world);
    await want({ slot: "out", instId: swap, side: "sell", px: "70000", qty: "0.02", reduceOnly: true });
    await pass(world, 60_000);
    expect(resting(world)).toEqual(["70000"]);
    const adopted = typed(next.events, "order.changed").filter(
      (event) => "reason" in event && event.reason === "adopted",
    );
    expect(adopted).toMatchObject([{ strategy: "one", slot: "out" }]);
    await stop(world, next.engine);
  });
});
