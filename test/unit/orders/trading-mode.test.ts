/**
 * Halted, reducing, active again.
 */
import { describe, expect, it } from "vitest";
import { cancelAll } from "../../../src/orders/manual-orders.ts";
import { bid, lostAnswer, ready } from "../../support/harness/orders.ts";

const three = ["a", "b", "c"].map((slot, i) => bid({ slot, px: String(50_000 + i) }));

describe("Halted trading", () => {
  it("cancels everything before anything else, in one call, and places nothing", () => {
    const rig = ready({ limits: true });
    rig.want(...three);
    rig.run(3_000);
    rig.arrivals.length = 0;
    rig.orderManager.want("other", three);
    rig.orderManager.setMode("halted", "test");
    rig.run(3_000);
    expect(rig.cancels()[0]).toHaveLength(3);
    const sent = rig
      .journalled("action.sent")
      .filter((event) => "endpoint" in event && event.endpoint === "cancelBatch");
    expect(sent.every((event) => "class" in event && event.class === "emergency")).toBe(true);
    rig.want(...three, bid({ slot: "d" }));
    rig.run(60_000);
    expect(rig.resting()).toEqual([]);
    expect(rig.journalled("mode.changed")).toHaveLength(1);
    expect(rig.places().every(({ px }) => px?.startsWith("5000") === true)).toBe(true);
  });

  it("cancels what was on its way, once it is known", () => {
    const rig = ready({ push: false });
    rig.next("placeOrder", lostAnswer);
    rig.want(bid({ slot: "lost" }), bid({ slot: "late" }));
    rig.run(5);
    rig.orderManager.setMode("halted", "test");
    rig.run(60_000);
    expect(rig.resting()).toEqual([]);
    expect(rig.places()).toHaveLength(2);
  });

  it("places again what is still wanted once it is active again", () => {
    const rig = ready();
    rig.want(...three);
    rig.run();
    // As the engine does: cancel on demand, then halt.
    cancelAll(rig.orderManager, rig.orderManager.orders(), "emergency").subscribe();
    rig.orderManager.setMode("halted", "test");
    rig.run();
    rig.want(...three.slice(1));
    rig.run();
    expect(rig.resting()).toEqual([]);
    rig.orderManager.setMode("active", "test");
    rig.run();
    expect(rig.resting()).toEqual(["buy 50002", "buy 50001"]);
  });
});

describe("A halt of entries", () => {
  const exit = bid({ slot: "exit", side: "sell", px: "70000", qty: "0.002", reduceOnly: true });
  const holding = () => {
    const rig = ready();
    rig.want(bid({ slot: "in", px: "60000", qty: "0.002" }));
    rig.run();
    rig.trade("sell", 60_000, 0.002);
    rig.run();
    rig.want(exit, bid({ slot: "more", px: "50000" }));
    rig.run();
    expect(rig.resting().sort()).toEqual(["buy 50000", "sell 70000"]);
    return rig;
  };

  it.each(["all strategies", "one strategy"])("of %s leaves exits at the service and places new ones", (whom) => {
    const rig = holding();
    if (whom === "all strategies") rig.orderManager.setMode("halted", "test");
    else rig.orderManager.setStrategyMode("s", "halted", "test");
    rig.run();
    expect(rig.resting()).toEqual(["sell 70000"]);
    rig.want({ ...exit, px: "69000" }, bid({ slot: "more", px: "50000" }));
    rig.run();
    expect(rig.resting()).toEqual(["sell 69000"]);
  });

  it.each(["stopped", "closing"] as const)("that is %s cancels exits too and places none", (mode) => {
    const rig = holding();
    rig.orderManager.setMode(mode, "test");
    rig.run();
    expect(rig.resting()).toEqual([]);
    rig.want({ ...exit, px: "69000" });
    rig.run();
    expect(rig.resting()).toEqual([]);
    rig.orderManager.setMode("halted", "test");
    rig.run();
    expect(rig.resting()).toEqual(["sell 69000"]);
  });

  it("takes an exit that is placed by hand, and no entry", () => {
    const rig = holding();
    rig.want();
    rig.orderManager.setMode("halted", "test");
    rig.run();
    const { slot: _, ...byHand } = exit;
    const told: string[] = [];
    rig.orders.place({ ...byHand, px: "68000", qty: "0.001" }).subscribe(({ phase }) => told.push(phase));
    rig.orders
      .place({ ...byHand, side: "buy", px: "40000", reduceOnly: false })
      .subscribe(({ reason }) => told.push(reason));
    rig.run();
    expect(told).toContain("live");
    expect(told).toContain("trading is halted: test");
    expect(rig.resting()).not.toContain("buy 40000");
  });
});

describe("Reducing trading", () => {
  it("lets only orders through that reduce, and leaves what rests", () => {
    const rig = ready();
    rig.want(...three);
    rig.run();
    rig.orderManager.setMode("reducing", "test");
    rig.want(
      ...three,
      bid({ slot: "more", px: "50000" }),
      bid({ slot: "less", side: "sell", px: "70000", reduceOnly: true }),
    );
    rig.run();
    expect(rig.places()).toHaveLength(4);
    expect(rig.phases("more")).toEqual([]);
    expect(rig.phases("less")[0]).toBe("sent");
    expect(rig.count("cancelBatch")).toBe(0);
    rig.orderManager.setMode("active", "test");
    rig.run();
    expect(rig.phases("more")).toEqual(["sent", "live"]);
  });

  it("still cancels what is not wanted", () => {
    const rig = ready();
    rig.want(...three);
    rig.run();
    rig.orderManager.setMode("reducing", "test");
    rig.want();
    rig.run();
    expect(rig.resting()).toEqual([]);
  });

  it("takes placements out of the queue", () => {
    const rig = ready({ limits: true });
    rig.want(...Array.from({ length: 20 }, (_, i) => bid({ slot: `s${i}` })));
    rig.orderManager.setMode("reducing", "test");
    rig.run(100);
    const before = rig.places().length;
    rig.run(60_000);
    expect(before).toBeLessThan(20);
    expect(rig.places()).toHaveLength(before);
  });
});

it("A wanted order that becomes a reducing one while it waits goes to the exits' queue", () => {
  const rig = ready({ limits: true });
  const many = Array.from({ length: 60 }, (_, i) => bid({ slot: `s${i}` }));
  rig.want(...many, bid({ slot: "x", side: "sell", px: "70000" }));
  rig.want(...many, bid({ slot: "x", side: "sell", px: "70000", reduceOnly: true }));
  rig.run(1_500);
  expect(rig.phases("x")[0]).toBe("sent");
  expect(rig.places().length).toBeLessThan(61);
});
