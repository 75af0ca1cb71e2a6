/**
 * Reduce-only orders that replace each other: a position never stays without the exit its strategy wants.
 */
import { describe, expect, it } from "vitest";
import type { WantedOrder } from "../../../src/orders/wanted-order.ts";
import { type Rig, type RigOptions, ready, reply, swap } from "../../support/harness/orders.ts";

const show = (rig: Rig, bidTicks: number, askTicks: number, lots = 100_000): void => {
  rig.venue.quote(swap, bidTicks, lots, askTicks, lots, rig.clock.now());
};
const position = (rig: Rig): string =>
  rig.venue.truth("ann").positions.find(({ instId }) => instId === swap)?.pos ?? "0";

const entry: WantedOrder = { slot: "entry", instId: swap, side: "buy", ordType: "market", qty: "0.01" };
const takeProfit = (qty = "0.01"): WantedOrder => ({
  slot: "tp",
  instId: swap,
  side: "sell",
  px: "61000",
  qty,
  reduceOnly: true,
});
const stop: WantedOrder = { slot: "sl", instId: swap, side: "sell", ordType: "market", qty: "0.01", reduceOnly: true };

/** Long 0.01, with its take-profit resting. */
const long = (qty = "0.01", options: RigOptions = {}): Rig => {
  const rig = ready(options);
  show(rig, 600_000, 600_001);
  rig.want(entry);
  rig.run();
  rig.want(entry, takeProfit(qty));
  rig.run();
  expect(position(rig)).toBe("0.01");
  expect(rig.resting()).toEqual(["sell 61000"]);
  return rig;
};

/** Another client cancels the newest order. */
const cancelElsewhere = (rig: Rig): void => {
  const [order] = rig.truth();
  const body = [{ instId: swap, ordId: order?.ordId }];
  rig.venue.handle(
    { method: "POST", path: "/api/v1/trade/cancel-batch-orders", query: {}, body, key: "k1", ip: "2.2.2.2" },
    rig.clock.now(),
  );
};

describe("Two exits that the service rejects again and again", () => {
  it("do not hasten each other: each is placed later each time", () => {
    const rejected = reply(200, { code: "0", msg: "", data: [{ sCode: "51008", sMsg: "no", ordId: "", clOrdId: "" }] });
    const rig = ready({
      fault: ({ endpoint, body }) =>
        endpoint === "placeOrder" && (body as { reduceOnly?: boolean }).reduceOnly === true ? rejected : undefined,
    });
    show(rig, 600_000, 600_001);
    rig.want(entry);
    rig.run();
    const half: WantedOrder = { ...stop, qty: "0.005" };
    rig.want(half, { ...half, slot: "other" });
    rig.run(60_000);
    // 0, 0.25, 1, 2, 4, 8, 16 and 32 s after one another.
    expect(rig.phases("sl").filter((phase) => phase === "sent").length).toBeLessThanOrEqual(8);
    expect(rig.count("placeOrder")).toBeLessThanOrEqual(17);
  });
});

describe("A stop that replaces a take-profit of another slot", () => {
  it.each(["0.01", "0.006"])("closes the whole position (take-profit of %s)", (qty) => {
    const rig = long(qty);
    rig.want(stop);
    rig.run();
    expect(position(rig)).toBe("0");
    expect(rig.resting()).toEqual([]);
    expect(rig.phases("sl")).toEqual(["sent", "filled"]);
    expect(rig.journalled("position.unprotected")).toEqual([]);
  });

  it("closes it in units of base currency and of contracts alike", () => {
    for (const unit of ["base", "contracts"] as const) {
      const rig = long("0.01", { profile: { order: { szUnit: { SPOT: unit, SWAP: unit } } } });
      rig.want(stop);
      rig.run();
      expect(position(rig)).toBe("0");
    }
  });

  it("leaves although the cancel is never heard of, and closes the position in the end", () => {
    const rig = long();
    for (let lost = 0; lost < 3; lost++) rig.next("cancelBatch", { lost: true, answer: () => undefined });
    rig.want(stop);
    rig.run(120_000);
    expect(position(rig)).toBe("0");
    expect(rig.journalled("position.unprotected")).toHaveLength(1);
    expect(rig.journalled("position.protected")).toHaveLength(1);
  });

  it("is not held back by a take-profit that is still wanted, and closes the position when that goes", () => {
    const rig = long();
    rig.want(takeProfit(), stop);
    rig.run(3_000);
    // The resting take-profit promises all there is to reduce: the service rejects the stop.
    expect(position(rig)).toBe("0.01");
    expect(rig.journalled("position.unprotected")).toMatchObject([
      { strategy: "s", slot: "sl", side: "sell", qty: "0.01" },
    ]);
    rig.want(stop);
    rig.run(3_000);
    expect(position(rig)).toBe("0");
    expect(rig.journalled("position.protected")).toMatchObject([{ slot: "sl", closed: true }]);
  });

  it("is not sent when the take-profit was executed while it was being canceled", () => {
    const rig = long();
    show(rig, 610_100, 610_101);
    rig.want(stop);
    rig.run(2_000);
    expect(position(rig)).toBe("0");
    expect(rig.journalled("position.unprotected")).toEqual([]);
  });

  it("waits for the cancel of a take-profit that a previous run left behind", () => {
    const earlier = long();
    const rig = ready({ earlier });
    rig.resources.pending.value$.subscribe();
    rig.run(1_000);
    rig.want(takeProfit());
    rig.want(stop);
    rig.run(2_000);
    expect(position(rig)).toBe("0");
    expect(rig.phases("sl")).toEqual(["sent", "filled"]);
  });

  it("does not wait for the cancel of a take-profit that another one replaces", () => {
    const rig = long("0.006");
    rig.want(takeProfit("0.005"), stop);
    rig.run(1);
    expect(rig.phases("tp").at(-1)).toBe("canceling");
    expect(rig.phases("sl")).toEqual(["sent"]);
  });

  it("is forgotten when the strategy wants nothing any more", () => {
    const rig = long();
    rig.want(takeProfit(), stop);
    rig.run(3_000);
    rig.want();
    rig.run(3_000);
    const sent = rig.count("placeOrder");
    rig.run(120_000);
    expect(rig.count("placeOrder")).toBe(sent);
    expect(position(rig)).toBe("0.01");
  });

  it("costs ever less while the service keeps rejecting it", () => {
    const rig = long();
    rig.want(takeProfit(), stop);
    rig.run(600_000);
    expect(rig.count("placeOrder")).toBeLessThan(22);
    expect(rig.count("placeOrder")).toBeGreaterThan(10);
  });
});

describe("A take-profit wanted together with its entry", () => {
  it("rests as soon as the entry is executed", () => {
    const rig = ready();
    show(rig, 600_000, 600_001);
    // The take-profit arrives first and is rejected: there is nothing to reduce yet.
    rig.want(takeProfit(), entry);
    rig.run(300);
    expect(position(rig)).toBe("0.01");
    expect(rig.resting()).toEqual(["sell 61000"]);
    expect(rig.journalled("position.unprotected")).toEqual([]);
    expect(rig.count("placeOrder")).toBe(3);
  });

  it("waits for an entry that rests, without asking again and again", () => {
    const rig = ready();
    show(rig, 600_000, 600_001);
    const resting: WantedOrder = { ...entry, ordType: "limit", px: "59900" };
    rig.want(resting, takeProfit());
    rig.run(600_000);
    expect(rig.count("placeOrder")).toBe(2);
    show(rig, 598_000, 598_001);
    rig.run(300);
    expect(position(rig)).toBe("0.01");
    expect(rig.resting()).toEqual(["sell 61000"]);
    expect(rig.journalled("position.unprotected")).toEqual([]);
  });
});

describe("An exit that is executed in part", () => {
  it("is followed by another for the rest when the book was too thin", () => {
    const rig = long();
    show(rig, 599_000, 600_001, 4);
    rig.want(stop);
    rig.run(100);
    expect(position(rig)).toBe("0.006");
    show(rig, 598_000, 600_001, 4);
    rig.run(2_000);
    expect(position(rig)).toBe("0.002");
    show(rig, 597_000, 600_001, 4);
    rig.run(5_000);
    expect(position(rig)).toBe("0");
  });

  it("of a position that is smaller than wanted ends with the position", () => {
    const rig = long();
    rig.want({ ...stop, qty: "0.05" });
    rig.run(5_000);
    expect(position(rig)).toBe("0");
    const sent = rig.count("placeOrder");
    rig.run(120_000);
    expect(rig.count("placeOrder")).toBe(sent);
    expect(rig.journalled("position.unprotected")).toEqual([]);
  });
});

describe("A resting exit that another client cancels", () => {
  it("is not placed again by itself, and the open position is an event", () => {
    const rig = long();
    cancelElsewhere(rig);
    rig.run(5_000);
    expect(rig.resting()).toEqual([]);
    expect(rig.journalled("position.unprotected")).toMatchObject([{ slot: "tp", qty: "0.01" }]);
  });
});

describe("A resting exit that the service forgets", () => {
  it("is not placed again, as it may have been executed, and the open position is an event", () => {
    const rig = long("0.01", { profile: { history: { unfilledCanceledVanish: true } }, push: false });
    rig.resources.pending.value$.subscribe();
    cancelElsewhere(rig);
    rig.run(200_000);
    expect(rig.phases("tp").at(-1)).toBe("absent");
    expect(rig.resting()).toEqual([]);
    expect(rig.journalled("position.unprotected")).toMatchObject([
      { slot: "tp", qty: "0.01", reason: "the service forgot it" },
    ]);
  });
});

describe("A replaced order while only the reserve is left of the quota", () => {
  const many = Array.from(
    { length: 150 },
    (_, index) => ({ slot: `s${index}`, instId: swap, side: "buy", ordType: "ioc", px: "50000", qty: "0.01" }) as const,
  );

  /** Long 0.01, with an order that rests; placements wait for the next minute. */
  const usedUp = (resting: WantedOrder): Rig => {
    const rig = ready({ limits: true, rules: { openPerStrategy: 400 } });
    show(rig, 600_000, 600_001);
    rig.want(entry);
    rig.run(1_000);
    rig.want(entry, resting, ...many);
    rig.run(24_000);
    // The reserve shrinks as the minute passes: just after a placement there is no room for the next one for seconds.
    const then = rig.count("placeOrder");
    while (rig.count("placeOrder") === then) rig.run(100);
    const before = rig.count("placeOrder");
    rig.run(1_000);
    expect(rig.count("placeOrder")).toBe(before);
    return rig;
  };

  it.each<[string, Partial<WantedOrder>, string]>([
    ["another price", { px: "61500" }, "live"],
    ["the market", { ordType: "market" }, "filled"],
  ])("leaves where an exit is to be moved to %s, and the exit follows", (_, change, phase) => {
    const rig = usedUp(takeProfit());
    const before = rig.count("placeOrder");
    const { px: _px, ...priceless } = takeProfit();
    rig.want(entry, { ...priceless, ...change }, ...many);
    rig.run(1_000);
    expect(rig.phases("tp").slice(-4)).toEqual(["canceling", "canceled", "sent", phase]);
    expect(rig.count("placeOrder")).toBe(before + 1);
  });

  it("waits where it is no exit, until an exit is wanted in its place", () => {
    const { reduceOnly: _, ...plain } = takeProfit();
    const rig = usedUp(plain);
    rig.want(entry, { ...plain, px: "61500" }, ...many);
    rig.run(500);
    expect(rig.phases("tp")).toEqual(["sent", "live"]);
    rig.want(entry, takeProfit(), ...many);
    rig.run(500);
    expect(rig.phases("tp").slice(-4)).toEqual(["canceling", "canceled", "sent", "live"]);
  });
});

describe("An exit refused before it is sent", () => {
  it("is an event while the position is open", () => {
    const rig = long();
    rig.want({ ...stop, qty: "0.0001" });
    rig.run(1_000);
    expect(rig.journalled("order.refused")).toHaveLength(1);
    expect(rig.journalled("position.unprotected")).toMatchObject([
      { slot: "sl", qty: "0.01", reason: expect.stringContaining("below one lot") },
    ]);
  });
});
