/** The description's tables, written out by hand, against the table the code is built from. */
import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import * as messages from "../../../src/contract/channels.ts";
import { createContract, endpointNames } from "../../../src/contract/contract.ts";
import {
  environments,
  layers,
  limitedStatus,
  limitHeaders,
  paging,
  websocketLimits,
} from "../../../src/contract/limits.ts";
import * as schemas from "../../../src/contract/schemas.ts";

const contract = createContract();

/** Section 4, 5 and 8.1 of the description. Weights marked G17 and permissions marked G11, G13 are the profile's. */
const described = [
  ["getOrder", "GET", "/api/v1/trade/order", 5, "read", "safe"], // G17
  ["pendingOrders", "GET", "/api/v1/trade/orders/pending", 5, "read", "safe"], // G17
  ["orderHistory", "GET", "/api/v1/trade/orders/history", 5, "read", "safe"], // G17
  ["cancelBatch", "POST", "/api/v1/trade/cancel-batch-orders", 15, "trade_futures", "safe"],
  ["instruments", "GET", "/api/v1/common/instruments", 2, "none", "safe"], // G13
  ["spotBalance", "GET", "/api/v1/asset/spot", 5, "read", "safe"], // G11
  ["positions", "GET", "/api/v1/account/positions", 5, "read", "safe"], // G11
  ["placeOrder", "POST", "/api/v1/trade/order", 10, "trade_futures", "never"], // G11
  ["closePosition", "POST", "/api/v1/trade/close-position", 10, "trade_futures", "never"], // G11
  ["setLeverage", "POST", "/api/v1/account/set-leverage", 5, "trade_futures", "safe"], // G11
] as const;

const requiredOf = (schema: object): readonly string[] => (schema as { required?: readonly string[] }).required ?? [];
const propertiesOf = (schema: object): readonly string[] =>
  Object.keys((schema as { properties?: object }).properties ?? {}).sort();

describe("The endpoint table:", () => {
  it.each(described)(
    "%s is %s %s of weight %d, permission %s, repeat %s",
    (name, method, path, weight, permission, repeat) => {
      expect(contract.endpoints[name]).toMatchObject({ method, path, weight, permission, repeat });
    },
  );

  it("there are these ten and no others", () => {
    expect([...endpointNames(contract)].sort()).toEqual(described.map(([name]) => name).sort());
  });

  it.each([
    ["getOrder", ["clOrdId", "instId", "ordId"]],
    ["pendingOrders", ["after", "before", "instId", "instType", "limit"]],
    ["orderHistory", ["after", "before", "instType", "limit", "state"]],
  ] as const)("%s takes the query parameters of its table, none required by itself", (name, parameters) => {
    expect(propertiesOf(contract.endpoints[name].input)).toEqual(parameters);
    expect(requiredOf(contract.endpoints[name].input)).toEqual([]);
  });

  it("the order record has its thirteen fields, all text", () => {
    const fields = "accFillSz avgPx clOrdId createdAt fee instId ordId ordType px side state sz updatedAt".split(" ");
    expect(propertiesOf(schemas.orderRecord)).toEqual(fields);
    expect([...requiredOf(schemas.orderRecord)].sort()).toEqual(fields);
    expect(new Set(Object.values(schemas.orderRecord.properties).map(({ type }) => type))).toEqual(new Set(["string"]));
  });

  it("a key is asked for the public list only when the profile says so", () => {
    expect(createContract({ instruments: { needsKey: true } }).endpoints.instruments.permission).toBe("read");
  });

  it("an override of a weight changes that weight alone", () => {
    const changed = createContract({ weights: { getOrder: 2 } }).endpoints;
    expect([changed.getOrder.weight, changed.pendingOrders.weight, changed.placeOrder.weight]).toEqual([2, 5, 10]);
  });
});

describe("The contract's schema of", () => {
  const metaSchema = new Ajv().getSchema("http://json-schema.org/draft-07/schema");

  it.each(
    Object.entries({ ...schemas, ...messages }).filter(([, schema]) => typeof schema === "object" && "type" in schema),
  )("%s is one", (_, schema) => {
    // The program does not look at them again.
    expect(metaSchema?.(schema), JSON.stringify(metaSchema?.errors)).toBe(true);
  });
});

describe("The contract's limits", () => {
  it("are the numbers of the description", () => {
    expect(layers).toEqual({
      ip: { name: "ip", unit: "requests", capacity: 1_200, windowMs: 60_000 },
      key: { name: "key", unit: "requests", capacity: 10, windowMs: 1_000 },
      uid: { name: "uid", unit: "weight", capacity: 1_200, windowMs: 60_000 },
    });
    expect(limitedStatus).toBe(429);
    expect(paging).toEqual({ limitMax: 100, limitDefault: 20 });
    expect(websocketLimits).toEqual({ connectionsPerIp: 30, subscriptionsPerConnection: 100 });
    expect(Object.keys(environments)).toEqual(["mainnet", "testnet"]);
    expect(limitHeaders).toEqual({
      ipRemaining: "x-ratelimit-ip-remaining",
      keyRemaining: "x-ratelimit-key-remaining",
      uidUsed: "x-ratelimit-uid-weight-used",
    });
  });
});
