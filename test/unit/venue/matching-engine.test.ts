/**
 * How orders meet the recorded market and each other.
 */
import { describe, expect, it } from "vitest";
import { setting, swap } from "../../support/harness/venue.ts";

/** Sizes in base currency keep these tests about quantities. */
const inBase = (options: Parameters<typeof setting>[1] = {}) =>
  setting({ order: { szUnit: { SPOT: "base", SWAP: "base" } } }, options);
const bob = { key: "bob-1" } as const;

const fillsOf = ({ fills }: ReturnType<typeof setting>) =>
  fills.map(({ uid, side, px, qty, liquidity }) => `${uid} ${side} ${qty}@${px} ${liquidity}`);

describe("A taking order", () => {
  it("walks the displayed levels from the best price on, up to its limit", () => {
    const it = inBase();
    it.level(swap, "sell", 60002, 0.003);
    it.level(swap, "sell", 60000, 0.001);
    it.level(swap, "sell", 60001, 0.002);
    const ordId = it.placed({ px: "60001", sz: "0.01" });
    expect(fillsOf(it)).toEqual(["ann buy 0.001@60000 taker", "ann buy 0.002@60001 taker"]);
    expect(it.order(ordId)).toMatchObject({
      state: "partially_filled",
      accFillSz: "0.003",
      avgPx: "60000.666666666666",
    });
  });

  it("sells down the bids", () => {
    const it = inBase();
    it.level(swap, "buy", 59999, 0.001);
    it.level(swap, "buy", 60000, 0.001);
    it.placed({ side: "sell", px: "59999", sz: "0.002" });
    expect(fillsOf(it)).toEqual(["ann sell 0.001@60000 taker", "ann sell 0.001@59999 taker"]);
  });

  it("consumes what is displayed until it is shown again", () => {
    const it = inBase();
    const take = () => it.placed({ ordType: "ioc", px: "60000", sz: "0.003" });
    it.quote(swap, 59999, 1, 60000, 0.002);
    take();
    take();
    expect(fillsOf(it)).toEqual(["ann buy 0.002@60000 taker"]);
    it.quote(swap, 59999, 1, 60000, 0.002);
    take();
    it.level(swap, "sell", 60000, 0.001);
    take();
    expect(fillsOf(it)).toEqual([
      "ann buy 0.002@60000 taker",
      "ann buy 0.002@60000 taker",
      "ann buy 0.001@60000 taker",
    ]);
  });

  it("meets other users' orders by price, then by time, at the maker's price", () => {
    const it = inBase();
    const first = it.placed({ side: "sell", px: "60001", sz: "0.001" }, bob);
    const second = it.placed({ side: "sell", px: "60001", sz: "0.001" }, bob);
    const best = it.placed({ side: "sell", px: "60000", sz: "0.001" }, bob);
    it.placed({ px: "60005", sz: "0.002", ordType: "ioc" });
    expect(fillsOf(it)).toEqual([
      "bob sell 0.001@60000 maker",
      "ann buy 0.001@60000 taker",
      "bob sell 0.001@60001 maker",
      "ann buy 0.001@60001 taker",
    ]);
    expect([best, first, second].map((ordId) => it.order(ordId, "bob").state)).toEqual(["filled", "filled", "live"]);
  });

  it("meets the displayed quantity that was there before a user's order, and after it the rest", () => {
    const it = inBase();
    it.level(swap, "sell", 60000, 0.002);
    it.placed({ side: "sell", px: "60000", sz: "0.001" }, bob);
    it.level(swap, "sell", 60000, 0.005);
    it.placed({ px: "60000", sz: "0.004", ordType: "ioc" });
    expect(fillsOf(it)).toEqual([
      "ann buy 0.002@60000 taker",
      "bob sell 0.001@60000 maker",
      "ann buy 0.001@60000 taker",
      "ann buy 0.001@60000 taker",
    ]);
  });

  it("passes by the orders of its own user, and both stay", () => {
    const it = inBase();
    const resting = it.placed({ side: "sell", px: "60000", sz: "0.001" });
    const crossing = it.placed({ px: "60000", sz: "0.001" });
    expect(fillsOf(it)).toEqual([]);
    expect([resting, crossing].map((ordId) => it.order(ordId).state)).toEqual(["live", "live"]);
  });
});

describe("Order types:", () => {
  const withAsks = () => {
    const it = inBase();
    it.level(swap, "sell", 60000, 0.001);
    it.level(swap, "sell", 60001, 0.001);
    return it;
  };

  it.each([
    ["limit", "60000", "0.003", "partially_filled", "0.001"],
    ["ioc", "60000", "0.003", "canceled", "0.001"],
    ["ioc", "59999", "0.003", "canceled", "0"],
    ["ioc", "60001", "0.002", "filled", "0.002"],
    ["fok", "60001", "0.003", "canceled", "0"],
    ["fok", "60001", "0.002", "filled", "0.002"],
    ["post_only", "59999.9", "0.003", "live", "0"],
    ["market", undefined, "0.002", "filled", "0.002"],
    ["market", undefined, "0.003", "canceled", "0.002"],
  ])("%s at %s for %s ends %s with %s", (ordType, px, sz, state, accFillSz) => {
    const it = withAsks();
    expect(it.order(it.placed({ ordType, px, sz }))).toMatchObject({ state, accFillSz });
  });

  it("a post-only order that would take is refused and leaves no order", () => {
    const it = withAsks();
    expect(it.place({ ordType: "post_only", px: "60000", sz: "0.001" })).toMatchObject({
      status: 200,
      body: { code: "51026", data: [{ ordId: "", sCode: "51026" }] },
    });
    expect(it.venue.truth("ann").orders).toEqual([]);
  });

  it("a market order in quote currency buys whole lots at each level until the money ends", () => {
    const it = setting();
    it.level(swap, "sell", 60000, 0.001);
    it.level(swap, "sell", 61000, 0.002);
    it.level(swap, "sell", 62000, 0.001);
    const ordId = it.placed({ ordType: "market", px: undefined, sz: "200" });
    expect(fillsOf(it)).toEqual(["ann buy 0.001@60000 taker", "ann buy 0.002@61000 taker"]);
    expect(it.order(ordId)).toMatchObject({ state: "filled", sz: "200", accFillSz: "182" });
  });

  it("a market order in quote currency that runs out of levels is canceled with its fills", () => {
    const it = setting();
    it.level(swap, "sell", 60000, 0.001);
    expect(it.order(it.placed({ ordType: "market", px: undefined, sz: "200" }))).toMatchObject({
      state: "canceled",
      accFillSz: "60",
    });
  });

  it("a market order that cannot buy one lot is refused", () => {
    const it = setting();
    it.level(swap, "sell", 60000, 0.001);
    expect(it.place({ ordType: "market", px: undefined, sz: "59" }).body.code).toBe("51020");
  });
});

describe("A resting order in the queue", () => {
  it("waits behind what was displayed when it came; a print eats the queue first", () => {
    const it = inBase();
    it.quote(swap, 60000, 0.005, 60001, 1);
    const ordId = it.placed({ px: "60000", sz: "0.003" });
    it.trade(swap, "sell", 60000, 0.004);
    expect(it.order(ordId).accFillSz).toBe("0");
    it.trade(swap, "sell", 60000, 0.002);
    expect(it.order(ordId).accFillSz).toBe("0.001");
    it.trade(swap, "sell", 60000, 0.002);
    expect(it.order(ordId)).toMatchObject({ state: "filled", avgPx: "60000" });
    expect(fillsOf(it)).toEqual(["ann buy 0.001@60000 maker", "ann buy 0.002@60000 maker"]);
  });

  it("is not met by a print of buyers at its bid", () => {
    const it = inBase();
    const ordId = it.placed({ px: "60000", sz: "0.003" });
    it.trade(swap, "buy", 60000, 1);
    expect(it.order(ordId).accFillSz).toBe("0");
  });

  it("moves forward when the displayed quantity shrinks below its place, and not when it grows", () => {
    const it = inBase();
    it.quote(swap, 60000, 0.005, 60001, 1);
    const ordId = it.placed({ px: "60000", sz: "0.001" });
    it.quote(swap, 60000, 0.009, 60001, 1);
    it.quote(swap, 60000, 0.002, 60001, 1);
    it.trade(swap, "sell", 60000, 0.002);
    expect(it.order(ordId).accFillSz).toBe("0");
    it.trade(swap, "sell", 60000, 0.001);
    expect(it.order(ordId).state).toBe("filled");
  });

  it("moves forward when a user takes what was displayed before it", () => {
    const it = inBase();
    it.level(swap, "sell", 60000, 0.002);
    const ordId = it.placed({ side: "sell", px: "60000", sz: "0.001" }, bob);
    it.placed({ px: "60000", sz: "0.002" });
    expect(it.order(ordId, "bob").state).toBe("live");
    it.trade(swap, "buy", 60000, 0.001);
    expect(it.order(ordId, "bob").state).toBe("filled");
  });

  it("moves forward by level updates too", () => {
    const it = inBase();
    it.level(swap, "buy", 60000, 0.005);
    const ordId = it.placed({ px: "60000", sz: "0.001" });
    it.level(swap, "buy", 60000, 0.001);
    it.trade(swap, "sell", 60000, 0.002);
    expect(it.order(ordId).state).toBe("filled");
  });

  it("is first when the best quote falls behind it", () => {
    const it = inBase();
    it.quote(swap, 60000, 0.005, 60001, 1);
    const ordId = it.placed({ px: "60000", sz: "0.001" });
    it.quote(swap, 59999, 1, 60001, 1);
    it.trade(swap, "sell", 60000, 0.001);
    expect(it.order(ordId).state).toBe("filled");
  });

  it("behind a quote, at a price never shown, waits for the whole quantity once it is shown", () => {
    const it = inBase();
    it.quote(swap, 60000, 0.005, 60001, 1);
    const ordId = it.placed({ px: "59990", sz: "0.001" });
    it.trade(swap, "sell", 59990, 5);
    expect(it.order(ordId).accFillSz).toBe("0");
    it.quote(swap, 59990, 0.004, 60001, 1);
    it.trade(swap, "sell", 59990, 0.004);
    expect(it.order(ordId).accFillSz).toBe("0");
    it.trade(swap, "sell", 59990, 0.001);
    expect(it.order(ordId).state).toBe("filled");
  });

  it("shares a print with the orders behind it in order of arrival", () => {
    const it = inBase();
    it.level(swap, "buy", 60000, 0.002);
    const first = it.placed({ px: "60000", sz: "0.001" });
    it.level(swap, "buy", 60000, 0.003);
    const second = it.placed({ px: "60000", sz: "0.001" }, bob);
    it.trade(swap, "sell", 60000, 0.004);
    expect(it.order(first).state).toBe("filled");
    expect(it.order(second, "bob").state).toBe("live");
    it.trade(swap, "sell", 60000, 0.001);
    expect(it.order(second, "bob").state).toBe("filled");
  });
});

describe("A resting order crossed by the market:", () => {
  it.each([
    ["buy", "60000", "sell", 59999.9],
    ["sell", "60000", "buy", 60000.1],
    ["buy", "60000", "buy", 59999.9],
    ["sell", "60000", "sell", 60000.1],
  ] as const)("a %s at %s is filled completely at its own price by a %s print at %s", (side, px, aggressor, print) => {
    const it = inBase();
    const ordId = it.placed({ side, px, sz: "0.5" });
    it.trade(swap, aggressor, print, 0.001);
    expect(it.order(ordId)).toMatchObject({ state: "filled", avgPx: "60000" });
  });

  it.each([
    ["buy", 59998, 59999],
    ["buy", 59999, 60000],
    ["sell", 60001, 60002],
    ["sell", 60000, 60001],
  ] as const)("a %s at 60000 is filled at its own price by a quote of %s to %s", (side, bid, ask) => {
    const it = inBase();
    const ordId = it.placed({ side, px: "60000", sz: "0.5" });
    it.quote(swap, bid, 1, ask, 1);
    expect(it.order(ordId)).toMatchObject({ state: "filled", avgPx: "60000" });
    expect(it.fills[0]?.liquidity).toBe("maker");
  });

  it("a level on the other side that reaches it fills it, an empty one does not", () => {
    const it = inBase();
    const ordId = it.placed({ px: "60000", sz: "0.5" });
    it.level(swap, "sell", 60000, 0);
    expect(it.order(ordId).state).toBe("live");
    it.level(swap, "sell", 60000, 0.1);
    expect(it.order(ordId).state).toBe("filled");
  });

  it("a quote without an ask meets no bid", () => {
    const it = inBase();
    const ordId = it.placed({ px: "60000", sz: "0.5" });
    it.quote(swap, 59999, 1, 0, 0);
    expect(it.order(ordId).state).toBe("live");
  });
});
