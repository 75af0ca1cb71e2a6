/**
 * Products that come, change and go; listeners; and set-ups that cannot work.
 */
import { describe, expect, it } from "vitest";
import type { VenueOptions } from "../../../src/venue/venue.ts";
import { everything, instruments, setting, spot, swap } from "../../support/harness/venue.ts";

const inBase = (options: Parameters<typeof setting>[1] = {}) =>
  setting({ order: { szUnit: { SPOT: "base", SWAP: "base" } } }, options);
const listed = ({ read }: ReturnType<typeof setting>) =>
  read("common/instruments").body.data.map(({ instId }) => instId);

describe("Listing an instrument", () => {
  it("adds a product that can be traded at once", () => {
    const it = inBase();
    it.venue.list({ instId: "SOL-USDT", tickSize: "0.01", lotSize: "0.1" }, it.moment());
    expect(listed(it)).toContain("SOL-USDT");
    expect(it.place({ instId: "SOL-USDT", px: "150.01", sz: "0.1" }).body.code).toBe("0");
  });

  it("of a product anew cancels the orders of its earlier life", () => {
    const it = inBase();
    const ordId = it.placed({ sz: "0.1" });
    it.venue.list({ instId: swap, tickSize: "1", lotSize: "1" }, it.moment());
    expect(it.order(ordId).state).toBe("canceled");
    expect(it.place({ px: "60000.1", sz: "1" }).body.code).toBe("51006");
  });
});

describe("Delisting an instrument", () => {
  it("takes a product off the list, cancels its orders and refuses new ones", () => {
    const it = inBase();
    const ordId = it.placed({ sz: "0.1" });
    const other = it.placed({ instId: spot, sz: "0.1" });
    it.venue.delist(swap, it.moment());
    expect(listed(it)).not.toContain(swap);
    expect([ordId, other].map((id) => it.order(id).state)).toEqual(["canceled", "live"]);
    expect(it.changes.at(-1)?.record).toMatchObject({ ordId, state: "canceled" });
    expect(it.balance("USDT")?.frozen).toBe("6003");
    expect(it.place({ sz: "0.1" }).body.code).toBe("51001");
    it.trade(swap, "sell", 1, 1);
  });

  it("leaves positions in place", () => {
    const it = inBase();
    it.quote(swap, 59999, 1, 60000, 1);
    it.placed({ sz: "0.1" });
    it.venue.delist(swap, it.moment());
    expect(it.position()?.pos).toBe("0.1");
  });

  it("of a product never listed is a mistake of ours, by name", () => {
    const { venue } = setting();
    expect(() => venue.delist("XRP-USDT", 1)).toThrow(/"XRP-USDT" was never listed/);
    expect(() => venue.trade("XRP-USDT", "buy", 1, 1, 1)).toThrow(/"XRP-USDT" was never listed/);
  });
});

describe("Changing an instrument", () => {
  it("to coarser steps holds for new orders only", () => {
    const it = inBase();
    const ordId = it.placed({ px: "59999.9", sz: "0.001" });
    it.venue.change(swap, { tickSize: "1", lotSize: "0.01" }, it.moment());
    expect(it.place({ px: "59999.9", sz: "0.01" }).body.code).toBe("51006");
    expect(it.place({ px: "59999", sz: "0.015" }).body.code).toBe("51020");
    expect(it.place({ px: "59999", sz: "0.01" }).body.code).toBe("0");
    it.trade(swap, "sell", 59999.8, 1);
    expect(it.order(ordId)).toMatchObject({ state: "filled", avgPx: "59999.9" });
    expect(it.read("common/instruments", { instId: swap }).body.data[0]).toMatchObject({
      tickSize: "1",
      lotSize: "0.01",
      maxLeverage: "50",
    });
  });

  it("to a coarser lot cuts amounts of money to that lot", () => {
    const it = setting();
    it.venue.change(swap, { lotSize: "0.01" }, it.moment());
    const ordId = it.placed({ px: "60000", sz: "1000" });
    it.trade(swap, "sell", 59999, 1);
    expect(it.order(ordId)).toMatchObject({ state: "filled", accFillSz: "600" });
  });

  it("to finer steps starts an empty book, in which the recording means what it meant", () => {
    const it = inBase();
    it.quote(swap, 59999, 1, 60000, 1);
    const held = it.placed({ px: "60000", sz: "0.001" });
    const open = it.placed({ px: "50000", sz: "0.001" });
    it.venue.change(swap, { tickSize: "0.01", lotSize: "0.0001" }, it.moment());
    expect(it.order(open).state).toBe("canceled");
    expect(it.order(held)).toMatchObject({ state: "filled", avgPx: "60000", accFillSz: "0.001" });
    expect(it.position()?.pos).toBe("0.001");
    it.quote(swap, 59999, 1, 60000, 1);
    const fine = it.placed({ px: "60000.01", sz: "0.0001" });
    expect(it.order(fine)).toMatchObject({ state: "filled", avgPx: "60000", accFillSz: "0.0001" });
    const resting = it.placed({ px: "59999.99", sz: "0.0002" });
    it.trade(swap, "sell", 59999.9, 1);
    expect(it.order(resting)).toMatchObject({ state: "filled", avgPx: "59999.99" });
    expect(it.position()?.pos).toBe("0.0013");
    it.quote(swap, 59999, 1, 60000, 0.001);
    expect(it.order(it.placed({ ordType: "market", px: undefined, sz: "0.002" })).accFillSz).toBe("0.001");
  });

  it("to steps that fit neither way is refused by value", () => {
    const { venue } = setting();
    expect(() => venue.change(swap, { tickSize: "0.03" }, 1)).toThrow(/0\.03/);
    expect(() => venue.change(swap, { tickSize: "fine" }, 1)).toThrow(/tickSize is "fine"/);
  });

  it("of the maximum leverage is seen by set-leverage", () => {
    const it = inBase();
    it.venue.change(swap, { maxLeverage: "125" }, it.moment());
    expect(it.write("account/set-leverage", { instId: swap, lever: "125" }).body.code).toBe("0");
  });
});

describe("Listeners of the venue", () => {
  it("hear of an order after the request has been applied completely", () => {
    const it = inBase();
    it.quote(swap, 59999, 1, 60000, 1);
    const seen: unknown[] = [];
    it.venue.onOrder((uid, record) => seen.push([record.state, it.venue.truth(uid).positions[0]?.pos]));
    it.placed({ px: "60001", sz: "0.1" });
    expect(seen).toEqual([["filled", "0.1"]]);
  });

  it("hear of every user's own orders, with the instant", () => {
    const it = inBase();
    const maker = it.placed({ side: "sell", px: "60000", sz: "0.1" }, { key: "bob-1" });
    const taker = it.placed({ px: "60000", sz: "0.1" });
    const heard = it.changes.map(({ uid, record, at }) => [uid, record.ordId, record.state, at]);
    expect(heard[0]).toEqual(["bob", maker, "live", it.moment() - 1]);
    expect(heard).toHaveLength(3);
    expect(heard).toContainEqual(["bob", maker, "filled", it.moment()]);
    expect(heard).toContainEqual(["ann", taker, "filled", it.moment()]);
  });

  it("may call the service again, and hear of that afterwards, in order", () => {
    const it = inBase();
    const heard: string[] = [];
    let follow = true;
    it.venue.onOrder((_, record) => {
      heard.push(`${record.px} ${record.state}`);
      if (follow) {
        follow = false;
        it.placed({ px: "50001", sz: "0.1" });
      }
      heard.push("done");
    });
    it.placed({ px: "50000", sz: "0.1" });
    expect(heard).toEqual(["50000 live", "done", "50001 live", "done"]);
  });

  it("get one record together, which none of them can spoil", () => {
    const it = inBase();
    const seen: unknown[] = [];
    it.venue.onOrder((_, record) => {
      expect(() => {
        (record as { state: string }).state = "spoiled";
      }).toThrow(TypeError);
      seen.push(record);
    });
    it.venue.onOrder((_, record) => seen.push(record));
    const ordId = it.placed({ sz: "0.1" });
    expect(seen).toEqual([it.order(ordId), it.order(ordId)]);
    expect(seen[0]).toBe(seen[1]);
    expect(it.order(ordId)).not.toBe(seen[0]);
  });

  it("hear the rest of an event with the next one after one of them threw", () => {
    const it = inBase();
    const seen: string[] = [];
    let broken = true;
    it.venue.onFill(() => {
      if (!broken) return;
      broken = false;
      throw new Error("broken listener");
    });
    it.venue.onOrder((_, record) => seen.push(record.state));
    it.quote(swap, 50_000, 1, 50_001, 1);
    expect(() => it.place({ ordType: "market", sz: "0.1" })).toThrow("broken listener");
    expect(seen).toEqual([]);
    it.placed({ px: "40000", sz: "0.1" });
    expect(seen).toEqual(["filled", "live"]);
  });

  it("are not called any more after they left", () => {
    const it = inBase();
    let count = 0;
    const leave = it.venue.onOrder(() => count++);
    const leaveFills = it.venue.onFill(() => count++);
    leave();
    leaveFills();
    it.quote(swap, 59999, 1, 60000, 1);
    it.placed({ sz: "0.1" });
    expect(count).toBe(0);
  });

  it("get fills with every field", () => {
    const it = inBase();
    it.quote(swap, 59999, 1, 60000, 1);
    const ordId = it.placed({ clOrdId: "mine", sz: "0.1" });
    expect(it.fills).toEqual([
      {
        uid: "ann",
        instId: swap,
        ordId,
        clOrdId: "mine",
        side: "buy",
        px: "60000",
        qty: "0.1",
        value: "6000",
        fee: "-3",
        cost: "3",
        liquidity: "taker",
        at: it.moment(),
      },
    ]);
  });
});

describe("The venue's answers to the same calls agree", () => {
  it("byte for byte", () => {
    const run = (): string => {
      const it = inBase();
      it.quote(swap, 59999, 1, 60000, 1);
      const replies = [
        it.place({ sz: "0.1" }),
        it.place({ px: "1", sz: "1" }),
        it.read("trade/orders/pending"),
        it.read("asset/spot"),
      ];
      return JSON.stringify([replies, it.changes, it.fills, it.venue.truth("ann"), it.venue.meterReport()]);
    };
    expect(run()).toBe(run());
  });
});

describe("An invalid venue set-up:", () => {
  const user = { uid: "ann", keys: [{ name: "k", permissions: everything }], balances: {} };
  const cases: readonly (readonly [string, Partial<VenueOptions>, RegExp])[] = [
    ["a user twice", { users: [user, { ...user, keys: [] }] }, /user ann is listed twice/],
    ["a key twice", { users: [user, { ...user, uid: "bob" }] }, /key k is listed twice/],
    [
      "a balance that is no amount",
      { users: [{ ...user, balances: { USDT: "1e3" } }] },
      /user ann, balance USDT: "1e3"/,
    ],
    ["a negative balance", { users: [{ ...user, balances: { USDT: "-1" } }] }, /balance USDT: "-1"/],
    [
      "a fee that is no number",
      { fees: { SPOT: { makerBps: "two", takerBps: "5" }, SWAP: { makerBps: "2", takerBps: "5" } } },
      /fees\.SPOT\.makerBps: "two"/,
    ],
    [
      "an id that is no id",
      { instruments: [{ instId: "btc", tickSize: "1", lotSize: "1" }] },
      /"btc" is not an instrument id/,
    ],
    ["a step of zero", { instruments: [{ instId: swap, tickSize: "0", lotSize: "1" }] }, /tickSize is "0"/],
    [
      "steps finer than money",
      { instruments: [{ instId: swap, tickSize: "0.0000000001", lotSize: "0.0000000001" }] },
      /at most 18 fraction digits/,
    ],
    ["a product twice", { instruments: [...instruments, ...instruments] }, /is listed twice/],
    ["a first id that is no id", { firstOrdId: "x1" }, /firstOrdId: "x1"/],
  ];
  it.each(cases)("%s is refused by name", (_, options, message) => {
    expect(() => setting({}, options)).toThrow(message);
  });

  it("names the users there are when asked for another", () => {
    expect(() => setting().venue.truth("eve")).toThrow(/no user "eve".*ann, bob/);
  });
});
