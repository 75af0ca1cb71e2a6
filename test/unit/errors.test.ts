/** One error class, one table of codes, and the nearest known word. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { assert, didYouMean, errorCodes, excerpt, isSluiceError, SluiceError } from "../../src/errors.ts";

describe("Sluice errors:", () => {
  it("each code is written once and has a text and a fix of its own", () => {
    const source = readFileSync(fileURLToPath(new URL("../../src/errors.ts", import.meta.url)), "utf8");
    const listed = [...source.matchAll(/^ {2}([A-Z_]+): \{/gm)].map((match) => match[1]);
    expect(listed).toEqual(Object.keys(errorCodes));
    const texts = Object.values(errorCodes).map(({ text }) => text);
    expect(new Set(texts).size).toBe(texts.length);
  });

  it("several problems are listed a line each", () => {
    const error = new SluiceError("CONFIG_INVALID", "config is not valid:", ["a: x.", "b: y."]);
    expect(error.message).toBe("config is not valid:\n  - a: x.\n  - b: y.");
    expect([error.name, error.code, error.issues]).toEqual(["SluiceError", "CONFIG_INVALID", ["a: x.", "b: y."]]);
  });

  it("is known by name and code, so that another copy of the class is known too", () => {
    const foreign = Object.assign(new Error("x"), { name: "SluiceError", code: "BUG" });
    expect(isSluiceError(foreign)).toBe(true);
    expect([new Error("x"), { name: "SluiceError", code: "BUG" }, undefined].map(isSluiceError)).toEqual([
      false,
      false,
      false,
    ]);
  });

  it("a broken promise is a bug and says so", () => {
    expect(() => assert(false, "time goes on")).toThrow("Invariant violated: time goes on. This is a bug in Sluice");
    expect(() => assert(1, "fine")).not.toThrow();
  });
});

describe("didYouMean", () => {
  it.each([
    ["wieght", ["weight", "width"], ' Did you mean "weight"?'],
    ["LIMITS", ["limits", "auth"], ' Did you mean "limits"?'],
    ["instrumentz", ["instruments"], ' Did you mean "instruments"?'],
    ["BTC-USDT", ["ETH-USDT", "BTC-USDT-SWAP"], ' Did you mean "BTC-USDT-SWAP"?'],
    ["zebra", ["limits", "auth"], ""],
    ["x", [], ""],
  ])("%s among %j", (word, known, expected) => {
    expect(didYouMean(word, known)).toBe(expected);
  });
});

describe("An excerpt of a file that is not what it should be", () => {
  it.each([
    ["SLUICE_SECRET_KEY=63e236e3a428fd00816591c87c254705ca5b4a75", "SLUICE_SECRET_KEY=..."],
    ['{"apiKey":"307f37fed98e2168","secretKey":"Zm9vYmFyMTIz+/aa=="}', '{"apiKey":"...","secretKey":"...=="}'],
    [
      "2024-01-01T00:01:00,65000.5,BTC-USDT-SWAP,1700000000000000000",
      "2024-01-01T00:01:00,65000.5,BTC-USDT-SWAP,1700000000000000000",
    ],
    ["timestamp,open,high,low,close,volume", "timestamp,open,high,low,close,volume"],
    ["", ""],
  ])("%s", (line, told) => {
    expect(excerpt(line, 80)).toBe(told);
  });

  it("is cut", () => {
    expect(excerpt("a b ".repeat(30))).toBe(`${"a b ".repeat(14)}a...`);
    expect(excerpt("a b c", 5)).toBe("a b c");
  });
});
