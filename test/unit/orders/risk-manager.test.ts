/**
 * Limits on money in the whole order path: what is refused costs no request, what finds room later is placed.
 */
import { concat, NEVER, of } from "rxjs";
import { describe, expect, it } from "vitest";
import { runBacktest } from "../../../src/backtest.ts";
import { definePlugin, type Event } from "../../../src/index.ts";
import { closed, configOf, quoteTape, stored, strategy } from "../../support/harness/backtest.ts";
import { bid, lostAnswer, lostRequest, ready, spot, swap } from "../../support/harness/orders.ts";

const base = { profile: { order: { szUnit: { SPOT: "base", SWAP: "base" } } } } as const;
const sell = (over: Parameters<typeof bid>[0] = {}) => bid({ slot: "ask", side: "sell", px: "60001", ...over });

describe("The risk manager's limits", () => {
  it("refuse without a request, by name, and let smaller orders through", () => {
    const rig = ready({ ...base, rules: { orderNotionalMax: "600", priceBandPct: "1" } });
    rig.want(
      bid({ slot: "fat", qty: "0.011", px: "59000" }),
      bid({ slot: "far", px: "60700", qty: "0.001" }),
      bid({ slot: "fine" }),
    );
    rig.run();
    expect(rig.refusals).toEqual([
      "the order is worth 649; up to 600 would pass (orders.orderNotionalMax)",
      "px 60700 is more than 1 % beyond the market at 60000; up to 60600 would pass (orders.priceBandPct)",
    ]);
    expect(rig.resting()).toEqual(["buy 60000"]);
  });

  it("count what rests, what is on its way and what is unknown, at full size", () => {
    const rig = ready({ ...base, rules: { openNotionalPerStrategy: "1000" } });
    rig.next("placeOrder", lostAnswer);
    rig.want(bid({ slot: "a", px: "50000" }));
    rig.run(10);
    rig.want(bid({ slot: "a", px: "50000" }), bid({ slot: "b", px: "50001" }), bid({ slot: "c", px: "49000" }));
    rig.run(100);
    expect(rig.places()).toHaveLength(2);
    expect(rig.refusals[0]).toContain(
      "the order is worth 500.01 and the strategy's open orders 500 of 1000; up to 500 would pass",
    );
    rig.orderManager.want("other", [bid({ px: "50002" })]);
    rig.run();
    expect(rig.places()).toHaveLength(3);
  });

  it("try what found no room again when orders have ended, and tell of it once", () => {
    const rig = ready({ ...base, rules: { openNotionalInAll: "1000" } });
    rig.want(bid({ slot: "big", px: "50000", qty: "0.02" }), ...["b", "c"].map((slot) => bid({ slot, px: "49000" })));
    rig.run();
    expect(rig.resting()).toEqual(["buy 50000"]);
    expect(rig.refusals).toHaveLength(2);
    rig.want(...["b", "c"].map((slot) => bid({ slot, px: "49000" })));
    rig.run();
    expect(rig.resting()).toEqual(["buy 49000", "buy 49000"]);
    expect(rig.refusals).toHaveLength(2);
  });

  it("count positions by own fills with everything open on that side", () => {
    const rig = ready({ ...base, rules: { positionPerStrategy: "1200" } });
    rig.want(bid({ px: "60000" }));
    rig.run();
    rig.trade("sell", 59999, 1);
    rig.run();
    rig.want(bid({ slot: "x", px: "59000" }), bid({ slot: "y", px: "59000", qty: "0.001" }));
    rig.run();
    expect(rig.resting()).toEqual(["buy 59000"]);
    expect(rig.refusals).toEqual([
      `the strategy's position in ${swap} could become 1260 long, more than 1200; a size of up to 0 would pass (orders.positionPerStrategy)`,
    ]);
    rig.orderManager.want("other", [bid({ qty: "0.02", px: "58000" })]);
    rig.want(sell({ qty: "0.03" }), sell({ slot: "close", qty: "0.05", reduceOnly: true, px: "61000" }));
    rig.run();
    expect(rig.resting()).toEqual(["sell 61000", "sell 60001", "buy 58000"]);
  });

  it("count an order that an earlier life left behind for all, and for its strategy once it is known", () => {
    const first = ready({ ...base });
    first.want(bid({ px: "50000", qty: "0.02" }));
    first.run();
    const rig = ready({ ...base, earlier: first, rules: { openNotionalInAll: "1500" } });
    rig.resources.pending.value$.subscribe();
    rig.run();
    rig.orderManager.want("other", [bid({ px: "51000", qty: "0.01" })]);
    rig.run();
    expect(rig.refusals[0]).toContain("all open orders 1000 of 1500");
    expect(rig.orderManager.orders()).toHaveLength(1);
  });

  it("free at once what a rate limit turned away, and count it once when it is placed after all", () => {
    const rig = ready({ ...base, rules: { openNotionalInAll: "900" } });
    rig.next("placeOrder", { lost: true, answer: () => ({ status: 429, headers: {}, body: undefined }) });
    rig.want(bid({ px: "50000" }));
    rig.run(130_000);
    expect(rig.resting()).toEqual(["buy 50000"]);
    rig.want(bid({ px: "50000" }), bid({ slot: "second", px: "40001" }));
    rig.run();
    expect(rig.resting()).toHaveLength(1);
    rig.want(bid({ px: "50000" }), bid({ slot: "second", px: "40000" }));
    rig.run();
    expect(rig.resting()).toHaveLength(2);
  });

  it("refuse again in silence what still finds no room, whatever room there is by then", () => {
    const rig = ready({ ...base, rules: { openNotionalPerStrategy: "1000" } });
    const big = bid({ slot: "big", px: "40000", qty: "0.02" });
    const small = bid({ slot: "small", px: "40000", qty: "0.003" });
    const waits = bid({ slot: "waits", px: "40000", qty: "0.01" });
    rig.want(big, small);
    rig.run();
    rig.want(big, small, waits);
    rig.run();
    rig.want(big, waits);
    rig.run();
    expect(rig.resting()).toEqual(["buy 40000"]);
    expect(rig.refusals).toEqual([
      "the order is worth 400 and the strategy's open orders 920 of 1000; up to 80 would pass (orders.openNotionalPerStrategy)",
    ]);
    expect(rig.journalled("order.refused")).toHaveLength(1);
  });

  it("give room back when a lost placement is proved not to exist", () => {
    const rig = ready({ ...base, rules: { openNotionalInAll: "600" } });
    rig.next("placeOrder", lostRequest);
    rig.want(bid({ px: "50000" }));
    rig.run(15_000);
    rig.want(bid({ slot: "next", px: "49000" }));
    rig.run(1_000);
    expect(rig.refusals).toHaveLength(1);
    rig.run(300_000);
    expect(rig.resting()).toEqual(["buy 49000"]);
  });

  it("value spot orders alike", () => {
    const rig = ready({ ...base, rules: { orderNotionalMax: "600", allowUncancellable: true } });
    rig.want(bid({ instId: spot, qty: "0.02", px: "50000" }));
    expect(rig.refusals).toEqual(["the order is worth 1000; up to 600 would pass (orders.orderNotionalMax)"]);
  });
});

describe("The limit of changes a second:", () => {
  it("what is beyond waits, and the latest of it is placed", () => {
    const rig = ready({ ...base, rules: { changesPerSecond: 2 } });
    for (let i = 0; i < 1_000; i++)
      rig.want(bid({ px: String(50_000 + i) }), bid({ slot: "other", px: String(40_000 + i) }));
    rig.run(5_000);
    expect(rig.resting().sort()).toEqual(["buy 40999", "buy 50999"]);
    expect(rig.places().length).toBeLessThan(6);
  });

  it("withdrawing never waits", () => {
    const rig = ready({ ...base, rules: { changesPerSecond: 1 } });
    rig.want(bid());
    rig.run();
    rig.want(bid({ px: "50000" }));
    rig.want();
    rig.run(100);
    expect(rig.resting()).toEqual([]);
  });
});

/** Buys a tenth of a bitcoin at 60000 for `strategy`. */
const long = (rig: ReturnType<typeof ready>, strategy = "s"): void => {
  rig.orderManager.want(strategy, [bid({ px: "60000", qty: "0.1" })]);
  rig.run();
  rig.trade("sell", 59999, 1);
  rig.run();
};

describe("Losses", () => {
  it("beyond its limit leave a strategy only what reduces; the others go on", () => {
    const rig = ready({ ...base, rules: { lossPerStrategy: "100" } });
    long(rig);
    const rests = bid({ slot: "rests", px: "50000" });
    rig.want(rests);
    rig.run();
    rig.setMarketPx("58900");
    rig.run(2_000);
    expect(rig.orderManager.modeOf("s")).toBe("reducing");
    expect(rig.resting()).toEqual([]);
    expect(rig.journalled("strategy.reducing")).toEqual([
      expect.objectContaining({
        strategy: "s",
        reason: expect.stringMatching(/^a loss of 11\d(\.\d+)? is more than 100/),
      }),
    ]);
    rig.want(rests, bid({ slot: "more" }), sell({ reduceOnly: true, qty: "0.1" }));
    rig.orderManager.want("other", [bid({ px: "51000" })]);
    rig.run(5_000);
    expect(rig.resting()).toEqual(["buy 51000", "sell 60001"]);
    expect(rig.orderManager.modeOf("other")).toBe("active");
    expect(rig.orderManager.mode).toBe("active");
  });

  it("of all together beyond their limit halt trading, once", () => {
    const rig = ready({ ...base, rules: { lossInAll: "100" } });
    long(rig, "a");
    rig.orderManager.want("b", [bid({ px: "50000" })]);
    rig.run();
    rig.setMarketPx("58900");
    rig.run(5_000);
    expect(rig.orderManager.mode).toBe("halted");
    expect(rig.resting()).toEqual([]);
    expect(rig.journalled("mode.changed")).toHaveLength(1);
  });
});

it("In an engine, a loss beyond its limit halts trading while the price falls and nobody trades", async () => {
  const falling = quoteTape(
    Array.from({ length: 240 }, (_, i) => [i * 250, 600_000 - i * 40, 5_000, 600_001 - i * 40, 5_000]),
  );
  const wanted = { slot: "x", instId: swap, side: "buy" as const, px: "60000", qty: "0.1" };
  const holder = strategy("holder", {
    wanted: () => concat(of([wanted, { ...wanted, slot: "rests", px: "40000" }]), NEVER),
  });
  const events: Event[] = [];
  const watcher = definePlugin({
    name: "w",
    options: closed,
    setup: ({ events$ }) => events$.subscribe((event) => events.push(event)),
  });
  await runBacktest({
    ...configOf(stored(falling), [holder], { plugins: [watcher({})] }),
    orders: { lossInAll: "50" },
  });
  const halted = events.filter((event) => event.type === "mode.changed" && event.mode === "halted");
  expect(halted).toEqual([
    expect.objectContaining({ reason: expect.stringMatching(/^a loss of 5\d(\.\d+)? is more than 50 /) }),
  ]);
  expect(events.filter((event) => event.type === "order.changed" && event.phase === "canceled")).toHaveLength(1);
});

describe("The trading mode of one strategy:", () => {
  it("halted cancels all of it first of all, also what was on its way, and nobody else's", () => {
    const rig = ready();
    rig.want(bid({ slot: "a", px: "50000" }));
    rig.orderManager.wantOne("s", "hand", bid({ slot: "hand", px: "50001" }));
    rig.orderManager.want("other", [bid({ px: "40000" })]);
    rig.run();
    rig.want(bid({ slot: "a", px: "50000" }), bid({ slot: "late", px: "50002" }));
    rig.run(5);
    rig.orderManager.setStrategyMode("s", "halted", "test");
    rig.orderManager.setStrategyMode("s", "halted", "again");
    rig.want(bid({ slot: "a", px: "50000" }), bid({ slot: "new" }));
    rig.run(60_000);
    expect(rig.resting()).toEqual(["buy 40000"]);
    expect(rig.orderManager.modeOf("s")).toBe("halted");
    expect(rig.journalled("strategy.halted")).toHaveLength(1);
    const cancels = rig
      .journalled("action.sent")
      .filter((event) => "endpoint" in event && event.endpoint === "cancelBatch");
    expect(cancels.every((event) => "class" in event && event.class === "emergency")).toBe(true);
  });

  it("active again, what is still wanted is placed", () => {
    const rig = ready();
    rig.want(bid());
    rig.run();
    rig.orderManager.setStrategyMode("s", "halted", "test");
    rig.run();
    expect(rig.resting()).toEqual([]);
    rig.orderManager.setStrategyMode("s", "active", "test");
    rig.run();
    expect(rig.resting()).toEqual(["buy 60000"]);
  });

  it("of it and the mode of all the stricter holds", () => {
    const rig = ready();
    rig.orderManager.setStrategyMode("s", "reducing", "test");
    rig.orderManager.setMode("halted", "test");
    expect([rig.orderManager.modeOf("s"), rig.orderManager.modeOf("other")]).toEqual(["halted", "halted"]);
    rig.orderManager.setMode("active", "test");
    expect([rig.orderManager.modeOf("s"), rig.orderManager.modeOf("other")]).toEqual(["reducing", "active"]);
    rig.want(bid());
    rig.run();
    expect(rig.places()).toEqual([]);
  });
});
