/**
 * The algebra of waiting reads: the same question is asked once, and one that has been answered otherwise is not asked at all.
 */
import { describe, expect, it } from "vitest";
import { unconditional, unshared } from "../support/harness/gateway-variants.ts";
import { bid, lostAnswer, type Rig, ready, swap } from "../support/harness/orders.ts";
import { lateStories, readingStories, roughStories, savedBy } from "../support/scenarios/orders.ts";

it("Identical reads that wait share one flight: everybody is answered, by an answer younger than the question", () => {
  const saved = savedBy({
    stories: readingStories,
    seed: 4,
    off: { door: unshared },
    promise: ({ answers }, { latencyMs, steps }) => {
      const asked = steps.reduce((sum, step) => sum + (step.kind === "read" ? step.times : 0), 0);
      expect(answers.map(({ kind }) => kind)).toEqual(Array.from({ length: asked }, () => "done"));
      for (const { afterMs } of answers) expect(afterMs).toBeGreaterThanOrEqual(2 * latencyMs);
    },
  });
  expect(saved).toBeGreaterThan(0);
});

it("A read that a push made pointless is not sent: the same orders rest in the end, known as well, for less", () => {
  expect(savedBy({ stories: lateStories, seed: 5, off: { door: unconditional } })).toBeGreaterThan(0);
});

it("A read that a push made pointless is not missed either when anything can be late or lost", () => {
  expect(savedBy({ stories: roughStories, seed: 7, off: { door: unconditional }, anyCost: true })).toBeGreaterThan(0);
});

/** Calls of others that keep every read waiting for a while. */
const rush = (rig: Rig, calls = 40): void => {
  for (let i = 0; i < calls; i++) rig.gateway.call("instruments", {}, { class: "cancel", owner: "others" }).subscribe();
};
/** Tells the desk how its newest order stands. */
const push = (rig: Rig): void => {
  const [record] = rig.truth();
  if (record !== undefined) rig.pushes$.next(record);
};

describe("A queued read", () => {
  it("for an order whose record is missing is not sent when the record comes", () => {
    const rig = ready({ push: false, limits: true });
    rig.want(bid());
    rig.run(1_400);
    rush(rig);
    rig.run(200);
    expect(rig.count("getOrder")).toBe(0);
    push(rig);
    rig.run(60_000);
    expect(rig.count("getOrder")).toBe(0);
    expect(rig.phases("bid").at(-1)).toBe("live");
  });

  it("for a placement that was not answered is not sent when the record comes", () => {
    const rig = ready({ push: false, limits: true });
    rig.next("placeOrder", lostAnswer);
    rig.want(bid());
    rig.run(9_900);
    rush(rig);
    rig.run(200);
    expect(rig.phases("bid").at(-1)).toBe("unknown");
    push(rig);
    rig.run(60_000);
    expect(rig.count("getOrder")).toBe(0);
    expect(rig.phases("bid").at(-1)).toBe("live");
  });

  it("of the list, asked for besides, is not sent when the record comes, and the next by the timetable is", () => {
    const rig = ready({ push: false, limits: true });
    rig.resources.pending.value$.subscribe();
    rig.run(100);
    rig.want(bid());
    rig.run(2_000);
    rig.want();
    rig.run(1_400);
    rush(rig);
    rig.run(300);
    push(rig);
    rig.arrivals.length = 0;
    rig.run(5_000);
    expect(rig.phases("bid").at(-1)).toBe("canceled");
    expect(rig.count("pendingOrders")).toBe(0);
    rig.run(2_000);
    expect(rig.count("pendingOrders")).toBe(1);
    expect(rig.resources.pending.current.stale).toBe(false);
  });

  it("of the list is sent in its turn when it has become due meanwhile, needed otherwise or not", () => {
    const rig = ready({ push: false, limits: true });
    rig.resources.pending.value$.subscribe();
    rig.run(9_000);
    rig.arrivals.length = 0;
    rush(rig);
    rig.resources.pending.refresh(() => false);
    rig.run(10);
    rig.gateway.call("positions", {}, { class: "read", owner: "engine" }).subscribe();
    rig.run(5_000);
    const turns = rig.arrivals.map(({ endpoint }) => endpoint).filter((endpoint) => endpoint !== "instruments");
    expect(turns).toEqual(["pendingOrders", "positions"]);
  });

  it("for an order that left the list is not sent when the record comes", () => {
    const rig = ready({ push: false, limits: true });
    rig.resources.pending.value$.subscribe();
    rig.want(bid());
    rig.run(12_000);
    rig.trade("sell", 59_999, 1);
    rig.run(6_000);
    rig.arrivals.length = 0;
    while (rig.count("pendingOrders") === 0) rig.run(1);
    rush(rig);
    rig.run(100);
    push(rig);
    rig.run(9_000);
    expect(rig.phases("bid").at(-1)).toBe("filled");
    expect([rig.count("orderHistory"), rig.count("getOrder")]).toEqual([0, 0]);
  });

  it("that is shared is sent as long as anybody needs it", () => {
    const rig = ready({ limits: true });
    rush(rig);
    const ends: string[] = [];
    const ask = (needed: boolean, instId: string): void => {
      const call = { class: "read", owner: "test", needed: () => needed } as const;
      rig.gateway.read("getOrder", { instId, ordId: "1" }, call).subscribe(({ kind }) => ends.push(kind));
    };
    for (const needed of [false, true]) ask(needed, swap);
    ask(false, "ETH-USDT-SWAP");
    rig.run(20_000);
    expect(ends.sort()).toEqual(["done", "done", "dropped"]);
    expect(rig.count("getOrder")).toBe(1);
  });
});
