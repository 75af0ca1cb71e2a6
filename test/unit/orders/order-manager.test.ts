/** The order in which things happen, where it can be seen from outside: what is decided, told and done after what. */
import { describe, expect, it } from "vitest";
import type { Order } from "../../../src/orders/order-state.ts";
import type { Slot } from "../../../src/orders/slot.ts";
import { Waits } from "../../../src/orders/waits.ts";
import { bid, type Rig, ready, reply } from "../../support/harness/orders.ts";

const placedByHand = (): { readonly rig: Rig; readonly order: Order } => {
  const rig = ready();
  rig.orderManager.wantOne("s", "hand", bid({ slot: "hand" }));
  rig.run();
  return { rig, order: rig.orderManager.orders()[0] as Order };
};

describe("A change of an order", () => {
  it("that ends it has freed its slot when it is published: a listener may place there at once", () => {
    const { rig, order } = placedByHand();
    const answers: (string | undefined)[] = [];
    rig.orderManager.listen((update) => {
      if (update.isFinal && answers.length === 0)
        answers.push(rig.orderManager.wantOne("s", "hand", bid({ slot: "hand", px: "59000" })));
    });
    rig.orderManager.cancel([order], "cancel");
    rig.run();
    expect(answers).toEqual([undefined]);
    expect(rig.resting()).toEqual(["buy 59000"]);
  });

  it("by a cancel that failed has been counted when it is published", () => {
    const { rig, order } = placedByHand();
    const seen: [string, number][] = [];
    rig.orderManager.listen((update, { cancel }) => seen.push([update.phase, cancel.failures]));
    rig.next(
      "cancelBatch",
      reply(200, { code: "0", msg: "", data: [{ ordId: order.ordId, sCode: "51400", sMsg: "no" }] }),
    );
    rig.orderManager.cancel([order], "cancel");
    rig.run(100);
    expect(seen).toEqual([
      ["canceling", 0],
      ["live", 1],
    ]);
  });

  it("is journalled before its fill, and both before it is published", () => {
    const { rig } = placedByHand();
    const journalled: (readonly string[])[] = [];
    const before = rig.events.length;
    rig.orderManager.listen(() => journalled.push(rig.events.slice(before).map(({ type }) => type)));
    rig.trade("sell", 60_000, 0.01);
    rig.run();
    expect(journalled[0]?.filter((type) => type === "order.changed" || type === "fill")).toEqual([
      "order.changed",
      "fill",
    ]);
  });

  it("frees room for orders that waited for it once it was published, and in the order in which they came", () => {
    const rig = ready({ rules: { openPerStrategy: 1 } });
    rig.want(...["a", "b", "c"].map((slot, index) => bid({ slot, px: String(50_000 + index) })));
    rig.run();
    const told: string[] = [];
    rig.orderManager.listen((update) => told.push(`${update.slot} ${update.phase}`));
    rig.want(bid({ slot: "b", px: "50001" }), bid({ slot: "c", px: "50002" }));
    rig.run();
    expect(told).toEqual(["a canceling", "a canceled", "b sent", "b live"]);
  });
});

describe("Waiting slots", () => {
  const slots = ["a", "b", "c"].map((name) => ({ name, wanted: undefined }) as Slot);
  const [a, b, c] = slots as [Slot, Slot, Slot];

  it("keep the order in which they came, each once, whatever they wait for besides", () => {
    const waits = new Waits();
    for (const slot of [b, a, c, b]) waits.set("rest", slot);
    waits.set("quote", a);
    expect(waits.of("rest")).toEqual([b, a, c]);
    expect([waits.count("rest"), waits.count("quote"), waits.count("room")]).toEqual([3, 1, 0]);
    waits.delete("rest", a);
    expect([waits.of("rest"), waits.of("quote"), waits.of("room")]).toEqual([[b, c], [a], []]);
  });

  it("wait for nothing once they want nothing", () => {
    const waits = new Waits();
    for (const cause of ["rest", "quote", "cancels"] as const) waits.set(cause, a, 5);
    expect(waits.get("cancels", a)).toEqual({ wanted: undefined, until: 5 });
    waits.forget(a);
    expect(["rest", "quote", "cancels"].map((cause) => waits.get(cause as "rest", a))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});
