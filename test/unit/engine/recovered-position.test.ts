/** A strategy's position after a crash: quantity, average price, realised profit and fees as they were. */
import { concat, map, NEVER, Observable, of } from "rxjs";
import { expect, it } from "vitest";
import { after } from "../../../src/clock/clock.ts";
import {
  begun,
  crash,
  far,
  lifeOf,
  pass,
  stop,
  until,
  venueOf,
  type World,
  worldOf,
} from "../../support/harness/engine.ts";
import { swap } from "../../support/harness/orders.ts";

/** Prints beyond the price of an order execute all of it. */
const trade = async (world: World, side: "buy" | "sell", px: number): Promise<void> => {
  world.venue.trade(swap, side, px * 10, 50, world.clock.now());
  await pass(world, 30_000);
};

it("A killed engine's strategy finds its position, with what was executed while no process ran", async () => {
  const world = worldOf();
  const bid = { slot: "a", instId: swap, side: "buy", px: "59000", qty: "0.02" } as const;
  const ask = { slot: "b", instId: swap, side: "sell", px: "61000", qty: "0.003" } as const;
  const low = { slot: "c", instId: swap, side: "buy", px: "58000", qty: "0.01" } as const;
  // The last placement makes what was written before it durable.
  const later$ = after(world.clock, 90_000).pipe(map(() => [bid, ask, low, far("d", "30000")]));
  world.wanted$ = concat(of([bid, ask, low]), later$, NEVER);
  const first = await begun(world);
  await pass(world, 5_000);
  await trade(world, "sell", 58_999);
  await trade(world, "buy", 61_001);
  // 0.02 bought for 1180, 0.003 of it sold for 183: 6 of profit. Fees of 2 basis points: 0.236 and 0.0366.
  expect(world.position(swap)).toMatchObject({ qty: "0.017", avgPx: "59000", realised: "6", fees: "0.2726" });
  await pass(world, 60_000);
  await crash(world, first);
  await trade(world, "sell", 57_999);
  world.wanted$ = NEVER;
  const second = await begun(world);
  await pass(world, 30_000);
  // 0.01 for 580 on top of 0.017 for 1003, and 0.116 of fees.
  expect(world.position(swap)).toMatchObject({
    qty: "0.027",
    avgPx: "58629.629629629629",
    realised: "6",
    fees: "0.3886",
  });
  const told = second.events.filter((event) => event.type === "fill");
  expect(told).toMatchObject([{ px: "58000", qty: "0.01", position: "0.027", recovered: true }]);
  await stop(world, second.engine);
});

it("A fill that is pushed while a start is held up is held by the runs after it as well", async () => {
  const world = worldOf();
  world.pushes$ = new Observable((subscriber) => {
    world.venue.onOrder((_, record) => subscriber.next(record));
  });
  world.pushing$ = of(true);
  const bids = [far("a", "59000"), { ...far("b", "58000"), qty: "0.02" }];
  world.wanted$ = concat(of(bids), NEVER);
  const first = await begun(world);
  await pass(world, 5_000);
  await crash(world, first);
  await trade(world, "sell", 58_999);
  world.lose = ({ endpoint }) => (endpoint === "orderHistory" ? "answer" : undefined);
  world.wanted$ = NEVER;
  const second = lifeOf(world);
  const start = second.engine.start();
  await pass(world, 10_000);
  await trade(world, "sell", 57_999);
  world.lose = () => undefined;
  await until(world, start);
  expect(world.position(swap)).toMatchObject({ qty: "0.03", avgPx: "58333.333333333333" });
  await stop(world, second.engine);
  const third = await begun(world);
  await pass(world, 30_000);
  // 0.01 for 590 and 0.02 for 1160, and two basis points of each.
  expect(world.position(swap)).toMatchObject({ qty: "0.03", avgPx: "58333.333333333333", fees: "0.35" });
  await stop(world, third.engine);
});

it("A killed engine's strategy holds spot without the fees that were taken in coins, before and after it", async () => {
  const inCoins = {
    order: { szUnit: { SPOT: "base", SWAP: "base" }, spotBuyFee: "base" },
    capabilities: { cancelSpot: true },
  } as const;
  const spot = "BTC-USDT";
  const world = worldOf(inCoins);
  world.venue = venueOf(world.clock, "5000000000", inCoins, [{ instId: spot, tickSize: "0.1", lotSize: "0.001" }]);
  world.venue.quote(spot, 600_000, 10, 600_010, 10, world.clock.now());
  const bids = ["59000", "58000"].map((px) => ({ slot: px, instId: spot, side: "buy", px, qty: "0.1" }) as const);
  world.wanted$ = concat(of(bids), NEVER);
  const sell = async (px: number, lots: number): Promise<void> => {
    world.venue.trade(spot, "sell", px * 10, lots, world.clock.now());
    await pass(world, 30_000);
  };
  const first = await begun(world);
  await pass(world, 5_000);
  await sell(58_990, 100);
  // Ten lots stand before ours.
  world.venue.quote(spot, 580_000, 10, 580_010, 10, world.clock.now());
  await sell(58_000, 50);
  expect(world.position(spot)).toMatchObject({ qty: "0.139972" });
  await pass(world, 60_000);
  await crash(world, first);
  await sell(57_990, 100);
  world.wanted$ = NEVER;
  const second = await begun(world);
  await pass(world, 30_000);
  // 2 basis points of 0.2 bought for 11,700.
  expect(world.position(spot)).toMatchObject({ qty: "0.19996", fees: "2.34", realised: "0" });
  const balances = world.venue.truth("main").balances;
  expect(balances.find(({ currency }) => currency === "BTC")?.balance).toBe("0.19996");
  expect(balances.find(({ currency }) => currency === "USDT")?.balance).toBe("88300");
  await stop(world, second.engine);
});
