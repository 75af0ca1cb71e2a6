/**
 * Stops of a previous run before the embedded service: what they know of it when its orders are found one after the other.
 */
import { describe, expect, it } from "vitest";
import type { Order } from "../../../../src/orders/order-state.ts";
import { trailingStop } from "../../../../src/orders/protection/builders.ts";
import type { Protect } from "../../../../src/orders/protection/protect.ts";
import type { WantedOrder } from "../../../../src/orders/wanted-order.ts";
import { createRig, type Rig, ready, swap } from "../../../support/harness/orders.ts";

const market = (rig: Rig, bidTicks: number): void => {
  rig.venue.quote(swap, bidTicks, 100_000, bidTicks + 1, 100_000, rig.clock.now());
  rig.setMarketPx(String(bidTicks / 10));
  rig.price(String(bidTicks / 10));
};
const position = (rig: Rig): string =>
  rig.venue.truth("ann").positions.find(({ instId }) => instId === swap)?.pos ?? "0";

/** An order of 0.01 that rests alone in its book. */
const resting: WantedOrder = { slot: "long", instId: swap, side: "buy", ordType: "limit", px: "60000", qty: "0.01" };

/** 0.004 of it are executed, and the price has been at 60600 since. */
const started = (protect: Protect, scope: "order" | "position"): Rig => {
  const rig = ready();
  if (scope === "order") rig.want({ ...resting, protect });
  else rig.want(resting, trailingStop(swap, { by: "500" }));
  rig.run();
  rig.trade("sell", 60_000, 0.004);
  rig.run();
  market(rig, 606_000);
  rig.run(2_000);
  return rig;
};

/** The next run, which knows what the last one wrote down; `found` are orders of it that may still execute, as they are taken in. */
const restarted = (before: Rig, open: readonly Order[], more: object = {}): Rig => {
  const rig = createRig({ earlier: before });
  rig.resources.history.value$.subscribe();
  rig.run(2_000);
  rig.arrivals.length = 0;
  const { orderManager } = rig;
  orderManager.inherit([], []);
  const known = new Map(before.protectionRecords.map((record) => [record.name, { ...record, ...more }]));
  orderManager.restore(
    [...known.values()],
    open.map(({ clOrdId, spec }) => ({ clOrdId, strategy: "s", instId: spec.instId })),
  );
  for (const { clOrdId, slot, spec, wanted } of open) {
    if (wanted?.protect !== undefined) orderManager.expect(clOrdId, { slot, protect: wanted.protect });
    orderManager.recall(clOrdId, spec, rig.clock.now(), "s");
  }
  orderManager.rearm();
  return rig;
};

describe("A protection of a previous run whose entry is still open", () => {
  it.each(["order", "position"] as const)("goes on from the best price it had seen: of the %s", (scope) => {
    const before = started({ trailing: { by: "500" } }, scope);
    const rig = restarted(before, before.orderManager.orders());
    market(rig, 602_000);
    rig.run(5_000);
    expect(position(rig)).toBe("0.004");
    market(rig, 601_000);
    rig.run();
    expect(rig.journalled("protection.triggered")).toMatchObject([
      { kind: "trailing", triggerPx: "60100", qty: "0.004" },
    ]);
    expect(position(rig)).toBe("0");
  });

  it.each(["order", "position"] as const)("that was triggered closes though the price is back: of the %s", (scope) => {
    const before = started({ trailing: { by: "500" } }, scope);
    const hit = { kind: "trailing", triggerPx: "60100", px: "60099" };
    const rig = restarted(before, before.orderManager.orders(), { hit });
    market(rig, 605_000);
    rig.run(5_000);
    expect(position(rig)).toBe("0");
  });

  it("begins anew with the next position", () => {
    const before = started({ trailing: { by: "500" } }, "position");
    const rig = restarted(before, before.orderManager.orders());
    rig.want(resting, trailingStop(swap, { by: "500" }));
    market(rig, 605_000);
    rig.run(5_000);
    const exit: WantedOrder = {
      slot: "out",
      instId: swap,
      side: "sell",
      ordType: "market",
      qty: "0.004",
      reduceOnly: true,
    };
    rig.want(exit, trailingStop(swap, { by: "500" }));
    rig.run();
    expect(position(rig)).toBe("0");
    const again: WantedOrder = { ...resting, slot: "again", ordType: "market" };
    rig.want(again, trailingStop(swap, { by: "500" }));
    rig.run();
    market(rig, 601_000);
    rig.run();
    expect(position(rig)).toBe("0.01");
  });
});

describe("A stop that executed as its process died", () => {
  it("is not sent again while the orders of that process are taken in", () => {
    const before = ready();
    market(before, 600_000);
    const plain: WantedOrder = { slot: "more", instId: swap, side: "buy", ordType: "market", qty: "0.002" };
    before.want({ ...plain, slot: "long", qty: "0.01", protect: { stopLoss: "59000" } }, plain);
    before.run();
    expect(position(before)).toBe("0.012");
    const orders: Order[] = [];
    before.orderManager.listen((_, order) => orders.push(order));
    market(before, 590_000);
    before.run();
    expect(position(before)).toBe("0.002");
    const hit = before.protectionRecords.find(
      (record) => record.hit !== undefined && Object.keys(record.counted).length === 0,
    );
    expect(hit).toMatchObject({ qty: "0.01" });
    const more = before.truth().find(({ side, sz }) => side === "buy" && Number(sz) < 200);
    const exit = orders[0] as Order;
    const rig = createRig({ earlier: before });
    rig.resources.history.value$.subscribe();
    rig.run(2_000);
    rig.arrivals.length = 0;
    market(rig, 590_000);
    const { orderManager } = rig;
    const booked = { qty: "0.01", entry: "600.001", realised: "0", fees: "0", open: {} };
    orderManager.inherit([{ strategy: "s", instId: swap, position: "0.01", cash: "-600.001", booked }], []);
    const open = [
      { clOrdId: more?.clOrdId ?? "", spec: { ...exit.spec, side: "buy" as const, reduceOnly: false } },
      exit,
    ];
    orderManager.restore(
      [hit as NonNullable<typeof hit>],
      open.map(({ clOrdId }) => ({ clOrdId, strategy: "s", instId: swap })),
    );
    orderManager.expect(exit.clOrdId, { slot: "long.exit" });
    for (const { clOrdId, spec } of open) orderManager.recall(clOrdId, spec, rig.clock.now(), "s");
    orderManager.rearm();
    rig.run(5_000);
    expect(rig.count("placeOrder")).toBe(0);
    expect(position(rig)).toBe("0.002");
    expect(orderManager.positions.of("s", swap).qty).toBe("0.002");
  });
});

describe("What is bought by hand without a slot", () => {
  const byHand = (rig: Rig, slot: string, more: Partial<WantedOrder> = {}): void => {
    const wanted = { slot, instId: swap, side: "buy", ordType: "market", qty: "0.01", ...more } as const;
    expect(rig.orderManager.wantOne("s", slot, wanted)).toBeUndefined();
    rig.run();
  };
  const inherited = (rig: Rig, before: Rig, more: object): void => {
    rig.resources.history.value$.subscribe();
    rig.run(2_000);
    market(rig, 600_000);
    const booked = { qty: "0.01", entry: "600.001", realised: "0", fees: "0", open: {} };
    rig.orderManager.inherit([{ strategy: "s", instId: swap, position: "0.01", cash: "-600.001", booked }], []);
    const last = new Map(before.protectionRecords.map((record) => [record.name, record]));
    rig.orderManager.restore(
      [...last.values()].map((record) => ({ ...record, ...more })),
      [],
    );
    rig.orderManager.rearm();
  };

  it.each([
    ["its client order id", {}],
    ["its number, as in older journals", { name: "#0" }],
  ])("keeps its own stop beside that of the previous run's order of the same number, kept by %s", (_, more) => {
    const before = ready();
    market(before, 600_000);
    byHand(before, "#0", { protect: { stopLoss: "59000" } });
    const rig = createRig({ earlier: before });
    inherited(rig, before, more);
    byHand(rig, "#0", { protect: { stopLoss: "59500" } });
    expect(new Set(rig.protectionRecords.map(({ name }) => name)).size).toBe(2);
    market(rig, 594_000);
    rig.run();
    expect(position(rig)).toBe("0.01");
    market(rig, 589_000);
    rig.run();
    expect(position(rig)).toBe("0");
  });

  it("closes in a slot that is named like its protection, and withdraws the rest of its entry", () => {
    const rig = ready();
    byHand(rig, "#0", { ordType: "limit", px: "60000", protect: { takeProfit: "61000" } });
    rig.trade("sell", 60_000, 0.004);
    rig.run();
    market(rig, 610_000);
    rig.run(2_000);
    const [armed] = rig.journalled("protection.armed") as readonly { readonly name: string }[];
    expect(rig.phases(`${armed?.name}.exit`)).toEqual(["sent", "filled"]);
    expect(position(rig)).toBe("0");
    expect(rig.orderManager.orders()).toEqual([]);
  });
});
