/** Product ids: two forms, inverse to each other, everything else refused by value. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatInstId, instTypeOf, parseInstId, readInstId } from "../../../src/contract/inst-id.ts";

describe("Instrument ids:", () => {
  it.each([
    ["BTC-USDT", { instType: "SPOT", base: "BTC", quote: "USDT" }],
    ["BTC-USDT-SWAP", { instType: "SWAP", base: "BTC", quote: "USDT" }],
    ["1INCH-USDC", { instType: "SPOT", base: "1INCH", quote: "USDC" }],
    ["SWAP-USDT", { instType: "SPOT", base: "SWAP", quote: "USDT" }],
  ])("%s has its parts", (text, parts) => {
    expect(readInstId(text)).toEqual(parts);
    expect(instTypeOf(text)).toBe(parts.instType);
  });

  it("parse and format are inverse", () => {
    const currency = fc.stringMatching(/^[A-Z0-9]{1,20}$/).filter((text) => text !== "SWAP");
    fc.assert(
      fc.property(fc.constantFrom("SPOT" as const, "SWAP" as const), currency, currency, (instType, base, quote) => {
        expect(readInstId(formatInstId({ instType, base, quote }))).toEqual({ instType, base, quote });
      }),
      { seed: 1, numRuns: 200 },
    );
  });

  const wrong = [
    "",
    "BTC",
    "btc-usdt",
    "BTC_USDT",
    "BTC-USDT-PERP",
    "BTC-USDT-SWAP-SWAP",
    "BTC-SWAP",
    "-USDT",
    "BTC-",
    " BTC-USDT",
    "BTC-USDT\n",
    "BTC-USD/T",
  ];
  it.each(wrong)("%j is refused by place and value", (text) => {
    expect(readInstId(text)).toBe(undefined);
    expect(() => parseInstId(text, "options.instId")).toThrow(
      `options.instId: ${JSON.stringify(text)} is not an instrument id. Write BASE-QUOTE`,
    );
  });

  it("what is not text is refused too", () => {
    expect([undefined, null, 5, {}, ["BTC-USDT"]].map(readInstId)).toEqual(Array(5).fill(undefined));
  });
});
