/** Orders that are changed instead of being canceled and placed anew, where a service can do that. */
import { describe, expect, it } from "vitest";
import type { ProfileOverrides } from "../../../src/contract/profile.ts";
import { createRandom } from "../../../src/random.ts";
import {
  bid,
  type Fault,
  garbled,
  lostAnswer,
  lostRequest,
  type Rig,
  ready,
  reply,
  swap,
} from "../../support/harness/orders.ts";

const profile: ProfileOverrides = { capabilities: { amend: true }, order: { szUnit: { SPOT: "base", SWAP: "base" } } };
const amending = (options: Parameters<typeof ready>[0] = {}): Rig => ready({ profile, ...options });

/** With an order that rests, and nothing sent since. */
const resting = (options: Parameters<typeof ready>[0] = {}, over: Parameters<typeof bid>[0] = {}): Rig => {
  const rig = amending(options);
  rig.want(bid(over));
  rig.run();
  rig.arrivals.length = 0;
  return rig;
};

const sent = (rig: Rig) => rig.arrivals.map(({ endpoint }) => endpoint);
const open = (rig: Rig) =>
  rig
    .truth()
    .filter(({ state }) => state === "live" || state === "partially_filled")
    .map(({ px, sz, accFillSz }) => `${px} ${sz}${accFillSz === "0" ? "" : ` filled ${accFillSz}`}`);
const lastOf = (rig: Rig) => rig.updates.at(-1);

describe("A wanted order that changed", () => {
  it.each([
    ["a smaller size", { qty: "0.005" }, { px: "60000", sz: "0.005" }],
    ["a larger size", { qty: "0.02" }, { px: "60000", sz: "0.02" }],
    ["another price", { px: "59000" }, { px: "59000", sz: "0.01" }],
    ["another price and size", { px: "59000", qty: "0.007" }, { px: "59000", sz: "0.007" }],
  ])("by %s changes its order, which keeps its ids", (_, over, expected) => {
    const rig = resting();
    const [before] = rig.truth();
    rig.want(bid(over));
    rig.run();
    expect(sent(rig)).toEqual(["amendOrder"]);
    expect(rig.arrivals[0]?.request.body).toEqual({
      instId: swap,
      ordId: before?.ordId,
      clOrdId: before?.clOrdId,
      ...expected,
    });
    expect(rig.truth()).toHaveLength(1);
    expect(rig.truth()[0]).toMatchObject({
      ordId: before?.ordId,
      clOrdId: before?.clOrdId,
      state: "live",
      ...expected,
    });
    expect(lastOf(rig)?.spec).toMatchObject(expected);
    // And nothing more.
    rig.run(60_000);
    expect(sent(rig).filter((endpoint) => endpoint !== "pendingOrders")).toEqual(["amendOrder"]);
  });

  it("is sent as it is when the call leaves, and changed again when it has changed meanwhile", () => {
    const rig = resting();
    rig.want(bid({ px: "59000" }));
    rig.run(5);
    rig.want(bid({ px: "58000" }));
    rig.want(bid({ px: "57000" }));
    rig.run();
    const changes = rig.arrivals.filter(({ endpoint }) => endpoint === "amendOrder");
    expect(changes.map(({ request: { body } }) => (body as { px: string }).px)).toEqual(["59000", "57000"]);
    expect([rig.count("cancelBatch"), rig.count("placeOrder")]).toEqual([0, 0]);
    expect(open(rig)).toEqual(["57000 0.01"]);
  });

  it("is asked about a second after it was taken, where no record is pushed", () => {
    const rig = resting({ push: false });
    rig.run(30_000);
    rig.arrivals.length = 0;
    rig.want(bid({ px: "59000" }));
    rig.run(900);
    expect(sent(rig)).toEqual(["amendOrder"]);
    rig.run(2_000);
    expect(sent(rig)).toEqual(["amendOrder", "getOrder"]);
    expect(lastOf(rig)?.spec).toMatchObject({ px: "59000" });
  });

  it("that is settled by what its changed order executed is not placed again", () => {
    const rig = resting();
    rig.want(bid({ px: "59000", qty: "0.004" }));
    rig.run();
    rig.trade("sell", 58_000, 1);
    rig.run(1_000);
    expect(rig.truth().map(({ state, accFillSz }) => `${state} ${accFillSz}`)).toEqual(["filled 0.004"]);
    expect(rig.phases("bid").at(-1)).toBe("filled");
  });

  it.each<[string, Parameters<typeof bid>[0], Parameters<typeof bid>[0]]>([
    ["of an exit", { side: "sell", px: "61000", reduceOnly: true }, { side: "sell", px: "61500", reduceOnly: true }],
    ["to another side", {}, { side: "sell", px: "61000" }],
    ["to another type", {}, { ordType: "post_only" }],
    ["of a protected order", { protect: { stopLoss: "50000" } }, { px: "59000", protect: { stopLoss: "50000" } }],
  ])("%s is placed anew", (_, first, second) => {
    const rig = amending();
    rig.want(bid({ slot: "held", px: "60500", qty: "0.01" }));
    rig.run();
    rig.trade("sell", 60_000, 1);
    rig.run();
    rig.want(bid({ slot: "held", px: "60500", qty: "0.01" }), bid(first));
    rig.run();
    rig.arrivals.length = 0;
    rig.want(bid({ slot: "held", px: "60500", qty: "0.01" }), bid(second));
    rig.run();
    expect(sent(rig)).toEqual(["cancelBatch", "placeOrder"]);
  });

  it("is placed anew once something of its order was executed", () => {
    const rig = resting();
    rig.trade("sell", 60_000, 0.003);
    rig.run();
    rig.want(bid({ px: "59000" }));
    rig.run();
    expect(sent(rig)).toEqual(["cancelBatch", "placeOrder"]);
  });

  it("is placed anew at a service that has no such call, as the described one", () => {
    const rig = ready();
    rig.want(bid());
    rig.run();
    rig.want(bid({ px: "59000" }));
    rig.run();
    expect([rig.count("amendOrder"), rig.count("cancelBatch"), rig.count("placeOrder")]).toEqual([0, 1, 2]);
  });
});

describe("A change whose answer was lost", () => {
  it.each([true, false])("is found made by the order's record, and never asked for again (pushed: %s)", (push) => {
    const rig = resting({ push });
    rig.run(push ? 0 : 30_000);
    rig.arrivals.length = 0;
    rig.next("amendOrder", lostAnswer);
    rig.want(bid({ px: "59000", qty: "0.02" }));
    rig.run(20_000);
    expect(rig.count("amendOrder")).toBe(1);
    expect([rig.count("cancelBatch"), rig.count("placeOrder")]).toEqual([0, 0]);
    expect(open(rig)).toEqual(["59000 0.02"]);
    expect(lastOf(rig)?.spec).toMatchObject({ px: "59000", sz: "0.02" });
  });

  it("and that never arrived is not repeated: the order is canceled, then placed anew", () => {
    const rig = resting();
    rig.next("amendOrder", lostRequest);
    rig.want(bid({ px: "59000", qty: "0.02" }));
    rig.run(20_000);
    expect(rig.count("amendOrder")).toBe(1);
    expect(rig.truth().map(({ state, px, sz }) => `${state} ${px} ${sz}`)).toEqual([
      "live 59000 0.02",
      "canceled 60000 0.01",
    ]);
  });

  it("counts as the larger of both until it is known", () => {
    const rules = { openNotionalInAll: "1900" };
    const rig = resting({ rules });
    const smaller = bid({ slot: "second", px: "50000", qty: "0.01" });
    rig.next("amendOrder", { lost: true, answer: () => undefined });
    rig.want(bid({ px: "60000", qty: "0.02" }));
    rig.run(50);
    // 1,200 of the change in doubt leave no room for 500 beside 600.
    rig.want(bid({ px: "60000", qty: "0.02" }), { ...smaller, qty: "0.02" });
    rig.run(50);
    expect(rig.refusals.join()).toMatch(/all open orders 1200 of 1900/);
  });

  it("late enough to arrive after it was given up leaves one order", () => {
    const rig = resting();
    rig.next("amendOrder", { outMs: 12_000, answer: () => undefined });
    rig.want(bid({ px: "59000", qty: "0.02" }));
    rig.run(60_000);
    expect(open(rig)).toEqual(["59000 0.02"]);
    expect(rig.count("amendOrder")).toBe(1);
  });

  it("and that arrives after the old order was wanted again is undone by cancel and placement", () => {
    const rig = resting();
    rig.next("amendOrder", { outMs: 16_000, answer: () => undefined });
    rig.want(bid({ px: "59000", qty: "0.02" }));
    rig.run(50);
    rig.want(bid());
    rig.run(60_000);
    expect(open(rig)).toEqual(["60000 0.01"]);
  });
});

describe("A change that is refused", () => {
  it("is not asked for again: the order is canceled, then placed anew", () => {
    const rig = resting();
    rig.next(
      "amendOrder",
      reply(200, { code: "51008", msg: "", data: [{ ordId: "", clOrdId: "", sCode: "51008", sMsg: "no funds" }] }),
    );
    rig.want(bid({ px: "59000" }));
    rig.run(1_000);
    expect(sent(rig)).toEqual(["amendOrder", "cancelBatch", "placeOrder"]);
    expect(open(rig)).toEqual(["59000 0.01"]);
  });

  it("by a rate limit is asked for again", () => {
    const rig = resting();
    rig.next("amendOrder", reply(429, { code: "50011", msg: "Too Many Requests", data: [] }));
    rig.want(bid({ px: "59000" }));
    rig.run(70_000);
    expect([rig.count("amendOrder"), rig.count("placeOrder")]).toEqual([2, 0]);
    expect(open(rig)).toEqual(["59000 0.01"]);
  });

  it("as the order was filled meanwhile ends with what was executed", () => {
    const rig = resting();
    rig.want(bid({ px: "59000" }));
    rig.trade("sell", 59_500, 1);
    rig.run(1_000);
    const [latest, first] = rig.truth();
    expect(first).toMatchObject({ state: "filled", accFillSz: "0.01" });
    // The changed wanted order is another one, as after a cancel that came too late.
    expect(latest).toMatchObject({ state: "live", px: "59000" });
  });
});

describe("A change under way", () => {
  it("does not keep the order from being canceled", () => {
    const rig = resting();
    rig.next("amendOrder", { backMs: 5_000 });
    rig.want(bid({ px: "59000" }));
    rig.run(5);
    rig.want();
    rig.run(500);
    expect(open(rig)).toEqual([]);
    rig.run(20_000);
    expect(rig.truth().map(({ state }) => state)).toEqual(["canceled"]);
    expect(rig.phases("bid").at(-1)).toBe("canceled");
  });

  it("is taken over by the next run, whatever became of it", () => {
    const rig = resting();
    rig.next("amendOrder", lostAnswer);
    rig.want(bid({ px: "59000", qty: "0.02" }));
    rig.run(30);
    const next = ready({ profile, earlier: rig });
    next.resources.pending.value$.subscribe();
    next.run(1_000);
    next.want(bid({ px: "59000", qty: "0.02" }));
    next.run(60_000);
    expect(open(next)).toEqual(["59000 0.02"]);
    expect(next.truth()).toHaveLength(1);
  });

  it("that executes in part keeps what it executed", () => {
    const rig = resting();
    rig.want(bid({ qty: "0.006" }));
    rig.trade("sell", 60_000, 0.002);
    rig.run(1_000);
    expect(open(rig)).toEqual(["60000 0.006 filled 0.002"]);
  });
});

/** Anything that may happen on the way. */
const faultsOf: readonly ((random: ReturnType<typeof createRandom>) => Fault | undefined)[] = [
  () => undefined,
  () => undefined,
  () => undefined,
  () => lostAnswer,
  () => lostRequest,
  () => garbled(502),
  (random) => ({ outMs: random.next() * 14_000 }),
  (random) => ({ backMs: random.next() * 8_000 }),
  () => reply(429, { code: "50011", msg: "", data: [] }),
];

describe("Whatever happens to changes, cancels and placements", () => {
  it.each(Array.from({ length: 60 }, (_, seed) => seed))(
    "one order of the slot is there at most, and in the end the wanted one, seed %i",
    (seed) => {
      const random = createRandom(`amend ${seed}`);
      const draw = (count: number) => Math.floor(random.next() * count);
      const state = { isOver: false };
      const rig = amending({
        push: seed % 3 > 0,
        fault: ({ endpoint }) =>
          !state.isOver && ["amendOrder", "cancelBatch", "placeOrder"].includes(endpoint)
            ? faultsOf[draw(faultsOf.length)]?.(random)
            : undefined,
      });
      const wanted = () => bid({ px: String(59_000 + 100 * draw(5)), qty: `0.0${10 + draw(20)}` });
      let most = 0;
      let last = wanted();
      for (let step = 0; step < 25; step++) {
        if (draw(6) === 0) rig.want();
        else {
          last = wanted();
          rig.want(last);
        }
        if (draw(8) === 0) rig.trade("sell", 59_000 + 100 * draw(5), 0.001 * (1 + draw(30)));
        for (let slice = 0; slice < 10; slice++) {
          rig.run(draw(700));
          most = Math.max(most, open(rig).length);
        }
      }
      state.isOver = true;
      last = bid({ px: "58000", qty: "0.05" });
      rig.want(last);
      rig.run(400_000);
      expect(most).toBeLessThanOrEqual(1);
      expect(open(rig)).toEqual(["58000 0.05"]);
      // Both sides agree on what was executed.
      const bought = rig.truth().reduce((sum, { accFillSz }) => sum + Math.round(Number(accFillSz) * 1_000), 0);
      const told = new Map(
        rig.updates.map(({ clOrdId, filledQty }) => [clOrdId, Math.round(Number(filledQty) * 1_000)]),
      );
      expect([...told.values()].reduce((sum, qty) => sum + qty, 0)).toBe(bought);
    },
  );
});

describe("A change under way when its engine ended", () => {
  /** What the record written ahead of the change tells the next run: the new price, and the larger of both sizes. */
  const written = { instId: swap, side: "buy", ordType: "limit", px: "59000", sz: "0.02", reduceOnly: false } as const;

  it.each([
    ["never arrived", false, { px: "60000", sz: "0.01" }],
    ["was made", true, { px: "59000", sz: "0.02" }],
  ])("that %s: the order is what its record says, and what is wanted now is brought about", (_, isMade, at) => {
    const first = resting();
    if (isMade) {
      first.want(bid({ px: "59000", qty: "0.02" }));
      first.run();
    }
    const clOrdId = first.truth()[0]?.clOrdId ?? "";
    const second = amending({ earlier: first });
    second.orderManager.recall(clOrdId, written, second.clock.now() - 1_000, "s");
    second.resources.pending.value$.subscribe();
    second.run(5_000);
    expect(second.orderManager.orders()).toMatchObject([{ clOrdId, phase: "live", spec: at }]);
    second.want(bid({ px: "59000", qty: "0.02" }));
    second.run(10_000);
    expect(open(second)).toEqual(["59000 0.02"]);
    // What a previous run placed is placed anew: how much of it was wanted is not known.
    expect([second.count("cancelBatch"), second.count("placeOrder")]).toEqual(isMade ? [0, 0] : [1, 1]);
  });
});
