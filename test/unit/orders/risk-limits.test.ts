/**
 * Limits on money: values in, a reason out.
 */
import { Subject } from "rxjs";
import { describe, expect, it } from "vitest";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { createContract } from "../../../src/contract/contract.ts";
import { read, spell } from "../../../src/decimal-value.ts";
import { checkConfig } from "../../../src/host/config.ts";
import type { Effects } from "../../../src/orders/effects.ts";
import { Positions } from "../../../src/orders/positions.ts";
import { createLossWatch, profitOf } from "../../../src/orders/risk/loss-limits.ts";
import { admit, takeToken } from "../../../src/orders/risk/order-throttle.ts";
import { type RiskInput, type RiskRules, riskRuling } from "../../../src/orders/risk/risk-limits.ts";
import type { Slot } from "../../../src/orders/slot.ts";
import { nothingTraded, type Traded, TradedSums } from "../../../src/orders/traded-sums.ts";
import { Waits } from "../../../src/orders/waits.ts";
import type { OrderSpec } from "../../../src/orders/wanted-order.ts";
import type { Pace } from "../../../src/orders/world.ts";
import { type Texts, valued } from "../../support/decimal-texts.ts";
import { swap } from "../../support/harness/orders.ts";

type Standing = RiskInput["strategy"];
type Holding = Standing["holding"];

const amounts = ["position", "buying", "selling"] as const;
const holdingOf = (texts: Partial<Texts<Holding>>): Holding => {
  const none = { position: "0", buying: "0", selling: "0" };
  return valued<Holding>({ ...none, ...texts }, amounts);
};
const standing = (openNotional = "0", holding: Partial<Texts<Holding>> = {}): Standing => ({
  openNotional: read(openNotional),
  holding: holdingOf(holding),
});

/** One bitcoin at 100 beside a market at 100, unless said otherwise. */
const ruled = (
  rules: RiskRules,
  over: Partial<OrderSpec> & { readonly qty?: string } = {},
  rest: Partial<RiskInput> = {},
) => {
  const { qty = "1", ...change } = over;
  const spec: OrderSpec = {
    instId: swap,
    side: "buy",
    ordType: "limit",
    px: "100",
    sz: qty,
    reduceOnly: false,
    ...change,
  };
  const baseQty = qty === "" ? undefined : read(qty);
  return riskRuling({ rules, spec, baseQty, marketPx: "100", strategy: standing(), all: standing(), ...rest });
};

/** Admits slots to a throttle, and performs what it decides. */
const admission = (
  clock: ReturnType<typeof createVirtualClock>,
  perSecond: number,
  evaluated: (slot: Slot) => void,
) => {
  const waits = new Waits();
  const paces = new Map<string, Pace>();
  const state = {
    waits,
    paces,
    get now() {
      return clock.now();
    },
  };
  const run = (effects: Effects): void => {
    for (const effect of effects) {
      if (effect.kind === "evaluate") evaluated(effect.slot);
      else if (effect.kind === "schedule") clock.setTimer(effect.at, () => run(effect.due()));
    }
  };
  return (slot: Slot): void => run(admit(state, slot, perSecond));
};

describe("Risk limits on one order:", () => {
  it.each<[string, RiskRules, Partial<OrderSpec> & { readonly qty?: string }, string | undefined]>([
    ["worth its limit", { orderNotionalMax: "100" }, {}, undefined],
    [
      "worth a hair more",
      { orderNotionalMax: "99.999999999999" },
      {},
      "the order is worth 100; up to 99.999999999999 would pass (orders.orderNotionalMax)",
    ],
    ["worth more but only reducing", { orderNotionalMax: "10" }, { reduceOnly: true, side: "sell" }, undefined],
    ["a buy at the band's edge", { priceBandPct: "0.5" }, { px: "100.5" }, undefined],
    [
      "a buy beyond the band",
      { priceBandPct: "0.5" },
      { px: "100.6" },
      "px 100.6 is more than 0.5 % beyond the market at 100; up to 100.5 would pass (orders.priceBandPct)",
    ],
    ["a sale at the band's edge", { priceBandPct: "0.5" }, { side: "sell", px: "99.5" }, undefined],
    [
      "a sale beyond the band",
      { priceBandPct: "0.5" },
      { side: "sell", px: "99.4" },
      "px 99.4 is more than 0.5 % beyond the market at 100; from 99.5 on would pass (orders.priceBandPct)",
    ],
    ["a buy far below the market waits and harms nobody", { priceBandPct: "0.5" }, { px: "1" }, undefined],
    ["a market order has no limit price", { priceBandPct: "0.5" }, { px: "", ordType: "market" }, undefined],
  ])("%s", (_, rules, over, reason) => {
    expect(ruled(rules, over)?.reason).toBe(reason);
  });

  it("a limit price without any quote is not judged by it", () => {
    expect(ruled({ priceBandPct: "1" }, { px: "1000" }, { marketPx: undefined })).toBeUndefined();
  });

  it("a market order nobody can value waits for a quote", () => {
    expect(ruled({ orderNotionalMax: "1" }, { px: "", ordType: "market", qty: "" }, { marketPx: undefined })).toEqual({
      limit: "orderNotionalMax",
      reason: `no quote of ${swap} is known yet to value the order (orders.orderNotionalMax)`,
      crowded: true,
      isUnquoted: true,
    });
  });
});

describe("Risk limits on open orders:", () => {
  it.each(["openNotionalPerStrategy", "openNotionalInAll"] as const)("%s", (limit) => {
    const full = limit === "openNotionalInAll" ? { all: standing("150") } : { strategy: standing("150") };
    expect(ruled({ [limit]: "250" }, {}, full)).toBeUndefined();
    const whose = limit === "openNotionalInAll" ? "all" : "the strategy's";
    expect(ruled({ [limit]: "249.5" }, {}, full)).toEqual({
      limit,
      reason: `the order is worth 100 and ${whose} open orders 150 of 249.5; up to 99.5 would pass (orders.${limit})`,
      crowded: true,
    });
    // Never small enough, however much ends.
    expect(ruled({ [limit]: "99" }, {}, full)?.crowded).toBe(false);
    expect(ruled({ [limit]: "10" }, { reduceOnly: true }, full)).toBeUndefined();
  });
});

describe("Risk limits on positions:", () => {
  it.each<[string, Partial<Texts<Holding>>, Partial<OrderSpec> & { readonly qty?: string }, string | undefined]>([
    ["flat, within", {}, { qty: "3" }, undefined],
    ["flat, beyond", {}, { qty: "3.001" }, "300.1 long, more than 300; a size of up to 3 "],
    [
      "long and buying count",
      { position: "1", buying: "1" },
      { qty: "1.5" },
      "350 long, more than 300; a size of up to 1 ",
    ],
    [
      "what others may sell does not help",
      { position: "2", selling: "2" },
      { qty: "1.5" },
      "350 long, more than 300; a size of up to 1 ",
    ],
    ["a short may be turned round", { position: "-3" }, { qty: "6" }, undefined],
    ["but not beyond the limit", { position: "-3" }, { qty: "6.1" }, "310 long, more than 300; a size of up to 6 "],
    [
      "short and selling count",
      { position: "-1", selling: "1" },
      { side: "sell", qty: "2" },
      "400 short, more than 300; a size of up to 1 ",
    ],
    ["above the limit already, shrinking passes", { position: "9" }, { side: "sell", qty: "5" }, undefined],
    ["a closing order passes at any size", { position: "9" }, { side: "sell", qty: "99", reduceOnly: true }, undefined],
    [
      "one that calls itself so and would enlarge does not",
      { position: "9" },
      { qty: "1", reduceOnly: true },
      "1000 long, more than 300",
    ],
  ])("%s", (_, holding, over, reason) => {
    for (const [limit, rest] of [
      ["positionPerStrategy", { strategy: standing("0", holding) }],
      [
        "positionInAll",
        { strategy: standing("0", { position: holding.position ?? "0" }), all: standing("0", holding) },
      ],
    ] as const) {
      const ruling = ruled({ [limit]: "300" }, over, rest);
      if (reason === undefined) expect(ruling).toBeUndefined();
      else {
        expect(ruling?.reason).toContain(`position in ${swap} could become ${reason}`);
        expect(ruling?.reason).toContain(`would pass (orders.${limit})`);
      }
    }
  });
});

describe("The order throttle:", () => {
  it.each([
    ["an empty history grants a second's worth", 10, 10],
    ["less than one a second grants one", 0.5, 1],
  ])("%s", (_, perSecond, burst) => {
    let fullAt = Number.NEGATIVE_INFINITY;
    let granted = 0;
    for (let i = 0; i < 100; i++) {
      const verdict = takeToken(fullAt, perSecond, 5_000);
      if (!verdict.taken) continue;
      granted++;
      fullAt = verdict.fullAt;
    }
    expect(granted).toBe(burst);
    const next = takeToken(fullAt, perSecond, 5_000);
    expect(next).toEqual({ taken: false, at: 5_000 + 1_000 / perSecond });
    expect(takeToken(fullAt, perSecond, 5_000 + 1_000 / perSecond).taken).toBe(true);
  });

  it("of many wanted orders for one slot the latest is acted on, withdrawals at once, and nothing is remembered twice", () => {
    const clock = createVirtualClock(0);
    const seen: string[] = [];
    const admit = admission(clock, 2, (slot) => seen.push(`${clock.now()} ${slot.name} ${slot.wanted?.px ?? "none"}`));
    const slots = ["a", "b"].map((name) => ({ strategy: "s", name, wanted: undefined }) as unknown as Slot);
    for (let px = 0; px < 1_000; px++) {
      for (const slot of slots) {
        slot.wanted = { px: String(px) } as Slot["wanted"];
        admit(slot);
      }
    }
    expect(seen).toEqual(["0 a 0", "0 b 0"]);
    expect(clock.pending).toBe(1);
    const [a] = slots as [Slot, Slot];
    a.wanted = undefined;
    admit(a);
    expect(seen[2]).toBe("0 a none");
    clock.advanceTo(10_000);
    expect(seen.slice(3)).toEqual(["500 b 999"]);
    expect(clock.pending).toBe(0);
  });

  it("strategies do not take from each other", () => {
    const clock = createVirtualClock(0);
    const seen: string[] = [];
    const admit = admission(clock, 1, (slot) => seen.push(slot.strategy));
    for (const strategy of ["a", "a", "b"]) admit({ strategy, name: "x", wanted: {} } as unknown as Slot);
    expect(seen).toEqual(["a", "b"]);
  });
});

describe("Loss limits:", () => {
  const holding = (position: string, cash: string): Traded => ({ position: read(position), cash: read(cash) });

  it.each<[string, Traded, string, string]>([
    ["long below what was paid", holding("2", "-200"), "90", "-20"],
    ["short above what was received", holding("-2", "200"), "110", "-20"],
    ["closed, costs only", holding("0", "-0.3"), "5", "-0.3"],
  ])("%s", (_, held, px, profit) => {
    const sums = new TradedSums();
    sums.change(swap, nothingTraded, held);
    expect(spell(profitOf(sums, () => read(px)))).toBe(profit);
  });

  it("value open positions, and take the cash of others as it is", () => {
    const sums = new TradedSums();
    const changes: readonly [string, Traded, Traded][] = [
      ["A-USDT-SWAP", nothingTraded, holding("2", "-200")],
      ["B-USDT-SWAP", nothingTraded, holding("-1", "50")],
      // Closed at a loss, and opened again.
      ["A-USDT-SWAP", holding("2", "-200"), holding("0", "-7")],
      ["C-USDT-SWAP", nothingTraded, holding("1", "-10")],
      ["B-USDT-SWAP", holding("-1", "50"), holding("0", "3")],
      ["B-USDT-SWAP", holding("0", "3"), holding("1", "-37")],
    ];
    for (const [instId, before, after] of changes) sums.change(instId, before, after);
    expect([...sums.open.keys()]).toEqual(["C-USDT-SWAP", "B-USDT-SWAP"]);
    const prices: Readonly<Record<string, string>> = { "B-USDT-SWAP": "40", "C-USDT-SWAP": "9" };
    const profit = (known: readonly string[]): string =>
      spell(profitOf(sums, (instId) => (known.includes(instId) ? read(prices[instId] as string) : undefined)));
    expect(profit(["B-USDT-SWAP", "C-USDT-SWAP"])).toBe("-5");
    // Without its price, neither the position nor the cash of an instrument counts.
    expect(profit(["C-USDT-SWAP"])).toBe("-8");
  });

  const setup = (rules: RiskRules) => {
    const clock = createVirtualClock(0);
    let px: string | undefined = "100";
    const positions = new Positions({ ...createContract(), instruments: () => new Map(), marketPx: () => px });
    const told: string[] = [];
    const tell = (effects: Effects): void => {
      for (const effect of effects)
        if (effect.kind === "restrict") told.push(`${effect.strategy ?? "all"}: ${effect.reason}`);
    };
    const changes$ = new Subject<void>();
    const watch = createLossWatch({
      clock,
      rules,
      positions,
      closingPx: () => px,
      priceChanges: () => changes$,
      run: tell,
    });
    const price = (to: string | undefined): void => {
      px = to;
      changes$.next();
    };
    const buy = (strategy: string, qty: number): void => {
      positions.close({ strategy, instId: swap, side: "buy", px: "100", qty: String(qty), cost: "0" });
      tell(watch.traded(swap, "100"));
    };
    return { clock, told, price, buy, positions, watch, tell };
  };

  it("of earlier lives wait for a price, and those that were judged then are not told again", () => {
    const { clock, told, price, positions, watch, tell } = setup({ lossPerStrategy: "10" });
    price(undefined);
    for (const strategy of ["a", "b"])
      positions.inherit(strategy, swap, { qty: "1", entry: "100", realised: "0", fees: "0", open: {} });
    tell(watch.inherited(["a"]));
    clock.advanceTo(5_000);
    expect(told).toEqual([]);
    price("89");
    clock.advanceTo(6_000);
    expect(told).toEqual(["b: a loss of 11 is more than 10 (orders.lossPerStrategy)"]);
    price("91");
    clock.advanceTo(7_000);
    price("89");
    clock.advanceTo(8_000);
    expect(told.slice(1)).toEqual([
      "a: a loss of 11 is more than 10 (orders.lossPerStrategy)",
      "b: a loss of 11 is more than 10 (orders.lossPerStrategy)",
    ]);
  });

  it("are compared at most once a second while prices change, and a breach is told once until it was made good", () => {
    const { clock, told, price, buy } = setup({ lossPerStrategy: "10", lossInAll: "25" });
    buy("a", 1);
    buy("b", 2);
    price("94.99");
    clock.advanceTo(999);
    expect(told).toEqual([]);
    clock.advanceTo(1_000);
    expect(told).toEqual(["b: a loss of 10.02 is more than 10 (orders.lossPerStrategy)"]);
    price("90");
    clock.advanceTo(5_000);
    expect(told.slice(1)).toEqual(["all: a loss of 30 is more than 25 (orders.lossInAll)"]);
    price("100");
    clock.advanceTo(6_000);
    price("90");
    clock.advanceTo(9_000);
    expect(told.slice(2)).toEqual([
      "b: a loss of 20 is more than 10 (orders.lossPerStrategy)",
      "all: a loss of 30 is more than 25 (orders.lossInAll)",
    ]);
  });

  it("without any quote count at the price that was traded at", () => {
    const { clock, told, price, buy } = setup({ lossInAll: "10" });
    price(undefined);
    buy("a", 1);
    clock.advanceTo(3_000);
    expect(told).toEqual([]);
  });

  it("cost nothing while no price changes", () => {
    const { clock, told, buy } = setup({ lossPerStrategy: "10", lossInAll: "25" });
    buy("a", 1);
    expect(clock.pending).toBe(0);
    expect(told).toEqual([]);
  });

  it("are not watched without a limit", () => {
    const { clock, buy } = setup({ orderNotionalMax: "1" });
    buy("a", 1);
    expect(clock.pending).toBe(0);
  });
});

describe("Risk limits in a config:", () => {
  const base = { service: { kind: "test", open: () => undefined }, strategies: [{ kind: "strategy", name: "s" }] };
  const check = (orders: object) => checkConfig({ ...base, orders });

  it.each([
    "orderNotionalMax",
    "priceBandPct",
    "openNotionalPerStrategy",
    "openNotionalInAll",
    "positionPerStrategy",
    "positionInAll",
    "lossPerStrategy",
    "lossInAll",
  ])("%s is exact decimal text and nothing else", (name) => {
    expect(check({ [name]: "1000.50" }).orders).toEqual({ [name]: "1000.50" });
    for (const value of [1000, "-1", "1e3", "", "much"]) {
      expect(() => check({ [name]: value })).toThrow(
        new RegExp(`config.orders.${name}: must .* (Write plain digits in a string|write "1000")`),
      );
    }
    expect(() => check({ [`${name}s`]: "1" })).toThrow(`Did you mean "${name}"`);
  });

  it("changesPerSecond is a positive number", () => {
    expect(check({ changesPerSecond: 0.5 }).orders).toEqual({ changesPerSecond: 0.5 });
    expect(() => check({ changesPerSecond: 0 })).toThrow("must be > 0");
  });
});
