/** What is available: margins by leverage and mode, open losses, and where a position would fall short. */
import { describe, expect, it } from "vitest";
import { setting, swap } from "../../support/harness/venue.ts";

const eth = "ETH-USDT-SWAP";
const inBase = (profile: Parameters<typeof setting>[0] = {}, balance = "1000") =>
  setting(
    { order: { szUnit: { SPOT: "base", SWAP: "base" } }, ...profile },
    {
      users: [
        { uid: "ann", keys: [{ name: "ann-1", permissions: ["read", "trade_futures"] }], balances: { USDT: balance } },
      ],
    },
  );
/** Long 0.1 at 60000, with 600 of margin at leverage 10 and a fee of 3. */
const long = (profile: Parameters<typeof setting>[0] = {}, balance = "1000") => {
  const it = inBase(profile, balance);
  it.quote(swap, 60000, 10, 60000.1, 10);
  it.venue.mark(swap, 600_000, 0, it.moment() + 1);
  it.placed({ px: "60000.1", sz: "0.1" });
  return it;
};
const mark = (it: ReturnType<typeof long>, px: number) => it.venue.mark(swap, px * 10, 0, it.moment() + 1);
const money = (it: ReturnType<typeof long>) => {
  const { balance, available, frozen } = it.balance("USDT") ?? {};
  return [balance, available, frozen];
};

describe("Available balance", () => {
  it("is less what cross positions have lost, and never more for what they have gained", () => {
    const it = long();
    expect(money(it)).toEqual(["996.999995", "396.988995", "600.011"]);
    mark(it, 59_000);
    expect(money(it)).toEqual(["996.999995", "296.988995", "700.011"]);
    mark(it, 61_000);
    expect(money(it)).toEqual(["996.999995", "396.998995", "600.001"]);
  });

  it("is not touched by what an isolated position has lost", () => {
    const it = inBase();
    it.write("account/set-leverage", { instId: swap, lever: "10", mgnMode: "isolated" });
    it.quote(swap, 60000, 10, 60000.1, 10);
    it.placed({ px: "60000.1", sz: "0.1" });
    mark(it, 59_000);
    expect(money(it)).toEqual(["996.999995", "396.998995", "600.001"]);
  });

  it("ignores open losses where the profile says so", () => {
    const it = long({ margin: { openLoss: "ignored" } });
    mark(it, 59_000);
    expect(money(it)[1]).toBe("396.998995");
  });

  it("refuses an order that open losses leave no money for, by the profile's code, and takes it where there is some", () => {
    const it = long();
    // 350 of margin and 1.75 of fee.
    const order = { px: "50000", sz: "0.07" };
    mark(it, 59_000);
    expect(it.place(order).body).toMatchObject({
      code: "51008",
      msg: "The order needs 351.75 USDT; 296.988995 is available.",
    });
    mark(it, 60_000);
    expect(it.place(order).body.code).toBe("0");
  });

  it("nets cross positions of one currency", () => {
    const it = long({}, "5000");
    it.venue.quote(eth, 300_000, 1_000, 300_001, 1_000, it.moment() + 1);
    it.venue.mark(eth, 300_000, 0, it.moment() + 1);
    it.placed({ instId: eth, side: "sell", px: "3000", sz: "1" });
    const [, before] = money(it);
    mark(it, 59_000);
    it.venue.mark(eth, 290_000, 0, it.moment() + 1);
    // One has lost 100.01 and the other gained 100.
    expect(money(it)[1]).toBe(before);
  });
});

describe("Leverage", () => {
  it("of a product nobody set is the profile's, but never more than the product allows", () => {
    const it = inBase({ margin: { leverageDefault: "80" } });
    it.placed({ px: "50000", sz: "0.05" });
    expect(it.balance("USDT")?.frozen).toBe("51.25");
    it.placed({ instId: eth, px: "2000", sz: "0.04" });
    expect(it.balance("USDT")?.frozen).toBe("52.29");
  });

  it.each([
    ["leverageDefault", "0.5", /profile.margin.leverageDefault: "0.5" is not a leverage/],
    ["maintenanceRate", "1", /profile.margin.maintenanceRate: "1" is not a share/],
    ["liquidationFeeRate", "-1", /profile.margin.liquidationFeeRate: "-1" is not a share/],
    ["liquidation", "sometimes", /profile.margin.liquidation: "sometimes" is not one of market, never/],
  ])("and other rows are checked: %s %s", (row, value, message) => {
    expect(() => inBase({ margin: { [row]: value } })).toThrow(message);
  });
});

describe("Margin mode", () => {
  it("is what the first order says, and no other while a position or an order is open", () => {
    const it = inBase();
    it.quote(swap, 60000, 10, 60000.1, 10);
    const first = it.placed({ px: "50000", sz: "0.01", mgnMode: "isolated" });
    expect(it.place({ px: "50000", sz: "0.01", mgnMode: "cross" }).body).toMatchObject({
      code: "51000",
      msg: "mgnMode is isolated while there is a position or an order.",
    });
    it.placed({ px: "60000.1", sz: "0.01", mgnMode: "isolated" });
    it.write("trade/cancel-batch-orders", [{ instId: swap, ordId: first }]);
    expect(it.place({ px: "50000", sz: "0.01", mgnMode: "cross" }).body.code).toBe("51000");
    it.write("trade/close-position", { instId: swap });
    expect(it.place({ px: "50000", sz: "0.01", mgnMode: "cross" }).body.code).toBe("0");
  });

  it("is the profile's where neither an order nor set-leverage named one", () => {
    expect(long({ margin: { modeDefault: "isolated" } }).position()?.mgnMode).toBe("isolated");
  });

  it("stays as it was when the leverage is refused", () => {
    const it = long();
    expect(it.write("account/set-leverage", { instId: swap, lever: "2", mgnMode: "isolated" }).body.code).toBe("51008");
    expect(it.position()).toMatchObject({ lever: "10", mgnMode: "cross" });
  });
});

describe("A change of margin mode", () => {
  const funded = () => {
    const it = inBase();
    it.quote(swap, 60000, 10, 60000.1, 10);
    it.venue.mark(swap, 600_000, 0, it.moment() + 1);
    it.placed({ px: "60000.1", sz: "0.1", mgnMode: "isolated" });
    it.venue.funding(swap, "0.01", it.moment() + 1);
    return it;
  };

  it("ends what funding has taken from a margin of its own", () => {
    const it = funded();
    expect(it.position()?.margin).toBe("540.001");
    it.write("account/set-leverage", { instId: swap, lever: "10", mgnMode: "cross" });
    expect(it.position()).toMatchObject({ margin: "600.001", mgnMode: "cross" });
  });

  it("that is refused leaves everything as it was", () => {
    const it = funded();
    const before = it.venue.truth("ann");
    expect(it.write("account/set-leverage", { instId: swap, lever: "5", mgnMode: "cross" }).body.code).toBe("51008");
    expect(it.venue.truth("ann")).toEqual(before);
  });
});

describe("The price at which a position falls short", () => {
  it("of a cross position has the whole purse behind it, of an isolated one its margin", () => {
    const it = long();
    // 996.999995 + 0.1 × (px - 60000.1) = 0.005 × 0.1 × px
    expect(it.position()?.liqPx).toBe("50281.507587939698");
    it.write("account/set-leverage", { instId: swap, lever: "10", mgnMode: "isolated" });
    expect(it.position()?.liqPx).toBe("54271.447236180904");
  });

  it("of a short position lies above", () => {
    const it = inBase();
    it.quote(swap, 60000, 10, 60000.1, 10);
    it.placed({ side: "sell", px: "60000", sz: "0.1", mgnMode: "isolated" });
    expect(it.position()?.liqPx).toBe("65671.641791044776");
  });

  it("is empty where the purse stands for any price, or nothing is liquidated", () => {
    expect(long({}, "100000").position()?.liqPx).toBe("");
    expect(long({ margin: { liquidation: "never" } }).position()?.liqPx).toBe("");
  });
});
