/** Funding moves money between longs and shorts, exactly, and nothing else. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { add, mul, neg, sub, sum } from "../../../src/decimal.ts";
import type { Funding } from "../../../src/venue/venue.ts";
import { setting, spot, swap } from "../../support/harness/venue.ts";

const inBase = { order: { szUnit: { SPOT: "base", SWAP: "base" } } } as const;

/** Ann is long what Bob is short, both from 60000. */
const facing = (profile: Parameters<typeof setting>[0] = {}) => {
  const it = setting({ ...inBase, ...profile });
  const charged: Funding[] = [];
  it.venue.onFunding((funding) => charged.push(funding));
  it.placed({ side: "sell", px: "60000", sz: "0.1" }, { key: "bob-1" });
  it.placed({ px: "60000", sz: "0.1" });
  const fund = (rate: string, instId = swap) => it.venue.funding(instId, rate, it.moment() + 1);
  return { ...it, charged, fund };
};
const cash = (it: ReturnType<typeof facing>) => [
  it.balance("USDT", "ann")?.balance,
  it.balance("USDT", "bob")?.balance,
];

describe("Funding", () => {
  it.each([
    ["0.0001", "-0.6", "0.6"],
    ["-0.0001", "0.6", "-0.6"],
    ["0", "0", "0"],
    ["0.0000000000000001", "-0.0000000000006", "0.0000000000006"],
  ])("at a rate of %s moves position value times rate from longs to shorts", (rate, ann, bob) => {
    const it = facing();
    const before = cash(it) as [string, string];
    it.fund(rate);
    expect(cash(it)).toEqual([add(before[0], ann), add(before[1], bob)]);
  });

  it("values positions at the mark where one is published, else in the middle of the book", () => {
    const it = facing();
    it.quote(swap, 60999, 1, 61001, 1);
    it.fund("0.001");
    it.venue.mark(swap, 620_000, 500_000_000, it.moment() + 1);
    it.fund("0.001");
    expect(it.charged.map(({ px, rate, paid }) => [px, rate, paid])).toEqual([
      ["61000", "0.001", { ann: "6.1", bob: "-6.1" }],
      ["62000.05", "0.001", { ann: "6.200005", bob: "-6.200005" }],
    ]);
    expect(it.position()).toMatchObject({ markPx: "62000.05", upl: "200.005" });
  });

  it("is told when nobody holds the product, and charges neither spot nor a product without a price", () => {
    const it = facing();
    it.venue.trade("ETH-USDT-SWAP", "buy", 300_000, 1, it.moment() + 1);
    it.fund("0.001", "ETH-USDT-SWAP");
    it.fund("0.001", spot);
    expect(it.charged).toEqual([
      { instId: "ETH-USDT-SWAP", at: it.moment() + 1, rate: "0.001", px: "3000", held: {}, paid: {} },
    ]);
    const unpriced = setting();
    unpriced.venue.onFunding(() => {
      throw new Error("charged without a price");
    });
    unpriced.venue.funding(swap, "0.001", unpriced.moment() + 1);
  });

  it("comes out of the margin of an isolated position and leaves the rest of the purse as it was", () => {
    const it = facing();
    it.write("account/set-leverage", { instId: swap, lever: "10", mgnMode: "isolated" });
    const before = it.balance("USDT");
    it.fund("0.01");
    expect(it.position()?.margin).toBe("540");
    expect(it.balance("USDT")).toMatchObject({
      available: before?.available,
      balance: sub(before?.balance ?? "", "60"),
    });
    it.placed({ px: "60000", sz: "0.05", side: "sell", reduceOnly: true });
    it.trade(swap, "buy", 60001, 1);
    expect(it.position()?.margin).toBe("270");
  });

  it("comes out of the purse of an isolated position where the profile says so", () => {
    const it = facing({ margin: { fundingFrom: "balance" } });
    it.write("account/set-leverage", { instId: swap, lever: "10", mgnMode: "isolated" });
    it.fund("0.01");
    expect(it.position()?.margin).toBe("600");
  });

  it("refuses a rate that is none", () => {
    expect(() => facing().fund("1e-4")).toThrow(
      /venue BTC-USDT-SWAP: "1e-4" is not a funding rate. Write decimal text/,
    );
  });

  it("keeps the sum of money, and closing everything returns start plus realised less fees less funding", () => {
    const step = fc.oneof(
      fc.record({
        rate: fc.integer({ min: -9_999, max: 9_999 }).map((units) => mul(String(units), "0.0000000000000007")),
      }),
      fc.record({
        sz: fc.integer({ min: 1, max: 300 }).map((lots) => mul(String(lots), "0.001")),
        long: fc.boolean(),
        px: fc.nat(400),
      }),
      fc.record({ mark: fc.integer({ min: 500_000, max: 700_000 }), part: fc.nat(999_999_999) }),
    );
    fc.assert(
      fc.property(fc.array(step, { minLength: 5, maxLength: 25 }), (steps) => {
        // Never short of margin: this is about funding alone.
        const it = facing({ margin: { liquidation: "never", openLoss: "ignored" } });
        for (const one of steps) {
          if ("rate" in one) it.fund(one.rate);
          else if ("mark" in one) it.venue.mark(swap, one.mark, one.part, it.moment() + 1);
          else {
            const px = add("60000", mul(String(one.px), "0.1"));
            it.placed({ side: one.long ? "sell" : "buy", px, sz: one.sz, ordType: "limit" }, { key: "bob-1" });
            it.placed({ side: one.long ? "buy" : "sell", px, sz: one.sz });
          }
        }
        const paid = (uid: string) => sum(it.charged.map((funding) => funding.paid[uid] ?? "0"));
        expect(add(paid("ann"), paid("bob"))).toBe("0");
        const left = it.position()?.pos ?? "0";
        const [side, other] = left.startsWith("-") ? ["buy", "sell"] : ["sell", "buy"];
        const size = left.replace("-", "");
        if (size !== "0") {
          it.placed({ side: other, px: "60000", sz: size }, { key: "bob-1" });
          it.placed({ side, px: "60000", sz: size });
        }
        for (const uid of ["ann", "bob"]) {
          const fills = it.fills.filter((fill) => fill.uid === uid);
          const traded = sum(
            fills.map((fill) => (fill.side === "buy" ? neg(mul(fill.px, fill.qty)) : mul(fill.px, fill.qty))),
          );
          const fees = sum(fills.map(({ cost }) => cost));
          expect(it.position(swap, uid)).toBeUndefined();
          expect(it.balance("USDT", uid)).toMatchObject({
            frozen: "0",
            balance: sub(sub(add("100000", traded), fees), paid(uid)),
          });
        }
      }),
      { numRuns: 60 },
    );
  });
});
