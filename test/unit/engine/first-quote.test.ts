/** A market order of a live run whose product has not been quoted yet: it waits, and is told as refused only when no quote comes. */
import { concat, NEVER, of } from "rxjs";
import { beforeEach, expect, it } from "vitest";
import type { Event } from "../../../src/index.ts";
import type { WantedOrder } from "../../../src/orders/wanted-order.ts";
import { begun, pass, stop, type World, worldOf } from "../../support/harness/engine.ts";

const entry: WantedOrder = { slot: "in", instId: "BTC-USDT-SWAP", side: "buy", ordType: "market", qty: "0.01" };

let world: World;

beforeEach(() => {
  world = worldOf();
  world.watchful = true;
  world.wanted$ = concat(of([entry]), NEVER);
});

const refused = (events: readonly Event[]): readonly string[] =>
  events.flatMap((event) => (event.type === "order.refused" ? [event.reason] : []));
const bought = ({ venue }: World): readonly string[] => venue.truth("main").orders.map(({ state }) => state);

it("It is placed with the first quote, and nothing is told before", async () => {
  const life = await begun(world);
  await pass(world, 3_000);
  expect(bought(world)).toEqual([]);
  world.show(60_000);
  await pass(world, 3_000);
  expect(bought(world)).toEqual(["filled"]);
  await pass(world, 20_000);
  expect(refused(life.events)).toEqual([]);
  await stop(world, life.engine);
});

it("It is told once when none has come for ten seconds, and placed all the same with the first one", async () => {
  const life = await begun(world);
  await pass(world, 9_000);
  expect(refused(life.events)).toEqual([]);
  await pass(world, 30_000);
  expect(refused(life.events)).toEqual([
    "no quote of BTC-USDT-SWAP is known yet to turn the size into the service's unit",
  ]);
  world.show(60_000);
  await pass(world, 3_000);
  expect(bought(world)).toEqual(["filled"]);
  await stop(world, life.engine);
});

it("An order that waits and is withdrawn is told of nobody", async () => {
  world.wanted$ = concat(of([entry]), NEVER);
  const life = await begun(world);
  await pass(world, 1_000);
  life.engine.halt("enough").subscribe();
  await pass(world, 20_000);
  expect(refused(life.events)).toEqual([]);
  await stop(world, life.engine);
});

it("On virtual time it waits for as long as the run lasts, and is told when that ends without a quote", async () => {
  world.watchful = false;
  const life = await begun(world);
  await pass(world, 60_000);
  expect(refused(life.events)).toEqual([]);
  await stop(world, life.engine);
  expect(refused(life.events)).toEqual([
    "no quote of BTC-USDT-SWAP is known yet to turn the size into the service's unit",
  ]);
});
