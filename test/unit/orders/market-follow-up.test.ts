/**
 * Market orders for which the market had but a part: the rest follows, slower each time, and what stays missing is told.
 */
import { describe, expect, it } from "vitest";
import { add, compare, equal, mul } from "../../../src/decimal.ts";
import type { WantedOrder } from "../../../src/orders/wanted-order.ts";
import { type Rig, ready, swap } from "../../support/harness/orders.ts";

/** Best prices at the service around 60,000, with so many lots of 0.001 behind each. */
const show = (rig: Rig, lots: number, bidTicks = 599_999): void => {
  rig.venue.quote(swap, bidTicks, lots, bidTicks + 1, lots, rig.clock.now());
};

const position = (rig: Rig): string => rig.venue.truth("ann").positions.find(({ instId }) => instId === swap)?.pos ?? "0";
/** Fees of all orders as the service took them. */
const fees = (rig: Rig): string => rig.truth().reduce((sum, { fee }) => add(sum, fee), "0");

const entry = (over: Partial<WantedOrder> = {}): WantedOrder => ({
  slot: "entry",
  instId: swap,
  side: "buy",
  ordType: "market",
  qty: "0.02",
  ...over,
});

describe("A market order that the book could fill in part only", () => {
  it("is followed by one for the rest when there is more", () => {
    const rig = ready();
    show(rig, 4);
    rig.want(entry());
    rig.run(200);
    expect([position(rig), rig.truth()[0]?.state]).toEqual(["0.004", "canceled"]);
    show(rig, 1_000);
    rig.run(60_000);
    expect(position(rig)).toBe("0.02");
    expect(rig.count("placeOrder")).toBe(2);
    // Takers pay 5 basis points of 0.02 at 60,000.
    expect(fees(rig).replace("-", "")).toBe("0.6");
    expect(rig.journalled("order.inexact")).toEqual([]);
    rig.want(entry());
    rig.run(300_000);
    expect(rig.count("placeOrder")).toBe(2);
  });

  it.each(["base", "contracts"] as const)("is followed by one for the rest where sizes count %s", (unit) => {
    const rig = ready({ profile: { order: { szUnit: { SPOT: unit, SWAP: unit } } } });
    show(rig, 4);
    rig.want(entry());
    rig.run(200);
    show(rig, 1_000);
    rig.run(60_000);
    expect(position(rig)).toBe("0.02");
    expect(rig.places().map(({ sz }) => sz)).toEqual(["0.02", "0.016"]);
  });

  it("is followed at most eight times, within some two minutes, and then told once", () => {
    const rig = ready();
    show(rig, 4);
    rig.want(entry());
    rig.run(600_000);
    expect(position(rig)).toBe("0.004");
    const sentAt = rig.arrivals.filter(({ endpoint }) => endpoint === "placeOrder").map(({ at }) => at);
    expect(sentAt.length).toBe(9);
    const pauses = sentAt.slice(1).map((at, index) => at - (sentAt[index] as number));
    for (let index = 1; index < pauses.length; index++) expect(pauses[index]).toBeGreaterThanOrEqual(pauses[index - 1] as number);
    expect((sentAt.at(-1) as number) - (sentAt[0] as number)).toBeLessThan(130_000);
    const [told, ...more] = rig.journalled("order.inexact");
    expect(told).toMatchObject({ strategy: "s", slot: "entry", qty: "0.02", filledQty: "0.004" });
    expect((told as { reason?: string } | undefined)?.reason).toContain("0.016 is missing");
    expect(more).toEqual([]);
    expect(rig.updates.at(-1)).toMatchObject({ phase: "canceled", isFinal: true, reason: expect.stringContaining("0.016 is missing") });
    // Told is settled.
    show(rig, 1_000);
    rig.want(entry());
    rig.run(600_000);
    expect(position(rig)).toBe("0.004");
  });

  it("never executes more than was wanted, whatever each order finds", () => {
    for (let seed = 1; seed <= 40; seed++) {
      const rig = ready();
      const wanted = mul(String(1 + ((seed * 7_919) % 2_400)), "0.001");
      rig.want(entry({ qty: wanted }));
      for (let step = 0; step < 40; step++) {
        show(rig, 1 + ((seed * 31 + step * 17) % 400), 599_999 + ((seed * 13 + step * 29) % 120) - 60);
        rig.run(4_000);
        expect(compare(position(rig), wanted)).toBeLessThanOrEqual(0);
      }
      const [told] = rig.journalled("order.inexact");
      if (told === undefined) expect(position(rig)).toBe(wanted);
      else expect(told).toMatchObject({ qty: wanted, filledQty: position(rig) });
    }
  });

  it("by an amount is followed by one for the rest of the amount", () => {
    const rig = ready();
    show(rig, 4);
    const { qty: _, ...sizeless } = entry();
    rig.want({ ...sizeless, notional: "1230" });
    rig.run(200);
    show(rig, 1_000);
    rig.run(60_000);
    expect(position(rig)).toBe("0.02");
    expect(rig.places().map(({ sz }) => sz)).toEqual(["1230", "990"]);
  });

  it("is not followed when it is withdrawn or something else is wanted", () => {
    const rig = ready();
    show(rig, 4);
    rig.want(entry());
    rig.run(200);
    rig.want();
    show(rig, 1_000);
    rig.run(60_000);
    expect([position(rig), rig.count("placeOrder")]).toEqual(["0.004", 1]);
    rig.want(entry({ qty: "0.01", round: 1 }));
    rig.run(60_000);
    expect([position(rig), rig.count("placeOrder")]).toEqual(["0.014", 2]);
  });

  it.each([10, 30, 60])("is not doubled by a halt %i ms after it left", (ms) => {
    // Its record is read, not pushed: until then it may rest for all that is known, and a cancel is sent.
    const rig = ready({ push: false });
    show(rig, 4);
    rig.want(entry());
    rig.run(ms);
    rig.orderManager.setMode("halted", "test");
    rig.run(60_000);
    expect(position(rig)).toBe("0.004");
    show(rig, 1_000);
    rig.orderManager.setMode("active", "test");
    rig.run(60_000);
    expect(position(rig)).toBe("0.02");
  });

  it("is told and not followed when it was placed by hand", () => {
    const rig = ready();
    show(rig, 4);
    const { slot: _slot, ...order } = entry();
    let completed = false;
    const seen: unknown[] = [];
    rig.orders
      .place(order)
      .subscribe({ next: ({ phase, filledQty }) => seen.push([phase, filledQty]), complete: () => (completed = true) });
    rig.run(200);
    show(rig, 1_000);
    rig.run(60_000);
    expect([completed, position(rig), rig.count("placeOrder")]).toEqual([true, "0.004", 1]);
    expect(rig.journalled("order.inexact")).toMatchObject([{ qty: "0.02", filledQty: "0.004" }]);
    expect(seen.at(-1)).toEqual(["canceled", "0.004"]);
  });

  it("is not carried on once its stop has closed what it had bought", () => {
    const rig = ready();
    show(rig, 4);
    rig.want(entry({ protect: { stopLoss: "59000" } }));
    rig.run(100);
    expect(position(rig)).toBe("0.004");
    show(rig, 1_000, 589_999);
    rig.price("58999");
    rig.run(100);
    expect(position(rig)).toBe("0");
    rig.price("60000");
    show(rig, 1_000);
    rig.run(600_000);
    expect([position(rig), rig.count("placeOrder")]).toEqual(["0", 2]);
  });

  it("keeps the exit that is wanted beside it until all of it is closed", () => {
    const rig = ready();
    show(rig, 4);
    const target: WantedOrder = { slot: "tp", instId: swap, side: "sell", px: "61000", qty: "0.02", reduceOnly: true };
    rig.want(entry(), target);
    rig.run(150);
    // What was bought first is sold before the rest is bought.
    show(rig, 1_000, 610_001);
    rig.run(100);
    show(rig, 1_000);
    rig.run(60_000);
    show(rig, 1_000, 610_001);
    rig.run(60_000);
    const sold = rig.truth().filter(({ side }) => side === "sell");
    expect(sold.length).toBeGreaterThan(0);
    expect(position(rig)).toBe("0");
  });

  it("leaves orders that may take a part by their kind as they are", () => {
    for (const ordType of ["ioc", "fok"] as const) {
      const rig = ready();
      show(rig, 4);
      rig.want(entry({ ordType, px: "60000" }));
      rig.run(600_000);
      expect(rig.count("placeOrder")).toBe(1);
      expect(equal(position(rig), ordType === "ioc" ? "0.004" : "0")).toBe(true);
    }
  });
});
