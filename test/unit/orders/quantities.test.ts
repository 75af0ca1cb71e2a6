/**
 * Quantities in base currency where the service counts sizes in quote currency: what was wanted is what is executed.
 */
import { describe, expect, it } from "vitest";
import { add, equal, neg } from "../../../src/decimal.ts";
import { type Rig, ready, swap } from "../../support/harness/orders.ts";

/** Best prices at the service, in ticks of 0.1, with more than enough behind them. */
const show = (rig: Rig, bidTicks: number, askTicks: number): void => {
  rig.venue.quote(swap, bidTicks, 10_000_000, askTicks, 10_000_000, rig.clock.now());
};

/** Net position at the service in base currency. */
const position = (rig: Rig): string =>
  rig.venue
    .truth("ann")
    .positions.filter(({ instId }) => instId === swap)
    .reduce((net, { pos }) => add(net, pos), "0");

const market = (side: "buy" | "sell", qty: string, round: number) => ({
  slot: "m",
  instId: swap,
  side,
  ordType: "market" as const,
  qty,
  round,
});

describe("Market orders by quantity, sized in quote currency", () => {
  it.each([
    ["a tick above the quote it was sized by", 599_999, 600_001],
    ["a hundred ticks above it", 600_099, 600_101],
    ["half a per cent above it", 602_998, 603_000],
    ["half a per cent below it", 596_998, 597_000],
  ])("buy exactly what was wanted at %s", (_, bidTicks, askTicks) => {
    const rig = ready();
    show(rig, bidTicks, askTicks);
    rig.want(market("buy", "0.02", 1));
    rig.run();
    expect(position(rig)).toBe("0.02");
    expect(rig.count("placeOrder")).toBe(1);
  });

  it("turn a position a thousand times without a lot of drift", () => {
    const rig = ready();
    let wanted = "0.01";
    show(rig, 600_000, 600_001);
    rig.want(market("buy", "0.01", 0));
    rig.run();
    for (let round = 1; round <= 1_000; round++) {
      const side = round % 2 === 1 ? "sell" : "buy";
      // The market moves by up to 0.2 % while the order is on its way.
      const mid = 600_000 + ((round * 7_919) % 2_400) - 1_200;
      show(rig, mid, mid + 1);
      rig.want(market(side, "0.02", round));
      rig.run(60);
      wanted = add(wanted, side === "buy" ? "0.02" : neg("0.02"));
      expect(position(rig)).toBe(wanted);
    }
    expect(rig.journalled("order.inexact")).toEqual([]);
  });

  it("bring the rest of a large quantity by a second order", () => {
    const rig = ready();
    show(rig, 600_000, 600_100);
    rig.want(market("buy", "20", 1));
    rig.run();
    expect(position(rig)).toBe("20");
    expect(rig.count("placeOrder")).toBe(2);
    rig.want(market("buy", "20", 1));
    rig.run(60_000);
    expect(rig.count("placeOrder")).toBe(2);
  });

  it("say what differs when the price improved by more than a large order allows for", () => {
    const rig = ready();
    show(rig, 590_000, 590_100);
    rig.want(market("buy", "20", 1));
    rig.run();
    const [told] = rig.journalled("order.inexact");
    expect(told).toMatchObject({ strategy: "s", slot: "m", qty: "20", filledQty: position(rig) });
    expect(equal(position(rig), "20")).toBe(false);
    expect(rig.count("placeOrder")).toBe(1);
  });

  it.each(["quote_notional", "base", "contracts"] as const)(
    "say what is missing when the book held too little, sized in %s",
    (unit) => {
      const rig = ready({ profile: { order: { szUnit: { SPOT: unit, SWAP: unit } } } });
      rig.venue.quote(swap, 600_000, 4, 600_001, 4, rig.clock.now());
      rig.want(market("buy", "0.02", 1));
      rig.run(60_000);
      expect([position(rig), rig.count("placeOrder")]).toEqual(["0.004", 1]);
      expect(rig.journalled("order.inexact")).toMatchObject([
        {
          strategy: "s",
          slot: "m",
          qty: "0.02",
          filledQty: "0.004",
          reason: expect.stringContaining("0.016 of it is missing"),
        },
      ]);
    },
  );

  it("say nothing of a limit order that was to take what is there and no more", () => {
    const rig = ready();
    rig.venue.quote(swap, 600_000, 4, 600_001, 4, rig.clock.now());
    rig.want({ ...market("buy", "0.02", 1), ordType: "ioc" as const, px: "60000.1" });
    rig.run(60_000);
    expect([position(rig), rig.truth()[0]?.state]).toEqual(["0.004", "canceled"]);
    expect(rig.journalled("order.inexact")).toEqual([]);
  });

  it("end an order by hand when all of its quantity is executed", () => {
    const rig = ready();
    show(rig, 600_000, 600_100);
    const phases: string[] = [];
    let completed = false;
    const { slot: _slot, round: _round, ...order } = market("buy", "20", 1);
    rig.orders.place(order).subscribe({ next: ({ phase }) => phases.push(phase), complete: () => (completed = true) });
    rig.run();
    expect(position(rig)).toBe("20");
    expect(phases).toEqual(["sent", "filled", "sent", "filled"]);
    expect(completed).toBe(true);
  });

  it("size the rest by contracts and by base currency without a second order", () => {
    for (const unit of ["base", "contracts"] as const) {
      const rig = ready({ profile: { order: { szUnit: { SPOT: unit, SWAP: unit } } } });
      show(rig, 600_000, 600_100);
      rig.want(market("buy", "20.003", 1));
      rig.run();
      expect(position(rig)).toBe("20.003");
      expect(rig.count("placeOrder")).toBe(1);
    }
  });
});

describe("Orders by quantity on services that count contracts", () => {
  it("trade a tenth of a contract", () => {
    // A contract of ten coins, traded by hundredths of a coin.
    const rig = ready({ profile: { order: { szUnit: { SPOT: "base", SWAP: "contracts" } } } });
    rig.want({ slot: "b", instId: "ETH-USDT-SWAP", side: "buy", px: "3000", qty: "0.03" });
    rig.run();
    expect(rig.places().map(({ sz }) => sz)).toEqual(["0.3"]);
    expect(rig.truth().map(({ sz, state }) => `${sz} ${state}`)).toEqual(["0.3 live"]);
  });
});
