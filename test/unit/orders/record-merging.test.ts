/**
 * Order of arrival does not matter: any permutation of what was told of an order gives the same record.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { OrderRecord } from "../../../src/contract/schemas.ts";
import { compare } from "../../../src/decimal.ts";
import { mergeRecords, OrderStore } from "../../../src/orders/state/order-store.ts";
import { orderRecord as record } from "../../support/harness/order-record.ts";
import { bid, ready } from "../../support/harness/orders.ts";

const anyRecord = fc
  .record({
    state: fc.constantFrom("live", "partially_filled", "filled", "canceled"),
    accFillSz: fc.constantFrom("", "0", "0.0", "1", "2.5", "10"),
    avgPx: fc.constantFrom("", "1", "1.1"),
    fee: fc.constantFrom("0", "-0.1"),
    updatedAt: fc.constantFrom("1000", "1001", "2000"),
  } as const)
  .map((over) => record(over as Partial<OrderRecord>));

const told = (records: readonly OrderRecord[]): OrderRecord => {
  const store = new OrderStore();
  for (const one of records) store.merge(one);
  return store.find({ ordId: "5" }) as OrderRecord;
};

describe("Merging order records", () => {
  it("gives the same record for every permutation, also with repeats", () => {
    fc.assert(
      fc.property(
        fc.array(anyRecord, { minLength: 1, maxLength: 6 }),
        fc.infiniteStream(fc.nat()),
        (records, numbers) => {
          const shuffled = records
            .map((one) => [numbers.next().value as number, one] as const)
            .sort(([a], [b]) => a - b)
            .map(([, one]) => one);
          expect(told([...shuffled, ...records.slice(0, 2)])).toEqual(told(records));
        },
      ),
      { numRuns: 500 },
    );
  });

  it("never lets filled size fall nor a final state become another", () => {
    fc.assert(
      fc.property(fc.array(anyRecord, { minLength: 1, maxLength: 6 }), (records) => {
        const store = new OrderStore();
        store.onChange((next, previous) => {
          if (previous === undefined) return;
          expect(compare(next.accFillSz || "0", previous.accFillSz || "0")).toBeGreaterThanOrEqual(0);
          if (previous.state === "filled" || previous.state === "canceled")
            expect(["filled", "canceled"]).toContain(next.state);
        });
        for (const one of records) store.merge(one);
      }),
      { numRuns: 300 },
    );
  });

  it("says nothing new twice", () => {
    fc.assert(
      fc.property(anyRecord, anyRecord, (a, b) => {
        const both = mergeRecords(a, b);
        expect(mergeRecords(both, b)).toBe(both);
        expect(mergeRecords(both, a)).toBe(both);
      }),
    );
  });

  it("keeps the very record where one says everything", () => {
    const live = record();
    const filled = record({ state: "filled", accFillSz: "10", updatedAt: "2000" });
    expect(mergeRecords(live, filled)).toBe(filled);
    expect(mergeRecords(filled, live)).toBe(filled);
  });

  it("keeps the fills of a late partial fill when the order was cancelled", () => {
    const merged = told([
      record({ state: "canceled", updatedAt: "3000" }),
      record({ state: "partially_filled", accFillSz: "2", avgPx: "1", updatedAt: "2000" }),
    ]);
    expect(merged).toMatchObject({ state: "canceled", accFillSz: "2", avgPx: "1", updatedAt: "3000" });
  });
});

describe("The order store", () => {
  it("lists active orders from new to old by ids of any length", () => {
    const store = new OrderStore();
    for (const ordId of ["9", "1000000000000000001", "10", "1000000000000000000", "99"])
      store.merge(record({ ordId, clOrdId: "" }));
    store.merge(record({ ordId: "99", clOrdId: "", state: "filled" }));
    expect(store.active().map(({ ordId }) => ordId)).toEqual(["1000000000000000001", "1000000000000000000", "10", "9"]);
    expect(store.finished().map(({ ordId }) => ordId)).toEqual(["99"]);
  });

  it("finds the newest order of a client id, whichever was told first", () => {
    for (const ids of [
      ["7", "8"],
      ["8", "7"],
    ]) {
      const store = new OrderStore();
      for (const ordId of ids) store.merge(record({ ordId }));
      expect(store.find({ clOrdId: "c" })?.ordId).toBe("8");
    }
  });

  it("keeps a thousand finished orders", () => {
    const store = new OrderStore();
    for (let i = 1; i <= 1_005; i++) store.merge(record({ ordId: String(i), clOrdId: `c${i}`, state: "canceled" }));
    expect(store.finished()).toHaveLength(1_000);
    expect(store.find({ clOrdId: "c5" })).toBeUndefined();
    expect(store.find({ clOrdId: "c6" })?.ordId).toBe("6");
  });

  it("does not change a list it gave away", () => {
    const store = new OrderStore();
    store.merge(record());
    const list = store.active();
    store.merge(record({ state: "filled" }));
    expect(list).toHaveLength(1);
  });
});

it("Push, poll and reply in any order end in the same state", () => {
  const ends = [0, 300, 3_000].flatMap((backMs) =>
    [true, false].map((push) => {
      const rig = ready({ push });
      rig.resources.pending.value$.subscribe();
      rig.next("placeOrder", { backMs });
      rig.want(bid({ qty: "0.01" }));
      rig.run(100);
      rig.trade("sell", 60000, 0.004);
      rig.run(20_000);
      rig.trade("sell", 59999, 1);
      rig.run(30_000);
      const { phase, record: last } = rig.updates.at(-1) ?? {};
      return `${phase} ${last?.accFillSz} ${rig.places().length} ${rig.orderManager.orders().length}`;
    }),
  );
  expect(new Set(ends)).toEqual(new Set(["filled 600 1 0"]));
});
