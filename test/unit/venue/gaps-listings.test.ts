/**
 * What the description leaves open about listings and history, played both ways through the profile.
 */
import { describe, expect, it } from "vitest";
import type { ProfileOverrides } from "../../../src/contract/profile.ts";
import { setting, swap } from "../../support/harness/venue.ts";

const cancelPath = "trade/cancel-batch-orders";

describe("Gap G6, H6: paging", () => {
  const three = (profile: ProfileOverrides) => {
    const it = setting(profile);
    return { ...it, orders: [it.placed({}), it.placed({}), it.placed({})] as [string, string, string] };
  };
  const path = "trade/orders/pending";

  it("lists oldest first: the same page, turned round", () => {
    const { read, ids, orders } = three({ paging: { newestFirst: false } });
    expect(ids(read(path))).toEqual(orders);
    expect(ids(read(path, { limit: "2" }))).toEqual(orders.slice(1));
  });

  it("includes the order a cursor names", () => {
    const { read, ids, orders } = three({ paging: { cursorIncluded: true } });
    expect(ids(read(path, { after: orders[1] }))).toEqual([orders[1], orders[0]]);
    expect(ids(read(path, { before: orders[1] }))).toEqual([orders[2], orders[1]]);
  });

  it.each([
    ["both", 200, 1],
    ["after_wins", 200, 2],
    ["refused", 400, 0],
  ] as const)("after and before together: %s", (afterAndBefore, status, count) => {
    const { read, orders } = three({ paging: { afterAndBefore } });
    const reply = read(path, { after: orders[2], before: orders[0] });
    expect([reply.status, reply.body.data.length]).toEqual([status, count]);
  });

  it.each([
    ["newest", [4, 3]],
    ["nearest", [2, 1]],
  ] as const)("gives the %s page of more orders than fit above a cursor", (beforePage, expected) => {
    const { read, ids, orders, placed } = three({ paging: { beforePage } });
    const all: readonly string[] = [...orders, placed({}), placed({})];
    expect(ids(read(path, { before: orders[0], limit: "2" }))).toEqual(expected.map((index) => all[index]));
    expect(ids(read(path, { before: orders[0], after: String(all[4]), limit: "2" }))).toEqual([all[3], all[2]]);
  });

  it.each([
    ["refused", 400],
    ["ignored", 200],
  ] as const)("a parameter that no list has is %s", (unknownParameter, status) => {
    const { read } = three({ answers: { unknownParameter } });
    expect(read(path, { instId: "BTC-USDT-SWAP", colour: "red" }).status).toBe(status);
  });

  it("clamps a limit above the maximum", () => {
    const { read, ids } = three({ paging: { limitAboveMax: "clamped" } });
    expect(ids(read(path, { limit: "500" }))).toHaveLength(3);
  });
});

describe("Gap H11: the history", () => {
  const day = 86_400_000;

  it("forgets completed orders after the retention time, in the listing and by id", () => {
    const { placed, write, read, moment } = setting();
    const ordId = placed({});
    write(cancelPath, [{ instId: swap, ordId }]);
    const at = moment() + 7 * day;
    expect(read("trade/orders/history", {}, { at }).body.data).toHaveLength(1);
    expect(read("trade/orders/history", {}, { at: at + 1 }).body.data).toHaveLength(0);
    expect(read("trade/order", { ordId }, { at: at + 2 }).body.code).toBe("51603");
  });

  it.each([
    [false, 2],
    [true, 1],
  ])("canceled orders without a fill vanish: %s", (unfilledCanceledVanish, count) => {
    const { placed, write, read, trade, venue } = setting({ history: { unfilledCanceledVanish } });
    const [a, b] = [placed({}), placed({ px: "50000" })];
    trade(swap, "sell", 60000, 0.001);
    write(cancelPath, [
      { instId: swap, ordId: a },
      { instId: swap, ordId: b },
    ]);
    expect(read("trade/orders/history").body.data).toHaveLength(count);
    expect(read("trade/order", { ordId: b }).body.code).toBe(unfilledCanceledVanish ? "51603" : "0");
    expect(venue.truth("ann").orders).toHaveLength(2);
  });
});
