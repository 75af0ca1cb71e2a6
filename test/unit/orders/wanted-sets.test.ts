/**
 * Declared sets: what a strategy wants becomes orders with as few requests as possible.
 */

import { describe, expect, it } from "vitest";
import type { OrderRecord } from "../../../src/contract/schemas.ts";
import { advance, type Order } from "../../../src/orders/order-state.ts";
import { bid, eth, ready, swap } from "../../support/harness/orders.ts";

describe("A set of wanted orders", () => {
  it("costs nothing when nothing is wanted", () => {
    const rig = ready();
    rig.want();
    rig.want();
    rig.run();
    expect(rig.arrivals).toEqual([]);
  });

  it("is frozen, so that a price changed in place is an error where it is set, and not overlooked", () => {
    const rig = ready();
    const rests: { px: string } & ReturnType<typeof bid> = { ...bid(), px: "60000" };
    const again = { ...rests };
    rig.want(rests);
    rig.run();
    rig.want(again);
    const byHand = { ...rests, slot: "by hand" };
    rig.orders.place(byHand).subscribe();
    for (const one of [rests, again]) expect(() => (one.px = "59000")).toThrow(TypeError);
    rig.run(3_000);
    rig.want({ ...again, px: "59000" });
    rig.run(3_000);
    expect(rig.resting()).toEqual(["buy 59000", "buy 60000"]);
  });

  it("is placed once however often it is emitted", () => {
    const rig = ready();
    for (let i = 0; i < 5; i++) {
      rig.want(bid());
      rig.run(7);
    }
    rig.run();
    for (let i = 0; i < 5; i++) rig.want(bid());
    rig.run(60_000);
    expect(rig.places()).toHaveLength(1);
    expect(rig.resting()).toEqual(["buy 60000"]);
    expect(rig.phases("bid")).toEqual(["sent", "live"]);
    expect(rig.arrivals).toHaveLength(1);
  });

  it("keeps an order whose wanted is spelled otherwise but means the same", () => {
    const rig = ready();
    rig.want(bid());
    rig.run();
    const [before] = rig.truth();
    rig.want(bid({ px: "60000.00" }));
    rig.want(bid({ px: "60000.04", qty: "0.0100" }));
    rig.run();
    expect(rig.arrivals).toHaveLength(1);
    expect(rig.truth()[0]?.ordId).toBe(before?.ordId);
  });

  it("cancels before it places when the price changes, and never has two live orders of one slot", () => {
    const rig = ready();
    rig.want(bid());
    rig.run();
    const most: number[] = [];
    rig.venue.onOrder(() => most.push(rig.resting().length));
    for (const px of ["60001", "60002", "60003"]) {
      rig.want(bid({ px }));
      rig.run(300);
    }
    expect(rig.arrivals.map(({ endpoint }) => endpoint)).toEqual([
      "placeOrder",
      ...Array(3).fill(["cancelBatch", "placeOrder"]).flat(),
    ]);
    expect(Math.max(...most)).toBe(1);
    expect(rig.resting()).toEqual(["buy 60003"]);
  });

  it("never sends a wanted order that was replaced while it waited for quota", () => {
    const rig = ready({ limits: true });
    rig.want(...Array.from({ length: 30 }, (_, i) => bid({ slot: `s${i}`, px: String(59000 + i) })));
    rig.want(...Array.from({ length: 30 }, (_, i) => bid({ slot: `s${i}`, px: String(58000 + i) })));
    rig.run(20_000);
    // What left at once left with the first price; of those that waited only the second price was ever sent.
    const first = rig.places().filter(({ px }) => Number(px) >= 59000).length;
    expect(first).toBeLessThanOrEqual(10);
    expect(rig.places()).toHaveLength(30 + first);
    expect(rig.resting().every((order) => order.startsWith("buy 580"))).toBe(true);
  });

  it("removes wanted order and placement unsent when the wanted order is withdrawn in the queue", () => {
    const rig = ready({ limits: true });
    const most = Array.from({ length: 8 }, (_, i) => bid({ slot: `s${i}` }));
    rig.want(...most, bid({ slot: "late" }));
    const queued = rig.scheduler.queued;
    expect(queued).toBeGreaterThan(0);
    rig.want(...most);
    expect(rig.scheduler.queued).toBe(queued - 1);
    rig.run(10_000);
    expect(rig.places()).toHaveLength(8);
    expect(rig.phases("late")).toEqual([]);
    expect(rig.scheduler.queued).toBe(0);
  });

  it("takes a queued cancel back when the wanted order changes back", () => {
    const rig = ready();
    rig.want(bid());
    rig.run();
    rig.want(bid({ px: "60005" }));
    rig.want(bid());
    rig.want();
    rig.want(bid());
    rig.run();
    expect(rig.count("cancelBatch")).toBe(0);
    expect(rig.places()).toHaveLength(1);
  });

  it("places again when the wanted order changed back after the cancel had left", () => {
    const rig = ready();
    rig.want(bid());
    rig.run();
    rig.want(bid({ px: "60005" }));
    rig.run(10);
    rig.want(bid());
    rig.run();
    expect(rig.count("cancelBatch")).toBe(1);
    expect(rig.places().map(({ px }) => px)).toEqual(["60000", "60000"]);
    expect(rig.resting()).toEqual(["buy 60000"]);
  });

  it.each([
    ["within", "60004", 1],
    ["at the edge", "60005", 1],
    ["beyond", "60005.1", 3],
  ])("leaves an order alone whose price is %s keepWithin", (_, px, requests) => {
    const rig = ready();
    rig.want(bid({ keepWithin: "5" }));
    rig.run();
    rig.want(bid({ keepWithin: "5", px }));
    rig.run();
    expect(rig.arrivals).toHaveLength(requests);
  });

  it("does not drift: keepWithin counts from the price that rests", () => {
    const rig = ready();
    for (const px of ["60000", "60004", "60008"]) {
      rig.want(bid({ keepWithin: "5", px }));
      rig.run();
    }
    expect(rig.resting()).toEqual(["buy 60008"]);
  });

  it("replaces within keepWithin when the size changed", () => {
    const rig = ready();
    rig.want(bid({ keepWithin: "5" }));
    rig.run();
    rig.want(bid({ keepWithin: "5", px: "60001", qty: "0.02" }));
    rig.run();
    expect(rig.resting()).toEqual(["buy 60001"]);
  });
});

describe("A wanted order whose order has ended", () => {
  it("is not placed again until it changes", () => {
    const rig = ready();
    rig.want(bid());
    rig.run();
    rig.trade("sell", 59999, 1);
    rig.run();
    rig.want(bid());
    rig.run();
    expect(rig.phases("bid")).toEqual(["sent", "live", "filled"]);
    expect(rig.places()).toHaveLength(1);
    rig.want(bid({ px: "59990" }));
    rig.run();
    expect(rig.places()).toHaveLength(2);
  });

  it("is settled as it was last worded when its order was kept for it", () => {
    const rig = ready();
    rig.want(bid({ keepWithin: "5" }));
    rig.run();
    rig.want(bid({ keepWithin: "5", px: "60003" }));
    rig.trade("sell", 59999, 1);
    rig.run();
    rig.want(bid({ keepWithin: "5", px: "60003" }));
    rig.run();
    expect(rig.places()).toHaveLength(1);
  });

  it("is new with another round", () => {
    const rig = ready();
    for (const round of [1, 2, 2, 3]) {
      rig.want(bid({ round }));
      rig.run();
      rig.trade("sell", 59999, 1);
      rig.run();
    }
    expect(rig.places()).toHaveLength(3);
  });

  it("is new when it was withdrawn and is wanted again", () => {
    const rig = ready();
    for (let i = 0; i < 3; i++) {
      rig.want(bid());
      rig.run();
      rig.trade("sell", 59999, 1);
      rig.run();
      rig.want();
      rig.run();
    }
    expect(rig.places()).toHaveLength(3);
    expect(new Set(rig.places().map(({ clOrdId }) => clOrdId)).size).toBe(3);
  });

  it("is new although it was settled before the wanted order that was withdrawn", () => {
    const rig = ready();
    rig.want(bid());
    rig.run();
    rig.trade("sell", 59999, 1);
    rig.run();
    rig.want(bid({ px: "50000" }));
    rig.run();
    rig.want();
    rig.want(bid());
    rig.run();
    expect(rig.resting()).toEqual(["buy 60000"]);
  });

  it("is not placed again when the service cancelled it by itself", () => {
    const rig = ready();
    rig.want(bid({ ordType: "ioc" }));
    rig.run(5_000);
    expect(rig.phases("bid")).toEqual(["sent", "canceled"]);
    expect(rig.places()).toHaveLength(1);
  });

  it("gives way to the changed wanted order that came while it was on its way", () => {
    const rig = ready();
    rig.want(bid({ ordType: "ioc" }));
    rig.run(5);
    rig.want(bid({ px: "60001" }));
    rig.run();
    expect(rig.resting()).toEqual(["buy 60001"]);
  });
});

describe("An invalid set of wanted orders", () => {
  it("refuses two wanted orders of one slot", () => {
    const rig = ready();
    expect(() => {
      rig.want(bid(), bid({ side: "sell" }));
    }).toThrow(/two wanted orders have the slot "bid"/);
    rig.run();
    expect(rig.arrivals).toEqual([]);
  });

  it("refuses slots without end", () => {
    const rig = ready();
    expect(() => {
      rig.want(...Array.from({ length: 1_001 }, (_, i) => bid({ slot: `s${i}` })));
    }).toThrow(/more than 1000 slots/);
  });
});

describe("Cancels of many orders", () => {
  const many = (count: number) =>
    Array.from({ length: count }, (_, i) => bid({ slot: `s${i}`, px: String(50000 + i), qty: "0.001" }));

  it("leave in batches of twenty at most", () => {
    const rig = ready({ rules: { openPerStrategy: 200 } });
    rig.want(...many(45));
    rig.run();
    rig.want();
    rig.run();
    expect(rig.cancels().map(({ length }) => length)).toEqual([20, 20, 5]);
    expect(rig.resting()).toEqual([]);
  });

  it("go together although strategies ask one after the other", () => {
    const rig = ready();
    rig.orderManager.want("a", many(3));
    rig.orderManager.want("b", many(3));
    rig.run();
    rig.orderManager.want("a", []);
    rig.orderManager.want("b", []);
    rig.run();
    expect(rig.cancels().map(({ length }) => length)).toEqual([6]);
  });

  it("pick up what was asked for while the call waited for quota", () => {
    const rig = ready({ limits: true });
    rig.want(...many(6));
    rig.run(3_000);
    rig.want(...many(6).map((wanted) => ({ ...wanted, px: "49000" })));
    rig.run(1);
    rig.want();
    rig.run(3_000);
    expect(rig.cancels().flat()).toHaveLength(6);
    expect(rig.resting()).toEqual([]);
  });

  it("never mix the two kinds of id", () => {
    const rig = ready({ push: false });
    rig.want(bid({ slot: "a" }), bid({ slot: "b", instId: eth, px: "3000", qty: "1" }));
    rig.run();
    expect(rig.orderManager.orders().map(({ ordId }) => ordId === "")).toEqual([false, false]);
    const [first] = rig.orderManager.orders();
    const record = rig.truth().find(({ clOrdId }) => clOrdId === first?.clOrdId) as OrderRecord;
    advance(first as Order, { type: "recorded", record: { ...record, ordId: "" } });
    rig.want();
    rig.run();
    expect(rig.cancels().map((batch) => batch.map((element) => Object.keys(element)))).toEqual([
      [["instId", "clOrdId"]],
      [["instId", "ordId"]],
    ]);
    expect(rig.resting()).toEqual([]);
  });

  it("obey another service's bound", () => {
    const rig = ready({ profile: { cancelBatch: { elementsMax: 3 } } });
    rig.want(...many(7));
    rig.run();
    rig.want();
    rig.run();
    expect(rig.cancels().map(({ length }) => length)).toEqual([3, 3, 1]);
  });

  it("end as filled what was filled before the cancel came", () => {
    const rig = ready();
    rig.want(bid());
    rig.run();
    rig.want();
    rig.trade("sell", 59999, 1);
    rig.run(5_000);
    expect(rig.phases("bid").at(-1)).toBe("filled");
    expect(rig.count("cancelBatch")).toBe(1);
    expect(rig.orderManager.orders()).toEqual([]);
  });
});

it("An unchanged large set sends nothing", () => {
  const rig = ready({ rules: { openPerStrategy: 500, openInAll: 500 } });
  const set = (px: number) =>
    Array.from({ length: 300 }, (_, i) => bid({ slot: `s${i}`, px: String(px + i), instId: swap, qty: "0.001" }));
  rig.want(...set(50_000));
  rig.run(1_000);
  const sent = rig.arrivals.length;
  for (let i = 0; i < 200; i++) rig.want(...set(50_000));
  rig.run(1_000);
  expect(rig.arrivals).toHaveLength(sent);
});
