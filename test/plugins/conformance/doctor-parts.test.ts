import { describe, expect, it } from "vitest";
import { DoctorClient } from "../../../plugins/conformance/doctor/doctor-client.ts";
import { boundsFound, feeSignOf, isNewestFirst, timeUnitOf } from "../../../plugins/conformance/doctor/listing.ts";
import { type Call, readingOf, readingsOf } from "../../../plugins/conformance/doctor/spending.ts";
import { OwnOrders } from "../../../plugins/conformance/probe/own-orders.ts";
import type { Reply } from "../../../plugins/conformance/probe/reply.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { createContract } from "../../../src/contract/contract.ts";
import type { Transport, WireRequest } from "../../../src/contract/transport.ts";
import { orderRecord } from "../../support/harness/records.ts";
import { createWard, drive, found } from "./harness/doctor.ts";

const call = (endpoint: Call["endpoint"], given: Partial<Call> = {}): Call => ({
  endpoint,
  signed: true,
  ending: "done",
  at: 0,
  ...given,
});
const isOrder = ({ endpoint }: Call): boolean => endpoint === "getOrder";

describe("Weight findings:", () => {
  it.each([
    ["one call", [call("getOrder")], 5, false, [5]],
    ["beside one that is known", [call("getOrder"), call("spotBalance")], 12, false, [5]],
    [
      "beside one without a key, which costs nobody",
      [call("getOrder"), call("instruments", { signed: false })],
      5,
      false,
      [5],
    ],
    ["over the turn of a minute", [call("getOrder")], 5, true, []],
    ["beside one that failed", [call("getOrder"), call("spotBalance", { ending: "failed" })], 12, false, []],
    ["two of a kind", [call("getOrder"), call("getOrder")], 10, false, []],
    ["a count that fell", [call("getOrder"), call("spotBalance")], 3, false, []],
  ] as const)("%s", (_, calls, delta, turned, expected) => {
    expect(readingsOf([{ calls, delta, turned }], isOrder, () => 7)).toEqual(expected);
  });

  it.each([
    [[], { kind: "none" }],
    [[27, 5], { kind: "value", value: 5 }],
    [[2, 2, 30], { kind: "value", value: 2 }],
    [[2], { kind: "unsure", of: [2] }],
    [[7, 12], { kind: "unsure", of: [7, 12] }],
  ])("%j, where 5 is assumed", (readings, expected) => {
    expect(readingOf(readings, 5)).toEqual(expected);
  });
});

describe("Listing findings:", () => {
  it.each([
    [[3n, 2n, 1n], true],
    [[1n, 2n, 3n], false],
    [[2n, 3n, 1n], "neither"],
    [[1n], undefined],
  ])("%s: newest first %s", (ids, expected) => {
    expect(isNewestFirst(ids)).toBe(expected);
  });

  it.each([
    [[], true, "both"],
    [[9n, 8n], true, "both"],
    [[9n, 8n], false, undefined],
    [[8n, 7n], true, "after_wins"],
    [[8n], false, "after_wins"],
  ])("after 9 and before 8: %s, older ones %s: %s", (page, older, expected) => {
    expect(boundsFound(page, 9n, 8n, older)).toBe(expected);
  });

  it.each([
    ["1700000000", "s"],
    ["1700000000000", "ms"],
    ["1700000000000000", "us"],
    ["170000000000", "odd"],
    ["9999999999999", "odd"],
  ])("time stamps such as %s: %s", (text, unit) => {
    expect(timeUnitOf([{ createdAt: text, updatedAt: text }], 1_700_000_000_000)).toBe(unit);
  });

  it.each([
    [[["market", "-0.1"]], "negative_is_cost"],
    [[["ioc", "0.1"]], "positive_is_cost"],
    // Whoever rests may be paid.
    [[["post_only", "0.1"]], undefined],
    [
      [
        ["market", "-0.1"],
        ["fok", "0.1"],
      ],
      undefined,
    ],
  ] as const)("fees %j: %s", (orders, sign) => {
    expect(feeSignOf(orders.map(([ordType, fee]) => ({ ordType, fee })))).toBe(sign);
  });
});

describe("The probe client", () => {
  it("asks again a second after an answer was given up, not at once", async () => {
    const at: number[] = [];
    await createWard({
      spoil: (answer, _, count) => (count === 5 ? undefined : answer),
      meanwhile: (_, now) => at.push(now),
    }).examine();
    expect((at[6] ?? 0) - (at[5] ?? 0)).toBeGreaterThanOrEqual(3_000);
  });

  it("gives a failure of the transport as a part of a sentence", async () => {
    const clock = createVirtualClock(1_000_000);
    const transport: Transport = (_, sink) => sink.failed(new Error("No answer within 1 ms."));
    const stop = new AbortController().signal;
    const client = new DoctorClient({
      clock,
      contract: createContract(),
      transport,
      keyFor: () => "key",
      weightMax: 100,
      stop,
    });
    expect(await drive(clock, client.ask("spotBalance", {}))).toMatchObject({
      kind: "unanswered",
      why: "No answer within 1 ms",
    });
  });

  it("a refusal that is about the key says nothing of orders", async () => {
    const forbidden = { status: 403, headers: {}, body: { code: "50001", msg: "", data: [] } };
    const examination = await createWard({
      spoil: (answer, { endpoint }) => (endpoint === "getOrder" ? forbidden : answer),
    }).examine();
    for (const row of ["answers.badRequestStatus", "answers.notFoundCode"])
      expect([row, found(examination, row)?.verdict]).toEqual([row, "not asked"]);
  });
});

describe("The doctor's clean-up", () => {
  it("looks twice for an order whose placement was not answered, as it may still arrive", async () => {
    const clock = createVirtualClock(1_000_000);
    const contract = createContract();
    const requests: WireRequest[] = [];
    // Not there, then there, then cancelled.
    let late = "";
    const pages = () =>
      [[], [orderRecord({ clOrdId: late, ordId: "7", state: "live", accFillSz: "0" })]][listings++] ?? [];
    let listings = 0;
    const transport: Transport = (request, sink) => {
      requests.push(request);
      const data = request.endpoint === "pendingOrders" ? pages() : [];
      sink.response({ status: 200, headers: {}, body: { code: "0", msg: "", data } });
    };
    const stop = new AbortController().signal;
    const client = new DoctorClient({ clock, contract, transport, keyFor: () => "key", weightMax: 0, stop });
    client.insist();
    const ask = async (endpoint: "cancelBatch" | "pendingOrders", input: unknown) =>
      (await client.ask(endpoint, input as never)) as Reply;
    const own = new OwnOrders({ tag: "t", clock, elementsMax: 20, ask: ask as never });
    late = own.nextId();
    own.expect(late, "BTC-USDT-SWAP");
    expect(await drive(clock, own.cancelAll(6))).toBe(true);
    const cancels = requests
      .filter(({ endpoint }) => endpoint === "cancelBatch")
      .map(({ body }) => (body as object[])[0]);
    expect(cancels).toEqual([
      { instId: "BTC-USDT-SWAP", clOrdId: late },
      { instId: "BTC-USDT-SWAP", ordId: "7" },
    ]);
    // Once it was seen, two listings in a row have to be without it.
    expect([own.left(), listings]).toEqual([[], 4]);
  });
});
