/** Exits of two strategies on one account in the journal: what is an exit stays one, whether or not it carried the service's flag. */
import { concat, map, NEVER, of } from "rxjs";
import { expect, it } from "vitest";
import { after } from "../../../src/clock/clock.ts";
import { begun, crash, pass, stop, worldOf } from "../../support/harness/engine.ts";
import { swap } from "../../support/harness/orders.ts";

it("An exit that was sent without the flag and never answered is found as an exit, and is not sent again", async () => {
  const world = worldOf();
  const at = { instId: swap, ordType: "ioc", qty: "0.005" } as const;
  const buy = { ...at, slot: "in", side: "buy", px: "60001" } as const;
  const sell = { ...at, slot: "in", side: "sell", px: "60000" } as const;
  const exit = { ...sell, slot: "out", reduceOnly: true } as const;
  world.wanted$ = concat(of([buy]), after(world.clock, 10_000).pipe(map(() => [exit])), NEVER);
  world.second$ = concat(of([sell]), NEVER);
  const bodies: unknown[] = [];
  world.lose = ({ endpoint, body }) => {
    if (endpoint !== "placeOrder") return undefined;
    bodies.push(body);
    return bodies.length > 2 ? "answer" : undefined;
  };
  const first = await begun(world);
  await pass(world, 8_000);
  expect(world.position(swap).qty).toBe("0.005");
  expect(world.venue.truth("main").positions).toEqual([]);
  await pass(world, 2_500);
  await crash(world, first);
  expect(bodies).toHaveLength(3);
  expect(bodies[2]).not.toHaveProperty("reduceOnly");
  const records = [...world.disk.files.values()].flatMap((file) => String(file).match(/\{"type":"sent".*\}/g) ?? []);
  expect(records.map((text) => (JSON.parse(text) as { reduceOnly: boolean }).reduceOnly)).toEqual([false, false, true]);

  world.wanted$ = concat(of([exit]), NEVER);
  world.second$ = NEVER;
  const second = await begun(world);
  await pass(world, 120_000);
  // The exit was executed while no process ran: the strategy is flat, the other one still short.
  expect(world.position(swap).qty).toBe("0");
  expect(world.venue.truth("main").positions).toMatchObject([{ instId: swap, pos: "-0.005" }]);
  expect(bodies).toHaveLength(3);
  await stop(world, second.engine);
});
