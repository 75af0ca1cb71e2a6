/**
 * Which resting order may stay for a wanted order that has changed: what the wanted order would become is compared, field by field.
 */
import { describe, expect, it } from "vitest";
import type { Order } from "../../../src/orders/order-state.ts";
import { suits } from "../../../src/orders/plan.ts";
import type { OrderSpec, Specified, WantedOrder } from "../../../src/orders/wanted-order.ts";
import { builtOrder } from "../../support/built-orders.ts";
import { bid } from "../../support/harness/orders.ts";

const resting: OrderSpec = {
  instId: "BTC-USDT-SWAP",
  side: "buy",
  ordType: "limit",
  px: "60000",
  sz: "10",
  reduceOnly: false,
};
const restingFor = (was: WantedOrder | undefined, spec: Partial<OrderSpec> = {}): Order =>
  builtOrder({ wanted: was, spec: { ...resting, ...spec } });
/** The wanted order becomes these words; the service's own lots decide what a size becomes, so that the words are given, not derived. */
const becomes = (spec: Partial<OrderSpec>) => (): Specified => ({
  ok: true,
  spec: { ...resting, ...spec },
  baseQty: undefined,
});

/** A wanted order that is not the one the order was placed for, whatever it becomes. */
const other = bid({ round: 2 });

describe("Without a tolerance a resting order stays,", () => {
  it.each<[string, Partial<OrderSpec>, Partial<OrderSpec>, boolean]>([
    ["when nothing differs", {}, {}, true],
    ["not for another instrument", { instId: "ETH-USDT-SWAP" }, {}, false],
    ["not for the other side", { side: "sell" }, {}, false],
    ["not for another type", { ordType: "post_only" }, {}, false],
    ["not for one that may only reduce", { reduceOnly: true }, {}, false],
    ["not when only it may only reduce", {}, { reduceOnly: true }, false],
    ["not at another price", { px: "60000.1" }, {}, false],
    ["not with another size", { sz: "11" }, {}, false],
    ["not at another price with another size", { px: "1", sz: "11" }, {}, false],
    ["when the price is spelled otherwise", { px: "60000.0" }, {}, true],
    ["when the size is spelled otherwise", { sz: "10.00" }, {}, true],
    ["when both are spelled otherwise", { px: "60000.0", sz: "10.00" }, {}, true],
    ["not when the price is spelled otherwise and the size is another", { px: "60000.0", sz: "11" }, {}, false],
    ["not when it has a price and the wanted order has none", { px: "" }, {}, false],
    ["not when the wanted order has a price and it has none", {}, { px: "" }, false],
    ["when neither has a price", { px: "" }, { px: "" }, true],
    ["not when neither has a price and the size is another", { px: "", sz: "11" }, { px: "" }, false],
  ])("%s", (_, wanted, rests, stays) => {
    expect(suits(other, restingFor(bid(), rests), becomes(wanted))).toBe(stays);
  });

  it("and its price alone is asked for where the price decides", () => {
    const asked: (string | undefined)[] = [];
    const specify = (_: WantedOrder, onlyAt?: string): Specified => {
      asked.push(onlyAt);
      return becomes({})();
    };
    suits(other, restingFor(bid()), specify);
    suits(other, restingFor(bid(), { px: "" }), specify);
    suits({ ...other, keepWithin: "5" }, restingFor(bid()), specify);
    expect(asked).toEqual(["60000", "", undefined]);
  });

  it("not when the wanted order cannot be said in the service's words", () => {
    expect(suits(other, restingFor(bid()), () => ({ ok: false, reason: "less than one lot" }))).toBe(false);
  });

  it("without a look at the words when it was placed for the same wanted order", () => {
    const silent = (): Specified => {
      throw new Error("was asked");
    };
    expect(suits(bid(), restingFor(bid()), silent)).toBe(true);
    expect(() => suits(other, restingFor(bid()), silent)).toThrow("was asked");
  });
});

describe("With a tolerance of 5 a resting order at 60000", () => {
  const near = (over: Partial<WantedOrder> = {}): WantedOrder => bid({ round: 2, keepWithin: "5", ...over });

  it.each<[string, boolean]>([
    ["60004.9", true],
    ["60005", true],
    ["60005.1", false],
    ["59995", true],
    ["59994.9", false],
    ["60000.0", true],
  ])("wanted at %s stays: %s", (px, stays) => {
    expect(suits(near(), restingFor(bid()), becomes({ px }))).toBe(stays);
  });

  it("goes, however near, when one of the two has no price", () => {
    expect(suits(near({ keepWithin: "100000" }), restingFor(bid()), becomes({ px: "" }))).toBe(false);
    expect(suits(near({ keepWithin: "100000" }), restingFor(bid(), { px: "" }), becomes({}))).toBe(false);
  });

  const { qty: _, ...unsized } = bid();
  const sized = (size: Partial<WantedOrder>): WantedOrder => ({ ...unsized, ...size });
  it.each<[string, Partial<WantedOrder>, Partial<WantedOrder>, boolean]>([
    ["stays when the size is said alike in base currency", { qty: "1" }, { qty: "1" }, true],
    ["stays when the size is said alike in quote currency", { notional: "500" }, { notional: "500" }, true],
    ["stays when the size is said alike in the service's unit", { sz: "10" }, { sz: "10" }, true],
    ["goes when the size in base currency is another", { qty: "1" }, { qty: "2" }, false],
    ["goes when the size in quote currency is another", { notional: "500" }, { notional: "501" }, false],
    ["goes when the size in the service's unit is another", { sz: "10" }, { sz: "11" }, false],
    ["goes when the size is said in another currency", { qty: "1" }, { notional: "60000" }, false],
  ])("%s, whatever the price makes of it", (__, was, now, stays) => {
    const wanted = sized({ ...now, keepWithin: "5", round: 2 });
    expect(suits(wanted, restingFor(sized(was)), becomes({ px: "60001", sz: "9" }))).toBe(stays);
  });

  it("at the same price is judged by the size it has, not by how the size was said", () => {
    expect(suits(near({ qty: "0.01049" }), restingFor(bid()), becomes({}))).toBe(true);
    expect(suits(near(), restingFor(bid()), becomes({ sz: "11" }))).toBe(false);
  });

  it("found at the service, of which no wanted order is known, is judged by the size it has", () => {
    expect(suits(near(), restingFor(undefined), becomes({ px: "60001", sz: "10.0" }))).toBe(true);
    expect(suits(near(), restingFor(undefined), becomes({ px: "60001", sz: "9" }))).toBe(false);
  });
});
