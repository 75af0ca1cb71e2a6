/**
 * The merged set of orders: which of two words counts, what is news, and how orders leave the set.
 */
import { describe, expect, it } from "vitest";
import type { OrderRecord } from "../../../../src/contract/schemas.ts";
import { mergeRecords, OrderStore } from "../../../../src/orders/state/order-store.ts";
import { orderRecord as record } from "../../../support/harness/order-record.ts";

const ids = (records: readonly OrderRecord[]): string[] => records.map(({ ordId }) => ordId);
const setting = (...records: readonly Partial<OrderRecord>[]) => {
  const store = new OrderStore();
  for (const over of records) store.merge(record(over));
  return store;
};

describe("Of two records of one order,", () => {
  it.each<[string, Partial<OrderRecord>, Partial<OrderRecord>, Partial<OrderRecord>]>([
    [
      "the one that is further on counts",
      { state: "live" },
      { state: "partially_filled" },
      { state: "partially_filled" },
    ],
    ["the end counts", { state: "partially_filled" }, { state: "canceled" }, { state: "canceled" }],
    [
      "the end by trading counts more than the end by cancelling",
      { state: "filled" },
      { state: "canceled" },
      { state: "filled" },
    ],
    [
      "the greater filled size counts, not the longer text",
      { accFillSz: "10" },
      { accFillSz: "9.5" },
      { accFillSz: "10" },
    ],
    ["any filled size counts more than none said", { accFillSz: "" }, { accFillSz: "0.1" }, { accFillSz: "0.1" }],
    [
      "the later word counts for the rest",
      { px: "9", updatedAt: "1000" },
      { px: "1", updatedAt: "2000" },
      { px: "1", updatedAt: "2000" },
    ],
    [
      "later is greater, not longer in text",
      { px: "9", updatedAt: "900" },
      { px: "1", updatedAt: "1000" },
      { px: "1", updatedAt: "1000" },
    ],
    [
      "each part counts for itself",
      { state: "canceled", updatedAt: "3000" },
      { state: "partially_filled", accFillSz: "2", avgPx: "1.5", fee: "-0.1", updatedAt: "2000" },
      { state: "canceled", accFillSz: "2", avgPx: "1.5", fee: "-0.1", updatedAt: "3000" },
    ],
    ["the average price goes with the fills", { avgPx: "1" }, { avgPx: "2" }, { avgPx: "2" }],
    ["the fee goes with the fills", { fee: "-1" }, { fee: "-2" }, { fee: "-2" }],
    ["a fee counts more than none reckoned yet", { fee: "0" }, { fee: "-0.1" }, { fee: "-0.1" }],
    ["a fee counts more than none said", { fee: "" }, { fee: "-0.1" }, { fee: "-0.1" }],
    ["the greater fee counts, not the later text", { fee: "-9" }, { fee: "-10" }, { fee: "-10" }],
    ["told at one time, the price last in text counts", { px: "1" }, { px: "2" }, { px: "2" }],
    ["told at one time, the size last in text counts", { sz: "1" }, { sz: "2" }, { sz: "2" }],
    ["told at one time, the client's id last in text counts", { clOrdId: "a" }, { clOrdId: "b" }, { clOrdId: "b" }],
    ["told at one time, the instrument last in text counts", { instId: "A-B" }, { instId: "A-C" }, { instId: "A-C" }],
    ["told at one time, the type last in text counts", { ordType: "ioc" }, { ordType: "limit" }, { ordType: "limit" }],
    ["told at one time, the side last in text counts", { side: "buy" }, { side: "sell" }, { side: "sell" }],
    ["told at one time, the birth last in text counts", { createdAt: "1" }, { createdAt: "2" }, { createdAt: "2" }],
    [
      "told at one time, fields are told apart",
      { clOrdId: "1", px: "23" },
      { clOrdId: "12", px: "3" },
      { clOrdId: "1", px: "23" },
    ],
  ])("%s, whichever came first", (_, a, b, expected) => {
    expect(mergeRecords(record(a), record(b))).toEqual(record(expected));
    expect(mergeRecords(record(b), record(a))).toEqual(record(expected));
  });

  it("the known one stays the very object when the other says the same", () => {
    const known = record();
    expect(mergeRecords(known, record())).toBe(known);
  });
});

describe("News for the order store", () => {
  it("is a record that says more; the same again is none", () => {
    const store = new OrderStore();
    const heard: (string | undefined)[][] = [];
    store.onChange((next, previous) => heard.push([previous?.state, next.state]));
    expect(store.merge(record())).toBe(true);
    expect(store.merge(record())).toBe(false);
    expect(store.merge(record({ state: "filled", accFillSz: "10" }))).toBe(true);
    expect(store.merge(record({ updatedAt: "900" }))).toBe(false);
    expect(heard).toEqual([
      [undefined, "live"],
      ["live", "filled"],
    ]);
  });

  it("of one order touches no other", () => {
    const store = setting({ ordId: "3" }, { ordId: "4" });
    store.merge(record({ ordId: "1", state: "filled" }));
    store.merge(record({ ordId: "9", state: "canceled" }));
    expect(ids(store.active())).toEqual(["4", "3"]);
    expect(ids(store.finished())).toEqual(["9", "1"]);
  });
});

describe("An order that is forgotten", () => {
  it("is in no list any more, and that is said once", () => {
    const store = setting({ ordId: "5" }, { ordId: "6" });
    const forgotten: string[] = [];
    store.onForgotten(({ ordId }) => forgotten.push(ordId));
    store.forget("5");
    store.forget("5");
    expect(forgotten).toEqual(["5"]);
    expect(ids(store.active())).toEqual(["6"]);
    expect(store.finished()).toEqual([]);
    expect(store.find({ ordId: "5" })).toBeUndefined();
  });

  it("leaves its client id to another order, though that be older", () => {
    const store = setting({ ordId: "9" });
    store.forget("9");
    store.merge(record({ ordId: "5" }));
    expect(store.find({ clOrdId: "c" })?.ordId).toBe("5");
  });

  it("takes no client id from the newer order that has it", () => {
    const store = setting({ ordId: "7" }, { ordId: "8" });
    store.forget("7");
    expect(store.find({ clOrdId: "c" })?.ordId).toBe("8");
  });

  it("stays when it is over, or was never heard of", () => {
    const store = setting({ ordId: "5", state: "filled" }, { ordId: "6" });
    const forgotten: OrderRecord[] = [];
    store.onForgotten((one) => forgotten.push(one));
    for (const ordId of ["5", "4", "7"]) store.forget(ordId);
    expect(forgotten).toEqual([]);
    expect(ids(store.finished())).toEqual(["5"]);
    expect(ids(store.active())).toEqual(["6"]);
  });
});

describe("An order that was cancelled", () => {
  it("is ending until it is over", () => {
    const store = setting({ ordId: "5" }, { ordId: "6" });
    store.ending("5");
    expect(["5", "6"].map((ordId) => store.isEnding(ordId))).toEqual([true, false]);
    store.merge(record({ ordId: "5", state: "canceled" }));
    expect(store.isEnding("5")).toBe(false);
  });

  it("is ending until it is forgotten", () => {
    const store = setting({ ordId: "5" });
    store.ending("5");
    store.forget("5");
    expect(store.isEnding("5")).toBe(false);
  });

  it("is not ending when it is over already, or was never heard of", () => {
    const store = setting({ ordId: "5", state: "filled" });
    for (const ordId of ["5", "6"]) store.ending(ordId);
    expect(["5", "6"].map((ordId) => store.isEnding(ordId))).toEqual([false, false]);
  });
});

describe("An order is found", () => {
  it.each<[string, Parameters<OrderStore["find"]>[0], string | undefined]>([
    ["by its id", { ordId: "5" }, "5"],
    ["by the client's id", { clOrdId: "d" }, "6"],
    ["by its id where both are given", { ordId: "5", clOrdId: "d" }, "5"],
    ["not by an id nobody has", { ordId: "7" }, undefined],
    ["not by a client's id nobody gave", { clOrdId: "e" }, undefined],
    ["not by an empty client's id, which is none", { clOrdId: "" }, undefined],
    ["not by nothing", {}, undefined],
  ])("%s", (_, id, expected) => {
    const store = setting({ ordId: "5", clOrdId: "" }, { ordId: "6", clOrdId: "d", state: "filled" });
    expect(store.find(id)?.ordId).toBe(expected);
  });
});

describe("Finished orders in the order store", () => {
  const finish = (store: OrderStore, from: number, to: number): void => {
    for (let id = from; id <= to; id++)
      store.merge(record({ ordId: String(id), clOrdId: `c${id}`, state: "canceled" }));
  };
  const span = (from: number, to: number): string[] =>
    Array.from({ length: from - to + 1 }, (_, index) => String(from - index));

  it("are kept by a thousand, the last first, however many came before", () => {
    const store = new OrderStore();
    for (const last of [1_000, 1_001, 1_999, 2_000, 2_001, 2_500, 3_100]) {
      finish(store, 1 + Number(store.finished()[0]?.ordId ?? "0"), last);
      expect(ids(store.finished())).toEqual(span(last, last - 999));
    }
    expect(store.find({ clOrdId: "c2100" })).toBeUndefined();
    expect(store.find({ clOrdId: "c2101" })?.ordId).toBe("2101");
  });

  it("of which more is heard keep their place and are still dropped once", () => {
    const store = new OrderStore();
    finish(store, 1, 2);
    for (const fee of ["1", "2", "3"]) store.merge(record({ ordId: "1", clOrdId: "c1", state: "canceled", fee }));
    expect(store.finished().map(({ ordId, fee }) => `${ordId} ${fee}`)).toEqual(["2 0", "1 3"]);
    finish(store, 3, 1_005);
    expect(ids(store.finished())).toEqual(span(1_005, 6));
  });

  it("leave the client's id to another order when they are dropped", () => {
    const store = new OrderStore();
    finish(store, 2, 1_002);
    store.merge(record({ ordId: "1", clOrdId: "c2" }));
    expect(store.find({ clOrdId: "c2" })?.ordId).toBe("1");
  });
});
