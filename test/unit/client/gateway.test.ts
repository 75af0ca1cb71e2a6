/**
 * The door to the service: what it refuses itself, what it repeats, what it shares, and how it reads answers.
 */
import type { Observable } from "rxjs";
import { describe, expect, it } from "vitest";
import type { Outcome } from "../../../src/client/outcome.ts";
import { parseResponse } from "../../../src/client/parse-response.ts";
import { createContract } from "../../../src/contract/contract.ts";
import type { EndpointName } from "../../../src/contract/endpoints.ts";
import { lostRequest, ready, reply, swap } from "../../support/harness/orders.ts";

const call = { class: "read", owner: "test" } as const;
const spell = (outcome: Outcome<unknown>): string => {
  switch (outcome.kind) {
    case "done":
      return `done ${JSON.stringify(outcome.records)}${outcome.problems.length > 0 ? ` but ${outcome.problems.join()}` : ""}`;
    case "rejected":
      return `rejected ${outcome.status} ${outcome.code}: ${outcome.msg}`;
    case "unknown":
      return `unknown: ${outcome.message}`;
    case "dropped":
      return `dropped: ${outcome.reason}`;
    case "limited":
      return "limited";
  }
};
const listen = (source: Observable<Outcome<unknown>>): string[] => {
  const seen: string[] = [];
  source.subscribe((outcome) => seen.push(spell(outcome)));
  return seen;
};

describe("An invalid gateway call", () => {
  it.each<[string, EndpointName, unknown, RegExp]>([
    ["unknown key", "pendingOrders", { instID: swap }, /unknown key "instID". Did you mean "instId"\?/],
    ["wrong type", "pendingOrders", { limit: 5 }, /rejected 0 local: .*limit/],
    ["no id", "getOrder", { instId: swap }, /give ordId or clOrdId/],
    ["no size", "placeOrder", { instId: swap, side: "buy", ordType: "limit" }, /"sz" is missing/],
    ["empty batch", "cancelBatch", [], /fewer than 1/],
    ["batch element without id", "cancelBatch", [{ instId: swap }], /give every element ordId or clOrdId/],
  ])("is refused here, decided now or late: %s", (_, endpoint, input, text) => {
    const rig = ready();
    const now = listen(rig.gateway.call(endpoint, input as never, call));
    const late: string[] = [];
    rig.gateway.submit({
      ...call,
      endpoint,
      input: () => input as never,
      done: (outcome) => late.push(spell(outcome)),
    });
    const read = listen(rig.gateway.read(endpoint, input as never, call));
    rig.run();
    for (const seen of [now, late, read]) expect(seen).toEqual([expect.stringMatching(text)]);
    expect(rig.arrivals).toEqual([]);
  });

  it("is refused here without the permission", () => {
    const rig = ready({ permissions: ["trade_futures"] });
    const seen = listen(rig.gateway.call("getOrder", { ordId: "1" }, call));
    expect(seen).toEqual(['rejected 0 local: no key of user ann has the permission "read"']);
    expect(rig.gateway.keysFor("placeOrder")).toEqual(["k1"]);
    expect(rig.gateway.keysFor("getOrder")).toEqual([]);
    expect(rig.arrivals).toEqual([]);
  });

  it("withdraws itself when there is nothing to send any more", () => {
    const rig = ready();
    const seen: string[] = [];
    rig.gateway.submit({
      ...call,
      endpoint: "getOrder",
      input: () => undefined,
      done: (outcome) => seen.push(spell(outcome)),
    });
    rig.run();
    expect(seen).toEqual(["dropped: withdrawn"]);
  });
});

describe("A gateway read", () => {
  it.each([
    ["no answer", lostRequest, "unknown"],
    ["a server error", reply(503), "unknown"],
    ["a rate limit", reply(429), "limited"],
  ])("is tried three times when there is %s, then tells", (_, fault, kind) => {
    const rig = ready({ fault: ({ endpoint }) => (endpoint === "positions" ? fault : undefined) });
    const seen = listen(rig.gateway.read("positions", {}, call));
    rig.run(300_000);
    expect(seen).toEqual([expect.stringMatching(new RegExp(`^${kind}`))]);
    expect(rig.count("positions")).toBe(3);
  });

  it("is not tried again after a refusal", () => {
    const rig = ready({
      fault: ({ endpoint }) => (endpoint === "positions" ? reply(400, { code: "50002", msg: "bad" }) : undefined),
    });
    listen(rig.gateway.read("positions", {}, call));
    rig.run(60_000);
    expect(rig.count("positions")).toBe(1);
  });

  it("tells the answer of a later try", () => {
    const rig = ready();
    rig.next("positions", reply(500));
    const seen = listen(rig.gateway.read("positions", {}, call));
    rig.run(10_000);
    expect(seen).toEqual(["done []"]);
  });

  it("shares the flight of an identical one that still waits, and of no other", () => {
    const rig = ready({ limits: true });
    for (let i = 0; i < 12; i++) rig.gateway.call("positions", {}, call).subscribe();
    const same = [1, 2, 3].map(() => listen(rig.gateway.read("spotBalance", {}, call)));
    const other = listen(rig.gateway.read("spotBalance", { currency: "USDT" }, call));
    rig.run(5_000);
    expect(rig.count("spotBalance")).toBe(2);
    expect(same.every(([first]) => first?.startsWith("done"))).toBe(true);
    expect(other).toHaveLength(1);
  });

  it("does not share a flight that has left: its answer may be older than the question", () => {
    const rig = ready();
    listen(rig.gateway.read("positions", {}, call));
    rig.run(5);
    listen(rig.gateway.read("positions", {}, call));
    rig.run();
    expect(rig.count("positions")).toBe(2);
  });

  it("is withdrawn by unsubscribing", () => {
    const rig = ready({ limits: true });
    for (let i = 0; i < 12; i++) rig.gateway.call("positions", {}, call).subscribe();
    const listeners = [1, 2].map(() => rig.gateway.read("spotBalance", {}, call).subscribe());
    for (const listener of listeners) listener.unsubscribe();
    rig.run(5_000);
    expect(rig.count("spotBalance")).toBe(0);
  });
});

describe("A parsed answer", () => {
  const contract = createContract();
  const read = (endpoint: EndpointName, status: number, body: unknown): string =>
    spell(parseResponse(endpoint, { status, headers: {}, body }, contract, 0));
  const order = {
    instId: swap,
    ordId: "1",
    clOrdId: "",
    px: "1",
    sz: "1",
    ordType: "limit",
    side: "buy",
    state: "live",
    avgPx: "",
    accFillSz: "0",
    fee: "0",
    createdAt: "1",
    updatedAt: "1",
  };
  const position = { instId: swap, pos: "1", avgPx: "2" };

  it.each<[string, EndpointName, number, unknown, string]>([
    ["an array", "positions", 200, { code: "0", msg: "", data: [position] }, `done ${JSON.stringify([position])}`],
    ["an object", "positions", 200, { code: "0", msg: "", data: position }, `done ${JSON.stringify([position])}`],
    ["a code that is a number", "positions", 200, { code: 0, data: [] }, "done []"],
    [
      "fields nobody asked for",
      "positions",
      200,
      { code: "0", data: [{ ...position, extra: 1 }] },
      `done ${JSON.stringify([position])}`,
    ],
    ["no data", "positions", 200, { code: "0", msg: "" }, "unknown: positions: success without a data array"],
    [
      "data of nothing",
      "positions",
      200,
      { code: "0", msg: "", data: null },
      "unknown: positions: success without a data array",
    ],
    [
      "an empty object",
      "positions",
      200,
      { code: "0", msg: "", data: {} },
      "unknown: positions: success without a data array",
    ],
    ["no envelope", "positions", 200, [], "unknown: positions: status 200 with a body that is not the service's"],
    ["no body", "positions", 200, undefined, "unknown: positions: status 200 with a body that is not the service's"],
    ["success under an error status", "positions", 404, { code: "0", data: [position] }, "rejected 404 0: "],
    [
      "success under a server error",
      "positions",
      500,
      { code: "0", data: [position] },
      "unknown: positions: status 500, code 0 ",
    ],
    ["a rate limit, whatever the body", "positions", 429, "slow down", "limited"],
    ["a rate limit with an envelope", "positions", 429, { code: 50011 }, "limited"],
    ["an error code", "positions", 200, { code: "50002", msg: "bad", data: [] }, "rejected 200 50002: bad"],
    ["an error without an envelope", "positions", 401, "<html>", "rejected 401 : the answer carries no envelope"],
    ["not found as an error", "getOrder", 200, { code: "51603", msg: "no such order" }, "done []"],
    ["not found in words", "getOrder", 200, { code: "9", msg: "Order does not exist" }, "done []"],
    ["not found as an empty success", "getOrder", 200, { code: "0", data: [] }, "done []"],
    ["another error is not not-found", "getOrder", 200, { code: "9", msg: "busy" }, "rejected 200 9: busy"],
    [
      "a key that was not found is no order that was not found",
      "getOrder",
      401,
      { code: "9", msg: "API key not found" },
      "rejected 401 9: API key not found",
    ],
    [
      "nor one whose key may not read it",
      "getOrder",
      403,
      { code: "51603", msg: "order not found" },
      "rejected 403 51603: order not found",
    ],
    [
      "nor an address that was not found",
      "getOrder",
      404,
      { code: 404, msg: "Not Found" },
      "rejected 404 404: Not Found",
    ],
    [
      "a page to a cancel",
      "cancelBatch",
      403,
      "<html>",
      "unknown: cancelBatch: status 403 with a body that is not the service's",
    ],
    [
      "a page to a close",
      "closePosition",
      404,
      "<html>",
      "unknown: closePosition: status 404 with a body that is not the service's",
    ],
    [
      "a close that was rejected",
      "closePosition",
      200,
      { code: "51023", msg: "none", data: [] },
      "rejected 200 51023: none",
    ],
    [
      "a leverage that was rejected",
      "setLeverage",
      200,
      { code: "51102", msg: "range", data: [] },
      "rejected 200 51102: range",
    ],
    [
      "a leverage with a code on no list",
      "setLeverage",
      200,
      { code: "59107", msg: "no", data: [] },
      "unknown: setLeverage: status 200, code 59107 no",
    ],
    [
      "a rate limit that may be a proxy's",
      "cancelBatch",
      429,
      "slow down",
      "unknown: cancelBatch: status 429 with a body that is not the service's",
    ],
    ["a rate limit in the service's form", "placeOrder", 429, { code: "50011", msg: "" }, "limited"],
    [
      "not found elsewhere is a refusal",
      "pendingOrders",
      200,
      { code: "51603", msg: "not found" },
      "rejected 200 51603: not found",
    ],
    [
      "another word for a state",
      "getOrder",
      200,
      { code: "0", data: [{ ...order, state: "mmp_canceled" }] },
      `done ${JSON.stringify([{ ...order, state: "canceled" }])}`,
    ],
    [
      "an unknown state",
      "getOrder",
      200,
      { code: "0", data: [{ ...order, state: "frozen" }] },
      'done [] but data[0].state: "frozen" is not one of live, partially_filled, filled, canceled.',
    ],
    [
      "an id that lost digits",
      "getOrder",
      200,
      { code: "0", data: [{ ...order, ordId: 9007199254740992 }] },
      "done [] but data[0].ordId: must be string (got 9007199254740992).",
    ],
    [
      "code for sCode",
      "placeOrder",
      200,
      { code: "0", data: [{ ordId: "1", code: 0, msg: "" }] },
      'done [{"ordId":"1","sCode":"0","sMsg":"","clOrdId":""}]',
    ],
    [
      "no code, so the envelope's",
      "cancelBatch",
      200,
      { code: "0", data: [{ ordId: "1" }] },
      'done [{"ordId":"1","sCode":"0","sMsg":"","clOrdId":""}]',
    ],
    [
      "elements under a failed envelope",
      "cancelBatch",
      200,
      { code: "2", data: [{ ordId: "1", sCode: "0" }] },
      'done [{"ordId":"1","sCode":"0","sMsg":"","clOrdId":""}]',
    ],
    [
      "other names of an instrument",
      "instruments",
      200,
      { code: "0", data: [{ instId: swap, tickSz: "1", lotSz: "2", minSz: "3", ctVal: "4" }] },
      `done [{"instId":"${swap}","tickSize":"1","lotSize":"2","minSize":"3","contractValue":"4"}]`,
    ],
    [
      "other names of a balance",
      "spotBalance",
      200,
      { code: "0", data: [{ ccy: "USDT", cashBal: "3", availBal: "2", frozenBal: "1" }] },
      'done [{"currency":"USDT","balance":"3","available":"2","frozen":"1"}]',
    ],
  ])("with %s", (_, endpoint, status, body, text) => {
    expect(read(endpoint, status, body)).toBe(text);
  });

  it("with a rate limit and a header that only the service sends is the service's", () => {
    const response = { status: 429, headers: { "x-ratelimit-key-remaining": "0" }, body: "slow down" };
    expect(spell(parseResponse("placeOrder", response, contract, 0))).toBe("limited");
  });

  it("never throws, whatever it is", () => {
    const bodies = [
      null,
      0,
      "",
      [],
      {},
      { code: null },
      { code: {} },
      { code: "0", data: [null, 1, "x", []] },
      { code: "0", data: "x" },
      { code: "0", msg: 5 },
    ];
    for (const endpoint of Object.keys(contract.endpoints) as EndpointName[]) {
      for (const status of [200, 204, 302, 400, 408, 429, 500, 0])
        for (const body of bodies) expect(read(endpoint, status, body)).toMatch(/^(done|rejected|unknown|limited)/);
    }
  });
});
