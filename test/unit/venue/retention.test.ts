/** How long completed orders are kept, and that the service does not grow with every order. */
import { describe, expect, it } from "vitest";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { createContract } from "../../../src/contract/contract.ts";
import { lateListings } from "../../../src/venue/late-listings.ts";
import { setting, swap } from "../../support/harness/venue.ts";

const cancelPath = "trade/cancel-batch-orders";
const startAt = 1_700_000_100_000;

const open = (history: { retentionMs?: number; ordersMax?: number }) => {
  const it = setting({ history, order: { duplicateClOrdId: "refused" } });
  let now = startAt;
  const ids: string[] = [];
  /** Places and cancels `count` orders, a millisecond each. */
  const churn = (count: number, name = ""): readonly string[] => {
    for (let index = 0; index < count; index++) {
      const ordId = it.placed({ px: "50000", ...(name === "" ? {} : { clOrdId: `${name}${index}` }) }, { at: now++ });
      it.write(cancelPath, [{ instId: swap, ordId }], { at: now++ });
      ids.push(ordId);
    }
    return ids;
  };
  const pass = (ms: number): void => {
    now += ms;
  };
  return { ...it, churn, pass, ids, now: () => now };
};

describe("Completed orders", () => {
  it("are dropped after their time: neither id finds them, and the client id may be used again", () => {
    const { churn, pass, read, placed, now, ids } = open({ retentionMs: 10_000 });
    churn(3, "c");
    const again = () => placed({ px: "50000", clOrdId: "c0" }, { at: now() });
    expect(again).toThrow();
    pass(10_001);
    const resting = placed({ px: "50000", clOrdId: "rests" }, { at: now() });
    for (const query of [{ ordId: ids[0] as string }, { clOrdId: "c1" }]) {
      expect(read("trade/order", query, { at: now() }).body.code).toBe("51603");
    }
    again();
    pass(1_000_000);
    churn(2);
    expect(read("trade/order", { ordId: resting }, { at: now() }).body.data).toMatchObject([{ state: "live" }]);
  });

  it("give way to later ones when a user has more than are kept, the first ended first", () => {
    const { churn, placed, read, write, now, venue } = open({ ordersMax: 3 });
    const first = placed({ px: "50000" }, { at: now() });
    const ids = churn(5);
    write(cancelPath, [{ instId: swap, ordId: first }], { at: now() });
    placed({ px: "50000" }, { at: now() });
    const listed = read("trade/orders/history", {}, { at: now() }).body.data.map(({ ordId }) => ordId);
    expect(listed).toEqual([ids[4], ids[3], first]);
    expect(venue.truth("ann").orders).toHaveLength(4);
  });

  it("are paged through as before, also by a cursor that names one that was dropped", () => {
    const { churn, read, now } = open({ ordersMax: 1_000 });
    const ids = churn(2_400);
    const listed = (query: Record<string, string>) =>
      read("trade/orders/history", query, { at: now() }).body.data.map(({ ordId }) => ordId);
    const seen: (string | undefined)[] = [];
    for (
      let page = listed({ limit: "100" });
      page.length > 0;
      page = listed({ limit: "100", after: page.at(-1) as string })
    )
      seen.push(...page);
    expect(seen).toEqual(ids.slice(-1_000 - 1).reverse());
    expect(listed({ after: ids[7] as string })).toEqual([]);
    expect(listed({ before: ids[7] as string, limit: "2" })).toEqual(ids.slice(-2).reverse());
  });

  it("do not make the service grow: what is kept of 20,000 is what a moment holds", () => {
    const { churn, venue } = open({ retentionMs: 1_000 });
    churn(20_000, "n");
    expect(venue.truth("ann").orders.length).toBeLessThanOrEqual(502);
  });

  it("are dropped from listings that lag, too", () => {
    const { churn, read, venue, now, pass } = open({ retentionMs: 1_000 });
    const clock = createVirtualClock(now());
    const listings = lateListings(venue, createContract({ history: { retentionMs: 1_000 } }), clock, 50);
    const shown = (): number => {
      clock.advanceTo(now());
      const answer = read("trade/orders/history", {}, { at: now() });
      return (listings.asOf("orderHistory", "ann", { limit: "100" }, answer).body as { data: readonly unknown[] }).data
        .length;
    };
    churn(20);
    pass(100);
    expect(shown()).toBe(20);
    pass(1_000);
    churn(5);
    pass(100);
    expect(shown()).toBe(5);
    listings.stop();
  });
});
