/** An engine that starts while its group is halted: it reads its state, cancels what rests, and places nothing. */
import { describe, expect, it } from "vitest";
import type { GroupStores } from "../../../plugins/shared-quota/group-stores.ts";
import { MemoryClaimStore } from "../../../plugins/shared-quota/memory-claim-store.ts";
import { sharedQuotaWith } from "../../../plugins/shared-quota/plugin.ts";
import { begun, crash, idsIn, pass, resting, stop, type World, worldOf } from "../../support/harness/engine.ts";

const deskIn = (world: World) => {
  const store = new MemoryClaimStore(() => world.clock.now());
  const stores: GroupStores = {
    claims: async () => store,
    answers: () => Promise.reject(new Error("reads are not shared here")),
  };
  const sharedQuota = sharedQuotaWith({ stores });
  const plugin = sharedQuota({ store: "redis://127.0.0.1:1", group: "desk", of: 2, reads: false });
  return { store, plugin };
};

describe("An engine whose group is halted when it starts", () => {
  it("starts, cancels the orders that rest, places none, and trades when the group is resumed", async () => {
    const world = worldOf();
    world.watchful = true;
    const before = await begun(world);
    await pass(world, 1_000);
    expect(resting(world)).toEqual(["29000", "30000"]);
    await crash(world, before);
    const { store, plugin } = deskIn(world);
    world.plugins = [plugin];
    await store.halt("maintenance");
    const { engine, events } = await begun(world);
    await pass(world, 5_000);
    expect(resting(world)).toEqual([]);
    expect([...idsIn(events, "placing")]).toEqual([]);
    expect(() => engine.resume("on its own")).toThrow("All engines of the group are halted (maintenance)");
    await store.halt(undefined);
    await pass(world, 65_000);
    expect(resting(world)).toEqual(["29000", "30000"]);
    await stop(world, engine);
  });

  it("goes on reading while it is halted", async () => {
    const world = worldOf();
    world.watchful = true;
    const { store, plugin } = deskIn(world);
    world.plugins = [plugin];
    const { engine } = await begun(world);
    await store.halt("maintenance");
    await pass(world, 120_000);
    let isFresh = false;
    engine.account.pending$.subscribe(({ stale }) => {
      isFresh = !stale;
    });
    await pass(world, 10_000);
    expect(isFresh).toBe(true);
    await stop(world, engine);
  });
});
