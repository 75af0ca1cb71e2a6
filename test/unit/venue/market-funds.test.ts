/** A market order is accepted exactly where what it may cost is there, however cheaply that is decided. */
import { describe, expect, it } from "vitest";
import { instruments, setting, spot, swap } from "../../support/harness/venue.ts";

const fees = { makerBps: "2", takerBps: "9999" };
const dear = { SPOT: fees, SWAP: fees };
const users = (usdt: string, btc = "0") => [
  {
    uid: "ann",
    keys: [{ name: "ann-1", permissions: ["read", "trade_spot", "trade_futures"] }],
    balances: { USDT: usdt, BTC: btc },
  },
];
const base = { order: { szUnit: { SPOT: "base", SWAP: "base" } }, margin: { leverageDefault: "1" } } as const;

/** 0.01 at 60000 is worth 600; the middle of the quote is 0.5 below. */
const buy = (usdt: string, instId: string, options: Parameters<typeof setting>[1] = {}) => {
  const it = setting(base, { users: users(usdt), fees: dear, ...options });
  it.quote(instId, 59_999, 1, 60_000, 1);
  const { msg } = it.place({ instId, ordType: "market", px: undefined, sz: "0.01" }).body;
  return { msg, frozen: it.balance("USDT")?.frozen };
};

describe("A market order", () => {
  it.each([
    ["all of it is there", swap, "1199.94"],
    ["a little more is there", swap, "1199.95"],
    ["twice the value is there", swap, "1200"],
    ["a spot buy, all of it is there", spot, "1199.94"],
  ])("is accepted: %s", (_, instId, usdt) => {
    expect(buy(usdt, instId)).toEqual({ msg: "", frozen: instId === swap ? "600.005" : "0" });
  });

  it.each([
    ["a little is missing", swap, "1199.93", "The order needs 1199.94 USDT; 1199.93 is available."],
    ["less than the value is there", swap, "599", "The order needs 1199.94 USDT; 599 is available."],
    ["a spot buy, a little is missing", spot, "1199.93", "The order needs 1199.94 USDT; 1199.93 is available."],
  ])("is refused: %s", (_, instId, usdt, msg) => {
    expect(buy(usdt, instId)).toEqual({ msg, frozen: "0" });
  });

  it("is held to the margin that a leverage below 1 asks for", () => {
    const cheap = { makerBps: "2", takerBps: "5" };
    const halves = {
      instruments: instruments.map((one) => ({ ...one, maxLeverage: "0.5" })),
      fees: { SPOT: cheap, SWAP: cheap },
    };
    expect(buy("1200.29", swap, halves).msg).toBe("The order needs 1200.3 USDT; 1200.29 is available.");
    expect(buy("1200.3", swap, halves).msg).toBe("");
  });

  it("that sells spot needs the base, whatever money is there", () => {
    const it = setting(base, { users: users("1000000", "0.009"), fees: dear });
    it.quote(spot, 59_999, 1, 60_000, 1);
    const { msg } = it.place({ instId: spot, side: "sell", ordType: "market", px: undefined, sz: "0.01" }).body;
    expect(msg).toBe("The order needs 0.01 BTC; 0.009 is available.");
  });
});
