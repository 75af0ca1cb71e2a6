/**
 * Calls whose outcome is not known: nothing is sent twice, and only evidence frees a slot.
 */
import { describe, expect, it } from "vitest";
import type { OrderRecord } from "../../../src/contract/schemas.ts";
import { bid, garbled, lostAnswer, lostRequest, type Rig, ready, reply, swap } from "../../support/harness/orders.ts";

/** As the service says it. */
const limited = reply(429, { code: "50011", msg: "Too Many Requests", data: [] });
const placedIds = (rig: Rig): string[] => rig.places().map(({ clOrdId }) => clOrdId);

describe("A placement whose answer was lost", () => {
  it("is found by its client id and never sent again", () => {
    const rig = ready({ push: false });
    rig.next("placeOrder", lostAnswer);
    rig.want(bid());
    rig.run(25_000);
    expect(rig.phases("bid")).toEqual(["sent", "unknown", "live"]);
    rig.run(120_000);
    expect(rig.places()).toHaveLength(1);
    expect(rig.resting()).toEqual(["buy 60000"]);
    const [look] = rig.arrivals.filter(({ endpoint }) => endpoint === "getOrder");
    expect(look?.request.query).toEqual({ clOrdId: placedIds(rig)[0], instId: swap });
  });

  it("is known at once when its record is pushed, and nothing is asked", () => {
    const rig = ready();
    rig.next("placeOrder", lostAnswer);
    rig.want(bid());
    rig.run(30_000);
    expect(rig.phases("bid")).toEqual(["sent", "live"]);
    expect(rig.arrivals).toHaveLength(1);
  });

  it("is not looked for any more once its record came by another way", () => {
    const rig = ready({ push: false, fault: ({ endpoint }) => (endpoint === "getOrder" ? reply(500) : undefined) });
    rig.next("placeOrder", lostAnswer);
    rig.want(bid());
    rig.run(30_000);
    rig.pushes$.next(rig.truth()[0] as OrderRecord);
    rig.run(25_000);
    const asked = rig.count("getOrder");
    rig.run(60_000);
    expect(rig.phases("bid")).toEqual(["sent", "unknown", "live"]);
    expect(rig.count("getOrder")).toBe(asked);
  });

  it.each([
    ["accepts it", "0", "9999999999999999999"],
    ["rejects it", "51008", ""],
  ])("is unknown, and found, when the answer is that of another order and %s", (_, sCode, ordId) => {
    const rig = ready({ push: false });
    const other = [{ ordId, clOrdId: "s0000000000000000000", sCode, sMsg: "" }];
    rig.next("placeOrder", garbled(200, { code: "0", msg: "", data: other }));
    rig.want(bid());
    rig.run(30_000);
    expect(rig.phases("bid")).toEqual(["sent", "unknown", "live"]);
    expect(rig.places()).toHaveLength(1);
  });

  it("is replaced only after it was found", () => {
    const rig = ready({ push: false });
    rig.next("placeOrder", lostAnswer);
    rig.want(bid());
    rig.run(100);
    rig.want(bid({ px: "60001" }));
    rig.run(9_000);
    expect(rig.arrivals).toHaveLength(1);
    rig.run(20_000);
    expect(rig.resting()).toEqual(["buy 60001"]);
    expect(rig.places()).toHaveLength(2);
  });

  it("ends as filled when it was filled meanwhile", () => {
    const rig = ready({ push: false });
    rig.next("placeOrder", lostAnswer);
    rig.want(bid());
    rig.run(100);
    rig.trade("sell", 59999, 1);
    rig.run(60_000);
    expect(rig.phases("bid")).toEqual(["sent", "unknown", "filled"]);
    expect(rig.places()).toHaveLength(1);
  });
});

describe("A placement that never arrived", () => {
  it("blocks its slot for thirty seconds, three negative answers and two sweeps, then is placed again with a new id", () => {
    const rig = ready();
    rig.next("placeOrder", lostRequest);
    const sentAt = rig.clock.now();
    rig.want(bid());
    rig.run(29_000);
    expect(rig.openCounts.at(-1)).toBe(1);
    expect(rig.places()).toHaveLength(1);
    rig.run(90_000);
    expect(rig.phases("bid")).toEqual(["sent", "unknown", "absent", "sent", "live"]);
    expect(rig.places()).toHaveLength(2);
    expect(new Set(placedIds(rig)).size).toBe(2);
    const asked = rig.arrivals.filter(({ at }) => at - sentAt >= 30_000).map(({ endpoint }) => endpoint);
    const sweep = ["pendingOrders", "orderHistory"];
    expect(asked).toEqual(["getOrder", ...sweep, "getOrder", "getOrder", ...sweep, "placeOrder"]);
  });

  it("is not placed again when it is not wanted any more", () => {
    const rig = ready();
    rig.next("placeOrder", lostRequest);
    rig.want(bid());
    rig.run(100);
    rig.want();
    rig.run(120_000);
    expect(rig.phases("bid").at(-1)).toBe("absent");
    expect(rig.places()).toHaveLength(1);
    expect(rig.count("cancelBatch")).toBe(0);
  });

  it("is placed again as it is wanted then", () => {
    const rig = ready();
    rig.next("placeOrder", lostRequest);
    rig.want(bid());
    rig.run(100);
    rig.want(bid({ px: "59990" }));
    rig.run(120_000);
    expect(rig.places().map(({ px }) => px)).toEqual(["60000", "59990"]);
  });

  it("is called absent by five readings of the lists where a service tells nothing of one order that does not exist", () => {
    const nothing = reply(200, { code: "0", msg: "" });
    const rig = ready({
      push: false,
      profile: { answers: { notFound: "untold" } },
      fault: ({ endpoint }) => (endpoint === "getOrder" ? nothing : undefined),
    });
    rig.next("placeOrder", lostRequest);
    rig.want(bid());
    rig.run(70_000);
    expect(rig.phases("bid").at(-1)).toBe("unknown");
    rig.run(60_000);
    expect(rig.phases("bid")).toEqual(["sent", "unknown", "absent", "sent", "acked", "live"]);
  });

  it("is never called absent while the service cannot be asked", () => {
    let down = true;
    let turn = 0;
    const errors = [limited, reply(503, { code: "50003", msg: "" }), reply(200, "<html>"), lostRequest, reply(500)];
    const rig = ready({
      fault: ({ method, endpoint }) => {
        if (endpoint === "placeOrder") return down ? lostRequest : undefined;
        return down && method === "GET" && endpoint !== "instruments" ? errors[turn++ % errors.length] : undefined;
      },
    });
    rig.want(bid());
    rig.run(600_000);
    expect(rig.phases("bid")).toEqual(["sent", "unknown"]);
    expect(rig.openCounts.at(-1)).toBe(1);
    down = false;
    rig.run(120_000);
    expect(rig.phases("bid")).toEqual(["sent", "unknown", "absent", "sent", "live"]);
  });

  it.each([
    ["a lookup", ["getOrder"]],
    ["a listing of pending orders", ["pendingOrders"]],
    ["a listing of finished orders", ["orderHistory"]],
  ])("is not called absent while %s fails, though all else answers", (_, failing) => {
    for (const failure of [
      reply(500),
      limited,
      reply(200, "<html>"),
      reply(200, { code: "50001", msg: "denied", data: [] }),
    ]) {
      const rig = ready({
        fault: ({ endpoint }) =>
          endpoint === "placeOrder" ? lostRequest : failing.includes(endpoint) ? failure : undefined,
      });
      rig.want(bid());
      rig.run(300_000);
      expect(rig.phases("bid")).toEqual(["sent", "unknown"]);
    }
  });

  it("is not called absent by a listing with a record that cannot be read", () => {
    const rig = ready({
      fault: ({ endpoint }) =>
        endpoint === "placeOrder"
          ? lostRequest
          : endpoint === "orderHistory"
            ? reply(200, { code: "0", msg: "", data: [{ ordId: 5 }] })
            : undefined,
    });
    rig.want(bid());
    rig.run(300_000);
    expect(rig.phases("bid")).toEqual(["sent", "unknown"]);
  });

  const amounts = {
    px: "1",
    sz: "1",
    avgPx: "",
    accFillSz: "0",
    fee: "0",
    createdAt: "1700000000000",
    updatedAt: "1700000000000",
  };
  const strange = (clOrdId: string) => ({
    ...amounts,
    ordId: "77",
    clOrdId,
    instId: swap,
    ordType: "limit",
    side: "buy",
    state: "untriggered",
  });

  it.each([
    ["another program's order", "x1"],
    ["an order without a client id", ""],
  ])("is called absent by listings with %s that cannot be read, which is told once", (_, clOrdId) => {
    const listing = {
      answer: () => ({ status: 200, headers: {}, body: { code: "0", msg: "", data: [strange(clOrdId)] } }),
    };
    const rig = ready({
      fault: ({ endpoint }) => (endpoint === "orderHistory" || endpoint === "pendingOrders" ? listing : undefined),
    });
    rig.next("placeOrder", lostRequest);
    rig.want(bid());
    rig.run(120_000);
    expect(rig.phases("bid")).toEqual(["sent", "unknown", "absent", "sent", "live"]);
    const told = rig.journalled("anomaly").map((event) => (event.type === "anomaly" ? event.detail : ""));
    expect(told).toHaveLength(2);
    for (const detail of told) expect(detail).toMatch(/order 77: .*untriggered/);
  });

  it("is not called absent by its own record that cannot be read, and that is told at once", () => {
    let placed = "";
    const rig = ready({
      fault: ({ endpoint, body }) => {
        if (endpoint === "placeOrder") placed = (body as { clOrdId: string }).clOrdId;
        if (endpoint === "placeOrder") return lostRequest;
        return endpoint === "orderHistory" ? reply(200, { code: "0", msg: "", data: [strange(placed)] }) : undefined;
      },
    });
    rig.want(bid());
    rig.run(300_000);
    expect(rig.phases("bid")).toEqual(["sent", "unknown"]);
    const told = rig
      .journalled("anomaly")
      .filter((event) => event.type === "anomaly" && event.what === "order.unresolved");
    expect(told[0]).toMatchObject({
      detail: expect.stringMatching(new RegExp(`${placed} .*keeps its slot: orderHistory: .*untriggered`)),
    });
    expect((told[0]?.at ?? 0) - rig.clock.now()).toBeLessThan(-200_000);
  });

  it("is told, with the reason, when the service does not say, later and later", () => {
    const rig = ready({
      fault: ({ endpoint }) =>
        endpoint === "placeOrder"
          ? lostRequest
          : endpoint === "getOrder"
            ? reply(401, { code: "9", msg: "API key not found" })
            : undefined,
    });
    rig.want(bid());
    rig.run(800_000);
    expect(rig.phases("bid")).toEqual(["sent", "unknown"]);
    const told = rig.journalled("anomaly").map((event) => (event.type === "anomaly" ? event.detail : ""));
    expect(told).toHaveLength(4);
    expect(told[0]).toMatch(/in doubt for 9\d s .*getOrder: 9 API key not found/);
  });

  it("is found by the lists when it was executed and questions by id fail", () => {
    const rig = ready({ push: false, fault: ({ endpoint }) => (endpoint === "getOrder" ? reply(500) : undefined) });
    rig.next("placeOrder", lostAnswer);
    rig.want(bid());
    rig.run(100);
    rig.trade("sell", 59999, 1);
    rig.run(60_000);
    expect(rig.phases("bid")).toEqual(["sent", "unknown", "filled"]);
    expect(rig.places()).toHaveLength(1);
  });

  it("leaves other slots their quota, however many are in doubt, and each has its proof", () => {
    const rig = ready({ limits: true, rules: { openPerStrategy: 100, openInAll: 100 } });
    const doubted = Array.from({ length: 30 }, (_, index) => bid({ slot: `d${index}` }));
    for (const _ of doubted) rig.next("placeOrder", lostRequest);
    rig.want(...doubted);
    rig.run(39_000);
    expect(rig.places()).toHaveLength(30);
    rig.want(...doubted, bid({ slot: "other" }));
    rig.run(3_000);
    expect(rig.phases("other")).toEqual(["sent", "live"]);
    rig.run(150_000);
    for (const { slot } of doubted)
      expect(rig.phases(slot ?? "")).toEqual(["sent", "unknown", "absent", "sent", "live"]);
  });

  it("is taken over when it arrives late after all, so that one order rests", () => {
    const rig = ready();
    rig.next("placeOrder", { outMs: 200_000, answer: () => undefined });
    rig.want(bid());
    rig.run(150_000);
    expect(rig.phases("bid")).toEqual(["sent", "unknown", "absent", "sent", "live"]);
    rig.run(100_000);
    expect(rig.resting()).toEqual(["buy 60000"]);
    expect(rig.orderManager.orders()).toHaveLength(1);
  });
});

describe("An answer to a placement that cannot be read", () => {
  it.each([
    ["a server error", garbled(500, { code: "50003", msg: "busy", data: [] })],
    ["a server error without a body", garbled(502)],
    ["a page", garbled(200, "<html>")],
    ["a truncated body", garbled(200)],
    ["an envelope without data", garbled(200, { code: "0", msg: "" })],
    ["an empty list", garbled(200, { code: "0", msg: "", data: [] })],
    ["a record without the id", garbled(200, { code: "0", msg: "", data: [{ sCode: "0" }] })],
    ["a record of another type", garbled(200, { code: "0", msg: "", data: [{ ordId: 12, sCode: "0" }] })],
    ["a gateway that gave up waiting", garbled(408)],
    ["unavailable, as an envelope", garbled(200, { code: "50003", msg: "unavailable", data: [] })],
    [
      "unavailable, said of the order",
      garbled(200, { code: "1", msg: "", data: [{ ordId: "", clOrdId: "", sCode: "50003", sMsg: "" }] }),
    ],
    ["a page with status 400", garbled(400, "<html>")],
    ["a firewall's page", garbled(403, "<html>")],
    ["a proxy's page for an address it does not know", garbled(404, "<html>")],
    ["no body with status 401", garbled(401)],
    ["JSON of a proxy", garbled(403, { message: "Forbidden" })],
    ["too early, in JSON", garbled(425, { code: "425", msg: "Too Early" })],
    ["a client that left, as a proxy sees it", garbled(499)],
    [
      "a time-out in an envelope that points to elements and has none",
      garbled(200, { code: "1", msg: "timeout", data: [] }),
    ],
    ["a known code with a status that does not go with it", garbled(425, { code: "51008", msg: "no funds", data: [] })],
    ["an envelope without words", garbled(400, { code: "50002" })],
    [
      "a rejection that names the order it made",
      garbled(200, { code: "1", msg: "", data: [{ ordId: "7", sCode: "51008", sMsg: "" }] }),
    ],
    ["a code on no list", garbled(200, { code: "59999", msg: "try later", data: [] })],
    ["too many requests, in a page", garbled(429, "<html>")],
    ["too many requests, in a proxy's JSON", garbled(429, { message: "Too Many Requests" })],
  ])("is no rejection: %s", (_, fault) => {
    const rig = ready({ push: false });
    rig.next("placeOrder", fault);
    rig.want(bid());
    rig.run(90_000);
    expect(rig.phases("bid")).toEqual(["sent", "unknown", "live"]);
    expect(rig.places()).toHaveLength(1);
    expect(rig.resting()).toEqual(["buy 60000"]);
  });

  it.each([
    [
      "by the element",
      reply(200, { code: "1", msg: "", data: [{ ordId: "", clOrdId: "", sCode: "51008", sMsg: "no funds" }] }),
      "51008 no funds",
    ],
    [
      "by the element in another spelling",
      reply(200, { code: "0", msg: "", data: [{ code: 51008, msg: "no funds" }] }),
      "51008 no funds",
    ],
    ["by the envelope", reply(200, { code: "51008", msg: "no funds", data: [] }), "51008 no funds"],
    ["with an error status", reply(400, { code: "50002", msg: "bad" }), "50002 bad"],
    [
      "by the element, with an error status",
      reply(400, { code: "1", msg: "", data: [{ sCode: "51008", sMsg: "no funds" }] }),
      "51008 no funds",
    ],
    ["at the door", reply(401, { code: 50004, msg: "who?" }), "50004 who?"],
    ["for want of a permission", reply(403, { code: "50001", msg: "denied" }), "50001 denied"],
  ])("is told apart from a rejection %s", (_, fault, reason) => {
    const rig = ready();
    rig.next("placeOrder", fault);
    rig.want(bid());
    rig.run(60_000);
    expect(rig.phases("bid")).toEqual(["sent", "rejected"]);
    expect(rig.updates.at(-1)?.reason).toBe(reason);
    expect(rig.places()).toHaveLength(1);
  });

  it("is a rejection after proof when the service said no in words that are on no list, and is told once", () => {
    const rig = ready({
      fault: ({ endpoint }) =>
        endpoint === "placeOrder" ? reply(200, { code: "59108", msg: "low margin", data: [] }) : undefined,
    });
    rig.want(bid());
    rig.run(20_000);
    expect(rig.phases("bid")).toEqual(["sent", "unknown"]);
    expect(rig.openCounts.at(-1)).toBe(1);
    rig.run(300_000);
    expect(rig.phases("bid")).toEqual(["sent", "unknown", "rejected"]);
    expect(rig.updates.at(-1)?.reason).toMatch(/^59108 low margin/);
    rig.want(bid({ px: "59999" }));
    rig.run(300_000);
    expect(rig.places()).toHaveLength(2);
    const told = rig
      .journalled("anomaly")
      .filter((event) => event.type === "anomaly" && event.what === "answer.unlisted");
    expect(told).toHaveLength(1);
    expect(told[0]).toMatchObject({ detail: expect.stringMatching(/placeOrder.*59108.*answers\.rejectionCodes/) });
  });

  it.each([["59108"], ["591*"]])("is a rejection at once with the code listed as %s", (listed) => {
    const rig = ready({ profile: { answers: { rejectionCodes: [listed] } } });
    rig.next("placeOrder", reply(200, { code: "59108", msg: "low margin", data: [] }));
    rig.want(bid());
    rig.run(1_000);
    expect(rig.phases("bid")).toEqual(["sent", "rejected"]);
    expect(rig.journalled("anomaly")).toEqual([]);
  });

  it("does not reject an order whose record was seen", () => {
    const rig = ready();
    rig.next("placeOrder", {
      answer: () => ({ status: 400, headers: {}, body: { code: "50002", msg: "bad" } }),
      backMs: 100,
    });
    rig.want(bid());
    rig.run(1_000);
    expect(rig.phases("bid")).toEqual(["sent", "live"]);
  });

  it("looks the order up when its id is said to be taken", () => {
    const rig = ready({ push: false });
    rig.next(
      "placeOrder",
      garbled(200, { code: "1", msg: "", data: [{ ordId: "", clOrdId: "", sCode: "51016", sMsg: "taken" }] }),
    );
    rig.want(bid());
    rig.run(5_000);
    expect(rig.phases("bid")).toEqual(["sent", "unknown", "live"]);
  });
});

describe("A record that does not follow", () => {
  it("is asked for", () => {
    const rig = ready({ push: false });
    rig.want(bid());
    rig.run(1_000);
    expect(rig.phases("bid")).toEqual(["sent", "acked"]);
    rig.run(1_000);
    expect(rig.phases("bid")).toEqual(["sent", "acked", "live"]);
    expect(rig.count("getOrder")).toBe(1);
  });

  it("counts as before the reply when it comes first", () => {
    const rig = ready();
    rig.next("placeOrder", { backMs: 500 });
    rig.want(bid());
    rig.run(100);
    rig.trade("sell", 59999, 1);
    rig.run(5_000);
    expect(rig.phases("bid")).toEqual(["sent", "live", "filled"]);
    expect(rig.arrivals).toHaveLength(1);
  });

  it("of an order that the service took and forgot does not have it placed again, and says so", () => {
    const none = reply(200, { code: "0", msg: "", data: [] });
    const rig = ready({
      push: false,
      fault: ({ endpoint, method }) => (method === "GET" && endpoint !== "instruments" ? none : undefined),
    });
    rig.want({ slot: "bid", instId: swap, side: "buy", ordType: "market", qty: "0.01" });
    rig.run(300_000);
    expect(rig.phases("bid")).toEqual(["sent", "acked", "absent"]);
    expect(rig.updates.at(-1)?.reason).toMatch(/^accepted, .* how it ended is not known/);
    expect(rig.places()).toHaveLength(1);
    rig.want({ slot: "bid", instId: swap, side: "buy", ordType: "market", qty: "0.02" });
    rig.run(1_000);
    expect(rig.places()).toHaveLength(2);
  });

  it.each([
    ["that the service took is called absent ten seconds after the search began at the earliest", {}, 22_000],
    ["that was not answered may be on its way for half a minute", { answer: () => undefined }, 43_000],
  ] as const)("of an order %s", (_, answer, ms) => {
    const none = reply(200, { code: "0", msg: "", data: [] });
    const rig = ready({
      push: false,
      fault: ({ endpoint, method }) => (method === "GET" && endpoint !== "instruments" ? none : undefined),
    });
    rig.next("placeOrder", answer);
    rig.want(bid());
    rig.run(ms - 5_000);
    expect(rig.phases("bid")).not.toContain("absent");
    rig.run(5_000);
    expect(rig.phases("bid")).toContain("absent");
  });

  it("is told when a listed order cannot be found any more, after proof", () => {
    const rig = ready({ push: false });
    rig.want(bid());
    rig.run(3_000);
    const gone = rig.truth()[0]?.ordId as string;
    rig.resources.store.forget(gone);
    rig.run(1_000);
    expect(rig.phases("bid").at(-1)).toBe("live");
    expect(rig.resources.store.find({ ordId: gone })?.state).toBe("live");
  });
});

describe("Calendars that differ", () => {
  it.each([600_000, -600_000, 86_400_000])(
    "by %i ms: an order in doubt is found as far back as it was sent",
    (aheadMs) => {
      const noOrder = reply(200, { code: "51603", msg: "No such order.", data: [] });
      const rig = ready({ push: false, fault: ({ endpoint }) => (endpoint === "getOrder" ? noOrder : undefined) });
      rig.clock.stepWall(aheadMs);
      rig.next("placeOrder", lostAnswer);
      rig.want(bid());
      // After a step of the calendar the ledger lets nothing leave for a second.
      rig.run(2_000);
      rig.trade("sell", 59999, 1);
      // Whatever came after it fills the first page of the history.
      for (let count = 0; count < 130; count++) {
        const body = { instId: swap, side: "buy", ordType: "ioc", px: "1000", sz: "600", clOrdId: `later${count}` };
        rig.venue.handle(
          { method: "POST", path: "/api/v1/trade/order", query: {}, body, key: "k1", ip: "2.2.2.2" },
          rig.clock.now(),
        );
      }
      rig.run(120_000);
      expect(rig.phases("bid")).toEqual(["sent", "unknown", "filled"]);
      expect(rig.places()).toHaveLength(1);
    },
  );
});

describe("A rate-limited placement", () => {
  it("leaves a placement as wanted as before, with the id it had", () => {
    const rig = ready();
    for (let i = 0; i < 3; i++) rig.next("placeOrder", limited);
    rig.want(bid());
    rig.run(300_000);
    expect(rig.phases("bid").at(-1)).toBe("live");
    expect(new Set(placedIds(rig)).size).toBe(1);
    expect(rig.places()).toHaveLength(4);
    expect(rig.resting()).toEqual(["buy 60000"]);
  });

  it("does not send what was withdrawn meanwhile, and says so", () => {
    const rig = ready({ limits: true });
    rig.next("placeOrder", limited);
    rig.want(bid());
    rig.run(50);
    rig.want();
    rig.run(120_000);
    expect(rig.phases("bid")).toEqual(["sent", "planned", "canceled"]);
    expect(rig.places()).toHaveLength(1);
    expect(rig.orderManager.orders()).toEqual([]);
  });

  it("is no storm: everything waits for the next window, for minutes of refusals", () => {
    const rig = ready({ limits: true, fault: ({ endpoint }) => (endpoint === "placeOrder" ? limited : undefined) });
    rig.want(...Array.from({ length: 20 }, (_, i) => bid({ slot: `s${i}` })));
    rig.run(100);
    const first = rig.places().length;
    // It takes two minutes to look for the beginning of the minute, at growing intervals.
    rig.run(130_000);
    const looks = rig.places().length;
    expect(looks - first).toBeLessThanOrEqual(9);
    rig.run(600_000);
    expect(rig.places().length - looks).toBeLessThanOrEqual(10);
  });

  it("keeps a cancel wanted", () => {
    const rig = ready({ limits: true });
    rig.want(bid());
    rig.run(5_000);
    rig.next("cancelBatch", limited);
    rig.want();
    rig.run(180_000);
    expect(rig.phases("bid").at(-1)).toBe("canceled");
    expect(rig.count("cancelBatch")).toBe(2);
  });

  it("does not end an order placed by hand", () => {
    const rig = ready();
    rig.next("placeOrder", limited);
    const seen: string[] = [];
    rig.orders.place(bid()).subscribe({ next: ({ phase }) => seen.push(phase), complete: () => seen.push("end") });
    rig.run(90_000);
    expect(seen).toEqual(["sent", "planned", "sent", "live"]);
  });
});

describe("The search for an order while ordinary quota is used up", () => {
  const soughtAfterMs = (over: Parameters<typeof bid>[0]): number => {
    // The minute's weight is gone by the time the answer is given up.
    const rig = ready({ push: false, limits: true, startAt: 1_699_999_981_000 });
    for (let call = 0; call < 400; call++) {
      rig.gateway.call("positions", {}, { class: "read", owner: "others" }).subscribe();
    }
    rig.run(25_000);
    rig.next("placeOrder", lostAnswer);
    rig.want(bid(over));
    rig.run(120_000);
    const [placed] = rig.arrivals.filter(({ endpoint }) => endpoint === "placeOrder");
    const [look] = rig.arrivals.filter(({ endpoint }) => endpoint === "getOrder");
    // Answers are given up after 10 s.
    return (look?.at ?? Number.NaN) - (placed?.at ?? Number.NaN) - 10_000;
  };

  it("goes with exits where a stop waits for it, and waits its turn where none does", () => {
    expect(soughtAfterMs({ protect: { stopLoss: "59000" } })).toBeLessThan(100);
    expect(soughtAfterMs({})).toBeGreaterThan(1_000);
  });
});
