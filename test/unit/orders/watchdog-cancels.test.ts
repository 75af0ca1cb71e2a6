/** Exits that the watchdog canceled beside those that another client canceled: which of them are placed again, and when. */
import { describe, expect, it } from "vitest";
import type { WantedOrder } from "../../../src/orders/wanted-order.ts";
import type { WatchdogStanding } from "../../../src/orders/watchdog-cancels.ts";
import { type Rig, type RigOptions, ready, swap } from "../../support/harness/orders.ts";

const entry = (more: Partial<WantedOrder> = {}): WantedOrder => ({
  slot: "long",
  instId: swap,
  side: "buy",
  ordType: "market",
  qty: "0.01",
  ...more,
});
const protect = { stopLoss: "59000", takeProfit: "61000", takeProfitAs: "limit" } as const;
const target: WantedOrder = { slot: "target", instId: swap, side: "sell", px: "61000", qty: "0.01", reduceOnly: true };

/** Long 0.01 with an exit that rests at 61000. */
const held = (kind: "protection" | "declared", options: RigOptions = {}) => {
  const rig = ready(options);
  rig.resources.pending.value$.subscribe();
  let standing: WatchdogStanding = { state: "quiet" };
  rig.orderManager.watchedBy(() => standing);
  rig.venue.quote(swap, 600_000, 100_000, 600_001, 100_000, rig.clock.now());
  rig.price("60000");
  rig.want(kind === "protection" ? entry({ protect }) : entry());
  rig.run();
  if (kind === "declared") rig.want(entry(), target);
  // Without pushes a fill is read from lists.
  rig.run(options.push === false ? 30_000 : 200);
  expect(rig.resting()).toEqual(["sell 61000"]);
  return {
    rig,
    stands: (next: WatchdogStanding["state"]): void => {
      standing = next === "finished" ? { state: next, at: rig.clock.now() } : { state: next };
      rig.orderManager.reconsider();
    },
    /** As the heartbeat finds it by itself. */
    isDoubtful: (): void => {
      standing = { state: "doubtful" };
    },
  };
};

/** Somebody else cancels what rests. */
const cancelOutside = (rig: Rig): void => {
  const body = rig
    .truth()
    .filter(({ state }) => state === "live" || state === "partially_filled")
    .map(({ ordId }) => ({ instId: swap, ordId }));
  const path = "/api/v1/trade/cancel-batch-orders";
  rig.venue.handle({ method: "POST", path, query: {}, body, key: "k1", ip: "2.2.2.2" }, rig.clock.now());
  expect(rig.resting()).toEqual([]);
};
const unprotected = (rig: Rig) =>
  rig.journalled("position.unprotected").map((event) => ("reason" in event ? event.reason : ""));
const halt = (rig: Rig): void => rig.orderManager.setMode("halted", "the watchdog tripped");

describe.each(["protection", "declared"] as const)("A resting exit (%s)", (kind) => {
  it("that was canceled while the watchdog had tripped is placed again under the halt once it has finished", () => {
    const { rig, stands } = held(kind);
    cancelOutside(rig);
    stands("canceling");
    halt(rig);
    rig.run(20_000);
    expect([rig.resting(), unprotected(rig)]).toEqual([[], ["canceled by the watchdog"]]);
    stands("finished");
    rig.run(1_000);
    expect(rig.resting()).toEqual(["sell 61000"]);
    expect(rig.journalled("position.protected")).toHaveLength(1);
    rig.run(60_000);
    expect([rig.resting(), rig.count("placeOrder")]).toEqual([["sell 61000"], 3]);
  });

  it("whose cancel is learned only after the watchdog has finished is placed again", () => {
    const { rig, stands } = held(kind, { push: false });
    cancelOutside(rig);
    stands("finished");
    halt(rig);
    rig.resources.pending.refresh(() => true);
    rig.run(30_000);
    expect(rig.resting()).toEqual(["sell 61000"]);
  });

  it.each([
    [
      "is placed again when the watchdog answers that it tripped",
      "finished",
      ["sell 61000"],
      "canceled by the watchdog",
    ],
    ["stays canceled when it answers that it did not", "quiet", [], "canceled by another client or by the service"],
  ] as const)("whose cancel is learned before the watchdog has answered %s", (_, answer, resting, reason) => {
    const { rig, stands, isDoubtful } = held(kind);
    isDoubtful();
    cancelOutside(rig);
    rig.run(2_000);
    expect([rig.resting(), unprotected(rig)]).toEqual([[], []]);
    stands(answer);
    rig.run(5_000);
    expect([rig.resting(), unprotected(rig)]).toEqual([resting, [reason]]);
  });

  it("that another client cancels after the watchdog has finished stays canceled", () => {
    const { rig, stands } = held(kind);
    cancelOutside(rig);
    stands("finished");
    halt(rig);
    rig.run(5_000);
    expect(rig.resting()).toEqual(["sell 61000"]);
    cancelOutside(rig);
    rig.run(30_000);
    expect(rig.resting()).toEqual([]);
    expect(unprotected(rig)).toEqual(["canceled by the watchdog", "canceled by another client or by the service"]);
  });

  it("that outlived the trip for a minute and is canceled then stays canceled", () => {
    const { rig, stands } = held(kind);
    stands("finished");
    rig.run(60_000);
    cancelOutside(rig);
    rig.run(30_000);
    expect(rig.resting()).toEqual([]);
  });

  it("is tried each minute beside a watchdog that never finishes", () => {
    const { rig, stands } = held(kind);
    stands("canceling");
    halt(rig);
    for (let minute = 0; minute < 3; minute++) {
      cancelOutside(rig);
      rig.run(59_000);
      expect(rig.resting()).toEqual([]);
      rig.run(2_000);
      expect(rig.resting()).toEqual(["sell 61000"]);
    }
  });

  it("that executed a part is placed again with the rest", () => {
    const { rig, stands } = held(kind);
    rig.venue.quote(swap, 600_000, 100_000, 610_010, 100_000, rig.clock.now());
    rig.trade("buy", 61_000, 0.004);
    rig.run();
    expect(rig.orderManager.positions.of("s", swap).qty).toBe("0.006");
    cancelOutside(rig);
    stands("finished");
    rig.run(5_000);
    const live = rig.truth().filter(({ state }) => state === "live");
    expect(live).toMatchObject([{ px: "61000", sz: "366" }]);
  });
});

describe("A position whose take-profit the watchdog canceled", () => {
  it("is closed by its stop meanwhile", () => {
    const { rig, stands } = held("protection");
    stands("canceling");
    halt(rig);
    cancelOutside(rig);
    rig.run(1_000);
    rig.venue.quote(swap, 589_000, 100_000, 589_001, 100_000, rig.clock.now());
    rig.price("58900");
    rig.run(2_000);
    expect(rig.orderManager.positions.of("s", swap).qty).toBe("0");
    stands("finished");
    rig.run(10_000);
    expect(rig.resting()).toEqual([]);
  });

  it("gets it again although the service forgot the canceled order", () => {
    const { rig, stands } = held("protection", {
      push: false,
      profile: { history: { unfilledCanceledVanish: true } },
    });
    cancelOutside(rig);
    stands("finished");
    rig.resources.pending.refresh(() => true);
    rig.run(55_000);
    expect(rig.resting()).toEqual(["sell 61000"]);
  });
});

describe("An exit that was placed by hand", () => {
  it("is reported, and not placed again: it is wanted once", () => {
    const { rig, stands } = held("declared");
    rig.want(entry());
    rig.run();
    const { slot: _, ...byHand } = target;
    rig.orders.place(byHand).subscribe();
    rig.run();
    expect(rig.resting()).toEqual(["sell 61000"]);
    stands("canceling");
    cancelOutside(rig);
    stands("finished");
    rig.run(30_000);
    expect(rig.resting()).toEqual([]);
  });
});
