/**
 * Orders by hand: place one and watch its life, cancel some and watch the results.
 */

import type { Observable } from "rxjs";
import { describe, expect, it } from "vitest";
import { ownOrders } from "../../../src/engine/strategy-streams.ts";
import type { OrderFilter } from "../../../src/orders/manual-orders.ts";
import { bid, eth, lostAnswer, lostRequest, ready, reply } from "../../support/harness/orders.ts";

const watched = <T>(source: Observable<T>, word: (value: T) => string) => {
  const seen: string[] = [];
  const subscription = source.subscribe({
    next: (value) => seen.push(word(value)),
    error: (error: unknown) => seen.push(String(error)),
    complete: () => seen.push("end"),
  });
  return { seen, subscription };
};
const phase = ({ phase: word }: { readonly phase: string }): string => word;

describe("Placing an order by hand", () => {
  it("emits the order's life and completes when it is over", () => {
    const rig = ready();
    const { slot: _, ...wanted } = bid();
    const { seen } = watched(rig.orders.place(wanted), phase);
    rig.run();
    rig.trade("sell", 60000, 0.004);
    rig.run();
    rig.trade("sell", 59999, 1);
    rig.run();
    expect(seen).toEqual(["sent", "live", "partially_filled", "filled", "end"]);
    rig.run(60_000);
    expect(rig.places()).toHaveLength(1);
  });

  it.each([
    [
      { reduceonly: true },
      'orders.place was given order "#0" with the unknown field "reduceonly". Did you mean "reduceOnly"? Leave it out.',
    ],
    [
      { protect: { stoploss: "59000" } },
      /order "#0" with the unknown field "protect\.stoploss"\. Did you mean "stopLoss"\?/,
    ],
    [
      { protect: { stopLoss: { percent: 1 } } },
      'protect.stopLoss.percent 1. Write a positive amount as text, such as percent: "1".',
    ],
    [{ protect: { stopLoss: { percent: "-1" } } }, "protect.stopLoss.percent"],
    [{ protect: { stopLoss: 59_000 } }, "protect.stopLoss 59000. Write a price as text"],
    [{ protect: { stopLoss: "59000", trigger: "bid" } }, 'protect.trigger "bid". Write one of "best", "last", "mark".'],
    [{ cross: "skp" }, 'cross "skp". Write one of'],
    [{ round: {} }, "round {}. Write a number or text."],
    [{ qty: 0.01 }, 'qty 0.01. Write text, such as qty: "0.01".'],
    [{ slot: "" }, 'slot "". Write text'],
    [{ slot: 5 }, "an order with slot 5. Write text"],
  ])("refuses %j as a set that is wanted would, sends nothing and tells it", (wrong, reason) => {
    const rig = ready();
    const { slot: _, ...wanted } = bid();
    const { seen } = watched(
      rig.orders.place({ ...wanted, ...wrong } as never),
      ({ phase: word, reason: why }) => `${word}: ${why}`,
    );
    rig.run(10_000);
    expect(seen).toEqual([
      typeof reason === "string" ? expect.stringContaining(reason) : expect.stringMatching(reason),
      "end",
    ]);
    expect(seen[0]).toMatch(/^refused: /);
    expect(rig.places()).toEqual([]);
    expect(rig.journalled("order.refused")).toMatchObject([
      { strategy: "s", reason: (seen[0] as string).replace("refused: ", "") },
    ]);
  });

  it("refuses a misspelt order in the slot of another and leaves that one alone", () => {
    const rig = ready();
    const first = watched(rig.orders.place(bid()), phase);
    rig.run();
    const second = watched(rig.orders.place({ ...bid(), reduceonly: true } as never), phase);
    rig.run(10_000);
    expect([first.seen, second.seen]).toEqual([
      ["sent", "live"],
      ["refused", "end"],
    ]);
    expect(rig.resting()).toHaveLength(1);
  });

  it.each([null, undefined, "buy"])("refuses %j, which is no order", (nothing) => {
    const rig = ready();
    const { seen } = watched(rig.orders.place(nothing as never), ({ phase: word, reason: why }) => `${word}: ${why}`);
    expect(seen).toEqual([
      expect.stringMatching(/^refused: orders\.place was given .* as an order\. An order has slot, instId/),
      "end",
    ]);
  });

  it("does nothing before somebody subscribes, and places one order each time", () => {
    const rig = ready();
    const { slot: _, ...wanted } = bid();
    const placing = rig.orders.place(wanted);
    rig.run();
    expect(rig.arrivals).toEqual([]);
    placing.subscribe();
    placing.subscribe();
    rig.run();
    expect(rig.resting()).toHaveLength(2);
  });

  it("is withdrawn by unsubscribing before it was sent", () => {
    const rig = ready({ limits: true });
    rig.want(...Array.from({ length: 12 }, (_, i) => bid({ slot: `s${i}` })));
    const { seen, subscription } = watched(rig.orders.place(bid({ slot: "hand" })), phase);
    rig.run(10);
    subscription.unsubscribe();
    rig.run(20_000);
    expect(seen).toEqual([]);
    expect(rig.places()).toHaveLength(12);
  });

  it("is only not watched any more by unsubscribing later", () => {
    const rig = ready();
    const { seen, subscription } = watched(rig.orders.place(bid({ slot: "hand" })), phase);
    rig.run();
    subscription.unsubscribe();
    rig.run(5_000);
    expect(seen).toEqual(["sent", "live"]);
    expect(rig.resting()).toEqual(["buy 60000"]);
  });

  it("ends with the refusal as its last value", () => {
    const rig = ready();
    const { seen } = watched(
      rig.orders.place(bid({ slot: "hand", qty: "0.0001" })),
      ({ phase: word, reason }) => `${word}: ${reason}`,
    );
    expect(seen).toEqual(["refused: the size is below one lot of 0.001 BTC", "end"]);
    expect(rig.orderManager.orders()).toEqual([]);
  });

  it("ends with the service's refusal", () => {
    const rig = ready();
    rig.next("placeOrder", reply(200, { code: "51008", msg: "no funds", data: [] }));
    const { seen } = watched(
      rig.orders.place(bid({ slot: "hand" })),
      ({ phase: word, reason }) => `${word}: ${reason}`,
    );
    rig.run();
    expect(seen).toEqual(["sent: placed", "rejected: 51008 no funds", "end"]);
  });

  it("ends when it is proved never to have arrived, and is not placed again", () => {
    const rig = ready();
    rig.next("placeOrder", lostRequest);
    const { seen } = watched(rig.orders.place(bid({ slot: "hand" })), phase);
    rig.run(120_000);
    expect(seen).toEqual(["sent", "unknown", "absent", "end"]);
    expect(rig.places()).toHaveLength(1);
  });

  it("leaves the declared set alone, and the set leaves it alone", () => {
    const rig = ready();
    rig.want(bid({ px: "50000" }));
    rig.orders.place(bid({ slot: "hand" })).subscribe();
    rig.run();
    rig.want();
    rig.run();
    expect(rig.resting()).toEqual(["buy 60000"]);
  });

  it("refuses a slot that is in use, by a declared order or by hand", () => {
    const rig = ready();
    rig.want(bid());
    rig.orders.place(bid({ slot: "hand" })).subscribe();
    for (const slot of ["bid", "hand"]) {
      const { seen } = watched(
        rig.orders.place(bid({ slot, px: "1" })),
        ({ phase: word, reason }) => `${word}: ${reason}`,
      );
      expect(seen).toEqual([expect.stringMatching(new RegExp(`^refused: the slot "${slot}" is in use by`)), "end"]);
    }
    expect(() => {
      rig.want(bid({ slot: "hand" }));
    }).toThrow(/the slot "hand" is in use by an order placed by hand/);
    rig.run(5_000);
    expect(rig.resting()).toEqual(["buy 60000", "buy 60000"]);
  });

  it("can use a slot again with another id", () => {
    const rig = ready();
    for (let i = 0; i < 3; i++) {
      rig.orders.place(bid({ slot: "hand" })).subscribe();
      rig.run();
      rig.trade("sell", 59999, 1);
      rig.run();
    }
    expect(new Set(rig.places().map(({ clOrdId }) => clOrdId)).size).toBe(3);
  });
});

describe("Cancelling orders by hand", () => {
  const resting = () => {
    const rig = ready();
    rig.want(bid({ slot: "a", tag: "grid" }), bid({ slot: "b", side: "sell", px: "70000" }));
    rig.run(5_000);
    rig.want(
      bid({ slot: "a", tag: "grid" }),
      bid({ slot: "b", side: "sell", px: "70000" }),
      bid({ slot: "c", instId: eth, px: "3000", qty: "1" }),
    );
    rig.orderManager.want("other", [bid({ slot: "a" })]);
    rig.run(500);
    return rig;
  };

  it.each<[string, OrderFilter | undefined, string[]]>([
    ["everything of the strategy", undefined, ["a", "b", "c"]],
    ["by instrument", { instId: eth }, ["c"]],
    ["by side", { side: "sell" }, ["b"]],
    ["by slot", { slot: "a" }, ["a"]],
    ["by tag", { tag: "grid" }, ["a"]],
    ["by age", { olderThanMs: 2_000 }, ["a", "b"]],
    ["by all of these together", { olderThanMs: 2_000, side: "buy" }, ["a"]],
    ["nothing", { tag: "none" }, []],
  ])("%s", (_, where, slots) => {
    const rig = resting();
    const { seen } = watched(rig.orders.cancel(where), ({ slot, phase: word }) => `${slot} ${word}`);
    rig.run(60_000);
    expect(seen).toEqual([...slots.map((slot) => `${slot} canceled`), "end"]);
    expect(rig.count("cancelBatch")).toBe(slots.length === 0 ? 0 : 1);
    // Cancelled on demand, they are not placed again although they are still declared.
    expect(rig.resting()).toHaveLength(4 - slots.length);
  });

  it("waits for an order that is under way, cancels it as soon as it rests, and never places it again", () => {
    const rig = ready();
    rig.want(bid());
    rig.run(5);
    expect(rig.phases("bid")).toEqual(["sent"]);
    const { seen } = watched(rig.orders.cancel(), phase);
    rig.run(60_000);
    expect(seen).toEqual(["canceled", "end"]);
    expect([rig.count("placeOrder"), rig.count("cancelBatch")]).toEqual([1, 1]);
    expect(rig.resting()).toEqual([]);
  });

  it.each([
    ["that arrived all the same", lostAnswer, "canceled", 1],
    ["that never arrived", lostRequest, "absent", 0],
  ])("waits for an order whose answer was lost, %s", (_, fault, end, cancels) => {
    const rig = ready();
    rig.next("placeOrder", fault);
    rig.want(bid());
    rig.run(5);
    const { seen } = watched(rig.orders.cancel(), phase);
    rig.run(120_000);
    expect(seen).toEqual([end, "end"]);
    expect([rig.count("placeOrder"), rig.count("cancelBatch")]).toEqual([1, cancels]);
    expect(rig.resting()).toEqual([]);
  });

  it("ends when the placement it waits for is turned away by a rate limit, and a later wanted order is placed once", () => {
    const rig = ready();
    rig.next("placeOrder", reply(429, { code: "50011", msg: "too many", data: [] }));
    rig.want(bid());
    rig.run(5);
    const { seen } = watched(rig.orders.cancel(), phase);
    rig.run(120_000);
    expect(seen).toEqual(["canceled", "end"]);
    expect(rig.count("placeOrder")).toBe(1);
    rig.want(bid({ px: "59000" }));
    rig.run(5_000);
    expect(rig.resting()).toEqual(["buy 59000"]);
    expect(rig.count("placeOrder")).toBe(2);
  });

  it("of one under way is forgotten when another order is wanted in its place", () => {
    const rig = ready();
    rig.want(bid());
    rig.run(5);
    rig.orders.cancel().subscribe();
    rig.want(bid({ px: "59000" }));
    rig.run(60_000);
    expect(rig.resting()).toEqual(["buy 59000"]);
  });

  it("acts at the call, and keeps the results for a later subscriber", () => {
    const rig = resting();
    const results$ = rig.orders.cancel({ slot: "a" });
    rig.run(5_000);
    expect(rig.count("cancelBatch")).toBe(1);
    expect(watched(results$, ({ slot, phase: word }) => `${slot} ${word}`).seen).toEqual(["a canceled", "end"]);
    expect(watched(results$, phase).seen).toEqual(["canceled", "end"]);
    rig.run(5_000);
    expect(rig.count("cancelBatch")).toBe(1);
  });

  it("is not taken back by unsubscribing", () => {
    const rig = resting();
    rig.orders.cancel({ slot: "a" }).subscribe().unsubscribe();
    rig.run(5_000);
    expect(rig.phases("a").at(-1)).toBe("canceled");
  });

  it("throws at the call for a misspelt condition, as the engine does, and cancels nothing", () => {
    const rig = resting();
    expect(() => rig.orders.cancel({ sied: "buy" } as object)).toThrow(
      'orders.cancel: unknown condition "sied". Did you mean "side"? Nothing was cancelled.',
    );
    rig.run(5_000);
    expect(rig.count("cancelBatch")).toBe(0);
  });

  it("completes at once when nothing matches", () => {
    const { seen } = watched(ready().orders.cancel(), phase);
    expect(seen).toEqual(["end"]);
  });

  it("tells when the market was faster", () => {
    const rig = resting();
    const { seen } = watched(rig.orders.cancel({ slot: "a" }), phase);
    rig.trade("sell", 59999, 5);
    rig.run(5_000);
    expect(seen).toEqual(["filled", "end"]);
  });
});

it("Own orders are told now and after every change, from the moment of subscription", () => {
  const rig = ready();
  rig.want(bid());
  rig.run();
  const { seen } = watched(ownOrders(rig.orderManager, "s").orders$, (mine) =>
    mine.map(({ slot, phase: word }) => `${slot} ${word}`).join(),
  );
  rig.orderManager.want("other", [bid()]);
  rig.want();
  rig.run();
  expect(seen).toEqual(["bid live", "bid canceling", ""]);
});
