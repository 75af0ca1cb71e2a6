/**
 * The service description on listings and paging, rule by rule, asked from outside.
 */
import { describe, expect, it } from "vitest";
import { setting, spot, swap } from "../../support/harness/venue.ts";

describe("Section 4.2 pending orders, 4.3 order history:", () => {
  const filled = () => {
    const it = setting();
    const live = it.placed({ px: "50000" });
    const partly = it.placed({ px: "60000" });
    const gone = it.placed({ px: "55000" });
    const whole = it.placed({ px: "61000", instId: spot, sz: "610" });
    it.trade(swap, "sell", 60000, 0.004);
    it.trade(spot, "sell", 60000, 0.004);
    it.write("trade/cancel-batch-orders", [{ instId: swap, ordId: gone }]);
    return { ...it, live, partly, gone, whole };
  };

  it("lists live and partly filled orders as pending, newest first", () => {
    const { read, ids, live, partly } = filled();
    expect(ids(read("trade/orders/pending"))).toEqual([partly, live]);
  });

  it("lists filled and canceled orders as history, newest first", () => {
    const { read, ids, gone, whole } = filled();
    expect(ids(read("trade/orders/history"))).toEqual([whole, gone]);
  });

  it("narrows by instType, instId and state", () => {
    const { read, ids, placed, gone, whole, live, partly } = filled();
    const other = placed({ px: "40000", instId: spot, sz: "400" });
    expect(ids(read("trade/orders/pending", { instType: "SPOT" }))).toEqual([other]);
    expect(ids(read("trade/orders/pending", { instType: "SWAP" }))).toEqual([partly, live]);
    expect(ids(read("trade/orders/pending", { instId: spot }))).toEqual([other]);
    expect(ids(read("trade/orders/history", { instType: "SWAP" }))).toEqual([gone]);
    expect(ids(read("trade/orders/history", { state: "filled" }))).toEqual([whole]);
    expect(ids(read("trade/orders/history", { state: "canceled" }))).toEqual([gone]);
  });

  it.each([
    ["trade/orders/pending", { instType: "FUTURES" }],
    ["trade/orders/pending", { state: "filled" }],
    ["trade/orders/history", { state: "live" }],
    ["trade/orders/history", { limit: "ten" }],
    ["trade/orders/history", { limit: "0" }],
    ["trade/orders/history", { after: "12x" }],
  ])("refuses %s with %j", (path, query) => {
    expect(setting().read(path, query as Record<string, string>)).toMatchObject({
      status: 400,
      body: { code: "50002" },
    });
  });
});

describe("Section 8.3 result paging:", () => {
  const many = () => {
    const it = setting();
    const all = Array.from({ length: 120 }, (_, index) =>
      it.placed({ px: String(50000 + index), sz: "100" }),
    ).reverse();
    return { ...it, all };
  };

  it("gives 20 by default and at most 100", () => {
    const { read, ids, all } = many();
    expect(ids(read("trade/orders/pending"))).toEqual(all.slice(0, 20));
    expect(ids(read("trade/orders/pending", { limit: "100" }))).toEqual(all.slice(0, 100));
    expect(read("trade/orders/pending", { limit: "101" }).status).toBe(400);
  });

  it("gives orders older than after, and newer than before, without the one named", () => {
    const { read, ids, all } = many();
    const after = all[9] ?? "";
    expect(ids(read("trade/orders/pending", { after, limit: "3" }))).toEqual(all.slice(10, 13));
    const before = all[3] ?? "";
    expect(ids(read("trade/orders/pending", { before }))).toEqual(all.slice(0, 3));
  });

  it("walks the whole list by after, page by page, without gap or repetition", () => {
    const { read, ids, all } = many();
    const seen: string[] = [];
    for (let page = ids(read("trade/orders/pending")); page.length > 0; ) {
      seen.push(...page);
      page = ids(read("trade/orders/pending", { after: page.at(-1) ?? "" }));
    }
    expect(seen).toEqual(all);
  });

  it("compares ids as whole numbers: ids that a float cannot tell apart, and ids of different length", () => {
    const { placed, read, ids } = setting({}, { firstOrdId: "9007199254740998" });
    const all = Array.from({ length: 4 }, () => placed({ px: "50000" })).reverse();
    expect(ids(read("trade/orders/pending", { after: all[1] ?? "" }))).toEqual(all.slice(2));
    const short = setting({}, { firstOrdId: "9" });
    const [nine, ten] = [short.placed({ px: "50000" }), short.placed({ px: "50000" })];
    expect([nine, ten]).toEqual(["9", "10"]);
    expect(short.ids(short.read("trade/orders/pending", { after: "10" }))).toEqual(["9"]);
    expect(short.ids(short.read("trade/orders/pending", { before: "9" }))).toEqual(["10"]);
  });
});
