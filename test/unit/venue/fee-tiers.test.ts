/** Fees follow from what was traded in the thirty days before; without tiers they are flat. */
import { describe, expect, it } from "vitest";
import type { Fees } from "../../../src/venue/venue.ts";
import { setting, spot, swap } from "../../support/harness/venue.ts";

const dayMs = 86_400_000;
const midnight = 19_700 * dayMs;
const flat: Fees = { makerBps: "2", takerBps: "5" };
const tiered: Fees = {
  ...flat,
  tiers: [
    { volumeMin: "1000", makerBps: "1", takerBps: "4" },
    { volumeMin: "5000", makerBps: "-0.5", takerBps: "3" },
  ],
};

/** Takes `value` of a product at 100 and says which fee it was charged, in basis points. */
const trader = (fees: { SPOT: Fees; SWAP: Fees }) => {
  const it = setting({}, { fees });
  return (instId: string, value: number, at: number): number => {
    it.venue.quote(instId, 999, 1_000_000, 1000, 1_000_000, at);
    it.place({ instId, ordType: "ioc", px: "100", sz: String(value) }, { at });
    return (Number(it.fills.at(-1)?.cost) / value) * 10_000;
  };
};

describe("Fee tiers", () => {
  it("change at the next midnight, by the value of the thirty days before, and fall back when it is gone", () => {
    const take = trader({ SPOT: flat, SWAP: tiered });
    expect(take(swap, 600, midnight + 1)).toBeCloseTo(5);
    expect(take(swap, 500, midnight + dayMs - 2)).toBeCloseTo(5);
    expect(take(swap, 100, midnight + dayMs - 1)).toBeCloseTo(5);
    expect(take(swap, 3000, midnight + dayMs)).toBeCloseTo(4);
    // 5000 in all, exactly what the tier asks for.
    expect(take(swap, 800, midnight + 2 * dayMs - 1)).toBeCloseTo(4);
    expect(take(swap, 100, midnight + 2 * dayMs)).toBeCloseTo(3);
    // Thirty whole days: the first day counts on the thirtieth after it, and no longer on the next.
    expect(take(swap, 100, midnight + 30 * dayMs)).toBeCloseTo(3);
    expect(take(swap, 100, midnight + 31 * dayMs)).toBeCloseTo(4);
    expect(take(swap, 100, midnight + 70 * dayMs)).toBeCloseTo(5);
  });

  it("count spot and swaps each by itself", () => {
    const take = trader({ SPOT: tiered, SWAP: tiered });
    take(swap, 6000, midnight);
    expect(take(spot, 100, midnight + dayMs)).toBeCloseTo(5);
    expect(take(swap, 100, midnight + dayMs)).toBeCloseTo(3);
  });

  it("are flat without tiers, whatever was traded", () => {
    const take = trader({ SPOT: flat, SWAP: flat });
    take(swap, 60_000, midnight);
    expect(take(swap, 100, midnight + dayMs)).toBeCloseTo(5);
  });

  it("pay makers the rebate of their tier, and set aside the larger rate", () => {
    const it = setting({}, { fees: { SPOT: tiered, SWAP: tiered } });
    it.venue.quote(spot, 999, 1_000_000, 1000, 1_000_000, midnight);
    it.place({ instId: spot, ordType: "ioc", px: "100", sz: "6000" }, { at: midnight });
    it.place({ instId: spot, px: "90", sz: "900" }, { at: midnight + dayMs });
    expect(it.balance("USDT")?.frozen).toBe("900.27");
    it.venue.trade(spot, "sell", 899, 100_000, midnight + dayMs + 1);
    expect(it.fills.at(-1)).toMatchObject({ cost: "-0.045", liquidity: "maker" });
  });

  it.each([
    [[{ ...flat, volumeMin: "0" }], /fees.SWAP.tiers\[0\].volumeMin: "0" is not a volume. Write a positive decimal/],
    [[{ ...flat, volumeMin: "1e6" }], /fees.SWAP.tiers\[0\].volumeMin: "1e6" is not a volume/],
    [
      [
        { ...flat, volumeMin: "5" },
        { ...flat, volumeMin: "5" },
      ],
      /fees.SWAP.tiers\[1\].volumeMin: volumes rise from tier to tier/,
    ],
    [[{ ...flat, volumeMin: "5", takerBps: "x" }], /fees.SWAP.tiers\[0\].takerBps: "x" is not a fee/],
  ])("refuse %j", (tiers, message) => {
    expect(() => setting({}, { fees: { SPOT: flat, SWAP: { ...flat, tiers } } })).toThrow(message);
  });
});
