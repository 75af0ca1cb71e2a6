/** What strategies hold, from life to life. */
import { describe, expect, it } from "vitest";
import { createHoldings, type Held } from "../../../src/journal/holdings.ts";

const held = (position: string, cash: string, strategy = "one"): Held => ({
  uid: "main",
  strategy,
  instId: "BTC-USDT-SWAP",
  position,
  cash,
});

describe("Journalled holdings", () => {
  it("add what was traded to what is held, and change nothing before it is taken", () => {
    const holdings = createHoldings();
    expect(holdings.with(held("0.3", "-18000.1"))).toEqual(held("0.3", "-18000.1"));
    expect(holdings.all()).toEqual([]);
    holdings.take(held("0.3", "-18000.1"));
    expect(holdings.with(held("-0.1", "6000"))).toEqual(held("0.2", "-12000.1"));
    expect(holdings.with(held("-0.1", "6000", "two"))).toEqual(held("-0.1", "6000", "two"));
    expect(holdings.all()).toEqual([held("0.3", "-18000.1")]);
  });

  it("are worth what they were closed at, each by itself", () => {
    const holdings = createHoldings();
    for (const one of [held("0.3", "-18000"), held("-0.1", "6100", "two"), { ...held("1", "0"), uid: "other" }])
      holdings.take(one);
    expect(holdings.closed("main", "BTC-USDT-SWAP", [], "61000")).toEqual([held("0", "300"), held("0", "0", "two")]);
    expect(holdings.closed("main", "ETH-USDT-SWAP", [], "1")).toEqual([]);
    // A tenth sold at 60,900 for a fee of 3, and the rest at 61,000 or still held.
    const part = {
      strategy: "one",
      instId: "BTC-USDT-SWAP",
      side: "sell",
      px: "60900",
      qty: "0.1",
      cost: "3",
    } as const;
    expect(holdings.closed("main", "BTC-USDT-SWAP", [part], "61000")).toEqual([
      held("0", "287"),
      held("0", "0", "two"),
    ]);
    expect(holdings.closed("main", "BTC-USDT-SWAP", [part], undefined)).toEqual([
      held("0.2", "-11913"),
      held("-0.1", "6100", "two"),
    ]);
    expect(holdings.all()).toHaveLength(3);
  });

  it("are told whole by their records, which may be read twice and after older ones", () => {
    const holdings = createHoldings();
    const later = [held("1", "-5"), held("2", "-9"), held("7", "1", "two")];
    for (const one of [...later, ...later]) holdings.take(one);
    expect(holdings.all()).toEqual([held("2", "-9"), held("7", "1", "two")]);
    const again = createHoldings();
    for (const record of holdings.snapshot()) again.take(record);
    expect(again.all()).toEqual(holdings.all());
    expect(again.snapshot()).toEqual(holdings.snapshot());
  });
});
