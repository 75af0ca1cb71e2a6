/** What a strategy emits is taken as it is at that moment, however it is written. */
import { describe, expect, it } from "vitest";
import { takeWanted } from "../../../src/orders/wanted-set.ts";

const plain = { slot: "a", instId: "BTC-USDT-SWAP", side: "buy", px: "1", qty: "2" } as const;
const full = {
  ...plain,
  ordType: "post_only",
  notional: "3",
  sz: "4",
  reduceOnly: true,
  keepWithin: "5",
  round: 6,
  tag: "seven",
} as const;

class Odd {
  readonly slot = "a";
  readonly instId = "BTC-USDT-SWAP";
  readonly side = "buy";
  readonly px = "1";
  readonly qty = "2";
}

const taken = (order: unknown): unknown => JSON.parse(JSON.stringify(takeWanted("s", [order]).orders[0]));

describe("A set of wanted orders", () => {
  it.each<[string, unknown, unknown]>([
    ["of the plainest kind", plain, plain],
    ["with every field", full, full],
    ["with fields that are undefined", { ...plain, ordType: undefined, tag: undefined }, plain],
    ["that came from a class", new Odd(), plain],
    ["without a prototype", Object.assign(Object.create(null), plain), plain],
    ["that is frozen", Object.freeze({ ...full }), full],
  ])("takes an order %s as it is", (_, order, expected) => {
    expect(taken(order)).toEqual(expected);
  });

  it("is a copy: what its author does with an order afterwards changes nothing, nor does what a getter says then", () => {
    const order: { slot: string; instId: string; side: string; px: string; qty: string } = { ...plain };
    let asked = 0;
    const moody = {
      ...plain,
      slot: "b",
      get px() {
        asked++;
        return asked === 1 ? "1" : "not any more";
      },
    };
    const [first, second] = takeWanted("s", [order, moody]).orders;
    order.px = "9";
    expect([first?.px, second?.px, second?.px]).toEqual(["1", "1", "1"]);
    expect(asked).toBe(1);
  });

  it.each<[string, object, string]>([
    ["a misspelt field", { ...plain, keepWthin: "5" }, 'the unknown field "keepWthin". Did you mean "keepWithin"?'],
    [
      "a misspelt field beside one that is undefined",
      { ...plain, tag: undefined, quantity: "5" },
      'the unknown field "quantity"',
    ],
    ["an inherited field", Object.create(plain), "order 0 with slot undefined"],
    ["no slot", { ...plain, slot: "" }, 'with slot ""'],
    ["no product", { ...plain, instId: 7 }, 'order "a" with instId 7'],
    ["no side", { ...plain, side: undefined }, 'order "a" with side undefined'],
    ["a price that is a number", { ...plain, px: 1 }, 'order "a" with px 1. Write text, such as px: "42000.5"'],
    ["a size that is a number", { ...plain, qty: 1 }, 'order "a" with qty 1'],
    ["a value that is a number", { ...plain, notional: 1 }, 'order "a" with notional 1'],
    ["a raw size that is a number", { ...plain, sz: 1 }, 'order "a" with sz 1'],
    ["a type that is a list", { ...plain, ordType: ["limit"] }, 'order "a" with ordType ["limit"]'],
    ["a tag that is an object", { ...plain, tag: {} }, 'order "a" with tag {}'],
    ["a tolerance in scientific words", { ...plain, keepWithin: "1e3" }, 'order "a" with keepWithin "1e3"'],
    ["a round that is a list", { ...plain, round: [] }, 'order "a" with round []'],
  ])("with %s is refused by name", (_, order, message) => {
    expect(() => takeWanted("s", [order])).toThrow(`s: \`wanted\` emitted `);
    expect(() => takeWanted("s", [order])).toThrow(message);
  });

  it("has a thousand orders at most", () => {
    expect(() => takeWanted("s", Array(1_001).fill(plain))).toThrow(
      "emitted 1001 orders. A strategy has 1000 slots at most",
    );
  });
});
