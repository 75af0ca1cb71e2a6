/** What a signature covers, under every way the profile can say it. */
import { describe, expect, it } from "vitest";
import { createContract } from "../../../src/contract/contract.ts";
import type { ProfileOverrides } from "../../../src/contract/profile.ts";
import { authHeaderNames, prehashOf, queryText, readTimestamp, timestampText } from "../../../src/contract/signing.ts";

const profileOf = (auth: NonNullable<ProfileOverrides["auth"]> = {}) => createContract({ auth }).profile;
const at = Date.UTC(2024, 0, 2, 3, 4, 5, 678);

const parts = {
  timestamp: "T",
  method: "post",
  path: "/api/v1/trade/order",
  query: "ordId=1&instId=BTC-USDT",
  body: '{"sz":"1.0"}',
};

describe("The signed text", () => {
  it.each<[string, readonly string[], string]>([
    [
      "leaves the query out by default",
      ["timestamp", "method", "path", "body"],
      'TPOST/api/v1/trade/order{"sz":"1.0"}',
    ],
    [
      "holds the query where the profile names it",
      ["timestamp", "method", "path", "query", "body"],
      'TPOST/api/v1/trade/order?ordId=1&instId=BTC-USDT{"sz":"1.0"}',
    ],
    ["keeps the profile's order", ["path", "method", "timestamp", "body"], '/api/v1/trade/orderPOSTT{"sz":"1.0"}'],
  ])("%s", (_, prehash, text) => {
    expect(prehashOf(profileOf({ prehash }), parts)).toBe(text);
  });

  it("has no question mark where there is no query", () => {
    const profile = profileOf({ prehash: ["timestamp", "method", "path", "query", "body"] });
    expect(prehashOf(profile, { ...parts, method: "GET", query: "", body: "" })).toBe("TGET/api/v1/trade/order");
  });
});

describe("Signature timestamps", () => {
  it.each([
    ["iso", "2024-01-02T03:04:05.678Z", at],
    ["ms", String(at), at],
    ["s", String(Math.floor(at / 1_000)), Math.floor(at / 1_000) * 1_000],
  ] as const)("in %s are written and read alike", (timestamp, text, read) => {
    const profile = profileOf({ timestamp });
    expect(timestampText(profile, at + 0.4)).toBe(text);
    expect(readTimestamp(profile, text)).toBe(read);
  });

  it.each([
    ["iso", "2024-01-02 03:04:05"],
    ["iso", "2024-13-02T03:04:05.678Z"],
    ["iso", "2024-01-02T03:04:05.678+01:00"],
    ["ms", "1704164645"],
    ["ms", "17041646456780"],
    ["s", "1704164645678"],
    ["s", ""],
  ] as const)("of another form are not read: %s %s", (timestamp, text) => {
    expect(readTimestamp(profileOf({ timestamp }), text)).toBeUndefined();
  });
});

it("Headers are named after the prefix, in lower case", () => {
  expect(authHeaderNames(profileOf({ headerPrefix: "X-Own-" }))).toEqual({
    key: "x-own-key",
    sign: "x-own-sign",
    timestamp: "x-own-timestamp",
    passphrase: "x-own-passphrase",
  });
});

it("A query is written in its own order, each part encoded once", () => {
  expect(queryText({ instId: "BTC-USDT", after: "1 2&3=%", ü: "/" })).toBe(
    "instId=BTC-USDT&after=1%202%263%3D%25&%C3%BC=%2F",
  );
  expect(queryText({})).toBe("");
});

it("A contract knows which rows were stated and which are assumed", () => {
  const contract = createContract({ order: { szUnit: { SPOT: "base", SWAP: "base" } } });
  expect(contract.stated("order.szUnit")).toBe(true);
  expect(contract.stated("order.feeSign")).toBe(false);
  expect(createContract().stated("order.szUnit")).toBe(false);
});
