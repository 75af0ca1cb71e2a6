/** Positions short of margin are closed, their orders canceled, and every cent is accounted for. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ProfileOverrides } from "../../../src/contract/profile.ts";
import { add, compare, mul, neg, sub, sum } from "../../../src/decimal.ts";
import type { Liquidation } from "../../../src/venue/venue.ts";
import { setting, spot, swap } from "../../support/harness/venue.ts";

const eth = "ETH-USDT-SWAP";
const users = (...balances: readonly string[]) =>
  balances.map((USDT, index) => {
    const uid = ["ann", "bob"][index] ?? "";
    return {
      uid,
      keys: [{ name: `${uid}-1`, permissions: ["read", "trade_futures", "trade_spot"] }],
      balances: { USDT },
    };
  });

const arena = (profile: ProfileOverrides, ...balances: readonly string[]) => {
  const it = setting({ order: { szUnit: { SPOT: "base", SWAP: "base" } }, ...profile }, { users: users(...balances) });
  const told: Liquidation[] = [];
  it.venue.onLiquidation((liquidation) => told.push(liquidation));
  const mark = (px: string, instId = swap) => {
    const [whole, part] = mul(px, instId === swap ? "10" : "100").split(".");
    it.venue.mark(instId, Number(whole), Number((part ?? "").padEnd(9, "0")), it.moment() + 1);
  };
  return { ...it, told, mark };
};

/** Long 0.1 at 60000 with 600 of margin; a purse of 700 after the fee of 3. */
const long = (mode: "cross" | "isolated", profile: ProfileOverrides = {}, balance = "703") => {
  const it = arena(profile, balance);
  it.quote(swap, 59999.9, 100, 60000, 100);
  it.mark("60000");
  it.placed({ px: "60000", sz: "0.1", mgnMode: mode });
  return it;
};

describe("An isolated position", () => {
  it("is closed at the book when the mark leaves less than the maintenance margin, and not before", () => {
    const it = long("isolated");
    const resting = it.placed({ side: "sell", px: "70000", sz: "0.05", reduceOnly: true });
    const other = it.placed({ instId: eth, px: "100", sz: "0.1" });
    it.quote(swap, 54270, 100, 54271, 100);
    // 600 + 0.1 × (px - 60000) < 0.005 × 0.1 × px below 54271.356…
    it.mark("54271.4");
    expect(it.told).toEqual([]);
    it.mark("54271.3");
    expect(it.told).toEqual([
      {
        uid: "ann",
        instId: swap,
        ordId: it.told[0]?.ordId,
        side: "sell",
        qty: "0.1",
        value: "5427",
        fee: "13.5675",
        covered: "0",
        at: it.moment() + 1,
      },
    ]);
    expect(it.position()).toBeUndefined();
    expect(it.order(it.told[0]?.ordId ?? "")).toMatchObject({
      clOrdId: "",
      ordType: "market",
      side: "sell",
      state: "filled",
      avgPx: "54270",
      fee: "-2.7135",
    });
    expect(it.order(resting)).toMatchObject({ state: "canceled", accFillSz: "0" });
    expect(it.order(other).state).toBe("live");
    // 700 less 573 lost, a fee of 2.7135 and 13.5675 for the fund.
    expect(it.balance("USDT")?.balance).toBe("110.719");
    expect(it.venue.fund()).toEqual({ USDT: "13.5675" });
    // Who listens hears of the closing order like of any other.
    expect(it.changes.map(({ record }) => [record.ordId, record.state]).slice(-2)).toEqual([
      [resting, "canceled"],
      [it.told[0]?.ordId, "filled"],
    ]);
  });

  it("takes nothing beyond its margin: the fund pays the rest", () => {
    const it = long("isolated");
    it.quote(swap, 50000, 100, 50001, 100);
    it.mark("50000");
    // 1000 lost, 2.5 of fee and 12.5 for the fund; 600 stood behind it.
    expect(it.told[0]).toMatchObject({ fee: "12.5", covered: "415" });
    expect(it.balance("USDT")).toMatchObject({ balance: "100", available: "100", frozen: "0" });
    expect(it.venue.fund()).toEqual({ USDT: "-402.5" });
  });

  it("leaves a debt where the profile says that nobody covers it", () => {
    const it = long("isolated", { margin: { shortfall: "owed" } });
    it.quote(swap, 50000, 100, 50001, 100);
    it.mark("50000");
    expect(it.told[0]?.covered).toBe("0");
    expect(it.balance("USDT")?.balance).toBe("-315");
  });

  it("falls by funding too", () => {
    const it = long("isolated");
    it.venue.funding(swap, "0.094", it.moment() + 1);
    expect(it.told).toEqual([]);
    it.venue.funding(swap, "0.002", it.moment() + 1);
    expect(it.told).toHaveLength(1);
  });

  it("is closed at the mark, on the worse tick, as far as the book does not take it", () => {
    const it = long("isolated");
    it.quote(swap, 54200, 0.04, 54201, 100);
    it.mark("54250.07");
    expect(it.fills.slice(1).map(({ px, qty }) => [px, qty])).toEqual([
      ["54200", "0.04"],
      ["54250", "0.06"],
    ]);
    expect(it.position()).toBeUndefined();
  });

  it("of a product that is listed no more is closed at the mark", () => {
    const it = long("isolated");
    it.venue.delist(swap, it.moment() + 1);
    it.mark("54000");
    expect(it.fills.at(-1)).toMatchObject({ px: "54000", qty: "0.1" });
    expect(it.told).toHaveLength(1);
  });

  it("is left alone where the profile liquidates nothing", () => {
    const it = long("isolated", { margin: { liquidation: "never" } });
    it.mark("1");
    expect([it.told, it.position()?.pos]).toEqual([[], "0.1"]);
  });
});

describe("Cross positions", () => {
  it("have the whole purse behind them, and take all orders of it with them", () => {
    const it = long("cross");
    const resting = it.placed({ instId: spot, px: "500", sz: "0.001" });
    it.quote(swap, 53280, 100, 53281, 100);
    it.mark("53300");
    expect(it.told).toEqual([]);
    it.mark("53260");
    expect(it.told).toHaveLength(1);
    expect(it.order(resting).state).toBe("canceled");
    expect(it.position()).toBeUndefined();
    // 700 less 672 lost, a fee of 2.664 and 13.32 for the fund.
    expect(it.balance("USDT")).toMatchObject({ balance: "12.016", frozen: "0" });
  });

  it("are enough with all they need, and short by the last digit", () => {
    // 670 lost and 0.5 % of 5330 needed.
    for (const [balance, liquidations] of [
      ["699.65", 0],
      ["699.649999999999999999", 1],
    ] as const) {
      const it = long("cross", {}, balance);
      it.mark("53300");
      expect(it.told).toHaveLength(liquidations);
    }
  });

  it("leave an empty purse and no debt when the market goes through them", () => {
    const it = long("cross");
    it.quote(swap, 50000, 100, 50001, 100);
    it.mark("50000");
    expect(it.told[0]?.covered).toBe("315");
    expect(it.balance("USDT")).toMatchObject({ balance: "0", available: "0" });
  });

  it("fall one at a time, the largest loss first, until what is left is enough", () => {
    const it = arena({}, "1200");
    it.quote(swap, 59999.9, 100, 60000, 100);
    it.mark("60000");
    it.venue.quote(eth, 300_000, 10_000, 300_001, 10_000, it.moment() + 1);
    it.mark("3000", eth);
    it.placed({ px: "60000", sz: "0.1" });
    it.placed({ instId: eth, px: "3000.01", sz: "1" });
    it.mark("2900", eth);
    // 1195.5 less 1060 and 100 lost is less than 39.2; after the first is gone some 20 are more than 14.5.
    it.quote(swap, 49400, 100, 49401, 100);
    it.mark("49400");
    expect(it.told.map(({ instId }) => instId)).toEqual([swap]);
    expect(it.position(eth)?.pos).toBe("1");
    it.venue.quote(eth, 250_000, 10_000, 250_001, 10_000, it.moment() + 1);
    it.mark("2500", eth);
    expect(it.told.map(({ instId }) => instId)).toEqual([swap, eth]);
  });

  it("count what isolated positions have set aside as theirs alone", () => {
    const it = arena({}, "1303");
    it.quote(swap, 59999.9, 100, 60000, 100);
    it.mark("60000");
    it.venue.quote(eth, 300_000, 10_000, 300_001, 10_000, it.moment() + 1);
    it.mark("3000", eth);
    it.placed({ px: "60000", sz: "0.1", mgnMode: "isolated" });
    it.placed({ instId: eth, px: "3000.01", sz: "1" });
    // 1300 less 600 set aside, 1.5 of fee and 690 lost is less than 11.55, though the purse has more.
    it.venue.quote(eth, 231_000, 10_000, 231_001, 10_000, it.moment() + 1);
    it.mark("2310", eth);
    expect(it.told.map(({ instId }) => instId)).toEqual([eth]);
    expect(it.balance("USDT")?.balance).toBe("601.559995");
    expect(it.position()?.pos).toBe("0.1");
  });
});

describe("Without mark prices", () => {
  it("margins are looked at with the market's rows, no more often than the profile says", () => {
    const it = arena({}, "703");
    // Looked at once in each second of the clock.
    const at = Math.ceil((it.moment() + 1) / 1_000) * 1_000;
    it.venue.quote(swap, 599_999, 100_000, 600_000, 100_000, at);
    it.place({ px: "60000", sz: "0.1" }, { at });
    it.venue.quote(swap, 500_000, 100_000, 500_010, 100_000, at + 999);
    expect(it.told).toEqual([]);
    it.venue.quote(swap, 500_001, 100_000, 500_010, 100_000, at + 1_000);
    expect(it.told).toHaveLength(1);
  });

  it("margins are looked at after a fill at once, by prints and levels as well", () => {
    for (const row of ["trade", "level"] as const) {
      const it = arena({}, "703");
      it.level(swap, "sell", 60000, 100);
      it.level(swap, "buy", 59999, 100);
      it.placed({ px: "60000", sz: "0.1" });
      const at = it.moment() + 5_000;
      it.venue.level(swap, "sell", 600_000, 0, at);
      if (row === "level") it.venue.level(swap, "sell", 599_991, 1, at + 1);
      it.venue.level(swap, "buy", 599_990, 0, at + 2_000);
      it.venue[row](swap, row === "trade" ? "sell" : "buy", 100_000, 5, at + 4_000);
      expect(it.told, row).toHaveLength(1);
    }
  });
});

describe("Money with liquidations", () => {
  const px = fc.integer({ min: 1, max: 12 });
  const step = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        key: fc.constantFrom("ann-1", "bob-1"),
        instId: fc.constantFrom(swap, eth),
        side: fc.constantFrom("buy", "sell"),
        ordType: fc.constantFrom("limit", "limit", "market", "ioc"),
        px,
        sz: fc.integer({ min: 1, max: 400 }),
      }),
    },
    { weight: 3, arbitrary: fc.record({ mark: px, part: fc.nat(999_999_999), instId: fc.constantFrom(swap, eth) }) },
    {
      weight: 1,
      arbitrary: fc.record({ rate: fc.integer({ min: -999, max: 999 }), instId: fc.constantFrom(swap, eth) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        lever: fc.constantFrom("1", "5", "50"),
        mode: fc.constantFrom("cross", "isolated"),
        instId: fc.constantFrom(swap, eth),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ quote: px, qty: fc.integer({ min: 0, max: 200 }), instId: fc.constantFrom(swap, eth) }),
    },
  );

  it("is start plus what fills say, less fees, funding and liquidation, whatever happens; and nobody falls into debt", () => {
    let liquidated = 0;
    fc.assert(
      fc.property(fc.array(step, { minLength: 20, maxLength: 70 }), (steps) => {
        const it = arena({}, "40", "25");
        const funding: Readonly<Record<string, string>>[] = [];
        it.venue.onFunding(({ paid }) => funding.push(paid));
        for (const one of steps) {
          const at = it.moment() + 1;
          const [ticks, lots] = one.instId === swap ? ["0.1", "0.001"] : ["0.01", "0.01"];
          if ("key" in one) {
            const order = {
              ...one,
              px: mul(String(one.px * (one.instId === eth ? 10 : 1)), ticks),
              sz: mul(String(one.sz), mul(lots, "5")),
            };
            const { key, ...body } = order;
            it.place(one.ordType === "market" ? { ...body, px: undefined } : body, { key });
          } else if ("mark" in one) it.venue.mark(one.instId, one.mark * (one.instId === eth ? 10 : 1), one.part, at);
          else if ("rate" in one) it.venue.funding(one.instId, mul(String(one.rate), "0.00013"), at);
          else if ("lever" in one)
            it.write("account/set-leverage", { instId: one.instId, lever: one.lever, mgnMode: one.mode });
          else it.venue.quote(one.instId, one.quote, one.qty, one.quote + 1, one.qty, at);
          for (const uid of ["ann", "bob"]) {
            const { balances, positions } = it.venue.truth(uid);
            for (const { balance, available, frozen } of balances) expect(add(available, frozen)).toBe(balance);
            if (positions.length === 0)
              expect(compare(it.balance("USDT", uid)?.balance ?? "0", "0")).toBeGreaterThanOrEqual(0);
          }
        }
        liquidated += it.told.length;
        const cash: string[] = [];
        for (const uid of ["ann", "bob"]) {
          const fills = it.fills.filter((fill) => fill.uid === uid);
          const bought = sum(
            fills.map((fill) => (fill.side === "buy" ? mul(fill.px, fill.qty) : neg(mul(fill.px, fill.qty)))),
          );
          const entry = sum(
            it.venue.truth(uid).positions.map(({ pos, upl, markPx }) => sub(mul(pos, markPx ?? "0"), upl ?? "0")),
          );
          const fees = sum(fills.map(({ cost }) => cost));
          const paid = sum(funding.map((of) => of[uid] ?? "0"));
          const ended = it.told.filter((of) => of.uid === uid);
          const fund = sum(ended.map(({ fee, covered }) => sub(fee, covered)));
          const start = uid === "ann" ? "40" : "25";
          const expected = sub(sub(sub(add(sub(start, bought), entry), fees), paid), fund);
          // Marks of eighteen digits are cut when a position is valued, here and there by less than a unit.
          expect(
            compare(sub(it.balance("USDT", uid)?.balance ?? "", expected).replace("-", ""), "0.00000000000000001"),
          ).toBeLessThan(0);
          cash.push(fund);
        }
        expect(sum(cash)).toBe(it.venue.fund()["USDT"] ?? "0");
      }),
      { numRuns: 60 },
    );
    expect(liquidated).toBeGreaterThan(10);
  });
});
