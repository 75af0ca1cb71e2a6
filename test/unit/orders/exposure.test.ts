/**
 * The fold over what becomes known of orders, against the same sums over all orders at once.
 */

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createContract } from "../../../src/contract/contract.ts";
import type { SzUnit } from "../../../src/contract/profile.ts";
import type { OrderRecord } from "../../../src/contract/schemas.ts";
import type { Order } from "../../../src/orders/order-state.ts";
import { createExposure, type ExposureEntry } from "../../../src/orders/risk/exposure.ts";
import { exposureEntryOf } from "../../../src/orders/risk/exposure-entry.ts";
import { builtOrder, builtSpec } from "../../support/built-orders.ts";
import { eth, swap } from "../../support/harness/orders.ts";

const fact = (over: Partial<ExposureEntry> = {}): ExposureEntry => ({
  id: "1",
  strategy: "a",
  instId: swap,
  side: "buy",
  px: "100",
  base: "2",
  reduceOnly: false,
  open: true,
  filled: "0",
  value: "0",
  cost: "0",
  ...over,
});

const folded = (...facts: readonly ExposureEntry[]) => {
  const exposure = createExposure();
  for (const one of facts) exposure.take(one);
  return exposure;
};

describe("Exposure of all strategies", () => {
  it("counts what previous runs left and what was closed, before it is first asked for and after", () => {
    const exposure = createExposure();
    const change = (id: string): void => {
      exposure.inherit("a", swap, { position: "1", cash: "-100" });
      exposure.take(fact({ id, strategy: "b", filled: "2", value: "200", cost: "0.2", open: false }));
      exposure.close(swap, "90");
      exposure.inherit("b", swap, { position: "1.5", cash: "0" });
    };
    change("1");
    expect(exposure.holding(swap)).toMatchObject({ position: "1.5", cash: "-30.2" });
    change("2");
    expect(exposure.holding(swap)).toMatchObject({ position: "1.5", cash: "74.6" });
    expect(exposure.holding(swap)).toMatchObject({ position: exposure.holding(swap, "b").position });
  });
});

describe("Exposure of a strategy:", () => {
  it.each<[string, readonly ExposureEntry[], string, string, string]>([
    ["an open order counts in full", [fact()], "200", "0", "2"],
    [
      "a fill moves from what is open to what is held",
      [fact(), fact({ filled: "0.5", value: "49", cost: "0.1" })],
      "150",
      "0.5",
      "1.5",
    ],
    ["told twice it counts once", [fact(), fact(), fact()], "200", "0", "2"],
    ["what is over is not open", [fact(), fact({ open: false })], "0", "0", "0"],
    ["what is over stays over", [fact({ open: false, filled: "1", value: "100" }), fact()], "0", "1", "0"],
    ["a sale is negative", [fact({ side: "sell", filled: "2", value: "200", open: false })], "0", "-2", "0"],
    ["an order that only reduces is open but opens nothing", [fact({ reduceOnly: true })], "200", "0", "0"],
    ["more executed than estimated leaves nothing open", [fact({ filled: "2.1", value: "200" })], "0", "2.1", "0"],
  ])("%s", (_, facts, open, position, buying) => {
    const exposure = folded(...facts);
    expect(exposure.openNotional()).toBe(open);
    expect(exposure.holding(swap)).toMatchObject({ position, buying });
    expect(exposure.openNotional("a")).toBe(open);
    expect(exposure.holding(swap, "a")).toMatchObject({ position, buying });
  });

  it("cash is what was received less what was paid, costs included", () => {
    const bought = fact({ filled: "2", value: "200", cost: "0.2", open: false });
    const sold = fact({ id: "2", side: "sell", filled: "2", value: "210", cost: "-0.1", open: false });
    expect(folded(bought, sold).holding(swap).cash).toBe("9.9");
  });

  it("what was closed by no order of ours is held no more, and its value is cash", () => {
    const exposure = folded(fact({ filled: "2", value: "200", cost: "0.2", open: false }));
    expect(exposure.holding(swap)).toMatchObject({ position: "2", cash: "-200.2" });
    exposure.close(swap, "90");
    expect(exposure.holding(swap)).toMatchObject({ position: "0", cash: "-20.2" });
    expect(exposure.holding(swap, "a")).toMatchObject({ position: "0", cash: "-20.2" });
  });

  it("an order that gets a home moves there", () => {
    const exposure = folded(fact({ strategy: "" }), fact({ strategy: "b" }));
    expect([exposure.openNotional(""), exposure.openNotional("b"), exposure.openNotional()]).toEqual([
      "0",
      "200",
      "200",
    ]);
  });

  it("a placement that was turned away does not count, and its id may serve another order", () => {
    const exposure = folded(fact());
    exposure.forget("1");
    expect(exposure.openNotional()).toBe("0");
    exposure.take(fact({ base: "1" }));
    expect(exposure.openNotional()).toBe("100");
  });

  it("what was executed is never forgotten, also when its order is", () => {
    const exposure = createExposure();
    for (let id = 0; id < 5_000; id++) exposure.take(fact({ id: String(id), filled: "2", value: "200", open: false }));
    exposure.forget("4999");
    expect(exposure.holding(swap).position).toBe("10000");
  });
});

/** Some tellings of some orders, each order's in the order of its life. */
const tellings = fc
  .array(
    fc.record({
      strategy: fc.constantFrom("a", "b"),
      instId: fc.constantFrom(swap, eth),
      side: fc.constantFrom("buy" as const, "sell" as const),
      px: fc.integer({ min: 1, max: 99 }),
      base: fc.integer({ min: 1, max: 9 }),
      reduceOnly: fc.boolean(),
      fills: fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 4 }),
      ends: fc.boolean(),
      homeless: fc.boolean(),
    }),
    { minLength: 1, maxLength: 8 },
  )
  .map((orders) =>
    orders.map(({ fills, ends, homeless, px, base, ...rest }, index) => {
      const filled = fills.map((fill) => Math.min(fill, base)).sort((a, b) => a - b);
      return filled.map((done, step): ExposureEntry => {
        const last = step === filled.length - 1;
        const owner = homeless && step === 0 && !last ? "" : rest.strategy;
        const amounts = { filled: String(done), value: String(done * px), cost: String(done) };
        return {
          ...rest,
          ...amounts,
          strategy: owner,
          id: String(index),
          px: String(px),
          base: String(base),
          open: !(ends && last),
        };
      });
    }),
  );

/** The same sums by another way: whole numbers, all orders at once, the last telling of each. */
const recomputed = (orders: readonly (readonly ExposureEntry[])[], instId: string, strategy?: string) => {
  const total = { open: 0, position: 0, cash: 0, buying: 0, selling: 0 };
  for (const life of orders) {
    const last = life[life.length - 1] as ExposureEntry;
    if (strategy !== undefined && last.strategy !== strategy) continue;
    const left = last.open ? Number(last.base) - Number(last.filled) : 0;
    total.open += left * Number(last.px);
    if (last.instId !== instId) continue;
    const sign = last.side === "buy" ? 1 : -1;
    total.position += sign * Number(last.filled);
    total.cash -= sign * Number(last.value) + Number(last.cost);
    if (!last.reduceOnly) total[last.side === "buy" ? "buying" : "selling"] += left;
  }
  return Object.fromEntries(Object.entries(total).map(([name, value]) => [name, String(value === 0 ? 0 : value)]));
};

it("Repetitions and any order of arrival give the sums of all orders at once", () => {
  fc.assert(
    fc.property(tellings, fc.infiniteStream(fc.nat({ max: 1_000 })), (orders, chance) => {
      const draw = (): number => chance.next().value ?? 0;
      const told = orders.flat().flatMap((one) => (draw() % 3 === 0 ? [one, one] : [one]));
      const shuffled = told.map((one) => ({ one, key: draw() })).sort((a, b) => a.key - b.key);
      // The sums of all strategies are kept from the first question on, whenever that is.
      const exposure = createExposure();
      const asksAt = draw() % shuffled.length;
      for (const [index, { one }] of shuffled.entries()) {
        if (index === asksAt) exposure.holding(swap);
        exposure.take(one);
      }
      for (const strategy of [undefined, "a", "b"]) {
        for (const instId of [swap, eth]) {
          const is = { open: exposure.openNotional(strategy), ...exposure.holding(instId, strategy) };
          expect(is).toEqual(recomputed(orders, instId, strategy));
        }
      }
    }),
    { numRuns: 500 },
  );
});

describe("An order's exposure", () => {
  const contract = createContract();
  const instruments = () =>
    new Map([[swap, { instId: swap, tickSize: "0.1", lotSize: "0.001", contractValue: "0.01" }]]);
  const order = (sz: string, accFillSz: string, record: Partial<OrderRecord> = {}): Order =>
    builtOrder({
      strategy: "a",
      phase: "partially_filled",
      spec: { ...builtSpec, sz },
      record: { avgPx: "59999.333333333333", accFillSz, fee: "-1.5", ...record },
    });
  const factWith = (unit: SzUnit, one: Order, px?: string): ExposureEntry => {
    const szUnit = { SPOT: unit, SWAP: unit };
    return exposureEntryOf(one, {
      profile: { ...contract.profile, order: { ...contract.profile.order, szUnit } },
      instruments,
      marketPx: () => px,
    });
  };

  it.each<[SzUnit, string, string]>([
    ["base", "0.06", "0.03"],
    ["contracts", "6", "3"],
    ["quote_notional", "3600", "1799.97999999999999"],
  ])("is the same whatever sz counts: %s", (unit, sz, accFillSz) => {
    const { base, filled, value, cost, open } = factWith(unit, order(sz, accFillSz));
    expect({ base, filled, cost, open }).toEqual({ base: "0.06", filled: "0.03", cost: "1.5", open: true });
    expect(value).toBe("1799.97999999999999");
  });

  it("keeps what was executed when the lot has become coarser since", () => {
    const coarse = () => new Map([[swap, { instId: swap, tickSize: "0.1", lotSize: "0.1" }]]);
    const source = { profile: contract.profile, instruments: coarse, marketPx: () => undefined };
    expect(exposureEntryOf(order("3600", "1799.97999999999999"), source).filled).toBe("0.03");
    const third = order("3600", "2220.003", { avgPx: "60000.08108", fee: "0" });
    expect(exposureEntryOf(third, source).filled).toBe("0.037");
  });

  it("is a whole number of lots, however roughly the service rounds its average", () => {
    const rough = order("3600", "1799.98", { avgPx: "59999.3", fee: "0" });
    expect(factWith("quote_notional", rough)).toMatchObject({ filled: "0.03", value: "1799.98" });
  });

  it("counts in full while its outcome is unknown, and not at all when it was turned away", () => {
    const spec = { ...builtSpec, sz: "0.06" };
    expect(factWith("base", builtOrder({ spec, phase: "unknown" }))).toMatchObject({ open: true, filled: "0" });
    expect(factWith("base", builtOrder({ spec, phase: "planned" }))).toMatchObject({ open: false });
  });

  it("is valued at the market where it has no price", () => {
    const spec = { ...builtSpec, sz: "6", px: "", ordType: "market" as const };
    expect(factWith("contracts", builtOrder({ spec }), "61000")).toMatchObject({ px: "61000", base: "0.06" });
    expect(factWith("quote_notional", builtOrder({ spec }))).toMatchObject({ px: "", base: "0" });
    // The amount of a market order is a little more than its quantity costs.
    expect(factWith("quote_notional", builtOrder({ spec, qty: "0.06" }), "61000")).toMatchObject({
      px: "61000",
      base: "0.06",
    });
  });
});
