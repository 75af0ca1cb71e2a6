/**
 * What orders and fills do to balances and positions.
 */
import { describe, expect, it } from "vitest";
import { setting, spot, swap } from "../../support/harness/venue.ts";

const inBase = (options: Parameters<typeof setting>[1] = {}) =>
  setting({ order: { szUnit: { SPOT: "base", SWAP: "base" } } }, options);
const cancelPath = "trade/cancel-batch-orders";

describe("A spot account", () => {
  it("freezes the price and the fee of a resting buy, and frees them on cancel", () => {
    const it = setting({ capabilities: { cancelSpot: true } });
    const ordId = it.placed({ instId: spot, px: "50000", sz: "5000" });
    expect(it.balance("USDT")).toEqual({ currency: "USDT", balance: "100000", available: "94997.5", frozen: "5002.5" });
    it.write(cancelPath, [{ instId: spot, ordId }]);
    expect(it.balance("USDT")).toEqual({ currency: "USDT", balance: "100000", available: "100000", frozen: "0" });
  });

  it("freezes the base of a resting sell", () => {
    const it = inBase();
    it.placed({ instId: spot, side: "sell", px: "70000", sz: "4" });
    expect(it.balance("BTC")).toMatchObject({ balance: "10", available: "6", frozen: "4" });
  });

  it("exchanges base for quote and takes the fee in quote, as the buyer", () => {
    const it = inBase();
    it.quote(spot, 59999, 1, 60000, 1);
    it.placed({ instId: spot, px: "61000", sz: "0.5" });
    expect(it.balance("BTC")?.balance).toBe("10.5");
    expect(it.balance("USDT")).toMatchObject({ balance: "69985", frozen: "0" });
  });

  it("exchanges base for quote and takes the fee in quote, as the seller", () => {
    const it = inBase();
    it.quote(spot, 60000, 1, 60001, 1);
    it.placed({ instId: spot, side: "sell", ordType: "market", px: undefined, sz: "0.5" });
    expect(it.balance("BTC")).toMatchObject({ balance: "9.5", frozen: "0" });
    expect(it.balance("USDT")?.balance).toBe("129985");
  });

  it("frees what a better price and a maker's fee leave over while the rest keeps resting", () => {
    const it = inBase();
    it.quote(spot, 59999, 1, 60000, 0.1);
    it.placed({ instId: spot, px: "61000", sz: "0.3" });
    expect(it.balance("USDT")).toMatchObject({ balance: "93997", frozen: "12206.1" });
    it.trade(spot, "sell", 60999, 1);
    expect(it.balance("USDT")).toMatchObject({ balance: "81794.56", frozen: "0" });
  });

  it("pays a rebate for a negative maker fee", () => {
    const it = setting(
      {},
      { fees: { SPOT: { makerBps: "-1", takerBps: "5" }, SWAP: { makerBps: "0", takerBps: "0" } } },
    );
    const ordId = it.placed({ instId: spot, px: "50000", sz: "5000" });
    it.trade(spot, "sell", 49999, 1);
    expect(it.fills[0]).toMatchObject({ cost: "-0.5", fee: "0.5", liquidity: "maker" });
    expect(it.order(ordId).fee).toBe("0.5");
    expect(it.balance("USDT")?.balance).toBe("95000.5");
  });

  it.each([
    ["a buy", { px: "50000", sz: "2" }],
    ["a sell", { side: "sell", px: "50000", sz: "10.001" }],
    ["a market buy", { ordType: "market", px: undefined, sz: "2" }],
    ["a market sell", { ordType: "market", side: "sell", px: undefined, sz: "10.001" }],
  ])("refuses %s that the account cannot pay for", (_, order) => {
    const it = inBase();
    it.quote(spot, 59999, 100, 60000, 100);
    expect(it.place({ instId: spot, ...order })).toMatchObject({ status: 200, body: { code: "51008" } });
    expect(it.venue.truth("ann").orders).toEqual([]);
  });

  it("counts what other orders have frozen", () => {
    const it = inBase();
    it.placed({ instId: spot, side: "sell", px: "70000", sz: "6" });
    expect(it.place({ instId: spot, side: "sell", px: "70000", sz: "4.001" }).body.code).toBe("51008");
    expect(it.place({ instId: spot, side: "sell", px: "70000", sz: "4" }).body.code).toBe("0");
  });
});

describe("A swap account", () => {
  const long = () => {
    const it = inBase();
    it.quote(swap, 59999, 1, 60000, 1);
    it.placed({ px: "60000", sz: "0.1" });
    return it;
  };

  it("opens a signed position with its average entry price, margin and profit at mid", () => {
    const it = long();
    expect(it.position()).toMatchObject({
      pos: "0.1",
      avgPx: "60000",
      markPx: "59999.5",
      lever: "10",
      margin: "600",
      upl: "-0.05",
      mgnMode: "cross",
    });
    // The margin, and the half tick that the position has lost already.
    expect(it.balance("USDT")).toMatchObject({ balance: "99997", frozen: "600.05" });
  });

  it("counts into equity with its open profit, beside what spot markets pay for other currencies", () => {
    const it = long();
    expect(it.venue.truth("ann").equity).toBe("99996.95");
    it.quote(spot, 59999, 1, 60000, 1);
    expect(it.venue.truth("ann").equity).toBe("699991.95");
    expect(it.venue.equity("ann")).toBe("699991.95");
  });

  it("averages entries, and books profit into the quote balance when it is reduced", () => {
    const it = long();
    it.quote(swap, 61999, 1, 62000, 1);
    it.placed({ px: "62000", sz: "0.1" });
    expect(it.position()).toMatchObject({ pos: "0.2", avgPx: "61000" });
    it.quote(swap, 63000, 1, 63001, 1);
    it.placed({ side: "sell", px: "63000", sz: "0.05" });
    expect(it.position()).toMatchObject({ pos: "0.15", avgPx: "61000", margin: "915" });
    expect(it.balance("USDT")?.balance).toBe("100092.325");
  });

  it("turns from long to short through zero", () => {
    const it = long();
    it.placed({ side: "sell", px: "59999", sz: "0.3" });
    expect(it.position()).toMatchObject({ pos: "-0.2", avgPx: "59999", margin: "1199.98" });
    it.quote(swap, 58999, 1, 59000, 1);
    it.placed({ px: "59000", sz: "0.2" });
    expect(it.position()).toBeUndefined();
    expect(it.balance("USDT")).toMatchObject({ balance: "100181.80015", frozen: "0" });
  });

  it("freezes margin and fee of the part of an order that opens, and only the fee of the part that closes", () => {
    const it = long();
    it.placed({ side: "sell", px: "70000", sz: "0.1" });
    expect(it.balance("USDT")?.frozen).toBe("603.55");
    it.placed({ side: "sell", px: "70000", sz: "0.1" });
    expect(it.balance("USDT")?.frozen).toBe("1307.05");
  });

  it("refuses what the account cannot carry, and never a way out", () => {
    const it = inBase({
      users: [
        { uid: "ann", keys: [{ name: "ann-1", permissions: ["read", "trade_futures"] }], balances: { USDT: "603" } },
      ],
    });
    it.quote(swap, 59999, 1, 60000, 1);
    expect(it.place({ px: "60000", sz: "0.101" }).body.code).toBe("51008");
    it.placed({ px: "60000", sz: "0.1" });
    expect(it.balance("USDT")?.available).toBe("-0.05");
    expect(it.place({ px: "50000", sz: "0.001" }).body.code).toBe("51008");
    expect(it.place({ side: "sell", px: "59999", sz: "0.1" }).body.code).toBe("0");
    expect(it.position()).toBeUndefined();
  });

  it("sets aside margin for the opening part of a market order only", () => {
    const it = inBase({
      users: [{ uid: "ann", keys: [{ name: "ann-1", permissions: ["trade_futures"] }], balances: { USDT: "1000" } }],
    });
    it.quote(swap, 59999, 1, 60000, 1);
    it.placed({ px: "60000", sz: "0.1" });
    expect(it.place({ side: "sell", ordType: "market", px: undefined, sz: "0.2" }).body.code).toBe("51008");
    expect(it.place({ side: "sell", ordType: "market", px: undefined, sz: "0.15" }).body.code).toBe("0");
    expect(it.position()?.pos).toBe("-0.05");
  });

  it("shows no profit and no mark while no price is known", () => {
    const it = inBase();
    it.quote(swap, 59999, 1, 60000, 1);
    it.placed({ px: "60000", sz: "0.1" });
    it.quote(swap, 0, 0, 0, 0);
    expect(it.position()).toMatchObject({ markPx: "", upl: "0" });
    it.trade(swap, "buy", 60100, 1);
    expect(it.position()).toMatchObject({ markPx: "60100", upl: "10" });
  });

  it("closes at market and says so when there is nothing to close", () => {
    const it = long();
    expect(it.write("trade/close-position", { instId: swap, clOrdId: "out" }).body.data).toEqual([
      { instId: swap, clOrdId: "out" },
    ]);
    const [order] = it.venue.truth("ann").orders;
    expect(order).toMatchObject({
      clOrdId: "out",
      ordType: "market",
      side: "sell",
      sz: "0.1",
      state: "filled",
      avgPx: "59999",
    });
    expect(it.position()).toBeUndefined();
    expect(it.write("trade/close-position", { instId: swap }).body.code).toBe("51023");
    expect(it.write("trade/close-position", { instId: spot }).body.code).toBe("51023");
  });
});

describe("A reduceOnly order", () => {
  const long = () => {
    const it = inBase();
    it.quote(swap, 59999, 1, 60000, 1);
    it.placed({ px: "60000", sz: "0.1" });
    return it;
  };

  it("never opens: it takes what the position has and is complete then", () => {
    const it = long();
    const ordId = it.placed({ side: "sell", px: "59999", sz: "0.5", reduceOnly: true });
    expect(it.order(ordId)).toMatchObject({ state: "filled", sz: "0.5", accFillSz: "0.1" });
    expect(it.position()).toBeUndefined();
  });

  it("is refused without a position on the other side, and for spot", () => {
    const it = long();
    expect(it.place({ px: "60000", sz: "0.1", reduceOnly: true }).body.code).toBe("51023");
    expect(it.place({ instId: spot, side: "sell", px: "60000", sz: "0.1", reduceOnly: true }).body.code).toBe("51000");
  });

  it("promises each lot of the position once", () => {
    const it = long();
    const first = it.placed({ side: "sell", px: "70000", sz: "0.08", reduceOnly: true });
    const second = it.placed({ side: "sell", px: "70001", sz: "0.08", reduceOnly: true });
    expect(it.place({ side: "sell", px: "70002", sz: "0.08", reduceOnly: true }).body.code).toBe("51023");
    it.trade(swap, "buy", 71000, 1);
    expect([first, second].map((ordId) => it.order(ordId).accFillSz)).toEqual(["0.08", "0.02"]);
    expect(it.position()).toBeUndefined();
  });

  it("is withdrawn when its position is gone by another way", () => {
    const it = long();
    const ordId = it.placed({ side: "sell", px: "70000", sz: "0.1", reduceOnly: true });
    it.write("trade/close-position", { instId: swap });
    expect(it.order(ordId)).toMatchObject({ state: "canceled", accFillSz: "0" });
    expect(it.changes.at(-1)?.record).toMatchObject({ ordId, state: "canceled" });
  });
});

describe("Leverage", () => {
  it("sets the margin of positions and open orders anew", () => {
    const it = inBase();
    it.quote(swap, 59999, 1, 60000, 1);
    it.placed({ px: "60000", sz: "0.1" });
    it.placed({ px: "50000", sz: "0.1" });
    it.write("account/set-leverage", { instId: swap, lever: "20", mgnMode: "isolated" });
    expect(it.position()).toMatchObject({ lever: "20", margin: "300", mgnMode: "isolated" });
    expect(it.balance("USDT")?.frozen).toBe("552.5");
  });

  it.each([
    [swap, "51", "51102"],
    [swap, "0.5", "51102"],
    [swap, "-3", "51102"],
    [swap, "50", "0"],
    ["ETH-USDT-SWAP", "100", "0"],
    [spot, "5", "51000"],
    ["XRP-USDT-SWAP", "5", "51001"],
  ])("of %s: %s answers %s", (instId, lever, code) => {
    expect(setting().write("account/set-leverage", { instId, lever }).body.code).toBe(code);
  });

  it("is refused, and nothing changes, when the margin it needs is not there", () => {
    const it = inBase();
    it.quote(swap, 59999, 100, 60000, 100);
    it.placed({ px: "60000", sz: "10" });
    const before = it.venue.truth("ann");
    expect(it.write("account/set-leverage", { instId: swap, lever: "2" }).body.code).toBe("51008");
    expect(it.venue.truth("ann")).toEqual(before);
  });
});
