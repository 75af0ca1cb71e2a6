/**
 * A stop whose take-profit rests and cannot be canceled: reported after five seconds, then the position is closed all the same, once.
 */
import { describe, expect, it } from "vitest";
import type { Protect } from "../../../../src/orders/protection/protect.ts";
import type { WantedOrder } from "../../../../src/orders/wanted-order.ts";
import { type Fault, lostAnswer, lostRequest, type Rig, ready, reply, swap } from "../../../support/harness/orders.ts";

const both: Protect = { stopLoss: "59000", takeProfit: "61000", takeProfitAs: "limit" };
const entry: WantedOrder = { slot: "long", instId: swap, side: "buy", px: "60000", qty: "0.01", protect: both };
const refused = reply(503, { code: "50013", msg: "System is busy", data: [] });

const market = (rig: Rig, bidTicks: number): void => {
  rig.venue.quote(swap, bidTicks, 100_000, bidTicks + 1, 100_000, rig.clock.now());
  rig.setMarketPx(String(bidTicks / 10));
  rig.price(String(bidTicks / 10));
};
const position = (rig: Rig): string =>
  rig.venue.truth("ann").positions.find(({ instId }) => instId === swap)?.pos ?? "0";
const own = (rig: Rig, strategy = "s"): string => rig.orderManager.positions.of(strategy, swap).qty;
const reports = (rig: Rig): readonly string[] =>
  rig.journalled("position.unprotected").map((event) => (event.type === "position.unprotected" ? event.reason : ""));

/** Long 0.01 with a take-profit that rests alone in its book, while requests of one endpoint meet a fault. */
const held = (endpoint: string, fault: Fault) => {
  const faulty = { is: false };
  const rig = ready({ fault: (request) => (faulty.is && request.endpoint === endpoint ? fault : undefined) });
  rig.want(entry);
  rig.run();
  rig.trade("sell", 60_000, 0.01);
  rig.run();
  expect(rig.resting()).toEqual(["sell 61000"]);
  faulty.is = true;
  return { rig, faulty };
};

describe.each([
  ["unanswered", lostRequest, 180_000],
  ["refused", refused, 90_000],
])("While cancels are %s, a stop", (_, fault, ms) => {
  it("is reported after five seconds and closes the position, once", () => {
    const { rig, faulty } = held("cancelBatch", fault);
    market(rig, 590_000);
    rig.run(4_900);
    expect([position(rig), reports(rig)]).toEqual(["0.01", []]);
    rig.run(200);
    expect(reports(rig)).toEqual(["the take-profit that rests has not been canceled for 5 s"]);
    rig.run(5_000);
    expect([position(rig), own(rig)]).toEqual(["0", "0"]);
    rig.run(ms);
    faulty.is = false;
    rig.run(120_000);
    expect([position(rig), own(rig), rig.resting()]).toEqual(["0", "0", []]);
    expect(reports(rig)).toHaveLength(1);
    expect(rig.journalled("position.protected")).toMatchObject([{ closed: true }]);
    expect(rig.truth().filter(({ accFillSz }) => Number(accFillSz) > 0)).toHaveLength(2);
  });

  it("closes what the take-profit has left", () => {
    const { rig } = held("cancelBatch", fault);
    rig.price("59000");
    rig.run(3_000);
    rig.trade("buy", 61_000, 0.004);
    rig.run(300);
    expect(position(rig)).toBe("0.006");
    market(rig, 590_000);
    rig.run(10_000);
    expect([position(rig), own(rig)]).toEqual(["0", "0"]);
  });

  it.each([0.004, 0.01])(
    "opens nothing where the take-profit executes %s while the closing order is under way",
    (qty) => {
      const { rig, faulty } = held("cancelBatch", fault);
      const seen: string[] = [];
      rig.venue.onFill(() => seen.push(position(rig)));
      rig.price("59000");
      for (let tenth = 0; rig.count("placeOrder") < 3 && tenth < 100; tenth++) rig.run(10);
      expect(position(rig)).toBe("0.01");
      rig.trade("buy", 61_000, qty);
      market(rig, 590_000);
      rig.run(60_000);
      faulty.is = false;
      rig.run(60_000);
      expect([position(rig), own(rig), rig.resting()]).toEqual(["0", "0", []]);
      expect(seen.filter((pos) => pos.startsWith("-"))).toEqual([]);
    },
  );

  it("is only reported where another strategy holds the same, and leaves when the cancel took effect", () => {
    const { rig, faulty } = held("cancelBatch", fault);
    market(rig, 600_000);
    rig.orderManager.want("other", [{ slot: "in", instId: swap, side: "buy", ordType: "market", qty: "0.01" }], []);
    rig.run();
    expect(position(rig)).toBe("0.02");
    market(rig, 590_000);
    rig.run(20_000);
    expect([own(rig), reports(rig)]).toEqual(["0.01", ["the take-profit that rests has not been canceled for 5 s"]]);
    faulty.is = false;
    rig.run(70_000);
    expect([own(rig), own(rig, "other"), position(rig), rig.resting()]).toEqual(["0", "0.01", "0.01", []]);
  });
});

const pause: Fault = { lost: true, answer: () => ({ status: 503, headers: { "retry-after": "3600" }, body: "" }) };

it("A stop leaves half a minute after a refusal that asks for a pause of an hour, and entries wait", () => {
  const rig = ready({ limits: true });
  market(rig, 600_000);
  rig.want({ ...entry, px: "60001", protect: { stopLoss: "59000" } });
  rig.run();
  rig.next("pendingOrders", pause);
  rig.resources.pending.value$.subscribe();
  rig.run();
  expect(rig.count("pendingOrders")).toBe(1);
  market(rig, 590_000);
  const bid: WantedOrder = { slot: "in", instId: swap, side: "buy", px: "50000", qty: "0.01" };
  rig.orderManager.want("other", [bid], []);
  rig.run(29_000);
  expect(position(rig)).toBe("0.01");
  rig.run(3_000);
  expect([position(rig), own(rig), rig.resting()]).toEqual(["0", "0", []]);
});

it.each([1, 2])(
  "A stop whose placement itself meets such a refusal %i times leaves again within two minutes each",
  (times) => {
    const rig = ready({ limits: true });
    market(rig, 600_000);
    rig.want({ ...entry, px: "60001", protect: { stopLoss: "59000" } });
    rig.run();
    for (let time = 0; time < times; time++) rig.next("placeOrder", pause);
    market(rig, 590_000);
    rig.run(times * 120_000);
    expect([position(rig), own(rig), rig.resting()]).toEqual(["0", "0", []]);
    expect(reports(rig)).toHaveLength(1);
  },
);

describe("A stop whose closing order", () => {
  it.each<[string, Fault, string]>([
    ["is not answered", lostRequest, "the closing order has not been answered for 5 s"],
    ["is executed and not answered", { ...lostAnswer, backMs: 60_000 }, ""],
    [
      "is answered with 429",
      reply(429, { code: "50011", msg: "Too many requests", data: [] }),
      "^the closing order has (waited|not been answered)",
    ],
  ])("%s is reported after five seconds, and closes the position in the end", (_, fault, reason) => {
    const { rig, faulty } = held("placeOrder", fault);
    market(rig, 590_000);
    rig.run(5_500);
    expect(reports(rig)).toEqual(reason === "" ? [] : [expect.stringMatching(reason)]);
    rig.run(20_000);
    faulty.is = false;
    rig.run(90_000);
    expect([position(rig), own(rig), rig.resting()]).toEqual(["0", "0", []]);
    expect(rig.journalled("position.protected")).toHaveLength(reason === "" ? 0 : 1);
  });
});
