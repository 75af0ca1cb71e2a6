/**
 * The fold over what becomes known of orders, against the same sums over all orders at once.
 */

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createContract } from "../../../src/contract/contract.ts";
import type { SzUnit } from "../../../src/contract/profile.ts";
import type { OrderRecord } from "../../../src/contract/schemas.ts";
import { read, spell } from "../../../src/decimal-value.ts";
import type { Order } from "../../../src/orders/order-state.ts";
import { Exposure, type ExposureEntry, exposureEntryOf } from "../../../src/orders/risk/exposure.ts";
import { builtOrder, builtSpec } from "../../support/built-orders.ts";
import { spelled, type Texts, valued } from "../../support/decimal-texts.ts";
import { eth, swap } from "../../support/harness/orders.ts";

type Fact = Texts<ExposureEntry>;
const entryOf = (fact: Fact): ExposureEntry =>
  valued<ExposureEntry>(fact, ["px", "base", "filled", "value", "cost", "feeQty"]);

const fact = (over: Partial<Fact> = {}): Fact => ({
  id: "1",
  strategy: "a",
  instId: swap,
  side: "buy",
  px: "100",
  base: "2",
  reduceOnly: false,
  isOpen: true,
  filled: "0",
  value: "0",
  cost: "0",
  feeQty: undefined,
  ...over,
});

const folded = (...facts: readonly Fact[]) => {
  const exposure = new Exposure();
  for (const one of facts) exposure.take(entryOf(one));
  return exposure;
};

describe("Exposure of all strategies", () => {
  it("counts what previous runs left and what was closed, before it is first asked for and after", () => {
    const exposure = new Exposure();
    const change = (id: string): void => {
      exposure.inherit("a", swap, { position: read("1"), cash: read("-100") });
      exposure.take(entryOf(fact({ id, strategy: "b", filled: "2", value: "200", cost: "0.2", isOpen: false })));
      exposure.close(swap, read("90"));
      exposure.inherit("b", swap, { position: read("1.5"), cash: read("0") });
    };
    change("1");
    expect(spelled(exposure.holding(swap))).toMatchObject({ position: "1.5", cash: "-30.2" });
    change("2");
    expect(spelled(exposure.holding(swap))).toMatchObject({ position: "1.5", cash: "74.6" });
    expect(spelled(exposure.holding(swap))).toMatchObject({ position: spell(exposure.holding(swap, "b").position) });
  });
});

describe("Exposure of a strategy:", () => {
  it.each<[string, readonly Fact[], string, string, string]>([
    ["an open order counts in full", [fact()], "200", "0", "2"],
    [
      "a fill moves from what is open to what is held",
      [fact(), fact({ filled: "0.5", value: "49", cost: "0.1" })],
      "150",
      "0.5",
      "1.5",
    ],
    ["told twice it counts once", [fact(), fact(), fact()], "200", "0", "2"],
    ["what is over is not open", [fact(), fact({ isOpen: false })], "0", "0", "0"],
    ["what is over stays over", [fact({ isOpen: false, filled: "1", value: "100" }), fact()], "0", "1", "0"],
    ["a sale is negative", [fact({ side: "sell", filled: "2", value: "200", isOpen: false })], "0", "-2", "0"],
    ["an order that only reduces is open but opens nothing", [fact({ reduceOnly: true })], "200", "0", "0"],
    ["more executed than estimated leaves nothing open", [fact({ filled: "2.1", value: "200" })], "0", "2.1", "0"],
  ])("%s", (_, facts, open, position, buying) => {
    const exposure = folded(...facts);
    expect(spell(exposure.openNotional())).toBe(open);
    expect(spelled(exposure.holding(swap))).toMatchObject({ position, buying });
    expect(spell(exposure.openNotional("a"))).toBe(open);
    expect(spelled(exposure.holding(swap, "a"))).toMatchObject({ position, buying });
  });

  it("cash is what was received less what was paid, costs included", () => {
    const bought = fact({ filled: "2", value: "200", cost: "0.2", isOpen: false });
    const sold = fact({ id: "2", side: "sell", filled: "2", value: "210", cost: "-0.1", isOpen: false });
    expect(spell(folded(bought, sold).holding(swap).cash)).toBe("9.9");
  });

  it("what was closed by no order of ours is held no more, and its value is cash", () => {
    const exposure = folded(fact({ filled: "2", value: "200", cost: "0.2", isOpen: false }));
    expect(spelled(exposure.holding(swap))).toMatchObject({ position: "2", cash: "-200.2" });
    exposure.close(swap, read("90"));
    expect(spelled(exposure.holding(swap))).toMatchObject({ position: "0", cash: "-20.2" });
    expect(spelled(exposure.holding(swap, "a"))).toMatchObject({ position: "0", cash: "-20.2" });
  });

  it("an order that gets a home moves there", () => {
    const exposure = folded(fact({ strategy: "" }), fact({ strategy: "b" }));
    expect(["", "b", undefined].map((of) => spell(exposure.openNotional(of)))).toEqual(["0", "200", "200"]);
  });

  it("a placement that was turned away does not count, and its id may serve another order", () => {
    const exposure = folded(fact());
    exposure.forget("1");
    expect(spell(exposure.openNotional())).toBe("0");
    exposure.take(entryOf(fact({ base: "1" })));
    expect(spell(exposure.openNotional())).toBe("100");
  });

  it("what was executed is never forgotten, also when its order is", () => {
    const exposure = new Exposure();
    for (let id = 0; id < 5_000; id++)
      exposure.take(entryOf(fact({ id: String(id), filled: "2", value: "200", isOpen: false })));
    exposure.forget("4999");
    expect(spell(exposure.holding(swap).position)).toBe("10000");
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
      return filled.map((done, step): Fact => {
        const last = step === filled.length - 1;
        const owner = homeless && step === 0 && !last ? "" : rest.strategy;
        const amounts = { filled: String(done), value: String(done * px), cost: String(done), feeQty: undefined };
        return {
          ...rest,
          ...amounts,
          strategy: owner,
          id: String(index),
          px: String(px),
          base: String(base),
          isOpen: !(ends && last),
        };
      });
    }),
  );

/** The same sums by another way: whole numbers, all orders at once, the last telling of each. */
const recomputed = (orders: readonly (readonly Fact[])[], instId: string, strategy?: string) => {
  const total = { open: 0, position: 0, cash: 0, buying: 0, selling: 0 };
  for (const life of orders) {
    const last = life[life.length - 1] as Fact;
    if (strategy !== undefined && last.strategy !== strategy) continue;
    const left = last.isOpen ? Number(last.base) - Number(last.filled) : 0;
    total.open += left * Number(last.px);
    if (last.instId !== instId) continue;
    const sign = last.side === "buy" ? 1 : -1;
    total.position += sign * Number(last.filled);
    total.cash -= sign * Number(last.value) + Number(last.cost);
    if (!last.reduceOnly) total[last.side === "buy" ? "buying" : "selling"] += left;
  }
  return Object.fromEntries(Object.entries(total).map(([name, value]) => [name, String(value === 0 ? 0 : value)]));
};

it("Repetitions give the sums of all orders at once, however the orders follow each other", () => {
  fc.assert(
    fc.property(tellings, fc.infiniteStream(fc.nat({ max: 1_000 })), (orders, chance) => {
      const draw = (): number => chance.next().value ?? 0;
      // Each order in the order of its life, some of it repeated; the orders mixed.
      const lives = orders.map((life) => life.flatMap((one) => (draw() % 3 === 0 ? [one, one] : [one])));
      const exposure = new Exposure();
      while (lives.some((life) => life.length > 0)) {
        const one = lives[draw() % lives.length]?.shift();
        if (one !== undefined) exposure.take(entryOf(one));
      }
      for (const strategy of [undefined, "a", "b"]) {
        for (const instId of [swap, eth]) {
          const is = { open: exposure.openNotional(strategy), ...exposure.holding(instId, strategy) };
          expect(spelled(is)).toEqual(recomputed(orders, instId, strategy));
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
  const factWith = (unit: SzUnit, one: Order, px?: string): Fact => {
    const szUnit = { SPOT: unit, SWAP: unit };
    const profile = { ...contract.profile, order: { ...contract.profile.order, szUnit } };
    return spelled(exposureEntryOf(one, { profile, instruments, marketPx: () => px }));
  };

  it.each<[SzUnit, string, string]>([
    ["base", "0.06", "0.03"],
    ["contracts", "6", "3"],
    ["quote_notional", "3600", "1799.97999999999999"],
  ])("is the same whatever sz counts: %s", (unit, sz, accFillSz) => {
    const { base, filled, value, cost, isOpen } = factWith(unit, order(sz, accFillSz));
    expect({ base, filled, cost, isOpen }).toEqual({ base: "0.06", filled: "0.03", cost: "1.5", isOpen: true });
    expect(value).toBe("1799.97999999999999");
  });

  it("keeps what was executed when the lot has become coarser since", () => {
    const coarse = () => new Map([[swap, { instId: swap, tickSize: "0.1", lotSize: "0.1" }]]);
    const source = { profile: contract.profile, instruments: coarse, marketPx: () => undefined };
    expect(spell(exposureEntryOf(order("3600", "1799.97999999999999"), source).filled)).toBe("0.03");
    const third = order("3600", "2220.003", { avgPx: "60000.08108", fee: "0" });
    expect(spell(exposureEntryOf(third, source).filled)).toBe("0.037");
  });

  it("is a whole number of lots, however roughly the service rounds its average", () => {
    const rough = order("3600", "1799.98", { avgPx: "59999.3", fee: "0" });
    expect(factWith("quote_notional", rough)).toMatchObject({ filled: "0.03", value: "1799.98" });
  });

  it("counts in full while its outcome is unknown, and not at all when it was turned away", () => {
    const spec = { ...builtSpec, sz: "0.06" };
    expect(factWith("base", builtOrder({ spec, phase: "unknown" }))).toMatchObject({ isOpen: true, filled: "0" });
    expect(factWith("base", builtOrder({ spec, phase: "planned" }))).toMatchObject({ isOpen: false });
  });

  it("is valued at the market where it has no price", () => {
    const spec = { ...builtSpec, sz: "6", px: "", ordType: "market" as const };
    expect(factWith("contracts", builtOrder({ spec }), "61000")).toMatchObject({ px: "61000", base: "0.06" });
    expect(factWith("quote_notional", builtOrder({ spec }))).toMatchObject({ px: undefined, base: "0" });
    // The amount of a market order is a little more than its quantity costs.
    expect(factWith("quote_notional", builtOrder({ spec, qty: read("0.06") }), "61000")).toMatchObject({
      px: "61000",
      base: "0.06",
    });
  });
});
