/** Positions of strategies by their own fills, against figures worked out by hand, records and the venue's own fills. */

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createContract } from "../../../src/contract/contract.ts";
import type { OrderRecord } from "../../../src/contract/schemas.ts";
import { abs, add, compare, mul, neg, sub, sum } from "../../../src/decimal.ts";
import { read, spell } from "../../../src/decimal-value.ts";
import { advance, type Order, recalledOrder } from "../../../src/orders/order-state.ts";
import { Positions } from "../../../src/orders/positions.ts";
import type { WantedOrder } from "../../../src/orders/wanted-order.ts";
import { builtOrder } from "../../support/built-orders.ts";
import { spelled } from "../../support/decimal-texts.ts";
import { createRig, swap } from "../../support/harness/orders.ts";

const instruments = new Map([[swap, { instId: swap, tickSize: "0.1", lotSize: "0.001" }]]);
let mark: string | undefined;
const positionsOf = (): Positions =>
  new Positions({
    profile: createContract({ order: { szUnit: { SPOT: "base", SWAP: "base" } } }).profile,
    instruments: () => instruments,
    marketPx: () => mark,
  });

const record = (
  id: string,
  side: "buy" | "sell",
  accFillSz: string,
  avgPx: string,
  fee: string,
  state: OrderRecord["state"],
): OrderRecord => ({
  instId: swap,
  ordId: `1${id}`,
  clOrdId: id,
  px: "100",
  sz: "10",
  ordType: "limit",
  side,
  state,
  avgPx,
  accFillSz,
  fee,
  createdAt: "1",
  updatedAt: "1",
});

const wanted: WantedOrder = { slot: "x", instId: swap, side: "buy", px: "100", qty: "10" };
const orderOf = (id: string, side: "buy" | "sell", ordType: Order["spec"]["ordType"] = "limit"): Order =>
  builtOrder({
    slot: "x",
    clOrdId: id,
    wanted,
    spec: { instId: swap, side, ordType, px: "100", sz: "10", reduceOnly: false },
  });

/** Id, side, executed so far, average, fee so far (negative is a cost), and how the order stands. */
type Told = readonly [string, "buy" | "sell", string, string, string, OrderRecord["state"]];
/** Price and size of the fill, then quantity, average, realised and fees, by hand. */
type Expected = readonly [string, string, string, string, string, string];

/**
 * Each line: what a record says, and what follows. Worked out on paper:
 * a: 1@100, 1@101 → 2 for 201. b sells 1@103: +2.5, then 1@104: +3.5, flat. c sells 2@104, 1@105 → -3 for -313.
 * d buys 5@100: closes 3 for 300, +13, and opens 2@100. e buys 1@103 → 3 for 303. f sells 4@102: closes 3, +3, opens -1@102;
 * and 2@99 → -3 for -300. g buys 3@110 = 330: -30, flat.
 */
const table: readonly (readonly [Told, Expected])[] = [
  [
    ["a", "buy", "1", "100", "-0.05", "partially_filled"],
    ["100", "1", "1", "100", "0", "0.05"],
  ],
  [
    ["a", "buy", "2", "100.5", "-0.1005", "filled"],
    ["101", "1", "2", "100.5", "0", "0.1005"],
  ],
  [
    ["b", "sell", "1", "103", "0.01", "partially_filled"],
    ["103", "1", "1", "100.5", "2.5", "0.0905"],
  ],
  [
    ["b", "sell", "2", "103.5", "0.02", "filled"],
    ["104", "1", "0", "0", "6", "0.0805"],
  ],
  [
    ["c", "sell", "2", "104", "-0.1", "partially_filled"],
    ["104", "2", "-2", "104", "6", "0.1805"],
  ],
  // A third of 313, cut off.
  [
    ["c", "sell", "3", "104.333333333333", "-0.15", "canceled"],
    ["105", "1", "-3", "104.333333333333", "6", "0.2305"],
  ],
  [
    ["d", "buy", "5", "100", "-0.25", "filled"],
    ["100", "5", "2", "100", "19", "0.4805"],
  ],
  [
    ["e", "buy", "1", "103", "0", "filled"],
    ["103", "1", "3", "101", "19", "0.4805"],
  ],
  [
    ["f", "sell", "4", "102", "-0.2", "partially_filled"],
    ["102", "4", "-1", "102", "22", "0.6805"],
  ],
  [
    ["f", "sell", "6", "101", "-0.3", "filled"],
    ["99", "2", "-3", "100", "22", "0.7805"],
  ],
  // Two prices in one record: their mean. 1@110.05 is off the tick and stays what the record says.
  [
    ["g", "buy", "2", "109.95", "-0.1", "partially_filled"],
    ["109.95", "2", "-1", "100", "2.1", "0.8805"],
  ],
  [
    ["g", "buy", "3", "110", "-0.15", "filled"],
    ["110.1", "1", "0", "0", "-8", "0.9305"],
  ],
];

describe("A strategy's position", () => {
  it("is what hand arithmetic gives, fill by fill: partials, turns, fees and rebates", () => {
    mark = undefined;
    const positions = positionsOf();
    const orders = new Map<string, Order>();
    for (const [told, [px, qty, held, avgPx, realised, fees]] of table) {
      const [id, side] = told;
      const order = orders.get(id) ?? orderOf(id, side);
      orders.set(id, order);
      advance(order, { type: "recorded", record: record(...told) });
      const fill = positions.take(order, "s");
      expect([told, fill?.px, fill?.qty, fill?.position]).toEqual([told, px, qty, held]);
      expect([told, positions.of("s", swap)]).toEqual([
        told,
        expect.objectContaining({
          qty: held,
          avgPx,
          realised,
          fees,
          unrealised: "0",
          currency: "USDT",
          profit: sub(realised, fees),
        }),
      ]);
      expect(positions.take(order, "s")).toBeUndefined();
    }
  });

  it("is valued by the quote that closing it would meet, and at its entry without one", () => {
    const positions = positionsOf();
    const order = orderOf("a", "sell", "ioc");
    advance(order, { type: "recorded", record: record("a", "sell", "2", "100", "-0.1", "filled") });
    expect(positions.take(order, "s")).toMatchObject({
      fee: "-0.1",
      cost: "0.1",
      currency: "USDT",
      liquidity: "taker",
      recovered: false,
    });
    mark = undefined;
    expect(positions.of("s", swap)).toMatchObject({ markPx: "100", unrealised: "0", profit: "-0.1" });
    mark = "97.5";
    expect(positions.of("s", swap)).toMatchObject({ markPx: "97.5", unrealised: "5", profit: "4.9" });
    expect([...positions.equity("s")]).toEqual([["USDT", "4.9"]]);
    expect([...positions.equity("t")]).toEqual([]);
    expect(positions.of("t", swap)).toMatchObject({ qty: "0", avgPx: "0", markPx: "0", profit: "0" });
    expect(positions.holders(swap)).toEqual([{ strategy: "s", qty: "-2" }]);
    expect(positions.close({ strategy: "s", instId: swap, side: "buy", px: "95", qty: "2", cost: "0.3" })).toEqual({
      currency: "USDT",
      position: "0",
    });
    expect(positions.of("s", swap)).toMatchObject({ qty: "0", realised: "10", fees: "0.4", profit: "9.6" });
    expect(positions.holders(swap)).toEqual([]);
  });

  it("goes on from a kept one as if there had been no break", () => {
    mark = undefined;
    const [first, second] = [positionsOf(), positionsOf()];
    const order = orderOf("a", "buy");
    advance(order, { type: "recorded", record: record("a", "buy", "1", "100", "-0.05", "partially_filled") });
    first.take(order, "s");
    const kept = first.booked("s", swap);
    if (kept === undefined) throw new Error("nothing was kept");
    second.inherit("s", swap, JSON.parse(JSON.stringify(kept)) as typeof kept);
    expect(second.of("s", swap)).toEqual(first.of("s", swap));
    const last = record("a", "buy", "2", "100.5", "-0.1005", "filled");
    advance(order, { type: "recorded", record: last });
    const found = recalledOrder(order.clOrdId, order.spec, 0);
    advance(found, { type: "claimed", strategy: "s", slot: "x" });
    advance(found, { type: "recorded", record: last });
    expect(second.take(found, "s")).toMatchObject({ px: "101", qty: "1", recovered: true });
    first.take(order, "s");
    expect(second.of("s", swap)).toEqual(first.of("s", swap));
  });
});

/** Sums of one strategy, or of all, as text. */
const sumsOf = (positions: Positions, strategy?: string) => spelled(positions.tradedBy(strategy).of(swap));

describe("Executions without a strategy", () => {
  const bought = (id: string): Order => {
    const order = builtOrder({ strategy: "", slot: "", clOrdId: id });
    advance(order, { type: "recorded", record: record(id, "buy", "2", "100", "-0.2", "filled") });
    return order;
  };

  it("count in the sums of all strategies until the strategy is known, and then for it", () => {
    const positions = positionsOf();
    const order = bought("a");
    expect([positions.take(order, ""), positions.take(order, "")]).toEqual([undefined, undefined]);
    expect(spell(positions.netQty(swap))).toBe("2");
    expect(sumsOf(positions)).toEqual({ position: "2", cash: "-200.2" });
    expect([positions.strategies(), positions.instruments().size, positions.equity().size]).toEqual([[], 0, 0]);
    expect(positions.take(order, "s")).toMatchObject({ qty: "2", px: "100", recovered: true });
    expect([spell(positions.netQty(swap)), spell(positions.qtyOf("s", swap))]).toEqual(["2", "2"]);
    expect([sumsOf(positions), sumsOf(positions, "s")]).toEqual(Array(2).fill({ position: "2", cash: "-200.2" }));
  });

  it("are held no more when the account's position was closed, and their value is cash", () => {
    const positions = positionsOf();
    positions.inheritUnowned(swap, { position: read("-1"), cash: read("90") });
    positions.take(bought("a"), "");
    expect(sumsOf(positions)).toEqual({ position: "1", cash: "-110.2" });
    positions.closeUnowned(swap, read("80"));
    expect(sumsOf(positions)).toEqual({ position: "0", cash: "-30.2" });
    expect(spell(positions.netQty(swap))).toBe("0");
  });
});

it("The sums of strategies are those of all executions at once, however orders follow each other", () => {
  const life = fc.record({
    owner: fc.constantFrom("s", "t", ""),
    side: fc.constantFrom("buy" as const, "sell" as const),
    px: fc.integer({ min: 1, max: 99 }),
    fills: fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 4 }),
    ends: fc.boolean(),
    /** Number of its records that come before its strategy is known. */
    early: fc.integer({ min: 0, max: 2 }),
  });
  fc.assert(
    fc.property(fc.array(life, { minLength: 1, maxLength: 8 }), fc.infiniteStream(fc.nat()), (lives, chance) => {
      const positions = positionsOf();
      const waiting = lives.map(({ owner, side, px, fills, ends, early }, index) => {
        const order = orderOf(String(index), side);
        const done = fills.toSorted((a, b) => a - b);
        return done.map((fill, step) => () => {
          const isLast = step === done.length - 1;
          const state = isLast && ends ? "canceled" : "partially_filled";
          const fee = String(-fill);
          advance(order, {
            type: "recorded",
            record: record(String(index), side, String(fill), String(px), fee, state),
          });
          positions.take(order, isLast || step >= early ? owner : "");
        });
      });
      while (waiting.some((steps) => steps.length > 0))
        waiting[(chance.next().value ?? 0) % waiting.length]?.shift()?.();
      const summed = (strategy?: string) => {
        const own = lives.filter(({ owner }) => strategy === undefined || owner === strategy);
        const signed = own.map(({ side, fills, px }) => ({ px, qty: Math.max(...fills) * (side === "buy" ? 1 : -1) }));
        const position = signed.reduce((total, { qty }) => total + qty, 0);
        const cash = signed.reduce((total, { qty, px }) => total - qty * px - Math.abs(qty), 0);
        return { position: String(position), cash: String(cash) };
      };
      const none = { position: "0", cash: "0" };
      for (const strategy of [undefined, "s", "t"])
        expect(sumsOf(positions, strategy) ?? none).toEqual(summed(strategy));
      expect(spell(positions.netQty(swap))).toBe(summed().position);
    }),
    { numRuns: 300 },
  );
});

describe("Fills", () => {
  it("are the venue's own, to the last digit, and add up to records, to positions and, over strategies, to the account", () => {
    const step = fc.record({
      strategy: fc.constantFrom("s", "t"),
      side: fc.constantFrom("buy" as const, "sell" as const),
      kind: fc.constantFrom("market" as const, "limit" as const),
      lots: fc.integer({ min: 1, max: 40 }),
      px: fc.integer({ min: 599_900, max: 600_100 }),
    });
    let fills = 0;
    let partials = 0;
    fc.assert(
      fc.property(
        fc.array(step, { minLength: 1, maxLength: 12 }),
        fc.constantFrom("base" as const, "quote_notional" as const),
        (steps, unit) => {
          const rig = createRig({ profile: { order: { szUnit: { SPOT: unit, SWAP: unit } } } });
          const real: { px: string; qty: string; cost: string; clOrdId: string }[] = [];
          rig.venue.onFill((fill) => real.push(fill));
          rig.run();
          for (const [index, { strategy, side, kind, lots, px }] of steps.entries()) {
            rig.venue.quote(swap, px, 7, px + 1, 9, rig.clock.now());
            rig.setMarketPx(String(px / 10));
            const qty = String(lots / 1000);
            const order = {
              slot: `n${index}`,
              instId: swap,
              side,
              qty,
              ...(kind === "limit" && { px: String(px / 10) }),
            };
            rig.orderManager.want(strategy, [order as WantedOrder]);
            rig.run(300);
            // What rests is executed in parts.
            for (const size of [3, 4]) {
              rig.venue.trade(swap, "sell", 599_000, size, rig.clock.now());
              rig.venue.trade(swap, "buy", 601_000, size, rig.clock.now());
              rig.run(100);
            }
          }
          const told = rig.events.filter((event) => event.type === "fill");
          expect(told.map(({ px, qty, cost, clOrdId }) => ({ px, qty, cost, clOrdId }))).toEqual(
            real.map(({ px, qty, cost, clOrdId }) => ({ px, qty, cost, clOrdId })),
          );
          fills += told.length;
          partials += told.length - new Set(told.map(({ clOrdId }) => clOrdId)).size;
          let account = "0";
          for (const strategy of ["s", "t"]) {
            const own = told.filter((fill) => fill.strategy === strategy);
            const held = sum(own.map(({ side, qty }) => (side === "buy" ? qty : neg(qty))));
            const { qty, fees } = rig.orderManager.positions.of(strategy, swap);
            expect([qty, fees]).toEqual([held, sum(own.map(({ cost }) => cost))]);
            account = add(account, qty);
          }
          const [position] = rig.venue.truth("ann").positions;
          expect(account).toBe(position?.pos ?? "0");
          for (const update of rig.updates.filter(({ isFinal }) => isFinal)) {
            const own = told.filter(({ clOrdId }) => clOrdId === update.clOrdId);
            expect(update.filledQty).toBe(sum(own.map(({ qty }) => qty)));
            const off = abs(
              sub(
                mul(update.filledQty, update.avgPx === "" ? "0" : update.avgPx),
                sum(own.map(({ px, qty }) => mul(px, qty))),
              ),
            );
            expect(compare(off, "0.00000000001")).toBeLessThan(0);
          }
        },
      ),
      { numRuns: 60 },
    );
    expect([fills > 100, partials > 20]).toEqual([true, true]);
  });
});
