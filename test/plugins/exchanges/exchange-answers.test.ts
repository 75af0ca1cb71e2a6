/** Dialects of exchanges over anything an exchange, or a machine on the way, may say: no refusal reads as a success, no element is lost. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { blofinDialect } from "../../../plugins/exchanges/blofin-dialect.ts";
import { okxDialect } from "../../../plugins/exchanges/okx-dialect.ts";
import type { EndpointName } from "../../../src/contract/endpoints.ts";
import { spoken } from "../../support/harness/dialects.ts";

const endpoints: readonly EndpointName[] = [
  ...(["instruments", "spotBalance", "positions", "getOrder", "pendingOrders", "orderHistory"] as const),
  ...(["placeOrder", "cancelBatch", "closePosition", "setLeverage"] as const),
];
const status = fc.constantFrom(200, 200, 200, 201, 204, 302, 400, 401, 403, 404, 408, 429, 500, 502, 503);
const knownCodes = [
  "0",
  "1",
  "2",
  "50001",
  "50004",
  "50011",
  "50013",
  "50061",
  "50113",
  "51008",
  "51008_1000",
  "51149",
  "51400",
  "51603",
  "59102",
];
const code = fc.oneof(
  fc.constantFrom(...knownCodes, "429", "500", "401", "152409", "152404", "103003", "1000", "150003"),
  fc.integer({ min: 0, max: 160_000 }),
);
const anything = fc.jsonValue({ maxDepth: 4 });
/** Words of both exchanges, so that much of what is generated is nearly right. */
const field = fc.oneof(
  fc.constantFrom(
    "",
    null,
    "0",
    "1.50",
    "BTC-USDT",
    "BTC-USDT-SWAP",
    "SWAP",
    "SPOT",
    "buy",
    "live",
    "net",
    "linear",
    "USDT",
    "BTC",
  ),
  anything,
);
const record = fc.dictionary(
  fc.constantFrom(
    ...[
      "instId",
      "instType",
      "ordId",
      "orderId",
      "clOrdId",
      "clientOrderId",
      "px",
      "price",
      "sz",
      "size",
      "state",
      "side",
      "ordType",
      "orderType",
    ],
    ...[
      "fee",
      "feeCcy",
      "rebate",
      "rebateCcy",
      "avgPx",
      "averagePrice",
      "accFillSz",
      "filledSize",
      "cTime",
      "createTime",
      "uTime",
      "updateTime",
    ],
    ...[
      "details",
      "ccy",
      "currency",
      "balance",
      "pos",
      "positions",
      "ctVal",
      "ctType",
      "settleCcy",
      "lotSz",
      "tickSz",
      "sCode",
      "code",
      "sMsg",
      "msg",
    ],
  ),
  field,
);
const element = fc.record(
  { ordId: field, orderId: field, clOrdId: field, clientOrderId: field, sCode: code, code, sMsg: field, msg: field },
  { requiredKeys: [] },
);
const data = fc.oneof(fc.array(record), record, fc.array(element), anything);
const body = fc.oneof(
  anything,
  fc.record({ code, msg: fc.string(), data }, { requiredKeys: [] }),
  fc.record({ code, msg: fc.string(), data }),
);

const elementWise = (endpoint: EndpointName): boolean => endpoint === "placeOrder" || endpoint === "cancelBatch";
const isZero = (value: unknown): boolean => value === "0" || value === 0;

describe.each([
  ["OKX", spoken(okxDialect()), "sCode"],
  ["BloFin", spoken(blofinDialect()), "code"],
] as const)("The dialect of %s", (_, { outcome, heard }, codeField) => {
  it("takes nothing for a success that does not say so in its own envelope", () => {
    fc.assert(
      fc.property(fc.constantFrom(...endpoints), status, body, (endpoint, answered, said) => {
        const read = outcome(endpoint, said, answered);
        if (read.kind !== "done") return;
        const envelope = said as { readonly code: unknown; readonly data: unknown };
        // That an order does not exist is an answer to the question for it.
        if (endpoint === "getOrder" && !isZero(envelope.code)) {
          expect(read.records).toEqual([]);
          return;
        }
        if (!elementWise(endpoint)) {
          expect([isZero(envelope.code), answered < 400]).toEqual([true, true]);
          return;
        }
        const results = envelope.data as readonly Readonly<Record<string, unknown>>[];
        expect(read.records.length + read.problems.length).toBe(results.length);
        const done = read.records.filter((one) => (one as { readonly sCode: string }).sCode === "0");
        expect(done).toHaveLength(results.filter((one) => isZero(one[codeField] ?? envelope.code)).length);
      }),
      { numRuns: 3_000 },
    );
  });

  it("keeps every record of a list, read or named as unreadable", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("pendingOrders" as const, "orderHistory" as const, "positions" as const),
        fc.array(fc.oneof(record, anything)),
        (endpoint, list) => {
          const read = outcome(endpoint, { code: "0", msg: "", data: list });
          expect(read.kind === "done" ? read.records.length + read.problems.length : read).toBe(list.length);
        },
      ),
    );
  });

  it("hears something in any text, and every record of a push", () => {
    const arg = fc.record(
      { channel: fc.constantFrom("trades", "tickers", "books", "candle1m", "orders", "account", "x"), instId: field },
      { requiredKeys: ["channel"] },
    );
    const message = fc.oneof(
      anything,
      fc.record(
        { event: fc.constantFrom("login", "error", "subscribe", "x"), arg, code, msg: field, data, action: field },
        { requiredKeys: [] },
      ),
    );
    fc.assert(
      fc.property(fc.oneof(fc.string(), message), (said) => {
        for (const one of heard(said))
          expect(["push", "subscribed", "unsubscribed", "login", "error", "ping", "pong", "malformed"]).toContain(
            one.kind,
          );
      }),
    );
    fc.assert(
      fc.property(fc.array(record), (records) => {
        const [push] = heard({
          arg: { channel: "orders" },
          data: records.map((one) => ({ ...one, instType: "SWAP" })),
        });
        expect(push?.kind === "push" && push.push.data).toHaveLength(records.length);
      }),
    );
  });
});
