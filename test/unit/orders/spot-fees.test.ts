/** Spot where the service takes the fee of a purchase in the coin bought: holdings, exits, stops, and balances that hold less. */
import { describe, expect, it } from "vitest";
import { parseResponse } from "../../../src/client/parse-response.ts";
import type { ProfileOverrides } from "../../../src/contract/profile.ts";
import { sum } from "../../../src/decimal.ts";
import type { EventOf } from "../../../src/journal/events.ts";
import type { WantedOrder } from "../../../src/orders/wanted-order.ts";
import { type Rig, ready, reply, spot } from "../../support/harness/orders.ts";

const inCoins = {
  order: { szUnit: { SPOT: "base", SWAP: "base" }, spotBuyFee: "base" },
  capabilities: { cancelSpot: true },
} as const satisfies ProfileOverrides;

const quote = (rig: Rig, bidTicks = 600_000): void => {
  rig.venue.quote(spot, bidTicks, 100_000, bidTicks + 1, 100_000, rig.clock.now());
  rig.setMarketPx(String(bidTicks / 10));
  rig.price(String(bidTicks / 10));
};
const rigOf = (profile: ProfileOverrides = inCoins): Rig => {
  const rig = ready({ profile });
  quote(rig);
  return rig;
};
const balance = (rig: Rig, currency: string): string =>
  rig.venue.truth("ann").balances.find((one) => one.currency === currency)?.balance ?? "0";
const own = (rig: Rig) => rig.orderManager.positions.of("s", spot);
const fills = (rig: Rig): EventOf<"fill">[] => rig.journalled("fill") as EventOf<"fill">[];

const buy = (slot = "in", more: Partial<WantedOrder> = {}): WantedOrder => ({
  slot,
  instId: spot,
  side: "buy",
  ordType: "market",
  qty: "0.1",
  ...more,
});
const exit = (qty: string, more: Partial<WantedOrder> = {}): WantedOrder => ({
  slot: "out",
  instId: spot,
  side: "sell",
  ordType: "market",
  reduceOnly: true,
  qty,
  ...more,
});

describe("A purchase whose fee is taken in coins", () => {
  it("leaves what the account got, and money to the last digit", () => {
    const rig = rigOf();
    rig.want(buy());
    rig.run();
    expect([balance(rig, "BTC"), balance(rig, "USDT")]).toEqual(["10.09995", "993999.99"]);
    expect(own(rig)).toMatchObject({ qty: "0.09995", avgPx: "60000.1", fees: "3.000005", realised: "0" });
    expect(fills(rig)).toMatchObject([
      { qty: "0.09995", px: "60000.1", cost: "3.000005", fee: "-3.000005", feeQty: "0.00005", position: "0.09995" },
    ]);
    // Profit at the bid: what the coins are worth less what was paid.
    expect(own(rig).profit).toBe(sum(["5997", "-6000.01"]));
  });

  it("adds up over several purchases and partial fills", () => {
    const rig = rigOf();
    rig.want(buy("a"), buy("b", { qty: "0.2", ordType: "limit", px: "59990" }));
    rig.run();
    rig.trade("sell", 59_980, 0.05, spot);
    rig.run();
    rig.trade("sell", 59_980, 5, spot);
    rig.run();
    // 5 basis points of what was taken, 2 of what rested.
    expect(own(rig).qty).toBe("0.29991");
    expect(balance(rig, "BTC")).toBe("10.29991");
    expect(sum(fills(rig).map(({ qty }) => qty))).toBe("0.29991");
    expect(rig.orderManager.positions.equity().get("USDT")).toBe(own(rig).profit);
  });

  it("is sold again by an exit of what is held, down to the lot; what is less than a lot stays", () => {
    const rig = rigOf();
    rig.want(buy());
    rig.run();
    rig.want(exit(own(rig).qty));
    rig.run(120_000);
    expect(rig.places().map(({ side, sz }) => `${side} ${sz}`)).toEqual(["buy 0.1", "sell 0.099"]);
    expect(own(rig).qty).toBe("0.00095");
    expect(balance(rig, "BTC")).toBe("10.00095");
  });

  it.each([
    ["at the market", "market"],
    ["by a resting take-profit", "limit"],
  ] as const)("is protected with what is held, and its exit is not rejected: %s", (_, takeProfitAs) => {
    const rig = rigOf();
    rig.want(buy("in", { protect: { stopLoss: "59000", takeProfit: "61000", takeProfitAs } }));
    rig.run();
    expect(rig.journalled("protection.armed")).toMatchObject([{ qty: "0.09995", avgPx: "60000.1" }]);
    quote(rig, 590_000);
    rig.run(120_000);
    expect(own(rig).qty).toBe("0.00095");
    expect(rig.truth().filter(({ side, state }) => side === "sell" && state === "filled")).toMatchObject([
      { sz: "0.099" },
    ]);
    expect(rig.journalled("protection.ended")).toHaveLength(1);
    expect(rig.count("placeOrder")).toBeLessThanOrEqual(3);
  });

  it("is reported where what is left is too little for the order that would protect it", () => {
    const rig = rigOf();
    rig.want(buy("in", { qty: "0.001", protect: { stopLoss: "59000" } }));
    rig.run();
    expect(own(rig).qty).toBe("0.0009995");
    quote(rig, 580_000);
    rig.run(120_000);
    expect(rig.journalled("protection.armed")).toEqual([]);
    expect(rig.journalled("protection.ended")).toMatchObject([
      { name: "in", reason: "never in force: 0.0009995 is too little for an order" },
    ]);
    expect(rig.count("placeOrder")).toBe(1);
  });

  it("takes the currency that a record names before that of the profile", () => {
    const { contract } = rigOf();
    const record = { instId: spot, ordId: "1", clOrdId: "a", px: "", sz: "0.1", ordType: "market", side: "buy" };
    const data = [
      { ...record, state: "filled", avgPx: "1", accFillSz: "0.1", fee: "-1", createdAt: "1", updatedAt: "1" },
    ];
    const body = { code: "0", msg: "", data: [{ ...data[0], feeCcy: "USDT" }] };
    expect(parseResponse("getOrder", { status: 200, headers: {}, body }, contract, 0)).toMatchObject({
      records: [{ fee: "-1", feeCcy: "USDT" }],
      problems: [],
    });
  });
});

describe("A spot exit that the service rejects for want of funds", () => {
  const quoteFees = { ...inCoins, order: { ...inCoins.order, spotBuyFee: "quote" } } as const;
  const short = reply(200, {
    code: "1",
    msg: "",
    data: [{ ordId: "", clOrdId: "", sCode: "51008", sMsg: "Insufficient balance" }],
  });
  /** Holds 0.1 by its fills, of which somebody took a part. */
  const robbed = (left: string): Rig => {
    const rig = rigOf(quoteFees);
    rig.want(buy());
    rig.run();
    const taken = sum([balance(rig, "BTC"), `-${left}`]);
    const body = { instId: spot, side: "sell", ordType: "market", sz: taken };
    const request = {
      method: "POST",
      path: "/api/v1/trade/order",
      query: {},
      body,
      key: "k1",
      ip: "elsewhere",
    } as const;
    rig.venue.handle(request, rig.clock.now());
    rig.arrivals.length = 0;
    return rig;
  };

  it("is sized again by the balance", () => {
    const rig = robbed("0.05");
    rig.want(exit("0.1"));
    rig.run(120_000);
    expect(balance(rig, "BTC")).toBe("0");
    expect(
      rig
        .places()
        .map(({ sz }) => sz)
        .slice(0, 2),
    ).toEqual(["0.1", "0.05"]);
    expect(own(rig).qty).toBe("0.05");
  });

  it("is not sent again for coins that are not there, and says so", () => {
    const rig = robbed("0");
    rig.want(exit("0.1"));
    rig.run(600_000);
    expect(rig.count("placeOrder")).toBe(1);
    expect(rig.journalled("position.unprotected")).toMatchObject([{ slot: "out", qty: "0.1" }]);
  });

  it("goes out again once the coins are there that another order held", () => {
    const rig = robbed("0.1");
    rig.next("placeOrder", short);
    rig.want(exit("0.1"));
    rig.run(5_000);
    expect([balance(rig, "BTC"), own(rig).qty]).toEqual(["0", "0"]);
  });
});
