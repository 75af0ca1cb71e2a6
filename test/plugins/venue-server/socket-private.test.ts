/**
 * The private channels: orders, positions and balances, to whom they belong, in the order they changed.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { balanceRecord, type OrderRecord, orderRecord, positionRecord } from "../../../src/contract/schemas.ts";
import { requestProblems } from "../../../src/contract/validate.ts";
import { spot, swap } from "../../support/harness/venue.ts";
import { keys, rig, startAt, subscribed } from "./harness/sockets.ts";

const states = (heard: { event: string; data: readonly OrderRecord[] }[]) =>
  heard
    .filter(({ event }) => event === "orders")
    .map(({ data: [record] }) => [record?.ordId, record?.state, record?.accFillSz]);

describe("The order channel: orders", () => {
  it("are pushed as the listings show them, to every connection of their user and to nobody else", async () => {
    const { member, connect, placed, order } = await rig();
    const [one, two, bob, stranger] = [
      await member(keys.ann),
      await member(keys.ann),
      await member(keys.bob),
      await connect(),
    ];
    for (const client of [one, two, bob]) await subscribed(client, { channel: "orders" });
    const ordId = placed({ px: "50000", clOrdId: "mine" });
    const push = {
      event: "orders",
      arg: { channel: "orders" },
      data: [order(ordId)],
      ts: startAt,
      seqId: 0,
      prevSeqId: -1,
    };
    expect(await one.take()).toEqual(push);
    expect(await two.take()).toEqual(push);
    placed({ px: "50000" }, { key: "bob-1" });
    expect(await bob.rest()).toMatchObject([{ data: [{ px: "50000" }], seqId: 0 }]);
    expect(await one.rest()).toEqual([]);
    expect(await stranger.rest()).toEqual([]);
  });

  it("come in the order they happened, also when one event moves several", async () => {
    const { member, placed, trade, write } = await rig();
    const ann = await member(keys.ann);
    await subscribed(ann, { channel: "orders" });
    const first = placed({ px: "60000", sz: "600" });
    const second = placed({ px: "60001", sz: "600" });
    trade(swap, "sell", 60000, 0.004);
    write("trade/cancel-batch-orders", [{ instId: swap, ordId: first }]);
    const heard = await ann.rest();
    expect(states(heard)).toEqual([
      [first, "live", "0"],
      [second, "live", "0"],
      [second, "filled", "540.009"],
      [first, "partially_filled", "240"],
      [first, "canceled", "240"],
    ]);
    expect(heard.map(({ prevSeqId, seqId }) => [prevSeqId, seqId])).toEqual(
      heard.map((_, index) => [index - 1, index]),
    );
  });

  it("any story of two users: each hears every change of its own orders once, in order", async () => {
    const step = fc.record({
      key: fc.constantFrom("ann-1", "bob-1"),
      kind: fc.constantFrom("buy", "sell", "print", "cancel"),
      px: fc.integer({ min: 59_995, max: 60_005 }),
      instId: fc.constantFrom(swap, spot),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
        const { member, place, trade, write, changes, venue } = await rig();
        const [ann, bob] = [await member(keys.ann), await member(keys.bob)];
        for (const client of [ann, bob]) await subscribed(client, { channel: "orders" });
        for (const { key, kind, px, instId } of steps) {
          if (kind === "print") trade(instId, "sell", px, 0.005);
          else if (kind === "cancel") {
            const ordId = venue.truth(key.slice(0, 3)).orders[0]?.ordId ?? "1";
            write("trade/cancel-batch-orders", [{ instId: swap, ordId }], { key });
          } else place({ side: kind, px: String(px), instId }, { key });
        }
        const told = (uid: string) => changes.filter((change) => change.uid === uid).map(({ record }) => record);
        expect((await ann.rest()).flatMap(({ data }) => data)).toEqual(told("ann"));
        expect((await bob.rest()).flatMap(({ data }) => data)).toEqual(told("bob"));
      }),
      { numRuns: 10 },
    );
  });
});

describe("The position and account channels:", () => {
  it("follow the order that moved them, with what it moved only", async () => {
    const { member, placed, trade, quote, position, balance } = await rig();
    const ann = await member(keys.ann);
    await subscribed(ann, { channel: "orders" }, { channel: "positions" }, { channel: "account" });
    placed({ px: "60000", sz: "600" });
    expect(await ann.rest()).toMatchObject([
      { event: "orders", data: [{ state: "live" }] },
      { event: "account", data: [{ currency: "USDT", balance: "100000" }], prevSeqId: -1 },
    ]);
    trade(swap, "sell", 60000, 1);
    const filled = await ann.rest();
    expect(filled.map(({ event }) => event)).toEqual(["orders", "positions", "account"]);
    expect(filled[1].data).toEqual([position()]);
    expect(filled[1].data[0]).toMatchObject({ instId: swap, pos: "0.01", avgPx: "60000" });
    expect(filled[2].data).toEqual([balance("USDT")]);
    const schemas = [orderRecord, positionRecord, balanceRecord];
    filled.forEach(({ data }, index) => {
      expect(requestProblems(schemas[index] as object, data[0])).toEqual([]);
    });
    quote(swap, 61000, 1, 61001, 1);
    expect(await ann.rest()).toEqual([]);
    placed({ px: "50000", sz: "500" });
    expect((await ann.rest()).map(({ event }) => event)).toEqual(["orders", "account"]);
    placed({ px: "61001", sz: "610.01" });
    expect(await ann.rest()).toMatchObject([
      { event: "orders", data: [{ state: "filled" }] },
      { event: "positions", data: [{ instId: swap, pos: "0.02" }] },
      { event: "account" },
    ]);
  });

  it("a position that is gone is told once more with a size of 0", async () => {
    const { member, placed, write, quote } = await rig();
    quote(swap, 59999, 1, 60000, 1);
    placed({ ordType: "market", px: undefined, sz: "600" });
    const ann = await member(keys.ann);
    await subscribed(ann, { channel: "positions" });
    write("trade/close-position", { instId: swap });
    expect((await ann.take()).data).toEqual([{ instId: swap, pos: "0", avgPx: "" }]);
    expect(await ann.rest()).toEqual([]);
  });

  it("what changed while nobody listened is no news", async () => {
    const { member, placed } = await rig();
    const ann = await member(keys.ann);
    await subscribed(ann, { channel: "orders" });
    placed({ px: "50000", instId: spot, sz: "500" });
    await subscribed(ann, { channel: "account" });
    placed({ px: "50000", side: "sell", instId: spot, sz: "500" });
    const accounts = (await ann.rest()).filter(({ event }) => event === "account");
    expect(accounts.map(({ data }) => data.map(({ currency }: { currency: string }) => currency))).toEqual([["BTC"]]);
  });

  it("nothing is read for users nobody listens to", async () => {
    const { member, placed, venue, sockets } = await rig();
    const ann = await member(keys.ann);
    await subscribed(ann, { channel: "account" });
    ann.socket.close();
    await expect.poll(() => sockets.count, { timeout: 5_000 }).toBe(0);
    let reads = 0;
    const holdings = venue.holdings.bind(venue);
    const counted = (uid: string) => {
      reads++;
      return holdings(uid);
    };
    Object.assign(venue, { holdings: counted });
    placed({ px: "50000" });
    expect(reads).toBe(0);
  });
});
