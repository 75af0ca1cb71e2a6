/** Two orders of one slot that previous runs left: the older one goes, also while no strategy names the slot. */
import { NEVER } from "rxjs";
import { expect, it } from "vitest";
import { createClientOrderIds } from "../../../src/orders/client-order-id.ts";
import { begun, pass, resting, stop, worldOf } from "../../support/harness/engine.ts";
import { swap } from "../../support/harness/orders.ts";

it.each([
  ["of a declared slot, the newest stays", "a", ["30000"]],
  ["without a name, placed by hand in two runs, both stay", "#0", ["29000", "30000"]],
])("Of orders %s", async (_, slot, left) => {
  const world = worldOf();
  world.wanted$ = NEVER;
  const ids = createClientOrderIds("main");
  const generation = Math.floor(world.clock.wallNow() / 500) % 32 ** 5;
  ["29000", "30000"].forEach((px, index) => {
    const clOrdId = ids.of(ids.slotHash("one", slot), generation + index);
    const body = { instId: swap, side: "buy", ordType: "limit", px, sz: "300", clOrdId };
    const wire = { method: "POST", path: "/api/v1/trade/order", query: {}, body, key: "k1", ip: "earlier" } as const;
    world.venue.handle(wire, world.clock.now());
  });
  expect(resting(world)).toEqual(["29000", "30000"]);
  const { engine } = await begun(world);
  await pass(world, 60_000);
  expect(resting(world)).toEqual(left);
  await stop(world, engine);
});
