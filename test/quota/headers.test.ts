/** What an answer's headers say, and that what they do not say is not guessed. */
import { describe, expect, it, vi } from "vitest";
import { dateOf, usedOf } from "../../src/quota/headers.ts";
import type { LayerSpec } from "../../src/quota/layers.ts";

const bare: LayerSpec = { name: "uid", scope: "uid", unit: "weight", capacity: 1_200, windowMs: 60_000, anchor: "wall_clock", banMs: 0 };
const used: LayerSpec = { ...bare, header: { name: "x-used", kind: "used" } };
const remaining: LayerSpec = { ...bare, header: { name: "x-left", kind: "remaining" } };

describe("use of a layer", () => {
  it.each<[string, string, number | undefined]>([
    ["none", "0", 0],
    ["the digits before the nine", "1234567890".slice(0, 9), 123_456_789],
    ["more digits than a window can count", "1234567890", undefined],
    ["zeroes in front", "0012", 12],
    ["nothing", "", undefined],
    ["a sign", "-1", undefined],
    ["a fraction", "1.5", undefined],
    ["the character before 0", "1/", undefined],
    ["the character after 9", ":1", undefined],
    ["the highest digits", "909", 909],
    ["words", "many", undefined],
    ["a space", " 7", undefined],
  ])("told as %s", (_, text, value) => {
    expect(usedOf(used, { "x-used": text })).toBe(value);
  });

  it.each<[string, number | undefined]>([
    ["1200", 0],
    ["1190", 10],
    ["0", 1_200],
    // A service that allows more than it says has nothing used.
    ["1300", 0],
    ["few", undefined],
  ])("told as what remains, %s", (text, value) => {
    expect(usedOf(remaining, { "x-left": text })).toBe(value);
  });

  it("is not told where the layer has no header, or the answer has not got it", () => {
    expect(usedOf(bare, { "x-used": "5", undefined: "5" })).toBeUndefined();
    expect(usedOf(used, { "x-left": "5" })).toBeUndefined();
    expect(usedOf(remaining, {})).toBeUndefined();
  });
});

describe("the stamp of an answer", () => {
  const text = "Mon, 05 Jan 2026 08:00:00 GMT";
  const at = Date.UTC(2026, 0, 5, 8);

  it("is its instant, every time it is asked for", () => {
    const later = "Mon, 05 Jan 2026 08:00:01 GMT";
    const headers = [text, text, later, "never", text, undefined, later, "never", "never", later];
    expect(headers.map((date) => dateOf(date === undefined ? {} : { date }))).toEqual([
      at,
      at,
      at + 1_000,
      undefined,
      at,
      undefined,
      at + 1_000,
      undefined,
      undefined,
      at + 1_000,
    ]);
  });

  it("is read once for all answers of a second", () => {
    const parse = vi.spyOn(Date, "parse");
    try {
      for (let answer = 0; answer < 5; answer++) dateOf({ date: "Mon, 05 Jan 2026 08:00:07 GMT" });
      expect(parse).toHaveBeenCalledTimes(1);
    } finally {
      parse.mockRestore();
    }
  });
});
