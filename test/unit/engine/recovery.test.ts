/** One life after another on one journal and one service: no order is lost, none is placed twice. */
import { concat, map, NEVER, of } from "rxjs";
import { describe, expect, it } from "vitest";
import { after } from "../../../src/clock/clock.ts";
import { begun, crash, far, idsIn, lifeOf, pass, resting, stop, until, worldOf } from "../../support/harness/engine.ts";
import { crashStory } from "../../support/scenarios/crash.ts";

describe("The placement journal", () => {
  it("is told of every placement before it leaves, and of every end", async () => {
    const world = worldOf();
    const order: string[] = [];
    world.step = (what) => order.push(what);
    const { engine, events } = await begun(world);
    await pass(world, 5_000);
    expect(resting(world)).toEqual(["29000", "30000"]);
    for (const [index, what] of order.entries()) {
      if (what === "send placeOrder")
        expect(order.slice(0, index).filter((step) => step.startsWith("sync")).length).toBeGreaterThan(0);
    }
    await until(world, engine.stop({ cancel: true }));
    const text = [...world.disk.files.values()].map(String).join("");
    expect(text.match(/"type":"sent"/g)).toHaveLength(2);
    expect(text.match(/"type":"over"/g)).toHaveLength(2);
    expect(events.find(({ type }) => type === "journal.opened")).toMatchObject({ run: 1, unresolved: 0 });
  });

  it("finds what a killed life sent and never heard of, and does not place it again", async () => {
    const world = worldOf();
    world.lose = ({ endpoint }) => (endpoint === "placeOrder" ? "answer" : undefined);
    const first = await begun(world);
    await pass(world, 500);
    await crash(world, first);
    world.lose = () => undefined;
    const second = await begun(world);
    expect(second.events.find(({ type }) => type === "journal.opened")).toMatchObject({ run: 2, unresolved: 2 });
    await pass(world, 120_000);
    expect(resting(world)).toEqual(["29000", "30000"]);
    expect(world.venue.truth("main").orders).toHaveLength(2);
    await stop(world, second.engine);
  });

  it.each([
    [0, 2_000, 2_000],
    [12, 2_000, 50_000],
    [40, 2_000, 65_000],
  ])("looks for %i orders and meanwhile places those of other slots", async (lost, othersMs, lastMs) => {
    const world = worldOf();
    const slots = (name: string, count: number, px: number) =>
      Array.from({ length: count }, (_, index) => far(`${name}${index}`, String(px + index)));
    const kept = slots("kept", 8, 30_000);
    const doubted = slots("doubted", lost, 31_000);
    world.orders = { openPerStrategy: 200, openInAll: 200 };
    world.wanted$ = concat(of(kept), after(world.clock, 20_000).pipe(map(() => [...kept, ...doubted])), NEVER);
    world.lose = ({ endpoint, body }) =>
      endpoint === "placeOrder" && Number((body as { px: string }).px) >= 31_000 ? "request" : undefined;
    const first = await begun(world);
    await pass(world, 25_000 + lost * 400);
    await crash(world, first);
    world.lose = () => undefined;
    world.wanted$ = concat(of([...kept, ...slots("other", 4, 32_000), ...doubted]), NEVER);
    const startAt = world.clock.now();
    const second = await begun(world);
    expect(second.events.find(({ type }) => type === "journal.opened")).toMatchObject({ unresolved: 8 + lost });
    await pass(world, 120_000);
    const sentAfter = (slot: RegExp): number[] =>
      second.events.flatMap((event) =>
        event.type === "order.changed" && event.phase === "sent" && slot.test(event.slot) ? [event.at - startAt] : [],
      );
    expect(Math.min(...sentAfter(/^other/))).toBeLessThan(othersMs);
    expect(sentAfter(/^doubted/)).toHaveLength(lost);
    expect(Math.max(0, ...sentAfter(/^doubted/))).toBeLessThan(lastMs);
    expect(resting(world)).toHaveLength(12 + lost);
    expect(world.venue.truth("main").orders).toHaveLength(12 + lost);
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
      if (what.startsWith("append") && ++appended === 2) world.disk.failSyncs(1_000);
    };
    const { engine, events } = await begun(world);
    const known: (readonly unknown[])[] = [];
    engine.account.pending$.subscribe(({ value }) => known.push(value));
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

  it("does not let a step of the calendar shorten the wait for what may still be on its way", async () => {
    const world = worldOf();
    world.placementMs = 29_000;
    const first = await begun(world);
    await pass(world, 500);
    first.kill();
    await until(world, first.engine.stop());
    world.wallOffsetMs = 3_600_000;
    world.placementMs = 20;
    const second = await begun(world);
    await pass(world, 120_000);
    expect(idsIn(second.events, "absent").size).toBe(0);
    expect(resting(world)).toEqual(["29000", "30000"]);
    expect(world.venue.truth("main").orders).toHaveLength(2);
    await stop(world, second.engine);
  });

  it("is held by one engine at a time", async () => {
    const world = worldOf();
    const first = await begun(world);
    const second = lifeOf(world);
    await expect(second.engine.start()).rejects.toThrow(
      /Another process on this machine already runs as .* \(service \/ users \/ instance\)\. Stop it first, or give this config its own `instance`/,
    );
    await stop(world, first.engine);
    const third = await begun(world);
    await stop(world, third.engine);
  });
});

describe("An engine killed at any moment:", () => {
  // With every seed: test/soak/crash-matrix.ts.
  it.each(["lost", "kept", "torn"] as const)(
    "every wanted order exists once in the end, when what was not flushed is %s",
    async (fate) => {
      const { steps } = await crashStory({ fate, stopAt: 0, seed: "0" });
      expect(steps.length).toBeGreaterThan(15);
      for (const name of [
        "append",
        "sync",
        "send placeOrder",
        "answer placeOrder",
        "send cancelBatch",
        "answer cancelBatch",
      ])
        expect(steps.some((step) => step.startsWith(name))).toBe(true);
      for (const [seed] of steps.entries()) {
        const { problems } = await crashStory({ fate, stopAt: seed + 1, seed: String(seed) });
        expect(problems).toEqual([]);
      }
    },
  );

  it.each(["lost", "kept", "torn"] as const)(
    "so does every one that was being changed, when what was not flushed is %s",
    async (fate) => {
      const { steps } = await crashStory({ fate, stopAt: 0, seed: "0", amends: true });
      for (const name of ["send placeOrder", "send amendOrder", "answer amendOrder"])
        expect(steps.some((step) => step.startsWith(name))).toBe(true);
      // What the order may become is on disk before the change leaves.
      const sent = steps.indexOf("send amendOrder");
      expect(steps.slice(0, sent).findLast((step) => /^(append|sync)/.test(step))).toMatch(/^sync/);
      for (const [seed] of steps.entries()) {
        const { problems } = await crashStory({ fate, stopAt: seed + 1, seed: String(seed), amends: true });
        expect(problems).toEqual([]);
      }
    },
  );
});
