/**
 * Orders of an earlier life, orders of others, and the ids that tell them apart.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createClientOrderIds, generations } from "../../../src/orders/client-order-id.ts";
import type { OrderSpec, WantedOrder } from "../../../src/orders/wanted-order.ts";
import {
  bid,
  createRig,
  eth,
  lostAnswer,
  lostRequest,
  type Rig,
  type RigOptions,
  ready,
  swap,
} from "../../support/harness/orders.ts";

/** A new life of the same instance at the same service, which has read what rests. */
const reborn = (earlier: Rig, options: RigOptions = {}): Rig => {
  const rig = ready({ ...options, earlier });
  rig.resources.pending.value$.subscribe();
  rig.run(1_000);
  rig.arrivals.length = 0;
  return rig;
};

describe("An order of a previous run", () => {
  it("is taken over instead of being placed again", () => {
    const first = ready();
    first.want(bid());
    first.run();
    const second = reborn(first);
    second.want(bid());
    second.run(5_000);
    expect(second.count("placeOrder") + second.count("cancelBatch")).toBe(0);
    expect(second.orderManager.orders()).toMatchObject([
      { strategy: "s", slot: "bid", phase: "live", reason: "adopted" },
    ]);
  });

  it.each([
    ["0.01", 0],
    ["0.02", 1],
  ])("of 0.01 stays within its tolerance where %s is wanted: %i replaced", (qty, replaced) => {
    const wanted = (px: string, more: Partial<WantedOrder>): WantedOrder => ({
      ...bid(),
      px,
      keepWithin: "1000",
      ...more,
    });
    const first = ready();
    first.want(wanted("40000", { qty: "0.01" }));
    first.run();
    const second = reborn(first);
    second.want(wanted("39950", { qty }));
    second.run(5_000);
    expect([second.count("placeOrder"), second.count("cancelBatch")]).toEqual([replaced, replaced]);
    expect(second.resting()).toEqual([replaced === 0 ? "buy 40000" : "buy 39950"]);
  });

  it.each([600_000, -600_000])(
    "is as old as the service says, also when our calendar is %i ms ahead of its",
    (aheadMs) => {
      const first = ready();
      first.want(bid());
      first.run(120_000);
      const second = createRig({ earlier: first });
      second.clock.stepWall(aheadMs);
      second.resources.pending.value$.subscribe();
      second.run(5_000);
      const [order] = second.orderManager.orders();
      expect(order?.reason).toBe("adopted");
      // A second for the service's stamp, which counts whole ones, and one for the way.
      expect(Math.abs(second.clock.now() - (order?.sentAt ?? 0) - 125_000)).toBeLessThan(2_000);
    },
  );

  it("settles the wanted order when it is filled", () => {
    const first = ready();
    first.want(bid());
    first.run();
    const second = reborn(first);
    second.want(bid());
    second.run();
    second.venue.trade("BTC-USDT-SWAP", "sell", 599_990, 1_000, second.clock.now());
    second.run(15_000);
    expect(second.phases("bid")).toEqual(["live", "filled"]);
    expect(second.count("placeOrder")).toBe(0);
  });

  describe("that was filled between the runs", () => {
    const market = (over: Partial<WantedOrder> = {}) =>
      ({ slot: "bid", instId: swap, side: "buy", ordType: "market", qty: "0.02", ...over }) as WantedOrder;
    /** A run that ends while its market order is under way, which the service fills as far as it can. */
    const taken = (displayed = 1_000, state = "filled"): Rig => {
      const first = ready();
      first.venue.quote(swap, 599_999, 1_000, 600_000, displayed, first.clock.now());
      first.next("placeOrder", lostAnswer);
      first.want(market());
      first.run(100);
      expect(first.truth()).toMatchObject([{ state }]);
      return first;
    };
    /** As the journal tells of what a previous run had open, before or after the service's lists are read. */
    const restarted = (first: Rig, order: "first" | "last", options: RigOptions = {}) => {
      const rig = ready({ ...options, earlier: first });
      const recall = (): void => {
        for (const { clOrdId, instId, side, ordType, px = "", sz } of first.places()) {
          const spec = { instId, side, ordType, px, sz, reduceOnly: false } as OrderSpec;
          rig.orderManager.recall(clOrdId ?? "", spec, rig.clock.now() - 5_000, "s");
        }
      };
      if (order === "first") recall();
      rig.resources.pending.value$.subscribe();
      rig.resources.history.value$.subscribe();
      rig.run(2_000);
      if (order === "last") recall();
      rig.run(20_000);
      rig.arrivals.length = 0;
      return rig;
    };

    it.each(["first", "last"] as const)("settles the wanted order that it was placed for (journal %s)", (order) => {
      const first = ready();
      first.want(bid());
      first.run();
      first.venue.trade(swap, "sell", 599_990, 1_000, first.clock.now());
      const second = restarted(first, order);
      second.want(bid());
      second.run(15_000);
      expect(second.count("placeOrder")).toBe(0);
      second.want(bid({ px: "59000" }));
      second.run(15_000);
      expect(second.resting()).toEqual(["buy 59000"]);
    });

    it.each(["first", "last"] as const)(
      "settles a wanted order that takes, whatever the price is by now (journal %s)",
      (order) => {
        const first = taken();
        const second = restarted(first, order);
        second.setMarketPx("61000");
        second.want(market());
        second.run(15_000);
        expect(second.count("placeOrder")).toBe(0);
        second.want(market({ round: 1 }));
        second.run(15_000);
        expect(second.count("placeOrder")).toBe(1);
      },
    );

    it("settles a wanted order of which the market had but a part, as in its own run", () => {
      const first = taken(15, "canceled");
      const second = restarted(first, "last");
      second.want(market());
      second.run(15_000);
      expect(second.count("placeOrder")).toBe(0);
    });

    it("settles no other size, no other side and no exit", () => {
      for (const over of [{ qty: "0.03" }, { side: "sell" }, { reduceOnly: true, side: "sell" }] as const) {
        const first = taken();
        const second = restarted(first, "last");
        second.want(market(over));
        second.run(15_000);
        expect([over, second.count("placeOrder")]).toEqual([over, 1]);
      }
    });
  });

  it("is replaced when something else is wanted, under an id never used", () => {
    const first = ready();
    first.want(bid());
    first.run();
    const second = reborn(first);
    second.want(bid({ px: "60001" }));
    second.run();
    expect(second.resting()).toEqual(["buy 60001"]);
    const ids = [...first.places(), ...second.places()].map(({ clOrdId }) => clOrdId);
    expect(new Set(ids).size).toBe(2);
  });

  it("that is still on its way keeps its id to itself, however fast that life was", () => {
    const first = ready();
    const quick = Array.from({ length: 5 }, (_, index) => bid({ slot: `bid ${index}` }));
    first.want(...quick);
    first.run();
    first.next("placeOrder", lostRequest);
    first.want(...quick, bid({ slot: "late" }));
    first.run();
    const second = reborn(first);
    second.want(...quick, bid({ slot: "late" }));
    second.run();
    expect(second.count("placeOrder")).toBe(1);
    const ids = [...first.places(), ...second.places()].map(({ clOrdId }) => clOrdId);
    expect(new Set(ids).size).toBe(7);
  });

  it("counts as open and is cancelled by a halt although nobody wants it", () => {
    const first = ready();
    first.want(bid());
    first.run();
    const second = reborn(first);
    expect(second.openCounts.at(-1)).toBe(1);
    expect(second.orderManager.orders()).toHaveLength(1);
    second.run(60_000);
    expect(second.resting()).toHaveLength(1);
    second.orderManager.setMode("halted", "test");
    second.run(1_000);
    expect(second.resting()).toEqual([]);
  });

  it("is cancelled although it is found only after the halt", () => {
    const first = ready();
    first.want(bid());
    first.run();
    const second = ready({ earlier: first });
    second.orderManager.setMode("halted", "test");
    second.resources.pending.value$.subscribe();
    second.run(5_000);
    expect(second.resting()).toEqual([]);
  });

  it("gives way when its slot has two: the newest stays", () => {
    const first = ready();
    first.want(bid({ px: "50000" }));
    first.run();
    const [older] = first.places();
    // As left by a life that ended between a cancel and its effect.
    const second = ready({ earlier: first });
    second.want(bid({ px: "60000" }));
    second.run(200);
    expect(second.resting()).toHaveLength(2);
    const third = reborn(second);
    third.want(bid({ px: "60000" }));
    third.run(5_000);
    expect(third.resting()).toEqual(["buy 60000"]);
    expect(third.count("placeOrder")).toBe(0);
    expect(third.truth().find(({ clOrdId }) => clOrdId === older?.clOrdId)?.state).toBe("canceled");
  });

  it("found only after its slot was filled anew is cancelled, so that one order rests", () => {
    const first = ready();
    first.want(bid({ px: "50000" }));
    first.run();
    const second = ready({ earlier: first });
    second.want(bid({ px: "60000" }));
    second.run(200);
    second.resources.pending.value$.subscribe();
    second.run(5_000);
    expect(second.resting()).toEqual(["buy 60000"]);
  });

  it("placed by hand without a name is nobody's, and hand orders do not disturb it", () => {
    const first = ready();
    const { slot: _, ...wanted } = bid();
    first.orders.place(wanted).subscribe();
    first.run();
    const second = reborn(first);
    second.orders.place({ ...wanted, px: "50000" }).subscribe();
    second.run(5_000);
    expect(second.resting()).toEqual(["buy 50000", "buy 60000"]);
  });

  it("leaves the age it has", () => {
    const first = ready();
    first.want(bid());
    first.run(60_000);
    const second = reborn(first);
    second.want(bid());
    second.orders.cancel({ olderThanMs: 50_000 }).subscribe();
    second.run();
    expect(second.resting()).toEqual([]);
  });
});

describe("Orders of other clients", () => {
  it("are foreign and never cancelled", () => {
    const first = ready();
    first.want(bid());
    first.run();
    const place = { instId: eth, side: "buy", ordType: "limit", px: "3000", sz: "300" };
    first.venue.handle(
      { method: "POST", path: "/api/v1/trade/order", query: {}, body: place, key: "k1", ip: "2.2.2.2" },
      first.clock.now(),
    );
    const second = reborn(first, { instance: "another" });
    expect(second.orderManager.orders()).toEqual([]);
    expect(second.journalled("order.external")).toHaveLength(2);
    second.want(bid());
    second.run();
    second.want();
    second.orderManager.setMode("halted", "test");
    second.run(60_000);
    expect(second.resting()).toEqual(["buy 3000", "buy 60000"]);
  });
});

describe("Client order ids", () => {
  const ids = createClientOrderIds("one");

  it("say what they were made of", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.nat(generations - 1), (strategy, slot, generation) => {
        const slotHash = ids.slotHash(strategy, slot);
        expect(ids.read(ids.of(slotHash, generation))).toEqual({ slotHash, generation });
      }),
    );
  });

  it("fit the strictest common rule", () => {
    expect(ids.of(ids.slotHash("s", "bid"), generations - 1)).toMatch(/^s[0-9a-v]{19}$/);
  });

  it("are recognised as not ours when a character is wrong or another instance made them", () => {
    const id = ids.of(ids.slotHash("s", "bid"), 77);
    let recognised = 0;
    for (let at = 0; at < id.length; at++) {
      for (const letter of "0123456789abcdefghijklmnopqrstuv") {
        if (letter !== id[at] && ids.read(id.slice(0, at) + letter + id.slice(at + 1)) !== undefined) recognised++;
      }
    }
    // Two check characters let about one wrong id in a thousand pass.
    expect(recognised).toBeLessThan(5);
    expect(ids.read(createClientOrderIds("two").of(ids.slotHash("s", "bid"), 77))).toBeUndefined();
    for (const other of ["", "s", "x".repeat(20), `${id}0`, id.toUpperCase()]) expect(ids.read(other)).toBeUndefined();
  });

  it("are unique over a hundred thousand", () => {
    const all = new Set<string>();
    for (let slot = 0; slot < 100; slot++) {
      const hash = ids.slotHash("s", `slot ${slot}`);
      for (let generation = 0; generation < 1_000; generation++) all.add(ids.of(hash, generation));
    }
    expect(all.size).toBe(100_000);
  });

  it("go round after the last generation", () => {
    const hash = ids.slotHash("s", "bid");
    expect(ids.of(hash, generations)).toBe(ids.of(hash, 0));
  });
});
