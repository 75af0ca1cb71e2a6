/** Wanted orders that change while their slot waits: nothing is done for them until it matters, and then for the latest. */
import { describe, expect, it } from "vitest";
import type { ActionClass, OrderPhase } from "../../../src/journal/events.ts";
import type { Order } from "../../../src/orders/order-state.ts";
import { mayWait } from "../../../src/orders/plan.ts";
import type { Slot } from "../../../src/orders/slot.ts";
import type { WantedOrder } from "../../../src/orders/wanted-order.ts";
import { builtOrder } from "../../support/built-orders.ts";
import { bid, type Rig, ready, spot } from "../../support/harness/orders.ts";

const order = (phase: OrderPhase, cancel?: ActionClass): Order =>
  builtOrder({ wanted: bid(), phase, ...(cancel !== undefined && { cancel }) });
const queued = { wanted: {}, withdraw: () => undefined } as Slot["queued"];
const slot = (change: Partial<Slot>): Slot =>
  ({ wanted: bid(), order: undefined, queued: undefined, ...change }) as Slot;
const moved = bid({ px: "60001" });

describe("Conflation keeps the latest wanted order:", () => {
  it.each<[string, Partial<Slot>, WantedOrder, boolean]>([
    ["while its placement waits", { queued }, moved, true],
    ["but not where it would wait in another queue", { queued }, bid({ px: "60001", reduceOnly: true }), false],
    ["nor for another product", { queued }, bid({ instId: spot }), false],
    ["while its order is on its way", { order: order("sent") }, moved, true],
    ["while nobody knows what became of its order", { order: order("unknown") }, moved, true],
    ["while the cancel of what rests waits", { order: order("live", "place") }, moved, true],
    ["while that cancel is under way", { order: order("canceling", "place") }, moved, true],
    ["but not where nobody has asked for a cancel yet", { order: order("live") }, moved, false],
    ["nor when the order is over", { order: order("filled", "place") }, moved, false],
    ["nor where nothing waits", {}, moved, false],
    ["nor where nothing was wanted", { wanted: undefined, queued }, moved, false],
    ["nor where an order turned up beside a waiting placement", { queued, order: order("sent") }, moved, false],
    ["always when it is the same wanted order", { order: order("live") }, bid({ tag: "other" }), true],
  ])("%s", (_, state, wanted, expected) => {
    expect(mayWait(slot(state), wanted)).toBe(expected);
  });
});

const others = Array.from({ length: 24 }, (_, index) => bid({ slot: `other ${index}`, px: String(50_000 + index) }));
const placedAt = (rig: Rig): string[] => rig.places().flatMap(({ px = "" }) => (Number(px) >= 55_000 ? [px] : []));

/** A rig whose order rests at 60000, with a cancel that has to wait for quota because the wanted order moved on. */
const held = (): Rig => {
  const rig = ready({ limits: true });
  rig.want(bid());
  rig.run(200);
  rig.want(bid(), ...others);
  rig.want(bid({ px: "60010" }), ...others);
  rig.run(40);
  expect([rig.resting().includes("buy 60000"), rig.count("cancelBatch")]).toEqual([true, 0]);
  return rig;
};

describe("A wanted order that returns while its cancel waits", () => {
  it("keeps the order: no cancel leaves", () => {
    const rig = held();
    rig.want(bid({ px: "60020" }), ...others);
    rig.want(bid(), ...others);
    rig.run(30_000);
    expect(rig.count("cancelBatch")).toBe(0);
    expect(placedAt(rig)).toEqual(["60000"]);
  });

  it("keeps it also when it is only near enough", () => {
    const rig = held();
    rig.want(bid({ px: "60004", keepWithin: "5" }), ...others);
    rig.run(30_000);
    expect([rig.count("cancelBatch"), placedAt(rig)]).toEqual([0, ["60000"]]);
  });

  it("is settled when the order is filled before the cancel's turn", () => {
    const rig = held();
    rig.want(bid({ px: "60004", keepWithin: "5" }), ...others);
    rig.trade("sell", 59_000, 100);
    rig.run(30_000);
    expect(rig.phases("bid").at(-1)).toBe("filled");
    expect(placedAt(rig)).toEqual(["60000"]);
  });

  it("is cancelled by hand for good", () => {
    const rig = held();
    rig.want(bid(), ...others);
    rig.orders.cancel({ slot: "bid" }).subscribe();
    rig.run(30_000);
    expect(rig.phases("bid").at(-1)).toBe("canceled");
    expect(placedAt(rig)).toEqual(["60000"]);
  });
});

describe("A wanted order whose order has ended", () => {
  const filled = (): Rig => {
    const rig = ready();
    rig.want(bid());
    rig.run(200);
    rig.trade("sell", 59_000, 100);
    rig.run(200);
    expect(rig.phases("bid").at(-1)).toBe("filled");
    return rig;
  };

  it("is not placed again while it is repeated", () => {
    const rig = filled();
    for (let time = 0; time < 3; time++) rig.want(bid());
    rig.run(1_000);
    expect(placedAt(rig)).toEqual(["60000"]);
  });

  it("is new when another was wanted in between, whether that was placed", () => {
    const rig = filled();
    rig.want(bid({ px: "60010" }));
    rig.run(1_000);
    rig.want(bid());
    rig.run(1_000);
    expect(placedAt(rig)).toEqual(["60000", "60010", "60000"]);
  });

  it("or had to wait and never left", () => {
    const rig = ready({ limits: true });
    rig.want(bid());
    rig.run(200);
    rig.trade("sell", 59_000, 100);
    rig.run(200);
    rig.want(bid(), ...others);
    rig.want(bid({ px: "60010" }), ...others);
    rig.want(bid({ px: "60020" }), ...others);
    rig.want(bid(), ...others);
    rig.run(30_000);
    expect(placedAt(rig)).toEqual(["60000", "60000"]);
  });

  it("also when its end was heard of after the other was wanted", () => {
    const rig = held();
    rig.trade("sell", 59_000, 100);
    rig.run(100);
    expect(rig.phases("bid").at(-1)).toBe("filled");
    rig.want(bid(), ...others);
    rig.run(30_000);
    expect(placedAt(rig)).toEqual(["60000", "60000"]);
  });

  it("is new also after it was cancelled by hand", () => {
    const rig = ready();
    rig.want(bid());
    rig.run(200);
    rig.orders.cancel().subscribe();
    rig.run(200);
    rig.want(bid());
    rig.run(200);
    expect(placedAt(rig)).toEqual(["60000"]);
    rig.want(bid({ px: "60010" }));
    rig.want(bid());
    rig.run(1_000);
    expect(placedAt(rig).at(-1)).toBe("60000");
    expect(rig.resting()).toEqual(["buy 60000"]);
  });
});

describe("Of the wanted orders received while a cancel waited,", () => {
  it("the last one is placed, and no other", () => {
    const rig = held();
    for (let px = 60_020; px <= 60_090; px += 10) rig.want(bid({ px: String(px) }), ...others);
    rig.run(30_000);
    expect(placedAt(rig)).toEqual(["60000", "60090"]);
    expect(rig.count("cancelBatch")).toBe(1);
  });

  it("one that cannot be sent is refused when its turn comes, and says why", () => {
    const rig = held();
    rig.want(bid({ px: "sixty" }), ...others);
    expect(rig.refusals).toEqual([]);
    rig.run(30_000);
    expect(rig.refusals).toEqual([expect.stringContaining('px "sixty" is not decimal text')]);
  });

  it("none is lost when trading was halted and goes on", () => {
    const rig = held();
    rig.want(bid({ px: "60050" }), ...others);
    rig.orderManager.setMode("halted", "test");
    rig.want(bid({ px: "60060" }), ...others);
    rig.run(30_000);
    rig.orderManager.setMode("active", "test");
    rig.run(60_000);
    expect(placedAt(rig).at(-1)).toBe("60060");
    expect(rig.resting()).toContain("buy 60060");
  });
});
