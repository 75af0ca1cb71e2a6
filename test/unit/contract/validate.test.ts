/** Problems are told with place, value and the nearest right word; nothing is coerced. */
import { describe, expect, it } from "vitest";
import { historyQuery, instrumentRecord, placeBody } from "../../../src/contract/schemas.ts";
import { parseHuman, requestProblems, wireProblems } from "../../../src/contract/validate.ts";
import type { SluiceError } from "../../../src/errors.ts";

const options = {
  type: "object",
  required: ["instId"],
  additionalProperties: false,
  properties: {
    instId: { type: "string", format: "inst-id" },
    levels: { type: "integer", minimum: 1, maximum: 20, default: 3 },
    sz: { type: "string", format: "decimal" },
  },
} as const;

const issuesOf = (value: unknown, schema: object = options): readonly string[] => {
  try {
    parseHuman(schema, value, "options");
    return [];
  } catch (error) {
    return (error as SluiceError).issues;
  }
};

describe("Validated user input", () => {
  it("comes back as a copy with defaults filled in, functions kept", () => {
    const given = { instId: "BTC-USDT" };
    const parsed = parseHuman<Record<string, unknown>>(options, given, "options");
    expect(parsed).toEqual({ instId: "BTC-USDT", levels: 3 });
    expect(given).toEqual({ instId: "BTC-USDT" });
    const run = (): void => undefined;
    expect(parseHuman<{ run: unknown }>({ type: "object", properties: { run: {} } }, { run }, "x").run).toBe(run);
  });

  it.each([
    ["a misspelt key", { instId: "BTC-USDT", level: 2 }, ['options: unknown key "level". Did you mean "levels"?']],
    ["a missing key", {}, ['options: "instId" is missing.']],
    ["a wrong id", { instId: "btc" }, ['options.instId: "btc" is neither BASE-QUOTE nor BASE-QUOTE-SWAP.']],
    [
      "a decimal with exponent",
      { instId: "A-B", sz: "1e3" },
      ['options.sz: "1e3" is not a decimal; write plain digits in a string, such as "0.001".'],
    ],
    ["a number too high", { instId: "A-B", levels: 21 }, ["options.levels: must be <= 20 (got 21)."]],
    [
      "a number as text",
      { instId: "A-B", levels: "3" },
      ['options.levels: must be integer (got "3"). Write the number without quotes: 3.'],
    ],
    [
      "a decimal as a number",
      { instId: "A-B", sz: 0.5 },
      ['options.sz: must be string (got 0.5). Decimals are text, so that they are exact: write "0.5".'],
    ],
    [
      "a decimal as a small number",
      { instId: "A-B", sz: 1e-7 },
      ['options.sz: must be string (got 1e-7). Decimals are text, so that they are exact: write "0.0000001".'],
    ],
  ])("%s", (_, value, issues) => {
    expect(issuesOf(value)).toEqual(issues);
  });

  it("all problems at once, long values cut short", () => {
    expect(issuesOf({ level: 1, levels: 0 })).toHaveLength(3);
    const [line = ""] = issuesOf({ instId: "x".repeat(500) });
    expect(line.length).toBeLessThan(160);
  });

  it("the error has the code it was asked for", () => {
    expect(() => parseHuman(options, {}, "options", "FIXTURE_INVALID")).toThrow(
      expect.objectContaining({ code: "FIXTURE_INVALID" }),
    );
  });
});

describe("Validated service output", () => {
  it("loses fields nobody asked for, and is not coerced", () => {
    const record = { instId: "BTC-USDT", tickSize: "0.1", lotSize: "1", novelty: 5 };
    expect(wireProblems(instrumentRecord, record)).toEqual([]);
    expect(record).toEqual({ instId: "BTC-USDT", tickSize: "0.1", lotSize: "1" });
    expect(wireProblems(instrumentRecord, { instId: "BTC-USDT", tickSize: 0.1, lotSize: "1" })).toEqual([
      ".tickSize: must be string (got 0.1).",
    ]);
  });
});

describe("Validated requests to the embedded service", () => {
  it("keeps unknown fields and tells of them", () => {
    const body = { instId: "BTC-USDT", side: "buy", ordType: "limit", sz: "1", szz: "2" };
    expect(requestProblems(placeBody, body)).toEqual(['request: unknown key "szz". Did you mean "sz"?']);
    expect(body).toHaveProperty("szz");
  });

  it("names the words allowed", () => {
    expect(requestProblems(historyQuery, { state: "fill" })).toEqual([
      'request.state: "fill" is not one of filled, canceled. Did you mean "filled"?',
    ]);
  });
});

it("Data nested deeper than the stack is a problem like any other", () => {
  let deep: unknown = [];
  for (let level = 0; level < 200_000; level++) deep = [deep];
  const schema = { type: "object", additionalProperties: false, properties: { a: { type: "string" } } };
  expect(wireProblems(schema, { a: deep })).toEqual([
    expect.stringMatching(/a: must be string \(got an array nested too deeply\)/),
  ]);
});
