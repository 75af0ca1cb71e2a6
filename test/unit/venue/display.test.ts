/**
 * What takers find displayed, from recordings of quotes, of levels, and of both.
 */
import { describe, expect, it } from "vitest";
import { setting, spot, swap } from "../../support/harness/venue.ts";

/** Sizes in base currency keep these tests about quantities. */
const inBase = (options: Parameters<typeof setting>[1] = {}) =>
  setting({ order: { szUnit: { SPOT: "base", SWAP: "base" } } }, options);

const fillsOf = ({ fills }: ReturnType<typeof setting>) =>
  fills.map(({ uid, side, px, qty, liquidity }) => `${uid} ${side} ${qty}@${px} ${liquidity}`);

describe("The displayed market", () => {
  it("is one price in a recording of quotes", () => {
    const it = inBase();
    it.quote(swap, 59999, 1, 60000, 0.001);
    it.quote(swap, 60000, 1, 60001, 0.001);
    it.quote(swap, 59999, 1, 60000, 0.001);
    expect(it.order(it.placed({ ordType: "market", px: undefined, sz: "0.1" })).accFillSz).toBe("0.001");
  });

  it("loses the levels that a better quote has left behind, on either side", () => {
    const it = inBase();
    for (const px of [60000, 60001, 60002, 60500]) it.level(swap, "sell", px, 0.001);
    for (const px of [59999, 59998, 59000]) it.level(swap, "buy", px, 0.001);
    it.quote(swap, 59998, 0.001, 60002, 0.001);
    it.placed({ ordType: "market", px: undefined, sz: "0.002" });
    it.placed({ ordType: "market", side: "sell", px: undefined, sz: "0.002" });
    expect(it.fills.map(({ px }) => px)).toEqual(["60002", "60500", "59998", "59000"]);
  });

  it("is nothing on a side whose quote is empty", () => {
    const it = inBase();
    it.level(swap, "sell", 60000, 0.001);
    it.quote(swap, 59999, 1, 0, 0);
    expect(it.order(it.placed({ ordType: "market", px: undefined, sz: "0.001" }))).toMatchObject({
      state: "canceled",
      accFillSz: "0",
    });
  });

  it("follows a level that speaks of the price of the latest quote", () => {
    const it = inBase();
    it.quote(swap, 59999, 1, 60000, 0.002);
    it.level(swap, "sell", 60000, 0);
    it.level(swap, "buy", 59999, 0.001);
    it.placed({ ordType: "market", px: undefined, sz: "0.002" });
    it.placed({ ordType: "market", side: "sell", px: undefined, sz: "0.002" });
    expect(fillsOf(it)).toEqual(["ann sell 0.001@59999 taker"]);
  });

  it("is each instrument's own", () => {
    const it = inBase();
    it.quote(spot, 59999, 1, 60000, 1);
    expect(it.order(it.placed({ px: "60000", sz: "0.001" })).state).toBe("live");
    expect(it.order(it.placed({ instId: spot, px: "60000", sz: "0.001" })).state).toBe("filled");
  });
});
