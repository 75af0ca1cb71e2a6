import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type CandleRow,
  ControlDocument,
  type ControlUpdate,
  candleKey,
  candlesMax,
  mergeUpdates,
  type OrderRow,
  ordersOverMax,
  rowsMax,
} from "../../../plugins/control-room/index.ts";

const order = (clOrdId: string, changes: Partial<OrderRow> = {}): OrderRow => ({
  clOrdId,
  strategy: "ladder",
  slot: "bid",
  instId: "BTC-USDT",
  side: "buy",
  ordType: "limit",
  px: "60000",
  qty: "0.1",
  sz: "6000",
  filledQty: "0",
  avgPx: "",
  phase: "live",
  isFinal: false,
  reason: "",
  placedAt: 1,
  changedAt: 1,
  ...changes,
});
const over = { phase: "canceled", isFinal: true } as const;
const money = (profit: string) => ({ currency: "USDT", profit, realised: profit, unrealised: "0", fees: "0" });
const bar = (instId: string, at: number): CandleRow => ({ instId, at, o: "1", h: "2", l: "1", c: "2" });

describe("The control document", () => {
  it("tells each changed row once, the latest, and what went as null", () => {
    const document = new ControlDocument("main");
    document.put("money", "USDT", money("1"));
    document.put("money", "USDT", money("2"));
    document.put("orders", "a", order("a"));
    expect(document.take(5)).toEqual({
      source: "main",
      seq: 1,
      at: 5,
      rows: [
        ["money", "USDT", money("2")],
        ["orders", "a", order("a")],
      ],
    });
    document.drop("orders", "a");
    document.drop("orders", "never there");
    expect(document.take(6)).toEqual({ source: "main", seq: 2, at: 6, rows: [["orders", "a", null]] });
    expect(document.take(7)).toBeUndefined();
    expect(document.snapshot()).toEqual({ source: "main", seq: 2, at: 6, rows: [["money", "USDT", money("2")]] });
  });

  it("leaves unchanged rows out, and replaces a section as a whole", () => {
    const document = new ControlDocument("main");
    const rows = (...profits: string[]) => profits.map((profit, index) => [`${index}`, money(profit)] as const);
    document.replace("money", rows("1", "2", "3"));
    document.take(1);
    document.replace("money", rows("1", "5"));
    expect(document.take(2)?.rows).toEqual([
      ["money", "1", money("5")],
      ["money", "2", null],
    ]);
  });

  it("keeps all open orders, and of those that are over the last thousand", () => {
    const document = new ControlDocument("main");
    for (let index = 0; index < 2 * ordersOverMax; index++)
      document.put("orders", `open ${index}`, order(`open ${index}`));
    for (let index = 0; index < ordersOverMax + 3; index++)
      document.put("orders", `open ${index}`, order(`open ${index}`, over));
    const kept = document.rows("orders");
    expect(kept.filter(({ isFinal }) => isFinal)).toHaveLength(ordersOverMax);
    expect(kept.filter(({ isFinal }) => !isFinal)).toHaveLength(ordersOverMax - 3);
    expect(document.row("orders", "open 2")).toBeUndefined();
    expect(document.row("orders", "open 3")).toMatchObject(over);
    expect(
      document
        .take(1)
        ?.rows.filter(([, , row]) => row === null)
        .map(([, key]) => key),
    ).toEqual(["open 0", "open 1", "open 2"]);
  });

  it("keeps so many candles of each instrument, and so many rows of every section", () => {
    const document = new ControlDocument("main");
    for (let at = 0; at < candlesMax + 5; at++) {
      for (const instId of ["BTC-USDT", "ETH-USDT"]) document.put("candles", candleKey(instId, at), bar(instId, at));
    }
    expect(document.rows("candles").filter(({ instId }) => instId === "BTC-USDT")).toHaveLength(candlesMax);
    expect(document.row("candles", candleKey("ETH-USDT", 4))).toBeUndefined();
    expect(document.row("candles", candleKey("ETH-USDT", 5))).toBeDefined();
    for (let seq = 0; seq < rowsMax.events + 7; seq++) {
      document.put("events", `${seq}`, { seq, at: seq, type: "fill", text: "", severity: "info" });
    }
    expect(document.keys("events")).toHaveLength(rowsMax.events);
    expect(document.keys("events")[0]).toBe("7");
  });

  it("thins the equity curve and keeps both of its ends", () => {
    const document = new ControlDocument("main");
    for (let at = 0; at < 10_000; at++)
      document.put("equity", `${at}`, { at, profit: { USDT: `${at}` }, strategies: {} });
    const kept = document.rows("equity").map(({ at }) => at);
    expect(kept.length).toBeLessThanOrEqual(rowsMax.equity);
    expect(kept.length).toBeGreaterThan(rowsMax.equity / 2 - 1);
    expect([kept[0], kept.at(-1)]).toEqual([0, 9_999]);
  });

  it("takes keys of any spelling as text", () => {
    const document = new ControlDocument("main");
    for (const key of ["__proto__", "constructor", "toString"]) document.put("money", key, money("1"));
    expect(document.keys("money")).toEqual(["__proto__", "constructor", "toString"]);
    expect(({} as { currency?: string }).currency).toBeUndefined();
  });

  const changes = fc.array(
    fc.record({
      key: fc.constantFrom("a", "b", "c", "__proto__"),
      value: fc.option(fc.integer({ min: 0, max: 3 })),
      take: fc.boolean(),
    }),
    { maxLength: 60 },
  );
  it("is equal wherever its updates arrive, one by one or merged, after any snapshot", () => {
    fc.assert(
      fc.property(changes, fc.nat(60), (steps, from) => {
        const origin = new ControlDocument("main");
        const follower = new ControlDocument("main");
        const merged = new ControlDocument("main");
        let waiting: ControlUpdate | undefined;
        for (const [index, { key, value, take }] of steps.entries()) {
          if (value === null) origin.drop("money", key);
          else origin.put("money", key, money(`${value}`));
          if (index === from) {
            follower.apply(origin.snapshot());
            merged.apply(origin.snapshot());
          }
          const update = take ? origin.take(index) : undefined;
          if (update === undefined || index < from) continue;
          follower.apply(update);
          waiting = waiting === undefined ? update : mergeUpdates(waiting, update);
        }
        const last = origin.take(100);
        if (steps.length <= from) return;
        if (last !== undefined) {
          follower.apply(last);
          waiting = waiting === undefined ? last : mergeUpdates(waiting, last);
        }
        if (waiting !== undefined) merged.apply(waiting);
        const kept = (document: ControlDocument) =>
          new Map(document.keys("money").map((key) => [key, document.row("money", key)]));
        expect(kept(follower)).toEqual(kept(origin));
        expect(kept(merged)).toEqual(kept(origin));
      }),
    );
  });
});
