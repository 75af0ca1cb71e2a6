/**
 * Exits of several strategies on one account: each reduces what its own strategy holds, whatever the others hold.
 *
 * The embedded service tells the truth: its fills, in their order, are summed up by strategy here.
 */
import { describe, expect, it } from "vitest";
import type { ProfileOverrides } from "../../../src/contract/profile.ts";
import { add, compare, isZero, neg, sum } from "../../../src/decimal.ts";
import type { WantedOrder } from "../../../src/orders/wanted-order.ts";
import type { Fill } from "../../../src/venue/venue.ts";
import { lostAnswer, lostRequest, type Rig, type RigOptions, ready, spot, swap } from "../../support/harness/orders.ts";

interface Desk extends Rig {
  readonly fills: Fill[];
}

const desk = (options: RigOptions = {}): Desk => {
  const rig = ready(options);
  const fills: Fill[] = [];
  rig.venue.onFill((fill) => fills.push(fill));
  show(rig, 600_000);
  return Object.assign(rig, { fills });
};
const show = (rig: Rig, bidTicks: number, lots = 100_000, instId = swap): void => {
  rig.venue.quote(instId, bidTicks, lots, bidTicks + 1, lots, rig.clock.now());
};
const account = (rig: Rig): string =>
  rig.venue.truth("ann").positions.find(({ instId }) => instId === swap)?.pos ?? "0";
const own = (rig: Rig, strategy: string, instId = swap): string => rig.orderManager.positions.of(strategy, instId).qty;
const want = (rig: Rig, strategy: string, ...wanted: readonly WantedOrder[]): void => {
  rig.orderManager.want(strategy, wanted);
  rig.run();
};

const entry = (side: "buy" | "sell", qty: string, over: Partial<WantedOrder> = {}): WantedOrder => ({
  slot: "in",
  instId: swap,
  side,
  ordType: "market",
  qty,
  ...over,
});
const exit = (side: "buy" | "sell", over: Partial<WantedOrder> = {}): WantedOrder => ({
  slot: "out",
  instId: swap,
  side,
  ordType: "market",
  qty: "0.01",
  reduceOnly: true,
  ...over,
});
const takeProfit = (over: Partial<WantedOrder> = {}): WantedOrder =>
  exit("sell", { slot: "tp", ordType: "limit", px: "61000", ...over });

/** Bodies of what was sent after the first `from`, as far as exits are concerned. */
const sent = (rig: Rig, from = 0) =>
  rig
    .places()
    .slice(from)
    .map((body) => ({ sz: body.sz, flag: (body as { reduceOnly?: boolean }).reduceOnly === true }));

const rejections = (rig: Rig): string[] =>
  rig.updates.filter(({ phase }) => phase === "rejected").map(({ reason }) => reason);

/** The service counts sizes in base currency: quantities are seen on the wire. */
const inBase = { order: { szUnit: { SPOT: "base", SWAP: "base" } } } as const satisfies ProfileOverrides;

describe("An exit that may leave with the service's flag only", () => {
  it("is cut to what the account allows, and the rest leaves when it may go without", () => {
    let why: string | undefined;
    const rig = desk({ profile: inBase, flagOnly: () => why });
    want(rig, "a", entry("buy", "0.01"));
    want(rig, "b", entry("sell", "0.006"));
    why = "another process may lead";
    want(rig, "a", exit("sell"));
    rig.run(30_000);
    expect(sent(rig, 2)).toEqual([{ sz: "0.004", flag: true }]);
    expect([own(rig, "a"), own(rig, "b"), account(rig)]).toEqual(["0.006", "-0.006", "0"]);
    why = undefined;
    rig.orderManager.reconsider();
    rig.run(1_000);
    expect(sent(rig, 3)).toEqual([{ sz: "0.006", flag: false }]);
    expect([own(rig, "a"), own(rig, "b"), account(rig)]).toEqual(["0", "-0.006", "-0.006"]);
  });

  it("waits while the account holds the other direction, and is reported", () => {
    let why: string | undefined = "another process may lead";
    const rig = desk({ profile: inBase, flagOnly: () => why });
    want(rig, "a", entry("buy", "0.01"));
    want(rig, "b", entry("sell", "0.02"));
    want(rig, "a", exit("sell"));
    rig.run(120_000);
    expect(sent(rig, 2)).toEqual([]);
    expect(rig.events.some(({ type }) => type === "position.unprotected")).toBe(true);
    why = undefined;
    rig.orderManager.reconsider();
    rig.run(1_000);
    expect([own(rig, "a"), own(rig, "b"), account(rig)]).toEqual(["0", "-0.02", "-0.02"]);
  });
});

describe("An exit that another process may send as well", () => {
  const setUp = (yieldMs: () => number) => {
    const rig = desk({ profile: inBase, flagOnly: () => "another process may lead", yieldMs });
    want(rig, "a", entry("buy", "0.01"));
    return rig;
  };

  it("lets that one go first where other strategies have the product, and leaves when nothing has come of it", () => {
    const rig = setUp(() => 20_000);
    want(rig, "b", entry("sell", "0.006"));
    want(rig, "a", exit("sell"));
    rig.run(10_000);
    expect(sent(rig, 2)).toEqual([]);
    rig.run(15_000);
    expect(sent(rig, 2)).toEqual([{ sz: "0.004", flag: true }]);
  });

  it("does not leave when the other process has sent it meanwhile", () => {
    const rig = setUp(() => 20_000);
    want(rig, "b", entry("sell", "0.006"));
    want(rig, "a", exit("sell"));
    rig.run(1_000);
    want(rig, "a");
    rig.run(60_000);
    expect(sent(rig, 2)).toEqual([]);
  });

  it("leaves at once when no other process can lead any more, and where its strategy is alone", () => {
    let ms = 60_000;
    const rig = setUp(() => ms);
    want(rig, "b", entry("sell", "0.006"));
    want(rig, "a", exit("sell"));
    rig.run(2_000);
    expect(sent(rig, 2)).toEqual([]);
    ms = 0;
    rig.orderManager.reconsider();
    rig.run(100);
    expect(sent(rig, 2)).toEqual([{ sz: "0.004", flag: true }]);
    const alone = setUp(() => 60_000);
    want(alone, "a", exit("sell"));
    expect(sent(alone, 1)).toEqual([{ sz: "0.01", flag: true }]);
  });
});

describe("Two strategies with opposite positions", () => {
  it.each(["quote_notional", "base", "contracts"] as const)("each close exactly their own, by sizes in %s", (unit) => {
    const rig = desk({ profile: { order: { szUnit: { SPOT: unit, SWAP: unit } } } });
    want(rig, "a", entry("buy", "0.01"));
    want(rig, "b", entry("sell", "0.01"));
    expect([own(rig, "a"), own(rig, "b"), account(rig)]).toEqual(["0.01", "-0.01", "0"]);
    show(rig, 601_000);
    want(rig, "a", exit("sell"));
    expect([own(rig, "a"), own(rig, "b"), account(rig)]).toEqual(["0", "-0.01", "-0.01"]);
    show(rig, 602_000);
    want(rig, "b", exit("buy"));
    expect([own(rig, "a"), own(rig, "b"), account(rig)]).toEqual(["0", "0", "0"]);
    expect(sent(rig, 2).map(({ flag }) => flag)).toEqual([false, true]);
    expect(rejections(rig)).toEqual([]);
    // A: bought at 60000.1, sold at 60100. B: sold at 60000, bought at 60200.1. Takers pay 0.05 %.
    expect(rig.orderManager.positions.of("a", swap)).toMatchObject({
      realised: "0.999",
      fees: "0.6005005",
      profit: "0.3984995",
    });
    expect(rig.orderManager.positions.of("b", swap)).toMatchObject({
      realised: "-2.001",
      fees: "0.6010005",
      profit: "-2.6020005",
    });
    const { balances } = rig.venue.truth("ann");
    const [usdt] = balances.filter(({ currency }) => currency === "USDT");
    expect(usdt?.balance).toBe(sum(["1000000", "0.3984995", "-2.6020005"]));
  });

  it("close their own with limit orders that rest", () => {
    const rig = desk({ profile: inBase });
    want(rig, "a", entry("buy", "0.01"));
    want(rig, "b", entry("sell", "0.01"));
    want(rig, "a", takeProfit());
    want(rig, "b", exit("buy", { slot: "tp", ordType: "limit", px: "59000" }));
    expect(sent(rig, 2)).toEqual([
      { sz: "0.01", flag: false },
      { sz: "0.01", flag: false },
    ]);
    show(rig, 610_100);
    rig.run();
    expect([own(rig, "a"), own(rig, "b"), account(rig)]).toEqual(["0", "-0.01", "-0.01"]);
    show(rig, 589_900);
    rig.run();
    expect([own(rig, "a"), own(rig, "b"), account(rig)]).toEqual(["0", "0", "0"]);
    expect(rejections(rig)).toEqual([]);
  });
});

describe("An exit that leaves together with an order of another strategy on its side", () => {
  it("goes without the flag: what the account has to reduce is about to be gone", () => {
    const rig = desk({ profile: inBase });
    want(rig, "a", entry("buy", "0.01"));
    rig.orderManager.want("b", [entry("sell", "0.01")]);
    rig.orderManager.want("a", [exit("sell")]);
    rig.run();
    expect(sent(rig, 1)).toEqual([
      { sz: "0.01", flag: false },
      { sz: "0.01", flag: false },
    ]);
    expect([own(rig, "a"), own(rig, "b"), account(rig)]).toEqual(["0", "-0.01", "-0.01"]);
    expect(rejections(rig)).toEqual([]);
  });

  it("goes without the flag where the other's exit reduces all the account has", () => {
    const rig = desk({ profile: inBase });
    want(rig, "a", entry("buy", "0.01"));
    want(rig, "b", entry("buy", "0.01"));
    want(rig, "c", entry("sell", "0.01"));
    rig.orderManager.want("b", [exit("sell")]);
    rig.orderManager.want("a", [exit("sell")]);
    rig.run();
    expect(sent(rig, 3).map(({ flag }) => flag)).toEqual([true, false]);
    expect([own(rig, "a"), own(rig, "b"), own(rig, "c"), account(rig)]).toEqual(["0", "0", "-0.01", "-0.01"]);
    expect(rejections(rig)).toEqual([]);
  });
});

describe("The quantity of an exit", () => {
  it.each<[string, Partial<WantedOrder>]>([
    ["qty", { qty: "0.05" }],
    ["notional", { notional: "3000" }],
    ["sz", { sz: "0.05" }],
  ])("is cut to what the strategy holds, where %s says more", (_, { qty, ...size }) => {
    const rig = desk({ profile: inBase });
    want(rig, "a", entry("buy", "0.01"));
    want(rig, "b", entry("buy", "0.02"));
    const { qty: _qty, ...sizeless } = exit("sell");
    want(rig, "a", { ...sizeless, ...size, ...(qty === undefined ? {} : { qty }) });
    expect(sent(rig, 2)).toEqual([{ sz: "0.01", flag: true }]);
    expect([own(rig, "a"), own(rig, "b"), account(rig)]).toEqual(["0", "0.02", "0.02"]);
  });

  it("is cut where the strategy is alone and the account holds more than it opened", () => {
    const rig = desk({ profile: inBase });
    const body = { instId: swap, side: "buy", ordType: "market", sz: "0.03" };
    rig.venue.handle(
      { method: "POST", path: "/api/v1/trade/order", query: {}, body, key: "k1", ip: "2.2.2.2" },
      rig.clock.now(),
    );
    want(rig, "a", entry("buy", "0.01"));
    expect(account(rig)).toBe("0.04");
    want(rig, "a", exit("sell", { qty: "0.05" }));
    expect(sent(rig, 1)).toEqual([{ sz: "0.01", flag: true }]);
    expect([own(rig, "a"), account(rig)]).toEqual(["0", "0.03"]);
  });

  it("follows an entry that goes on being executed, up to what was wanted", () => {
    const rig = desk({ profile: inBase });
    show(rig, 600_000, 4);
    want(rig, "a", entry("buy", "0.01", { ordType: "limit", px: "60000.1" }));
    expect(own(rig, "a")).toBe("0.004");
    want(rig, "a", entry("buy", "0.01", { ordType: "limit", px: "60000.1" }), exit("sell", { qty: "0.009" }));
    expect(own(rig, "a")).toBe("0");
    rig.venue.quote(swap, 600_000, 100_000, 600_002, 100_000, rig.clock.now());
    rig.trade("sell", 60_000, 0.006);
    rig.run(1_000);
    // 0.004 and 0.005 were sold of 0.01 bought.
    expect(own(rig, "a")).toBe("0.001");
    expect(account(rig)).toBe("0.001");
    expect(sent(rig, 1)).toEqual([
      { sz: "0.004", flag: true },
      { sz: "0.005", flag: true },
    ]);
  });

  it("does not wait for the next position once its entry has ended", () => {
    const rig = desk({ profile: inBase });
    show(rig, 600_000, 4);
    const limited = entry("buy", "0.01", { ordType: "limit", px: "60000.1" });
    want(rig, "a", limited);
    want(rig, "a", limited, exit("sell"));
    expect(own(rig, "a")).toBe("0");
    want(rig, "a", exit("sell"));
    show(rig, 600_000);
    want(rig, "a", entry("buy", "0.01", { slot: "in2" }), exit("sell"));
    rig.run(5_000);
    expect(own(rig, "a")).toBe("0.01");
  });

  it("sized by an amount of quote currency never turns the position, and what it leaves follows", () => {
    const rig = desk();
    want(rig, "a", entry("buy", "2"));
    want(rig, "b", entry("sell", "2"));
    const held = own(rig, "a");
    expect(held).toBe("2");
    // By the quote that the client knows the amount would buy 2 % less than it does at the service.
    show(rig, 588_100);
    want(rig, "a", exit("sell", { qty: "2" }));
    expect(compare(own(rig, "a"), "0")).not.toBe(-1);
    rig.setMarketPx("58810");
    rig.run(2_000);
    expect([own(rig, "a"), own(rig, "b"), account(rig)]).toEqual(["0", "-2", "-2"]);
  });

  it("wanted as an amount of quote currency closes all of it as well", () => {
    const rig = desk();
    want(rig, "a", entry("buy", "2"));
    want(rig, "b", entry("sell", "2"));
    const { qty: _, ...sizeless } = exit("sell");
    want(rig, "a", { ...sizeless, notional: "500000" });
    rig.run(2_000);
    expect([own(rig, "a"), own(rig, "b"), account(rig)]).toEqual(["0", "-2", "-2"]);
  });
});

describe("An exit of a strategy that holds nothing", () => {
  it("is not sent while another strategy holds what it would reduce, and leaves with the first fill of its own", () => {
    const rig = desk({ profile: inBase });
    want(rig, "b", entry("buy", "0.02"));
    want(rig, "a", exit("sell"));
    rig.run(120_000);
    expect(rig.count("placeOrder")).toBe(1);
    expect(rig.journalled("order.refused")).toEqual([]);
    want(rig, "a", exit("sell"), entry("buy", "0.004"));
    rig.run(1_000);
    expect(sent(rig, 1)).toEqual([
      { sz: "0.004", flag: false },
      { sz: "0.004", flag: true },
    ]);
    expect([own(rig, "a"), own(rig, "b"), account(rig)]).toEqual(["0", "0.02", "0.02"]);
  });

  it("is refused where it is placed by hand", () => {
    const rig = desk();
    want(rig, "b", entry("buy", "0.02"));
    const phases: string[] = [];
    rig.orders
      .place(exit("sell"))
      .subscribe({ next: ({ phase }) => phases.push(phase), complete: () => phases.push("over") });
    rig.run();
    expect(phases).toEqual(["refused", "over"]);
    expect(rig.refusals).toEqual(["the strategy holds nothing that the order would reduce"]);
    expect(rig.count("placeOrder")).toBe(1);
  });

  it("is left to the service where nobody is known to hold anything", () => {
    const rig = desk({ profile: inBase });
    const body = { instId: swap, side: "buy", ordType: "market", sz: "0.03" };
    rig.venue.handle(
      { method: "POST", path: "/api/v1/trade/order", query: {}, body, key: "k1", ip: "2.2.2.2" },
      rig.clock.now(),
    );
    want(rig, "a", exit("sell", { qty: "0.02" }));
    expect(sent(rig)).toEqual([{ sz: "0.02", flag: true }]);
    expect(account(rig)).toBe("0.01");
  });
});

describe("Exits of one strategy beside each other", () => {
  it("never promise more than it holds where others hold the product", () => {
    const rig = desk({ profile: inBase });
    want(rig, "b", entry("buy", "0.05"));
    want(rig, "a", entry("buy", "0.01"));
    want(rig, "a", takeProfit({ qty: "0.006" }), exit("sell"));
    rig.run(3_000);
    expect(sent(rig, 2)).toEqual([
      { sz: "0.006", flag: true },
      { sz: "0.004", flag: true },
    ]);
    expect(own(rig, "a")).toBe("0.006");
    // The stop wants the rest too: it is without effect while the take-profit is wanted.
    expect(rig.journalled("position.unprotected")).toMatchObject([{ strategy: "a", slot: "out", qty: "0.006" }]);
    want(rig, "a", exit("sell"));
    rig.run(1_000);
    expect([own(rig, "a"), own(rig, "b"), account(rig)]).toEqual(["0", "0.05", "0.05"]);
    expect(rig.journalled("position.protected")).toHaveLength(1);
    expect(rejections(rig)).toEqual([]);
  });

  it("take the place of one that executed nothing, as soon as that is known", () => {
    const rig = desk({ profile: inBase });
    want(rig, "b", entry("buy", "0.05"));
    want(rig, "a", entry("buy", "0.01"));
    show(rig, 600_000, 0);
    rig.orderManager.want("a", [exit("sell"), takeProfit()]);
    rig.run(100);
    expect(rig.phases("out").at(-1)).toBe("canceled");
    expect(rig.resting()).toEqual(["sell 61000"]);
  });

  it("count an order of unknown outcome with all it may execute", () => {
    const rig = desk({ profile: inBase });
    want(rig, "b", entry("sell", "0.01"));
    want(rig, "a", entry("buy", "0.01"));
    rig.next("placeOrder", lostAnswer);
    rig.next("getOrder", lostAnswer);
    rig.next("getOrder", lostAnswer);
    rig.orderManager.want("a", [takeProfit()]);
    rig.run(1);
    rig.orderManager.want("a", [exit("sell")]);
    rig.run(60_000);
    expect([own(rig, "a"), account(rig)]).toEqual(["0", "-0.01"]);
    expect(compare(sum(rig.fills.map(({ side, qty }) => (side === "buy" ? qty : neg(qty)))), "-0.01")).toBe(0);
  });

  it("wait for the end of an order of the same side that is not wanted any more", () => {
    const rig = desk({ profile: inBase });
    want(rig, "b", entry("sell", "0.01"));
    want(rig, "a", entry("buy", "0.01"));
    want(rig, "a", entry("sell", "0.01", { slot: "ask", ordType: "limit", px: "60500" }));
    // The market reaches the ask while it is being canceled and the stop is on its way.
    rig.orderManager.want("a", [exit("sell")]);
    show(rig, 605_100);
    rig.run(2_000);
    expect([own(rig, "a"), own(rig, "b"), account(rig)]).toEqual(["0", "-0.01", "-0.01"]);
  });

  it("are taken back and sized anew when another order has reduced the position", () => {
    const rig = desk({ profile: inBase });
    want(rig, "b", entry("sell", "0.02"));
    want(rig, "a", entry("buy", "0.02"));
    want(rig, "a", takeProfit({ qty: "0.02" }));
    expect(rig.resting()).toEqual(["sell 61000"]);
    want(rig, "a", takeProfit({ qty: "0.02" }), entry("sell", "0.015", { slot: "other" }));
    rig.run(1_000);
    expect(own(rig, "a")).toBe("0.005");
    const [resting] = rig.truth().filter(({ state }) => state === "live");
    expect(resting).toMatchObject({ side: "sell", px: "61000", sz: "0.005" });
    expect(rig.journalled("position.unprotected")).toEqual([]);
    show(rig, 610_100);
    rig.run();
    expect([own(rig, "a"), own(rig, "b"), account(rig)]).toEqual(["0", "-0.02", "-0.02"]);
  });

  it("are taken back although they would suit what is wanted by now", () => {
    const rig = desk({ profile: inBase });
    want(rig, "b", entry("sell", "0.02"));
    want(rig, "a", entry("buy", "0.02"));
    const target = takeProfit({ qty: "0.02", keepWithin: "1" });
    want(rig, "a", target);
    // The cancel of the order that has become too large is lost; the next one leaves after the strategy has changed its mind a little.
    rig.next("cancelBatch", lostRequest);
    const other = entry("sell", "0.015", { slot: "other" });
    want(rig, "a", target, other);
    rig.run(1_000);
    want(rig, "a", { ...target, px: "61000.5" }, other);
    rig.run(60_000);
    expect(rig.truth().filter(({ state }) => state === "live")).toMatchObject([
      { side: "sell", px: "61000.5", sz: "0.005" },
    ]);
  });

  it("are taken back when the account's positions were closed by no order", () => {
    const rig = desk({ profile: inBase });
    want(rig, "b", entry("sell", "0.01"));
    want(rig, "a", entry("buy", "0.01"));
    want(rig, "a", takeProfit());
    rig.orderManager.closing.account({ instId: swap, orders: [], left: "0", px: "60000" });
    rig.run();
    expect(rig.resting()).toEqual([]);
  });
});

describe("A take-profit that rests with the flag", () => {
  const resting = (options: RigOptions = {}): Desk => {
    const rig = desk({ profile: inBase, ...options });
    want(rig, "a", entry("buy", "0.01"));
    want(rig, "a", takeProfit());
    expect(sent(rig, 1)).toEqual([{ sz: "0.01", flag: true }]);
    return rig;
  };

  it("is placed again without it when another strategy closes what the account had to reduce", () => {
    const rig = resting();
    want(rig, "b", entry("sell", "0.01"));
    rig.run(1_000);
    // The service canceled it with the last of the account's position.
    expect(rig.resting()).toEqual(["sell 61000"]);
    expect(sent(rig, 3)).toEqual([{ sz: "0.01", flag: false }]);
    show(rig, 610_100);
    rig.run();
    expect([own(rig, "a"), own(rig, "b"), account(rig)]).toEqual(["0", "-0.01", "-0.01"]);
  });

  it("is not placed again when another client canceled it", () => {
    const rig = resting();
    want(rig, "b", entry("buy", "0.01"));
    const [order] = rig.truth().filter(({ state }) => state === "live");
    const body = [{ instId: swap, ordId: order?.ordId }];
    const request = {
      method: "POST",
      path: "/api/v1/trade/cancel-batch-orders",
      query: {},
      body,
      key: "k1",
      ip: "2.2.2.2",
    } as const;
    rig.venue.handle(request, rig.clock.now());
    rig.run(5_000);
    expect(rig.resting()).toEqual([]);
    expect(rig.journalled("position.unprotected")).toMatchObject([
      { slot: "tp", qty: "0.01", reason: "canceled by another client or by the service" },
    ]);
  });
});

describe("A protected position", () => {
  it("is closed by its stop, and by its resting take-profit, whatever another strategy holds", () => {
    for (const [px, bid] of [
      ["a stop", 590_000],
      ["a take-profit", 610_000],
    ] as const) {
      const rig = desk({ profile: inBase });
      const protect = { stopLoss: "59000", takeProfit: "61000", takeProfitAs: "limit" } as const;
      want(rig, "b", entry("sell", "0.03"));
      want(rig, "a", entry("buy", "0.01", { protect }));
      expect([own(rig, "a"), account(rig)]).toEqual(["0.01", "-0.02"]);
      show(rig, bid);
      rig.price(`${bid / 10}`);
      rig.run(1_000);
      expect([px, own(rig, "a"), own(rig, "b"), account(rig)]).toEqual([px, "0", "-0.03", "-0.03"]);
      expect(rejections(rig)).toEqual([]);
      expect(rig.resting()).toEqual([]);
    }
  });
});

describe("A spot exit", () => {
  it("is sent without the flag, which spot orders do not have, for as much as the strategy bought", () => {
    const rig = desk({ profile: inBase });
    show(rig, 600_000, 100_000, spot);
    want(rig, "a", exit("sell", { instId: spot }));
    expect(rig.count("placeOrder")).toBe(0);
    want(rig, "a", entry("buy", "0.02", { instId: spot }), exit("sell", { instId: spot, qty: "0.05" }));
    rig.run(1_000);
    expect(sent(rig)).toEqual([
      { sz: "0.02", flag: false },
      { sz: "0.02", flag: false },
    ]);
    expect(isZero(own(rig, "a", spot))).toBe(true);
    expect(rejections(rig)).toEqual([]);
    expect(add(own(rig, "a", spot), "0")).toBe("0");
  });
});
