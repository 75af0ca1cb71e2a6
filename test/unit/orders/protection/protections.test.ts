/**
 * Stops, take-profits and trailing stops before the embedded service: what they close, when, and what they leave alone.
 */
import { describe, expect, it } from "vitest";
import { oco, stopLoss, trailingStop } from "../../../../src/orders/protection/builders.ts";
import type { Protect } from "../../../../src/orders/protection/protect.ts";
import type { WantedOrder } from "../../../../src/orders/wanted-order.ts";
import {
  eth,
  lostAnswer,
  type Rig,
  type RigOptions,
  ready,
  reply,
  spot,
  swap,
} from "../../../support/harness/orders.ts";

/** The market at these ticks of 0.1, and the price of the bid that triggers. */
const market = (rig: Rig, bidTicks: number, lots = 100_000): void => {
  rig.venue.quote(swap, bidTicks, lots, bidTicks + 1, lots, rig.clock.now());
  rig.setMarketPx(String(bidTicks / 10));
  rig.price(String(bidTicks / 10));
};
const position = (rig: Rig): string =>
  rig.venue.truth("ann").positions.find(({ instId }) => instId === swap)?.pos ?? "0";
const own = (rig: Rig): string => rig.orderManager.positions.of("s", swap).qty;

const entry = (protect: Protect, more: Partial<WantedOrder> = {}): WantedOrder => ({
  slot: "long",
  instId: swap,
  side: "buy",
  ordType: "market",
  qty: "0.01",
  protect,
  ...more,
});

/** An order of 0.01 that rests alone in its book, so that small trades execute parts of it. */
const quiet = (protect: Protect): Rig => {
  const rig = ready();
  rig.want(entry(protect, { ordType: "limit", px: "60000" }));
  rig.run();
  return rig;
};

/** Long 0.01 at 60000.1, protected. */
const long = (protect: Protect, options: RigOptions = {}): Rig => {
  const rig = ready(options);
  market(rig, 600_000);
  rig.want(entry(protect));
  rig.run();
  expect(position(rig)).toBe("0.01");
  return rig;
};
const triggered = (rig: Rig) => rig.journalled("protection.triggered");

describe("A stop-loss of an order", () => {
  it("closes at the market what the order bought, once the price has reached it, and nothing before", () => {
    const rig = long({ stopLoss: "59000" });
    market(rig, 590_001);
    rig.run();
    expect(position(rig)).toBe("0.01");
    market(rig, 590_000);
    rig.run();
    expect(position(rig)).toBe("0");
    expect(rig.phases("long.exit")).toEqual(["sent", "filled"]);
    expect(triggered(rig)).toMatchObject([
      { strategy: "s", name: "long", kind: "stopLoss", triggerPx: "59000", px: "59000", qty: "0.01", late: false },
    ]);
    expect(rig.journalled("protection.ended")).toMatchObject([{ reason: "closed by stopLoss" }]);
    // Bought 0.01 at 60000.1, sold at 59000, 5 bps of both: 0.01 × −1000.1 − 0.00005 × (60000.1 + 59000) × 10 …
    expect(rig.orderManager.positions.of("s", swap)).toMatchObject({
      qty: "0",
      realised: "-10.001",
      fees: "0.5950005",
    });
  });

  it("leaves with the price that reached it: no time passes between", () => {
    const rig = long({ stopLoss: "59000" });
    const before = rig.count("placeOrder");
    market(rig, 589_000);
    // One way to the service.
    rig.run(20);
    expect(rig.count("placeOrder")).toBe(before + 1);
    expect(rig.places().at(-1)).toMatchObject({ side: "sell", ordType: "market", reduceOnly: true });
  });

  it("does not wait for another strategy's cancels", () => {
    const rig = long({ stopLoss: "59000" });
    const buy: WantedOrder = { slot: "in", instId: swap, side: "buy", ordType: "market", qty: "0.05" };
    rig.orderManager.want("other", [
      buy,
      { slot: "out", instId: swap, side: "sell", px: "61000", qty: "0.01", reduceOnly: true },
    ]);
    rig.run(500);
    expect(rig.resting()).toEqual(["sell 61000"]);
    rig.orderManager.want("other", [buy]);
    const before = rig.count("placeOrder");
    market(rig, 589_000);
    rig.run(20);
    expect(rig.count("placeOrder")).toBe(before + 1);
  });

  it("of a short position lies above it and buys", () => {
    const rig = ready();
    market(rig, 600_000);
    rig.want(entry({ stopLoss: { percent: "1" }, takeProfit: { by: "600" } }, { side: "sell" }));
    rig.run();
    expect(position(rig)).toBe("-0.01");
    expect(rig.journalled("protection.armed")).toMatchObject([
      { side: "buy", avgPx: "60000", stopPx: "60600", takeProfitPx: "59400" },
    ]);
    market(rig, 606_000);
    rig.run();
    expect(position(rig)).toBe("0");
    expect(triggered(rig)).toMatchObject([{ kind: "stopLoss", triggerPx: "60600" }]);
  });

  it("counts from the average price of what was executed", () => {
    const rig = quiet({ stopLoss: { by: "1000" } });
    rig.trade("sell", 60_000, 0.004);
    rig.run();
    expect(own(rig)).toBe("0.004");
    expect(rig.journalled("protection.armed")).toMatchObject([{ qty: "0.004", avgPx: "60000", stopPx: "59000" }]);
    rig.trade("sell", 60_000, 0.006);
    rig.run();
    expect(rig.journalled("protection.changed")).toMatchObject([{ qty: "0.01", stopPx: "59000" }]);
    market(rig, 590_000);
    rig.run();
    expect(position(rig)).toBe("0");
  });

  it("withdraws what was not executed of its order, which is not placed again while it is wanted unchanged", () => {
    const rig = quiet({ stopLoss: "59000" });
    rig.trade("sell", 60_000, 0.004);
    rig.run();
    expect(position(rig)).toBe("0.004");
    rig.venue.quote(swap, 600_001, 100, 600_002, 100, rig.clock.now());
    rig.price("58999");
    rig.run();
    expect(position(rig)).toBe("0");
    expect(rig.resting()).toEqual([]);
    const half = entry({ stopLoss: "59000" }, { ordType: "limit", px: "60000" });
    rig.want({ ...half, tag: "again" });
    rig.run(5_000);
    expect(rig.resting()).toEqual([]);
    rig.want({ ...half, round: 1 });
    rig.run();
    expect(rig.resting()).toEqual(["buy 60000"]);
  });

  it("closes also what its order executes after it was triggered", () => {
    const rig = quiet({ stopLoss: "59000" });
    rig.trade("sell", 60_000, 0.004);
    rig.run();
    rig.venue.quote(swap, 600_001, 100, 600_002, 100, rig.clock.now());
    rig.price("58999");
    // The cancel has not arrived yet.
    rig.trade("sell", 60_000, 0.003);
    rig.run(2_000);
    expect(rig.journalled("fill")).toContainEqual(expect.objectContaining({ side: "buy", qty: "0.003" }));
    expect(position(rig)).toBe("0");
    expect(own(rig)).toBe("0");
    expect(rig.resting()).toEqual([]);
    // What was asked for each time is what was held then, at a market price of 60000 and with half a lot for a tick either way.
    const asked = rig.places().filter((place) => "reduceOnly" in place);
    expect(asked.map(({ sz }) => sz)).toEqual(["270", "210"]);
  });

  it("is sent once although its answer is lost", () => {
    const rig = long({ stopLoss: "59000" });
    rig.next("placeOrder", lostAnswer);
    market(rig, 589_000);
    rig.run(60_000);
    expect(position(rig)).toBe("0");
    expect(rig.places().filter(({ clOrdId }) => clOrdId !== "").length).toBe(2);
  });

  it("is placed again when it was rejected, and says meanwhile that the position is without it", () => {
    const rig = long({ stopLoss: "59000" });
    rig.next(
      "placeOrder",
      reply(200, { code: "0", msg: "", data: [{ sCode: "51008", sMsg: "no", ordId: "", clOrdId: "" }] }),
    );
    rig.next(
      "placeOrder",
      reply(200, { code: "0", msg: "", data: [{ sCode: "51008", sMsg: "no", ordId: "", clOrdId: "" }] }),
    );
    market(rig, 589_000);
    rig.run(10_000);
    expect(position(rig)).toBe("0");
    expect(rig.journalled("position.unprotected")).toMatchObject([{ slot: "long.exit", qty: "0.01" }]);
    expect(rig.journalled("position.protected")).toHaveLength(1);
  });

  it.each([
    ["40 s", 40_000, 14],
    ["8 min", 480_000, 90],
  ])("leaves within seconds after the reason of its rejections has passed, which took %s", (_, ms, requestsMax) => {
    let isRejected = false;
    const answer = { code: "0", msg: "", data: [{ sCode: "51008", sMsg: "insufficient", ordId: "", clOrdId: "" }] };
    const rig = long(
      { stopLoss: "59000" },
      { fault: ({ endpoint }) => (endpoint === "placeOrder" && isRejected ? reply(200, answer) : undefined) },
    );
    isRejected = true;
    const before = rig.count("placeOrder");
    market(rig, 589_000);
    rig.run(ms);
    expect(position(rig)).toBe("0.01");
    expect(rig.count("placeOrder") - before).toBeLessThan(requestsMax);
    isRejected = false;
    rig.run(ms > 60_000 ? 15_100 : 4_100);
    expect(position(rig)).toBe("0");
  });

  it("that the service cancels for want of a book is placed again, and the reason is told", () => {
    const rig = long({ stopLoss: "59000" });
    rig.venue.quote(swap, 590_000, 0, 590_001, 100, rig.clock.now());
    rig.price("59000");
    rig.run(2_000);
    expect(position(rig)).toBe("0.01");
    expect(rig.journalled("position.unprotected")).toMatchObject([
      { qty: "0.01", reason: "canceled by another client or by the service" },
    ]);
    market(rig, 590_000);
    rig.run(10_000);
    expect(position(rig)).toBe("0");
  });

  it("outlives the wanted order, and moves with it", () => {
    const rig = long({ stopLoss: "59000" });
    rig.want();
    rig.run();
    rig.want(entry({ stopLoss: "59500" }, { round: 2, ordType: "limit", px: "50000" }));
    expect(rig.journalled("protection.changed")).toMatchObject([{ stopPx: "59500" }]);
    rig.want();
    rig.run();
    market(rig, 595_000);
    rig.run();
    expect(position(rig)).toBe("0");
  });

  it("is set anew for the next order of the same slot", () => {
    const rig = long({ stopLoss: { percent: "1" } });
    market(rig, 590_000);
    rig.run();
    expect(position(rig)).toBe("0");
    rig.want(entry({ stopLoss: { percent: "1" } }, { round: 2 }));
    rig.run();
    expect(position(rig)).toBe("0.01");
    expect(rig.journalled("protection.armed").at(-1)).toMatchObject({ avgPx: "59000.1", stopPx: "58410.1" });
    market(rig, 584_101);
    rig.run();
    expect(position(rig)).toBe("0");
    expect(triggered(rig)).toHaveLength(2);
    expect(rig.protectionRecords.at(-1)).toMatchObject({ name: "long", ended: true });
  });

  it("ends when its order is wanted with an empty one", () => {
    const rig = long({ stopLoss: "59000" });
    rig.want(entry({}));
    expect(rig.journalled("protection.ended")).toMatchObject([{ reason: "withdrawn" }]);
    market(rig, 580_000);
    rig.run();
    expect(position(rig)).toBe("0.01");
  });

  it("that was refused is looked at again until it may leave, though nobody wants anything new", () => {
    const rig = long({ stopLoss: "59000" });
    rig.setMarketPx(undefined);
    rig.price("58999");
    rig.run(5_000);
    expect(rig.refusals).toEqual([expect.stringContaining("no quote of BTC-USDT-SWAP is known yet")]);
    expect(position(rig)).toBe("0.01");
    rig.setMarketPx("60000");
    rig.run(1_200);
    expect(position(rig)).toBe("0");
  });

  it("of an instrument that is not listed leaves within a minute of its return", () => {
    const rig = long({ stopLoss: "59000" });
    rig.venue.delist(swap, rig.clock.now());
    rig.resources.instruments.refresh();
    rig.run();
    rig.price("58999");
    rig.run(150_000);
    expect(rig.refusals).toHaveLength(1);
    expect(position(rig)).toBe("0.01");
    rig.venue.list({ instId: swap, tickSize: "0.1", lotSize: "0.001" }, rig.clock.now());
    market(rig, 589_990);
    rig.run(62_000);
    expect(position(rig)).toBe("0");
  });

  it("that was refused is let be when the engine has ended", () => {
    const rig = long({ stopLoss: "59000" });
    rig.setMarketPx(undefined);
    rig.price("58999");
    rig.orderManager.close();
    rig.setMarketPx("60000");
    rig.run(5_000);
    expect(position(rig)).toBe("0.01");
  });

  it("on the wrong side of the price is refused before anything is sent", () => {
    const rig = ready();
    market(rig, 600_000);
    rig.want(entry({ stopLoss: "60500" }));
    rig.run();
    expect(rig.refusals).toEqual([
      expect.stringContaining("protect.stopLoss 60500 of a buy at 60000 must lie below it"),
    ]);
    expect(rig.count("placeOrder")).toBe(0);
  });
});

describe("A slot that turns a position", () => {
  it("protects the new one with its own stop, and the old one's stop does not take it for its own", () => {
    const rig = long({ stopLoss: "59000" });
    rig.want(entry({ stopLoss: "61000" }, { side: "sell", qty: "0.03" }));
    rig.run();
    expect(position(rig)).toBe("-0.02");
    market(rig, 590_000);
    rig.run();
    expect(position(rig)).toBe("-0.02");
    market(rig, 610_000);
    rig.run();
    expect(position(rig)).toBe("0");
    expect(triggered(rig)).toMatchObject([{ side: "buy", kind: "stopLoss", triggerPx: "61000", qty: "0.02" }]);
  });

  it("trades another instrument, and each has the stop of its own price", () => {
    const rig = long({ stopLoss: "59000" });
    rig.venue.quote(eth, 300_000, 100_000, 300_001, 100_000, rig.clock.now());
    rig.setMarketPx("3000");
    rig.want(entry({ stopLoss: "2900" }, { instId: eth, qty: "1" }));
    rig.run();
    const armed = rig.journalled("protection.armed");
    expect(armed).toMatchObject([
      { instId: swap, stopPx: "59000" },
      { instId: eth, stopPx: "2900" },
    ]);
    expect(rig.journalled("protection.changed")).toEqual([]);
  });
});

describe("An order placed by hand", () => {
  it("is protected like a wanted one", () => {
    const rig = ready();
    market(rig, 600_000);
    rig.orders
      .place({ instId: swap, side: "buy", ordType: "market", qty: "0.01", protect: { stopLoss: { percent: "2" } } })
      .subscribe();
    rig.run();
    expect(position(rig)).toBe("0.01");
    market(rig, 588_000);
    rig.run();
    expect(position(rig)).toBe("0");
  });
});

describe("Exits of a protected position", () => {
  const exit: WantedOrder = {
    slot: "out",
    instId: swap,
    side: "sell",
    qty: "0.01",
    ordType: "market",
    reduceOnly: true,
  };

  it("end its protection: a stop opens nothing", () => {
    const rig = long({ stopLoss: "59000" });
    rig.want(exit);
    rig.run();
    expect(position(rig)).toBe("0");
    expect(rig.journalled("protection.ended")).toMatchObject([{ reason: "the position was closed" }]);
    market(rig, 580_000);
    rig.run();
    expect(position(rig)).toBe("0");
    expect(rig.count("placeOrder")).toBe(2);
  });

  it("cut it to what is left", () => {
    const rig = long({ stopLoss: "59000" });
    rig.want({ ...exit, qty: "0.004" });
    rig.run();
    expect(rig.journalled("protection.changed")).toMatchObject([{ qty: "0.006" }]);
    market(rig, 590_000);
    rig.run();
    expect(position(rig)).toBe("0");
  });

  it("that rest are withdrawn when the stop is triggered", () => {
    const rig = long({ stopLoss: "59000" });
    const resting: WantedOrder = { ...exit, ordType: "limit", px: "61000" };
    rig.want(resting);
    rig.run();
    expect(rig.resting()).toEqual(["sell 61000"]);
    market(rig, 590_000);
    rig.run();
    expect(position(rig)).toBe("0");
    expect(rig.resting()).toEqual([]);
    expect(rig.journalled("position.unprotected")).toEqual([]);
  });
});

describe("A take-profit of an order", () => {
  it("closes at the market when its price is reached, and its stop goes", () => {
    const rig = long({ stopLoss: "59000", takeProfit: "61000" });
    market(rig, 610_000);
    rig.run();
    expect(position(rig)).toBe("0");
    expect(triggered(rig)).toMatchObject([{ kind: "takeProfit", triggerPx: "61000" }]);
    market(rig, 580_000);
    rig.run();
    expect(rig.count("placeOrder")).toBe(2);
  });

  it("rests at its price where that is asked for, is executed there, and takes the stop with it", () => {
    const rig = long({ stopLoss: "59000", takeProfit: "61000", takeProfitAs: "limit" });
    expect(rig.resting()).toEqual(["sell 61000"]);
    rig.venue.trade(swap, "buy", 610_010, 1_000, rig.clock.now());
    rig.run();
    expect(position(rig)).toBe("0");
    market(rig, 580_000);
    rig.run();
    expect(rig.count("placeOrder")).toBe(2);
    expect(rig.journalled("protection.ended")).toMatchObject([{ reason: "the position was closed" }]);
  });

  it("that rests goes before the stop leaves, and the position is closed as a whole", () => {
    const rig = long({ stopLoss: "59000", takeProfit: "61000", takeProfitAs: "limit" });
    market(rig, 590_000);
    rig.run();
    expect(position(rig)).toBe("0");
    expect(rig.resting()).toEqual([]);
    expect(rig.journalled("position.unprotected")).toEqual([]);
    expect(rig.phases("long.exit")).toEqual(["sent", "live", "canceling", "canceled", "sent", "filled"]);
    // With ordinary quota it would wait for the next minute where entries have used up this one.
    const cancels = rig.events.filter((event) => event.type === "action.sent" && event.endpoint === "cancelBatch");
    expect(cancels).toMatchObject([{ class: "cancel" }]);
  });

  it.each([
    ["its stop", 590_000, "stopLoss"],
    ["its take-profit", 610_000, "takeProfit"],
  ])("of spot that could not be canceled does not rest: all is closed at %s", (_, bidTicks, kind) => {
    const rig = ready({ rules: { allowUncancellable: true } });
    const shown = (ticks: number): void => {
      rig.venue.quote(spot, ticks, 100_000, ticks + 1, 100_000, rig.clock.now());
      rig.setMarketPx(String(ticks / 10));
      rig.price(String(ticks / 10));
    };
    shown(600_000);
    rig.want(entry({ stopLoss: "59000", takeProfit: "61000", takeProfitAs: "limit" }, { instId: spot }));
    rig.run();
    expect([rig.resting(), rig.orderManager.positions.of("s", spot).qty]).toEqual([[], "0.01"]);
    expect(rig.journalled("protection.armed")).toMatchObject([{ stopPx: "59000", takeProfitPx: "61000" }]);
    shown(bidTicks);
    rig.run();
    expect(rig.orderManager.positions.of("s", spot).qty).toBe("0");
    expect(triggered(rig)).toMatchObject([{ kind, px: String(bidTicks / 10), qty: "0.01" }]);
    // The newest first.
    expect(rig.truth().map(({ side, avgPx }) => `${side} ${avgPx}`)).toEqual([`sell ${bidTicks / 10}`, "buy 60000.1"]);
  });

  it("that rests was executed in part: the stop closes the rest", () => {
    const rig = quiet({ stopLoss: "59000", takeProfit: "61000", takeProfitAs: "limit" });
    rig.trade("sell", 60_000, 0.01);
    rig.run();
    rig.trade("buy", 61_000, 0.004);
    rig.run();
    expect(position(rig)).toBe("0.006");
    market(rig, 590_000);
    rig.run();
    expect(position(rig)).toBe("0");
    expect(own(rig)).toBe("0");
  });

  it("that rests stays through a halt, and its stop still closes the rest", () => {
    const rig = quiet({ stopLoss: "59000", takeProfit: "61000", takeProfitAs: "limit" });
    rig.trade("sell", 60_000, 0.01);
    rig.run();
    rig.trade("buy", 61_000, 0.004);
    rig.run();
    rig.orderManager.setMode("halted", "a test");
    rig.run();
    expect(rig.resting()).toEqual(["sell 61000"]);
    expect(rig.journalled("position.unprotected")).toEqual([]);
    market(rig, 590_000);
    rig.run();
    expect(position(rig)).toBe("0");
    expect(own(rig)).toBe("0");
    expect(triggered(rig)).toMatchObject([{ kind: "stopLoss", qty: "0.006" }]);
  });

  it.each(["all strategies", "its strategy alone"])("is triggered in a halt of %s", (whom) => {
    const rig = long({ stopLoss: "59000" });
    if (whom === "all strategies") rig.orderManager.setMode("halted", "a test");
    else rig.orderManager.setStrategyMode("s", "halted", "a test");
    rig.run();
    market(rig, 590_000);
    rig.run();
    expect(position(rig)).toBe("0");
    expect(triggered(rig)).toMatchObject([{ kind: "stopLoss" }]);
    expect(rig.journalled("position.unprotected")).toEqual([]);
  });

  it.each(["stopped", "closing"] as const)(
    "is suspended while trading is %s, of one strategy too, and armed again afterwards",
    (mode) => {
      const rig = long({ stopLoss: "59000" });
      rig.orderManager.setStrategyMode("s", mode, "a test");
      rig.run();
      market(rig, 590_000);
      rig.run();
      expect(position(rig)).toBe("0.01");
      expect(rig.journalled("position.unprotected")).toMatchObject([
        { slot: "long.exit", qty: "0.01", reason: "trading is stopped, exits included: a test" },
      ]);
      rig.orderManager.setStrategyMode("s", "halted", "a test");
      rig.run();
      expect(position(rig)).toBe("0");
    },
  );

  it("that rests was canceled in part by a full stop: what is left rests again afterwards", () => {
    const rig = quiet({ takeProfit: "61000", takeProfitAs: "limit" });
    rig.trade("sell", 60_000, 0.01);
    rig.run();
    rig.trade("buy", 61_000, 0.004);
    rig.run();
    rig.orderManager.setMode("stopped", "a test");
    rig.run();
    expect(rig.resting()).toEqual([]);
    expect(rig.journalled("position.unprotected")).toMatchObject([
      { slot: "long.exit", qty: "0.006", reason: "trading is stopped, exits included: a test" },
    ]);
    rig.orderManager.setMode("active", "a test");
    rig.run();
    expect(rig.journalled("position.protected")).toHaveLength(1);
    expect(rig.resting()).toEqual(["sell 61000"]);
    expect(rig.places().at(-1)?.sz).toBe("366");
  });

  it("is told to be without its engine when that stops, also out of a full stop, and never to be in place then", () => {
    const rig = quiet({ stopLoss: "59000" });
    rig.trade("sell", 60_000, 0.01);
    rig.run();
    rig.orderManager.setMode("stopped", "a test");
    rig.orderManager.leave();
    rig.orderManager.setMode("reducing", "stop");
    rig.run();
    expect(
      rig
        .journalled("position.unprotected")
        .map((event) => (event.type === "position.unprotected" ? event.reason : "")),
    ).toEqual(["trading is stopped, exits included: a test", "the engine stops, and it holds this protection itself"]);
    expect(rig.journalled("position.protected")).toEqual([]);
  });

  it("is no gap any more when a close of the account took what was held in a full stop", () => {
    const rig = quiet({ stopLoss: "59000" });
    rig.trade("sell", 60_000, 0.01);
    rig.run();
    rig.orderManager.setMode("stopped", "a test");
    rig.orderManager.closing.account({ instId: swap, orders: [], left: "0", px: "60000" });
    rig.orderManager.leave();
    rig.orderManager.setMode("reducing", "stop");
    expect(rig.journalled("position.unprotected")).toHaveLength(1);
    expect(rig.journalled("position.protected")).toMatchObject([{ slot: "long.exit", closed: true }]);
  });

  it("that rests is no order that the strategy cancels", () => {
    const rig = long({ takeProfit: "61000", takeProfitAs: "limit" });
    const canceled: string[] = [];
    rig.orders.cancel().subscribe(({ slot }) => canceled.push(slot));
    rig.run();
    expect(canceled).toEqual([]);
    expect(rig.resting()).toEqual(["sell 61000"]);
  });

  it("that rests makes way for an exit of the strategy itself", () => {
    const rig = long({ stopLoss: "59000", takeProfit: "61000", takeProfitAs: "limit" });
    rig.want({ slot: "out", instId: swap, side: "sell", qty: "0.004", ordType: "market", reduceOnly: true });
    rig.run();
    expect(position(rig)).toBe("0.006");
    expect(rig.resting()).toEqual(["sell 61000"]);
    expect(rig.truth().find(({ state }) => state === "live")?.sz).toBe("366");
  });
});

describe("A trailing stop", () => {
  it("follows the best price since the entry and never goes back", () => {
    const rig = long({ trailing: { by: "500" } });
    for (const ticks of [602_000, 606_000, 604_000, 601_100]) market(rig, ticks);
    rig.run();
    expect(position(rig)).toBe("0.01");
    market(rig, 601_000);
    rig.run();
    expect(position(rig)).toBe("0");
    expect(triggered(rig)).toMatchObject([{ kind: "trailing", triggerPx: "60100", px: "60100" }]);
  });

  it("is recorded where it came to, also when no further price comes", () => {
    const rig = long({ trailing: { by: "500" } });
    market(rig, 602_000);
    market(rig, 606_000);
    rig.run(1_000);
    expect(rig.protectionRecords.at(-1)).toMatchObject({ extreme: "60600" });
    const { length } = rig.protectionRecords;
    rig.run(10_000);
    expect(rig.protectionRecords).toHaveLength(length);
  });

  it("begins to follow at its price of activation", () => {
    const rig = long({ trailing: { percent: "1", activePx: "61000" } });
    market(rig, 590_000);
    market(rig, 609_999);
    market(rig, 590_000);
    rig.run();
    expect(position(rig)).toBe("0.01");
    market(rig, 610_000);
    market(rig, 603_900);
    rig.run();
    expect(position(rig)).toBe("0");
    expect(triggered(rig)).toMatchObject([{ kind: "trailing", triggerPx: "60390" }]);
  });
});

describe("Two protected orders of one position", () => {
  it("are closed each by its own stop", () => {
    const rig = ready();
    market(rig, 600_000);
    const first = entry({ stopLoss: "59000" });
    const second = entry({ stopLoss: "58000" }, { slot: "more", qty: "0.02" });
    rig.want(first, second);
    rig.run();
    expect(position(rig)).toBe("0.03");
    market(rig, 590_000);
    rig.run();
    expect(position(rig)).toBe("0.02");
    market(rig, 580_000);
    rig.run();
    expect(position(rig)).toBe("0");
  });
});

describe("The protection of a whole position", () => {
  const plain = (side: "buy" | "sell" = "buy", qty = "0.01"): WantedOrder => ({
    slot: "a",
    instId: swap,
    side,
    ordType: "market",
    qty,
  });

  it("covers what is held, whichever orders made it, and ends with it", () => {
    const rig = ready();
    market(rig, 600_000);
    rig.want(plain(), { ...plain(), slot: "b", qty: "0.005" }, stopLoss(swap, { percent: "1" }));
    rig.run();
    expect(rig.journalled("protection.changed").at(-1)).toMatchObject({ name: swap, qty: "0.015", stopPx: "59400.1" });
    market(rig, 594_001);
    rig.run();
    expect(position(rig)).toBe("0");
  });

  it("protects a short position in its turn, from its own entry price", () => {
    const rig = ready();
    market(rig, 600_000);
    const set = [oco(swap, { stopLoss: { by: "500" }, takeProfit: { by: "900" } })];
    rig.want(plain(), ...set);
    rig.run();
    rig.want({ ...plain("sell", "0.03"), slot: "turn" }, ...set);
    rig.run();
    expect(position(rig)).toBe("-0.02");
    expect(rig.journalled("protection.changed").at(-1)).toMatchObject({
      side: "buy",
      qty: "0.02",
      stopPx: "60500",
      takeProfitPx: "59100",
    });
    market(rig, 590_999);
    rig.run();
    expect(position(rig)).toBe("0");
  });

  it("covers what the protection of an order does not", () => {
    const rig = ready();
    market(rig, 600_000);
    rig.want(entry({ stopLoss: "59000" }), plain("buy", "0.02"), stopLoss(swap, "59500", { side: "long" }));
    rig.run();
    market(rig, 595_000);
    rig.run();
    expect(position(rig)).toBe("0.01");
    market(rig, 590_000);
    rig.run();
    expect(position(rig)).toBe("0");
  });

  it("is withdrawn by a set without it, and wanted anew starts anew", () => {
    const rig = ready();
    market(rig, 600_000);
    rig.want(plain(), trailingStop(swap, { by: "500" }));
    rig.run();
    market(rig, 606_000);
    rig.want(plain());
    market(rig, 600_000);
    rig.run();
    expect(position(rig)).toBe("0.01");
    rig.want(plain(), trailingStop(swap, { by: "500" }));
    rig.run();
    expect(position(rig)).toBe("0.01");
    market(rig, 595_000);
    rig.run();
    expect(position(rig)).toBe("0");
  });
});
