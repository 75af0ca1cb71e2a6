import { describe, expect, it } from "vitest";
import type { ProfileOverrides } from "../../../src/contract/profile.ts";
import type { WireResponse } from "../../../src/contract/transport.ts";
import { createWard, differing, found, swap, unaskedRows, type WardOptions } from "./harness/doctor.ts";

const examineWith = async (options: WardOptions = {}, profile: ProfileOverrides = {}) => {
  const ward = createWard(options);
  const before = ward.venue.truth("ann");
  const examination = await ward.examine({ profile, orders: {} });
  const open = (orders: typeof before.orders) =>
    orders.filter(({ state }) => state === "live" || state === "partially_filled").length;
  return { ward, examination, opened: open(ward.venue.truth("ann").orders) - open(before.orders) };
};

describe("An examination with orders", () => {
  it("finds that everything holds, and leaves no order and no weight worth a word behind", async () => {
    const { ward, examination, opened } = await examineWith();
    expect([differing(examination), unaskedRows(examination), examination.left, opened]).toEqual([[], [], [], 0]);
    const rows = [
      "cancel element",
      "place order",
      "set leverage",
      "live to canceled",
      "order.szUnit",
      "order.duplicateClOrdId",
      "weights.perCancelElement",
    ];
    expect(rows.map((row) => [row, found(examination, row)?.verdict])).toEqual(rows.map((row) => [row, "holds"]));
    expect(ward.weight()).toBeLessThanOrEqual(260);
    expect(
      ward.requests
        .filter(({ endpoint }) => endpoint === "placeOrder")
        .every(({ body }) => (body as { ordType: string }).ordType === "post_only"),
    ).toBe(true);
  });

  it.each<readonly [string, ProfileOverrides]>([
    ["order.szUnit", { order: { szUnit: { SPOT: "quote_notional", SWAP: "base" } } }],
    ["order.szUnit", { order: { szUnit: { SPOT: "quote_notional", SWAP: "contracts" } } }],
    ["order.duplicateClOrdId", { order: { duplicateClOrdId: "accepted" } }],
    ["order.duplicateClOrdId", { order: { duplicateClOrdId: "refused" } }],
    ["answers.duplicateCode", { answers: { duplicateCode: "150003" } }],
    ["history.unfilledCanceledVanish", { history: { unfilledCanceledVanish: true } }],
    ["cancelBatch.resultFields", { cancelBatch: { resultFields: "code" } }],
    ["cancelBatch.envelopeCodeWhenAllFailed", { cancelBatch: { envelopeCodeWhenAllFailed: "2" } }],
    ["cancelBatch.oneIdKind", { cancelBatch: { oneIdKind: false } }],
    ["answers.notCancelableCode", { answers: { notCancelableCode: "51401" } }],
    ["weights.perCancelElement", { weights: { perCancelElement: 3 } }],
  ])("%s: %j is found alone, and with its line everything holds", async (row, service) => {
    const { examination, opened } = await examineWith({ service });
    expect([differing(examination), unaskedRows(examination), opened]).toEqual([[row], [], 0]);
    expect(examination.profile).toEqual(service);
    const again = await examineWith({ service }, examination.profile);
    expect([differing(again.examination), unaskedRows(again.examination), again.opened]).toEqual([[], [], 0]);
  });

  it("warns of a rejection with a code that is on no list, and of none that was added to it", async () => {
    const service = { answers: { sizeCode: "59020" } };
    const { examination, opened } = await examineWith({ service });
    expect([differing(examination), examination.left, opened]).toEqual([["answers.rejectionCodes"], [], 0]);
    expect(found(examination, "answers.rejectionCodes")).toMatchObject({
      found: "status 200, code 59020",
      evidence: expect.stringContaining('add "59020" to profile.answers.rejectionCodes') as string,
    });
    const again = await examineWith({ service }, { answers: { rejectionCodes: ["59020"] } });
    expect(differing(again.examination)).toEqual([]);
  });

  it("stands on the side that enlarges a short position, as what reduces one sets nothing aside", async () => {
    const ward = createWard({ orders: false });
    const body = { instId: swap, side: "sell", ordType: "market", sz: "600" };
    ward.venue.handle(
      { method: "POST", path: "/api/v1/trade/order", query: {}, body, key: "ann", ip: "elsewhere" },
      ward.clock.now() - 90_000,
    );
    const examination = await ward.examine({ orders: {} });
    expect(found(examination, "order.szUnit")?.verdict).toBe("holds");
    expect(found(examination, "place order")?.found).toMatch(/^sell, post_only, live/);
  });

  it("a contract of one coin is one coin: either word holds", async () => {
    const instruments = [{ instId: swap, tickSize: "0.1", lotSize: "0.001" }];
    for (const SWAP of ["base", "contracts"] as const) {
      const service = { order: { szUnit: { SPOT: "quote_notional", SWAP } } } as const;
      const { examination } = await examineWith(
        { service, instruments, orders: false },
        { order: { szUnit: { SPOT: "quote_notional", SWAP: "base" } } },
      );
      expect(found(examination, "order.szUnit")?.verdict).toBe("holds");
    }
  });

  it.each(["placeOrder", "cancelBatch", "pendingOrders", "spotBalance", "getOrder"])(
    "answers to %s that get lost cost verdicts, not orders",
    async (endpoint) => {
      let lost = 0;
      const { examination, opened } = await examineWith({
        spoil: (answer, request) =>
          request.endpoint === endpoint &&
          request.method === (endpoint === "placeOrder" ? "POST" : request.method) &&
          ++lost % 3 === 1
            ? undefined
            : answer,
      });
      expect(differing(examination)).toEqual([]);
      expect([opened, examination.left]).toEqual([0, []]);
    },
  );

  it("told to stop right after an order was placed, it still cancels and makes sure", async () => {
    const ward = createWard({
      spoil: (answer, { endpoint }) => {
        if (endpoint === "placeOrder") ward.stop.abort();
        return answer;
      },
    });
    const examination = await ward.examine({ orders: {} });
    expect(examination).toMatchObject({ stopped: true, left: [] });
    expect(
      ward.venue.truth("ann").orders.filter(({ clOrdId, state }) => clOrdId.startsWith("dr") && state === "live"),
    ).toEqual([]);
    expect(ward.requests.at(-1)?.endpoint).toBe("pendingOrders");
  });

  it("names what may still be open when the service falls silent", async () => {
    let silent = false;
    const { examination } = await examineWith({
      spoil: (answer, { endpoint }): WireResponse | undefined => {
        silent ||= endpoint === "placeOrder";
        return silent ? undefined : answer;
      },
    });
    expect(examination.left).toEqual([expect.stringMatching(/^dr[a-z0-9]+$/)]);
    expect(differing(examination)).toEqual([]);
  });

  it("a key that may not trade leaves the orders unasked", async () => {
    const { examination, ward } = await examineWith({ permissions: ["read"], orders: false });
    expect(found(examination, "order.szUnit")).toMatchObject({ verdict: "not asked" });
    expect(ward.requests.every(({ method }) => method === "GET")).toBe(true);
  });
});
