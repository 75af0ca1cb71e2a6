/**
 * Answers to batch cancels, read element by element.
 */
import { describe, expect, it } from "vitest";
import type { WireResponse } from "../../../src/contract/transport.ts";
import { bid, garbled, lostAnswer, lostRequest, type Rig, ready, reply } from "../../support/harness/orders.ts";

const three = (over = {}) => ["a", "b", "c"].map((slot, i) => bid({ slot, px: String(50_000 + i), ...over }));

/** Three orders rest, then nobody wants them; `change` rewrites the data of the first answer. */
const cancelled = (change: (data: readonly object[]) => readonly unknown[], code?: string, push = true): Rig => {
  const rig = ready({ push });
  rig.resources.pending.value$.subscribe();
  rig.want(...three());
  rig.run(10_000);
  rig.next("cancelBatch", {
    answer: (real) => {
      const body = (real as WireResponse).body as { readonly code: string; readonly data: readonly object[] };
      return { ...(real as WireResponse), body: { ...body, code: code ?? body.code, data: change(body.data) } };
    },
  });
  rig.want();
  return rig;
};

const gone = (rig: Rig): void => {
  expect(rig.resting()).toEqual([]);
  expect(rig.orderManager.orders()).toEqual([]);
  for (const slot of ["a", "b", "c"]) expect(rig.phases(slot).at(-1)).toBe("canceled");
};

describe("An answer to a cancel", () => {
  it.each<[string, (data: readonly object[]) => readonly unknown[], string | undefined]>([
    ["one element short", (data) => data.slice(1), undefined],
    ["one element long", (data) => [{ ordId: "9", clOrdId: "x", sCode: "51400", sMsg: "gone" }, ...data], undefined],
    ["shuffled", (data) => [...data].reverse(), undefined],
    ["without codes", (data) => data.map((one) => ({ ...one, sCode: undefined })), undefined],
    ["without ids", (data) => data.map(() => ({ sCode: "0", sMsg: "" })), undefined],
    ["in another spelling", (data) => data.map(() => ({ code: 0, msg: "" })), undefined],
    ["with envelope code 1", (data) => data, "1"],
    ["with envelope code 2", (data) => data, "2"],
    ["with an unreadable element", (data) => [null, ...data.slice(1)], undefined],
    ["empty", () => [], undefined],
  ])("is read although it is %s", (_, change, code) => {
    for (const push of [true, false]) {
      const rig = cancelled(change, code, push);
      rig.run(60_000);
      gone(rig);
      expect(rig.count("cancelBatch")).toBeLessThanOrEqual(2);
    }
  });

  it("is not taken for an order that the element does not name", () => {
    const rig = ready();
    rig.want(...three());
    rig.run(3_000);
    rig.next(
      "cancelBatch",
      reply(200, {
        code: "0",
        msg: "",
        data: [1, 2, 3].map((i) => ({ ordId: `77${i}`, clOrdId: "", sCode: "0", sMsg: "" })),
      }),
    );
    rig.want();
    // Unsure, it is asked again after a second; taken as accepted, after ten.
    rig.run(5_000);
    gone(rig);
  });

  it("is read by the service's id alone, wherever its element stands", () => {
    const rig = cancelled((data) => data.map((one) => ({ ...one, clOrdId: "" })).reverse(), undefined, false);
    rig.run(1_400);
    expect(rig.count("cancelBatch")).toBe(1);
    rig.run(30_000);
    gone(rig);
  });

  it("proves nothing by position when an element is missing", () => {
    const rig = cancelled(() => [1, 2].map(() => ({ sCode: "51400", sMsg: "gone" })), "1", false);
    rig.run(500);
    for (const slot of ["a", "b", "c"]) expect(rig.phases(slot).at(-1)).toBe("canceling");
    rig.run(60_000);
    gone(rig);
  });

  it("asks for the failed element only", () => {
    const rig = ready();
    rig.want(...three());
    rig.run(3_000);
    const failing = rig.orderManager.orders()[1]?.ordId as string;
    rig.next("cancelBatch", {
      answer: (real) => {
        const body = (real as WireResponse).body as { readonly data: readonly { readonly ordId: string }[] };
        const data = body.data.map((one) => (one.ordId === failing ? { ...one, sCode: "50026", sMsg: "busy" } : one));
        return { ...(real as WireResponse), body: { code: "2", msg: "", data } };
      },
    });
    rig.want();
    rig.run(10_000);
    gone(rig);
    expect(rig.count("getOrder")).toBe(0);
  });

  it("that failed for a live order is asked for again", () => {
    const rig = ready({ push: false });
    rig.resources.pending.value$.subscribe();
    rig.want(...three());
    rig.run(3_000);
    const fail = { sCode: "50026", sMsg: "busy", ordId: "", clOrdId: "" };
    rig.next("cancelBatch", reply(200, { code: "1", msg: "", data: [fail, fail, fail] }));
    rig.want();
    rig.run(30_000);
    gone(rig);
    expect(rig.count("cancelBatch")).toBe(2);
  });

  it.each([
    ["lost", lostAnswer],
    ["a server error", garbled(500)],
    ["a page", garbled(200, "<html>")],
  ])("that is %s leaves the record to decide", (_, fault) => {
    const rig = ready({ push: false });
    rig.resources.pending.value$.subscribe();
    rig.want(...three());
    rig.run(3_000);
    rig.next("cancelBatch", fault);
    rig.want();
    rig.run(60_000);
    gone(rig);
  });

  it("that never arrived is repeated", () => {
    const rig = ready();
    rig.want(...three());
    rig.run(3_000);
    rig.next("cancelBatch", lostRequest);
    rig.want();
    rig.run(60_000);
    gone(rig);
    expect(rig.count("cancelBatch")).toBe(2);
  });

  it("that was accepted without effect is repeated", () => {
    const rig = ready();
    rig.want(...three());
    rig.run(3_000);
    rig.next("cancelBatch", reply(200, { code: "0", msg: "", data: [0, 1, 2].map(() => ({ sCode: "0", sMsg: "" })) }));
    rig.want();
    rig.run(60_000);
    gone(rig);
    expect(rig.count("cancelBatch")).toBe(2);
  });

  it.each<[string, object, number]>([
    ["accepted, and whose effect no list shows", { sCode: "0", sMsg: "" }, 8_100],
    ["denied", { sCode: "51400", sMsg: "It is not open." }, 100],
  ])("that was %s is asked about with the rank of exits before the cancel is repeated", (_, element, ms) => {
    const rig = ready({
      push: false,
      fault: ({ endpoint }) => (endpoint === "pendingOrders" ? reply(500) : undefined),
    });
    rig.want(bid());
    rig.run(3_000);
    rig.next("cancelBatch", garbled(200, { code: "0", msg: "", data: [{ ordId: "", clOrdId: "", ...element }] }));
    rig.want();
    rig.run(ms);
    expect(rig.phases("bid").at(-1)).toBe("canceled");
    expect(rig.count("cancelBatch")).toBe(1);
    const classes = rig.events.flatMap((event) =>
      event.type === "action.sent" && event.endpoint === "getOrder" && event.at > rig.clock.now() - ms
        ? [event.class]
        : [],
    );
    expect(classes).toEqual(["close"]);
  });

  it("that was accepted for many orders is asked about with the rank of exits for two of them only", () => {
    const rig = ready({
      push: false,
      fault: ({ endpoint }) => (endpoint === "pendingOrders" ? reply(500) : undefined),
    });
    rig.want(...three());
    rig.run(3_000);
    rig.want();
    rig.run(8_100);
    const asked = rig.events.flatMap((event) =>
      event.type === "action.sent" && event.endpoint === "getOrder" ? [event.class] : [],
    );
    expect(asked.slice(-3).sort()).toEqual(["close", "close", "resolve"]);
  });

  it.each([
    ["a page", garbled(403, "<html>")],
    ["a code on no list", garbled(200, { code: "59999", msg: "try later", data: [] })],
    [
      "unavailable for the element",
      garbled(200, { code: "1", msg: "", data: [{ ordId: "", clOrdId: "", sCode: "50003", sMsg: "" }] }),
    ],
  ])("that was done and answered by %s is our doing: what is wanted again meanwhile is placed again", (_, fault) => {
    const rig = ready({ push: false });
    rig.resources.pending.value$.subscribe();
    rig.want(bid());
    rig.run(10_000);
    rig.next("cancelBatch", fault);
    rig.want();
    rig.run(100);
    rig.want(bid());
    rig.run(60_000);
    expect(rig.resting()).toEqual(["buy 60000"]);
    expect(rig.places()).toHaveLength(2);
  });

  it("rejected as a whole by a code on no list is found out one by one as well", () => {
    const isPoisoned = (body: unknown): boolean =>
      (body as { ordId: string }[]).some(({ ordId }) => ordId === "1000000000000000001");
    const rig = ready({
      fault: ({ endpoint, body }) =>
        endpoint === "cancelBatch" && isPoisoned(body) ? reply(400, { code: "59999", msg: "bad" }) : undefined,
    });
    rig.want(...three());
    rig.run(3_000);
    rig.want();
    rig.run(15_000);
    expect(rig.resting()).toEqual(["buy 50000"]);
  });

  it("refused as a whole is found out one by one, and does not hold up the others", () => {
    // The first order of a venue has the first id.
    const isPoisoned = (body: unknown): boolean =>
      (body as { ordId: string }[]).some(({ ordId }) => ordId === "1000000000000000001");
    const rig = ready({
      fault: ({ endpoint, body }) =>
        endpoint === "cancelBatch" && isPoisoned(body) ? reply(400, { code: "50002", msg: "bad" }) : undefined,
    });
    rig.want(...three());
    rig.run(3_000);
    rig.want();
    rig.run(5_000);
    expect(rig.resting()).toEqual(["buy 50000"]);
    rig.run(300_000);
    // Later each time: a minute at most between two.
    expect(rig.count("cancelBatch")).toBeLessThan(15);
  });

  it("refused again and again is not asked for more often because the wanted order changes", () => {
    const rig = ready({
      fault: ({ endpoint }) => (endpoint === "cancelBatch" ? reply(400, { code: "50002", msg: "bad" }) : undefined),
    });
    rig.want(bid());
    rig.run(3_000);
    for (let i = 1; i <= 600; i++) {
      rig.want(bid({ px: String(60_000 + i) }));
      rig.run(100);
    }
    expect(rig.count("cancelBatch")).toBeLessThan(10);
    expect(rig.places()).toHaveLength(1);
  });

  it("is not even asked for without the permission, and the order stays known", () => {
    const rig = ready({ permissions: ["read"], profile: { permissions: { placeSwap: "read" } } });
    rig.want(bid());
    rig.run(3_000);
    rig.want();
    rig.run(10_000);
    expect(rig.count("cancelBatch")).toBe(0);
    expect(rig.orderManager.orders().map(({ reason }) => reason)).toEqual(["unwanted"]);
  });
});
