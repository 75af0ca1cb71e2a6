/** What is said of prices at which nobody can be liquidated, against the liquidations themselves. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Liquidation } from "../../../src/venue/venue.ts";
import { setting, swap } from "../../support/harness/venue.ts";

const eth = "ETH-USDT-SWAP";
const second = 1_000;

const users = (ann: string, bob: string) =>
  Object.entries({ ann, bob }).map(([uid, USDT]) => ({
    uid,
    keys: [{ name: `${uid}-1`, permissions: ["read", "trade_futures"] }],
    balances: { USDT },
  }));

/** A market at 60000 in which each order of the list was taken. */
const arena = (ann: string, bob: string, orders: readonly object[], liquidation: "market" | "never" = "market") => {
  const it = setting(
    { order: { szUnit: { SPOT: "base", SWAP: "base" } }, margin: { liquidation } },
    { users: users(ann, bob) },
  );
  const told: Liquidation[] = [];
  it.venue.onLiquidation((one) => told.push(one));
  let at = it.moment();
  const later = () => (at += 2 * second);
  const quote = (bid: number, ask: number) => it.venue.quote(swap, bid, 1_000_000, ask, 1_000_000, later());
  it.venue.trade(swap, "buy", 600_000, 1, later());
  quote(599_999, 600_000);
  it.venue.trade(eth, "buy", 200_000, 1, later());
  it.venue.quote(eth, 199_999, 1_000_000, 200_001, 1_000_000, later());
  for (const { key, lever, mgnMode, instId = swap, ...order } of orders as readonly Record<string, string>[]) {
    it.write("account/set-leverage", { instId, lever, mgnMode }, { key, at: later() });
    it.write("trade/order", { instId, ordType: "market", ...order }, { key, at: later() });
  }
  return {
    venue: it.venue,
    told,
    quote,
    trade: (px: number) => it.venue.trade(swap, "buy", px, 1, later()),
    mark: (px: number) => it.venue.mark(swap, px, 500_000_000, later()),
  };
};

const order = fc.record({
  key: fc.constantFrom("ann-1", "bob-1"),
  lever: fc.integer({ min: 1, max: 50 }).map(String),
  mgnMode: fc.constantFrom("cross", "isolated"),
  side: fc.constantFrom("buy", "sell"),
  sz: fc.integer({ min: 1, max: 300 }).map((lots) => String(lots / 1_000)),
});
const purse = fc.integer({ min: 10, max: 5_000 }).map(String);

describe("A band of safe prices", () => {
  it("holds nobody's liquidation, and hardly anything more than it has to leaves it out", () => {
    const met = { banded: 0, left: 0 };
    fc.assert(
      fc.property(
        purse,
        purse,
        fc.array(order, { minLength: 1, maxLength: 4 }),
        fc.array(fc.tuple(fc.constantFrom("quote", "trade", "mark"), fc.double({ min: 0, max: 1, noNaN: true })), {
          maxLength: 8,
        }),
        fc.boolean(),
        (ann, bob, orders, rows, up) => {
          const it = arena(ann, bob, orders);
          const band = it.venue.safeBand(swap);
          const before = it.told.length;
          if (
            band === undefined ||
            (band.above === Number.NEGATIVE_INFINITY && band.below === Number.POSITIVE_INFINITY)
          )
            return;
          met.banded++;
          const [floor, ceiling] = [Math.max(1, band.above + 1), Math.min(2_000_000, band.below - 2)];
          if (ceiling < floor) return;
          for (const [kind, share] of rows) {
            const px = Math.floor(floor + (ceiling - floor) * share);
            if (kind === "quote") it.quote(px, Math.min(px + 1, ceiling + 1));
            else if (kind === "trade") it.trade(px);
            else it.mark(px);
          }
          expect(it.told.length).toBe(before);
          // A few ticks beyond, somebody falls.
          const beyond = up ? band.below + 8 : band.above - 8;
          if (!Number.isFinite(beyond) || beyond < 1) return;
          met.left++;
          it.mark(Math.floor(beyond));
          expect(it.told.length).toBeGreaterThan(before);
        },
      ),
      { numRuns: 400 },
    );
    expect(Math.min(met.banded, met.left)).toBeGreaterThan(100);
  });

  it("is every price where nobody has a position or nobody is liquidated", () => {
    const all = { above: Number.NEGATIVE_INFINITY, below: Number.POSITIVE_INFINITY };
    const long = { key: "ann-1", lever: "50", mgnMode: "cross", side: "buy", sz: "0.01" };
    expect(arena("100", "100", []).venue.safeBand(swap)).toEqual(all);
    expect(arena("100", "100", [long], "never").venue.safeBand(swap)).toEqual(all);
    expect(arena("100", "100", [long]).venue.safeBand(swap)).not.toEqual(all);
  });

  it("is none where several positions share what stands behind them, or where one is at its edge", () => {
    const long = { key: "ann-1", lever: "50", mgnMode: "cross", side: "buy", sz: "0.01" };
    const other = { ...long, instId: eth, sz: "0.1" };
    expect(arena("300", "100", [long, other]).venue.safeBand(swap)).toBeUndefined();
    expect(arena("300", "100", [long, { ...other, mgnMode: "isolated" }]).venue.safeBand(swap)).toBeDefined();
    const edge = arena("300", "100", [{ ...long, mgnMode: "isolated" }]);
    const { above } = edge.venue.safeBand(swap) as { above: number };
    edge.quote(above - 1, 600_001);
    expect(edge.told).toEqual([]);
    expect(edge.venue.safeBand(swap)).toBeUndefined();
  });
});

describe("When margins are looked at", () => {
  it("does not depend on when they were looked at before", () => {
    const fallen = (between: boolean): number => {
      const it = setting({ order: { szUnit: { SPOT: "base", SWAP: "base" } } }, { users: users("100", "100") });
      let count = 0;
      it.venue.onLiquidation(() => count++);
      const second0 = 1_700_000_100_000;
      const quote = (bid: number, ms: number) => it.venue.quote(swap, bid, 1_000_000, bid + 1, 1_000_000, second0 + ms);
      quote(600_000, 0);
      it.write("account/set-leverage", { instId: swap, lever: "50" }, { key: "ann-1", at: second0 + 1 });
      it.write(
        "trade/order",
        { instId: swap, ordType: "market", side: "buy", sz: "0.01" },
        { key: "ann-1", at: second0 + 2 },
      );
      quote(600_000, 10);
      if (between) quote(600_000, 1_700);
      quote(500_000, 2_100);
      quote(600_000, 2_200);
      return count;
    };
    expect([fallen(true), fallen(false)]).toEqual([1, 1]);
  });
});
