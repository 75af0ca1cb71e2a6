/**
 * The fold over what open orders may still execute, against the same sums over all orders at once.
 */

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createContract } from "../../../src/contract/contract.ts";
import type { SzUnit } from "../../../src/contract/profile.ts";
import type { OrderRecord } from "../../../src/contract/schemas.ts";
import { read, spell } from "../../../src/decimal-value.ts";
import { executionOf } from "../../../src/orders/executions.ts";
import type { Order } from "../../../src/orders/order-state.ts";
import { Exposure, type ExposureEntry, exposureEntryOf } from "../../../src/orders/risk/exposure.ts";
import { builtOrder, builtSpec } from "../../support/built-orders.ts";
import { spelled, type Texts, valued } from "../../support/decimal-texts.ts";
import { eth, swap } from "../../support/harness/orders.ts";

/** An order as a table states it: its size, what was executed of it, and whether it is open. */
interface Fact extends Omit<Texts<ExposureEntry>, "left"> {
  readonly base: string;
  readonly filled: string;
  readonly isOpen: boolean;
}
const entryOf = ({ base, filled, isOpen, ...rest }: Fact): ExposureEntry => {
  const left = isOpen ? String(Math.max(0, Number(base) - Number(filled))) : "0";
  return valued<ExposureEntry>({ ...rest, left }, ["px", "left"]);
};

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
  ...over,
});

const folded = (...facts: readonly Fact[]) => {
  const exposure = new Exposure();
  for (const one of facts) exposure.take(entryOf(one));
  return exposure;
};

describe("Exposure of a strategy:", () => {
  it.each<[string, readonly Fact[], string, string]>([
    ["an open order counts in full", [fact()], "200", "2"],
    ["a fill is not open any more", [fact(), fact({ filled: "0.5" })], "150", "1.5"],
    ["told twice it counts once", [fact(), fact(), fact()], "200", "2"],
    ["what is over is not open", [fact(), fact({ isOpen: false })], "0", "0"],
    ["an order that only reduces is open but opens nothing", [fact({ reduceOnly: true })], "200", "0"],
    ["more executed than estimated leaves nothing open", [fact({ filled: "2.1" })], "0", "0"],
  ])("%s", (_, facts, open, buying) => {
    const exposure = folded(...facts);
    expect(spell(exposure.openNotional())).toBe(open);
    expect(spelled(exposure.sizes(swap))).toEqual({ buying, selling: "0" });
    expect(spell(exposure.openNotional("a"))).toBe(open);
    expect(spelled(exposure.sizes(swap, "a"))).toEqual({ buying, selling: "0" });
  });

  it("an order that gets a home moves there", () => {
    const exposure = folded(fact({ strategy: "" }), fact({ strategy: "b" }));
    expect(["", "b", undefined].map((of) => spell(exposure.openNotional(of)))).toEqual(["0", "200", "200"]);
  });

  it("a placement that was turned away does not count, and its id may serve another order", () => {
    const exposure = folded(fact(), fact({ isOpen: false }));
    expect(spell(exposure.openNotional())).toBe("0");
    exposure.take(entryOf(fact({ base: "1" })));
    expect(spell(exposure.openNotional())).toBe("100");
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
        return {
          ...rest,
          filled: String(done),
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
  const total = { open: 0, buying: 0, selling: 0 };
  for (const life of orders) {
    const last = life[life.length - 1] as Fact;
    if (strategy !== undefined && last.strategy !== strategy) continue;
    const left = last.isOpen ? Number(last.base) - Number(last.filled) : 0;
    total.open += left * Number(last.px);
    if (last.instId !== instId) continue;
    if (!last.reduceOnly) total[last.side === "buy" ? "buying" : "selling"] += left;
  }
  return Object.fromEntries(Object.entries(total).map(([name, value]) => [name, String(value)]));
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
          const is = { open: exposure.openNotional(strategy), ...exposure.sizes(instId, strategy) };
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
  const entryWith = (unit: SzUnit, one: Order, px?: string): Texts<ExposureEntry> =>
    spelled(exposureEntryOf(one, { ...sourceOf(unit), marketPx: () => px }));
  const sourceOf = (unit: SzUnit) => {
    const szUnit = { SPOT: unit, SWAP: unit };
    return { profile: { ...contract.profile, order: { ...contract.profile.order, szUnit } }, instruments };
  };

  it.each<[SzUnit, string, string]>([
    ["base", "0.06", "0.03"],
    ["contracts", "6", "3"],
    ["quote_notional", "3600", "1799.97999999999999"],
  ])("is the same whatever sz counts: %s", (unit, sz, accFillSz) => {
    const { filled, value, cost } = spelled(executionOf(order(sz, accFillSz), sourceOf(unit)));
    expect({ filled, cost, value }).toEqual({ filled: "0.03", cost: "1.5", value: "1799.97999999999999" });
    expect(entryWith(unit, order(sz, accFillSz))).toMatchObject({ left: "0.03", px: "60000" });
  });

  it("keeps what was executed when the lot has become coarser since", () => {
    const coarse = () => new Map([[swap, { instId: swap, tickSize: "0.1", lotSize: "0.1" }]]);
    const source = { profile: contract.profile, instruments: coarse };
    expect(spell(executionOf(order("3600", "1799.97999999999999"), source).filled)).toBe("0.03");
    const third = order("3600", "2220.003", { avgPx: "60000.08108", fee: "0" });
    expect(spell(executionOf(third, source).filled)).toBe("0.037");
  });

  it("is a whole number of lots, however roughly the service rounds its average", () => {
    const rough = order("3600", "1799.98", { avgPx: "59999.3", fee: "0" });
    expect(spelled(executionOf(rough, sourceOf("quote_notional")))).toMatchObject({ filled: "0.03", value: "1799.98" });
  });

  it("counts in full while its outcome is unknown, and not at all when it was turned away", () => {
    const spec = { ...builtSpec, sz: "0.06" };
    expect(entryWith("base", builtOrder({ spec, phase: "unknown" }))).toMatchObject({ left: "0.06" });
    expect(entryWith("base", builtOrder({ spec, phase: "planned" }))).toMatchObject({ left: "0" });
  });

  it("is valued at the market where it has no price", () => {
    const spec = { ...builtSpec, sz: "6", px: "", ordType: "market" as const };
    expect(entryWith("contracts", builtOrder({ spec }), "61000")).toMatchObject({ px: "61000", left: "0.06" });
    expect(entryWith("quote_notional", builtOrder({ spec }))).toMatchObject({ px: undefined, left: "0" });
    // The amount of a market order is a little more than its quantity costs.
    expect(entryWith("quote_notional", builtOrder({ spec, qty: read("0.06") }), "61000")).toMatchObject({
      px: "61000",
      left: "0.06",
    });
  });
});
