/** A text that can be read in two ways is not read at all. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { strictJson } from "../../../src/contract/strict-json.ts";

describe("JSON read strictly", () => {
  it.each([
    ['{"a":1,"a":2}', 'names "a" twice.'],
    ['{"a":1,"\\u0061" : 2}', 'names "a" twice.'],
    ['[{"b":{"a":1,"c":[],"a":1}}]', 'names "a" twice.'],
    ['{"__proto__":1,"__proto__":1}', 'names "__proto__" twice.'],
    ["{", "is not JSON."],
    ["", "is not JSON."],
  ])("has a problem with %s", (text, problem) => {
    expect(strictJson(text)).toEqual({ problem });
  });

  it.each([
    '{"a":{"a":"a:"},"b":["a","a",{"a":1}]}',
    '[{"a":1},{"a":1}]',
    '{"a":"\\"b\\":{","b":"}"}',
    '"a"',
    `{"a":"${"\\\\".repeat(400_000)}"}`,
  ])("takes what has one meaning", (text) => {
    expect(strictJson(text)).toEqual({ value: JSON.parse(text) });
  });

  it("takes any depth", () => {
    expect(strictJson(`${'{"a":['.repeat(100_000)}${"]}".repeat(100_000)}`)).toHaveProperty("value");
  });

  it("reads every value as it was written", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(strictJson(text)).toEqual({ value: JSON.parse(text) });
      }),
    );
  });
});
