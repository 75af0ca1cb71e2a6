/**
 * What may be sent, and what a wanted order becomes in the service's words.
 */
import { describe, expect, it } from "vitest";
import { createContract } from "../../../src/contract/contract.ts";
import type { SzUnit } from "../../../src/contract/profile.ts";
import type { InstrumentRecord } from "../../../src/contract/schemas.ts";
import { spell } from "../../../src/decimal-value.ts";
import { specify, type WantedOrder } from "../../../src/orders/wanted-order.ts";
import { bid, eth, ready, spot, swap } from "../../support/harness/orders.ts";

describe("A pre-trade check refuses without a request:", () => {
  it.each<[string, Partial<WantedOrder>, RegExp]>([
    [
      "unknown instrument",
      { instId: "BTC-USDTT-SWAP" },
      /does not list BTC-USDTT-SWAP as tradable. Did you mean "BTC-USDT-SWAP"\?/,
    ],
    ["px that is no decimal", { px: "6e4" }, /px "6e4" is not decimal text/],
    ["px of another type", { px: 60000 as unknown as string }, /px 60000 is not decimal text/],
    ["px of zero", { px: "0" }, /px 0 is not positive/],
    ["negative px", { px: "-1" }, /px -1 is not positive/],
    ["missing px", { px: undefined } as unknown as Partial<WantedOrder>, /a limit order needs px/],
    [
      "missing px of an ioc",
      { px: undefined, ordType: "ioc" } as unknown as Partial<WantedOrder>,
      /a ioc order needs px|an ioc order needs px/,
    ],
    ["px below one tick", { px: "0.01" }, /px 0.01 is below one tick of 0.1/],
    ["bad qty", { qty: "many" }, /qty "many" is not decimal text/],
    ["qty of zero", { qty: "0.000" }, /qty 0.000 is not positive/],
    ["no size", { qty: undefined } as unknown as Partial<WantedOrder>, /exactly one of qty, notional and sz, not none/],
    ["two sizes", { notional: "5" }, /exactly one of qty, notional and sz, not qty and notional/],
    ["below one lot", { qty: "0.0009" }, /below one lot of 0.001 BTC/],
    [
      "an amount below one lot",
      { qty: undefined, notional: "59.9" } as unknown as Partial<WantedOrder>,
      /below one lot of 0.001 BTC/,
    ],
    ["unknown ordType", { ordType: "limti" as "limit" }, /ordType "limti" is not one of .* Did you mean "limit"\?/],
    ["unknown side", { side: "bid" as "buy" }, /side "bid" is not one of buy, sell/],
    ["bad keepWithin", { keepWithin: "near" }, /keepWithin "near" is not decimal text/],
    [
      "resting spot order",
      { instId: spot },
      /a resting spot order could not be cancelled: .* orders.allowUncancellable/,
    ],
    ["resting spot post_only", { instId: spot, ordType: "post_only" }, /a resting spot order could not be cancelled/],
  ])("%s", (_, over, reason) => {
    const rig = ready();
    rig.want(bid(over));
    rig.run(5_000);
    expect(rig.refusals).toHaveLength(1);
    expect(rig.refusals[0]).toMatch(reason);
    expect(rig.arrivals.filter(({ endpoint }) => endpoint !== "instruments")).toEqual([]);
    expect(rig.journalled("order.refused")).toHaveLength(1);
  });

  it("below the minimum", () => {
    const rig = ready();
    rig.venue.change(swap, { minSize: "0.005" }, rig.clock.now());
    rig.resources.instruments.refresh();
    rig.run();
    rig.want(bid({ qty: "0.004" }));
    expect(rig.refusals).toEqual(["the size 0.004 is below the minimum of 0.005"]);
  });

  it("a market order whose size needs a price nobody knows, when the run ends without one", () => {
    const rig = ready();
    rig.setMarketPx(undefined);
    rig.want({ slot: "m", instId: swap, side: "buy", ordType: "market", qty: "0.01" });
    rig.run(60_000);
    expect(rig.refusals).toEqual([]);
    rig.orderManager.leave();
    expect(rig.refusals).toEqual([`no quote of ${swap} is known yet to turn the size into the service's unit`]);
  });

  it("one open order too many of a strategy, placed when another has ended", () => {
    const rig = ready({ rules: { openPerStrategy: 2 } });
    rig.want(...["60000", "50000"].map((px) => bid({ slot: px, px })));
    rig.run();
    rig.want(...["60000", "50000", "40000"].map((px) => bid({ slot: px, px })));
    rig.run(1_000);
    expect(rig.refusals).toEqual(["the strategy has 2 open orders, its limit (orders.openPerStrategy)"]);
    expect(rig.places()).toHaveLength(2);
    rig.trade("sell", 59999, 1);
    rig.run();
    expect(rig.resting()).toEqual(["buy 40000", "buy 50000"]);
  });

  it("one open order too many of all strategies", () => {
    const rig = ready({ rules: { openInAll: 1 } });
    rig.orderManager.want("a", [bid()]);
    rig.run();
    rig.orderManager.want("b", [bid({ px: "50000" })]);
    rig.run();
    expect(rig.refusals[0]).toMatch(/^1 orders are open, as many as the quota/);
    expect(rig.places()).toHaveLength(1);
  });

  it("said once, and again when the wanted order changes", () => {
    const rig = ready();
    for (const qty of ["0.0001", "0.0001", "0.0002", "0.0002"]) {
      rig.want(bid({ qty }));
      rig.run();
    }
    expect(rig.refusals).toHaveLength(2);
  });

  it("until the product is listed", () => {
    const rig = ready();
    rig.want(bid({ instId: "SOL-USDT-SWAP", px: "100", qty: "1" }));
    rig.run(50);
    expect(rig.refusals).toHaveLength(1);
    // The list may be old: it is read again, but not for every wanted order.
    expect(rig.count("instruments")).toBe(1);
    rig.venue.list({ instId: "SOL-USDT-SWAP", tickSize: "0.01", lotSize: "0.1" }, rig.clock.now());
    rig.resources.instruments.refresh();
    rig.run();
    rig.orderManager.reconsider();
    rig.run();
    expect(rig.resting()).toEqual(["buy 100"]);
  });

  it("asks for the list once, however many wanted orders name what is not listed", () => {
    const rig = ready();
    rig.want(...["A", "B", "C"].map((base) => bid({ slot: base, instId: `${base}-USDT-SWAP` })));
    rig.run(30_000);
    rig.want(bid({ slot: "D", instId: "D-USDT-SWAP" }));
    rig.run(1_000);
    expect(rig.refusals).toHaveLength(4);
    expect(rig.count("instruments")).toBe(1);
  });

  it("lets spot orders rest where that is asked for, and never asks to cancel them", () => {
    const rig = ready({ rules: { allowUncancellable: true } });
    rig.want(bid({ instId: spot, px: "50000" }));
    rig.run();
    expect(rig.resting()).toEqual(["buy 50000"]);
    rig.want();
    rig.run(60_000);
    expect(rig.count("cancelBatch")).toBe(0);
    expect(rig.updates.at(-1)).toMatchObject({
      phase: "live",
      reason: expect.stringMatching(/cannot cancel spot/) as string,
    });
  });

  it("lets spot orders through that cannot rest", () => {
    const rig = ready();
    rig.want(bid({ instId: spot, ordType: "ioc" }));
    rig.run();
    expect(rig.phases("bid")).toEqual(["sent", "canceled"]);
  });
});

describe("Order permissions:", () => {
  it("spot orders need the one for spot, contract orders the one for contracts", () => {
    const rig = ready({ permissions: ["read", "trade_spot"] });
    rig.want(bid({ slot: "spot", instId: spot, ordType: "ioc" }), bid({ slot: "swap" }));
    rig.run();
    expect(rig.places().map(({ instId }) => instId)).toEqual([spot]);
    expect(rig.refusals).toEqual(['no key of user ann has the permission "trade_futures"']);
  });
});

describe("A wanted order in the service's units:", () => {
  const instrument: InstrumentRecord = { instId: swap, tickSize: "0.5", lotSize: "0.001", contractValue: "0.01" };
  const said = (
    wanted: Partial<WantedOrder>,
    unit: SzUnit = "base",
    marketPx?: string,
    over: Partial<InstrumentRecord> = {},
  ) => {
    const { profile } = createContract({ order: { szUnit: { SPOT: unit, SWAP: unit } } });
    const whole = { slot: "x", instId: swap, side: "buy", ...wanted } as WantedOrder;
    const result = specify(whole, { ...instrument, ...over }, profile, marketPx);
    if (!result.ok) return result.reason;
    const { spec, baseQty } = result;
    return `${spec.px || "market"} x ${spec.sz} (${baseQty === undefined ? "" : spell(baseQty)})`;
  };

  it.each([
    ["buy", "100.7", "100.5"],
    ["buy", "100.5", "100.5"],
    ["buy", "100.99999", "100.5"],
    ["sell", "100.7", "101"],
    ["sell", "100.5", "100.5"],
    ["sell", "100.00001", "100.5"],
  ] as const)("a %s at %s rests at %s: never nearer to the market than wanted", (side, px, placed) => {
    expect(said({ side, px, qty: "1" })).toBe(`${placed} x 1 (1)`);
  });

  it.each([
    ["1.0019", "1.001"],
    ["0.001", "0.001"],
    ["0.0019999", "0.001"],
  ])("a quantity of %s is cut to %s", (qty, sz) => {
    expect(said({ px: "100", qty })).toBe(`100 x ${sz} (${sz})`);
  });

  it.each<[SzUnit, Partial<WantedOrder>, string]>([
    ["base", { qty: "0.5" }, "100 x 0.5 (0.5)"],
    ["base", { notional: "50" }, "100 x 0.5 (0.5)"],
    ["base", { notional: "33.333" }, "100 x 0.333 (0.333)"],
    ["base", { sz: "0.5" }, "100 x 0.5 (0.5)"],
    ["quote_notional", { qty: "0.5" }, "100 x 50 (0.5)"],
    ["quote_notional", { qty: "0.5009" }, "100 x 50 (0.5)"],
    ["quote_notional", { notional: "50.05" }, "100 x 50.05 (0.5)"],
    ["quote_notional", { sz: "50" }, "100 x 50 (0.5)"],
    ["contracts", { qty: "0.5" }, "100 x 50 (0.5)"],
    ["contracts", { qty: "0.5199" }, "100 x 51.9 (0.519)"],
    ["contracts", { notional: "50" }, "100 x 50 (0.5)"],
    ["contracts", { sz: "50" }, "100 x 50 (0.5)"],
    ["contracts", { qty: "0.009" }, "100 x 0.9 (0.009)"],
  ])("where sz counts %s, %o becomes %s", (unit, size, text) => {
    expect(said({ px: "100", ...size }, unit)).toBe(text);
  });

  it.each<[SzUnit, Partial<WantedOrder>, string | undefined, string]>([
    ["quote_notional", { qty: "0.5" }, "200", "market x 100.1 (0.5)"],
    ["quote_notional", { qty: "1" }, "200", "market x 200.1 (1)"],
    ["quote_notional", { qty: "2" }, "200", "market x 399.9 (2)"],
    ["quote_notional", { notional: "100" }, "200", "market x 100 (0.5)"],
    ["quote_notional", { notional: "100" }, undefined, "market x 100 ()"],
    [
      "quote_notional",
      { qty: "0.5" },
      undefined,
      `no quote of ${swap} is known yet to turn the size into the service's unit`,
    ],
    ["base", { qty: "0.5009" }, undefined, "market x 0.5 (0.5009)"],
    ["base", { notional: "100" }, "200", "market x 0.5 (0.5)"],
    [
      "base",
      { notional: "100" },
      undefined,
      `no quote of ${swap} is known yet to turn the size into the service's unit`,
    ],
    ["contracts", { qty: "0.5" }, "200", "market x 50 (0.5)"],
    ["contracts", { sz: "7" }, undefined, "market x 7 ()"],
  ])("where sz counts %s, a market order of %o at %s becomes %s", (unit, size, marketPx, text) => {
    expect(said({ ordType: "market", ...size }, unit, marketPx)).toBe(text);
  });

  it("counts whole contracts where a lot is no finite part of one", () => {
    expect(said({ px: "100", qty: "0.519" }, "contracts", undefined, { contractValue: "0.003" })).toBe(
      "100 x 173 (0.519)",
    );
    expect(said({ px: "100", qty: "0.52" }, "contracts", undefined, { contractValue: "0.003" })).toBe(
      "100 x 173 (0.519)",
    );
    expect(said({ px: "100", qty: "0.002" }, "contracts", undefined, { contractValue: "0.003" })).toBe(
      "the size 0.002 is below one contract of 0.003",
    );
  });

  it("stays exact where floats would not", () => {
    expect(said({ px: "0.3", qty: "0.1" }, "quote_notional", undefined, { tickSize: "0.1", lotSize: "0.1" })).toBe(
      "0.3 x 0.03 (0.1)",
    );
    expect(said({ px: "0.1", notional: "0.3" }, "base", undefined, { tickSize: "0.1", lotSize: "1" })).toBe(
      "0.1 x 3 (3)",
    );
    expect(said({ px: "9007199254740993", qty: "1" }, "quote_notional", undefined, { tickSize: "1" })).toBe(
      "9007199254740993 x 9007199254740993 (1)",
    );
  });

  it("is what the service takes, for every unit", () => {
    for (const unit of ["quote_notional", "base", "contracts"] as const) {
      const rig = ready({ profile: { order: { szUnit: { SPOT: unit, SWAP: unit } } } });
      rig.want(bid({ slot: "b", instId: eth, px: "3000.019", qty: "1.5" }), {
        slot: "n",
        instId: eth,
        side: "buy",
        px: "3000",
        notional: "4500",
      });
      rig.run();
      expect(rig.refusals).toEqual([]);
      expect(rig.phases("b")).toEqual(["sent", "live"]);
      expect(rig.phases("n")).toEqual(["sent", "live"]);
    }
  });
});
