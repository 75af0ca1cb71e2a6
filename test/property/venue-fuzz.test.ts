/**
 * Strangers: whatever arrives gets an answer in the envelope, and changes nothing it should not.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createContract } from "../../src/contract/contract.ts";
import { setting, spot, swap } from "../support/harness/venue.ts";

const paths = Object.values(createContract().endpoints).map(({ path }) => path as string);
const methods = Object.values(createContract().endpoints).map(({ method }) => method as string);

const word = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.constantFrom(
    "",
    "0",
    "-1",
    "1e3",
    "NaN",
    "60000",
    "60000.1",
    "100",
    "0.001",
    "9".repeat(40),
    "buy",
    "sell",
    "limit",
    "market",
    "ioc",
    "fok",
    "post_only",
  ),
  fc.constantFrom(
    swap,
    spot,
    "BTC-SWAP",
    "1000000000000000001",
    "__proto__",
    "constructor",
    "SPOT",
    "SWAP",
    "filled",
    "a",
  ),
);
const name = fc.constantFrom(
  "instId",
  "ordId",
  "clOrdId",
  "side",
  "ordType",
  "sz",
  "px",
  "limit",
  "after",
  "before",
  "state",
  "instType",
  "lever",
  "mgnMode",
  "reduceOnly",
  "currency",
  "__proto__",
  "x",
);
const fields = fc.dictionary(name, word, { maxKeys: 8 });
const order = fc.record({
  instId: fc.constantFrom(swap, spot),
  side: fc.constantFrom("buy", "sell"),
  ordType: fc.constantFrom("limit", "market", "post_only", "ioc", "fok"),
  sz: fc.constantFrom("60", "600", "0.5", "100000000", "1"),
  px: fc.constantFrom("60000", "59999.9", "60000.1", "0.1", "900719925474099.1", "1"),
});
const body = fc.oneof(fields, order, fc.array(fields, { maxLength: 25 }), fc.jsonValue(), word, fc.constant(undefined));
const request = fc.record({
  method: fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...methods) },
    { weight: 1, arbitrary: fc.string({ maxLength: 6 }) },
  ),
  path: fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...paths) },
    { weight: 1, arbitrary: fc.webPath() },
    { weight: 1, arbitrary: fc.string() },
  ),
  query: fields,
  body,
  key: fc.constantFrom("ann-1", "bob-1", "ann-read", "nobody", "__proto__", "", undefined),
  ip: fc.constantFrom("1.1.1.1", "", "::1", "__proto__"),
});

const enveloped = (body: unknown): void => {
  expect(body).toMatchObject({ code: expect.any(String), msg: expect.any(String), data: expect.any(Array) });
};

describe("Requests with arbitrary content", () => {
  it("always get a status, text headers and the envelope; no available balance ever falls below zero", () => {
    fc.assert(
      fc.property(fc.array(request, { minLength: 20, maxLength: 60 }), fc.boolean(), (requests, enforceLimits) => {
        const { venue } = setting({}, { enforceLimits });
        let now = 1_700_000_000_000;
        for (const one of requests) {
          venue.quote(swap, 599_999, 5, 600_000, 5, now);
          venue.quote(spot, 599_999, 5, 600_000, 5, now);
          now += 37;
          const response = venue.handle(one, now);
          expect([200, 400, 401, 403, 404, 429]).toContain(response.status);
          enveloped(response.body);
          expect(Object.values(response.headers).every((value) => typeof value === "string")).toBe(true);
        }
        for (const uid of ["ann", "bob"]) {
          const { balances, orders } = venue.truth(uid);
          expect(balances.filter(({ available }) => available.startsWith("-"))).toEqual([]);
          expect(orders.every((record) => Object.values(record).every((value) => typeof value === "string"))).toBe(
            true,
          );
        }
      }),
      { numRuns: 150 },
    );
  });

  it("cannot exhaust the stack by nesting", () => {
    let deep: unknown = [];
    for (let level = 0; level < 200_000; level++) deep = [deep];
    const reply = setting().write("trade/cancel-batch-orders", deep);
    expect(reply.status).toBe(400);
    enveloped(reply.body);
  });

  it("cannot reach into the service through what it handed out", () => {
    const { venue, read, placed } = setting();
    placed({});
    const before = JSON.stringify(venue.truth("ann"));
    for (const path of ["trade/orders/pending", "asset/spot", "common/instruments"]) {
      for (const record of read(path).body.data)
        for (const field of Object.keys(record)) (record as Record<string, string>)[field] = "x";
    }
    expect(JSON.stringify(venue.truth("ann"))).toBe(before);
    expect(read("common/instruments", { instId: swap }).body.data).toHaveLength(1);
  });
});
