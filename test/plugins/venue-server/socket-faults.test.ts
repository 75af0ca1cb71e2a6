/**
 * Faults on a socket, as a client sees them.
 */
import { describe, expect, it } from "vitest";
import type { FaultPlan } from "../../../plugins/venue-server/server/faults.ts";
import { spot, swap } from "../../support/harness/venue.ts";
import { type Heard, rig, startAt, subscribed } from "./harness/sockets.ts";

const trades = { channel: "trades", instId: swap };

/** A client of the trades of two products, and a way to print trades. */
const spoiled = async (...socket: NonNullable<FaultPlan["socket"]>) => {
  const it = await rig({ faults: { socket } });
  const client = await it.connect();
  await subscribed(client, trades, { channel: "trades", instId: spot });
  const print = (instId = swap): void => it.board.trade({ instId, px: "1", sz: "1", side: "sell", at: startAt });
  return { ...it, client, print };
};

const numbers = (heard: Heard[]) => heard.map((message) => (typeof message === "string" ? "?" : message.seqId));

describe("A fault on a socket", () => {
  it("gap: the sequence advances, the message is not there", async () => {
    const { client, print } = await spoiled({ kind: "gap", count: 1 });
    for (let count = 0; count < 3; count++) print();
    expect((await client.rest()).map(({ prevSeqId, seqId }) => [prevSeqId, seqId])).toEqual([
      [0, 1],
      [1, 2],
    ]);
  });

  it("duplicate: the message comes twice", async () => {
    const { client, print } = await spoiled({ kind: "duplicate", count: 1 });
    print();
    print();
    const heard = await client.rest();
    expect(numbers(heard)).toEqual([0, 0, 1]);
    expect(heard[0]).toEqual(heard[1]);
  });

  it("reorder: the message comes after the next one of its stream", async () => {
    const { client, print } = await spoiled({ kind: "reorder", count: 1 });
    print();
    print(spot);
    print();
    print();
    expect((await client.rest()).map(({ arg, seqId }) => [arg.instId, seqId])).toEqual([
      [spot, 0],
      [swap, 1],
      [swap, 0],
      [swap, 2],
    ]);
  });

  it("reorder of every message swaps them two by two; one that waits is dropped with its subscription", async () => {
    const { client, print } = await spoiled({ kind: "reorder" });
    for (let count = 0; count < 5; count++) print();
    expect(numbers(await client.rest())).toEqual([1, 0, 3, 2]);
    client.say({ op: "unsubscribe", args: [trades] });
    await subscribed(client, trades);
    print();
    print();
    expect(numbers(await client.rest())).toEqual([1, 0]);
  });

  it("garbage: text that is no message comes instead", async () => {
    const { client, print } = await spoiled({ kind: "garbage", count: 1 });
    print();
    print();
    expect(numbers(await client.rest())).toEqual(["?", 1]);
  });

  it("delay: the message and all behind it come later, in order", async () => {
    const { client, print, clock } = await spoiled({ kind: "delay", ms: 400, count: 1 });
    print();
    print(spot);
    client.say("ping");
    clock.advanceTo(startAt + 399);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(client.heard.filter(({ event }) => event === "trades")).toEqual([]);
    clock.advanceTo(startAt + 400);
    expect(await client.take()).toMatchObject({ arg: { instId: swap }, seqId: 0 });
    expect(await client.take()).toMatchObject({ arg: { instId: spot }, seqId: 0 });
    expect(await client.take()).toBe("pong");
    print();
    expect(numbers(await client.rest())).toEqual([1]);
  });

  it("delay: what waits is bounded like everything else", async () => {
    const { board, clock, connect } = await rig({
      faults: { socket: [{ kind: "delay", ms: 1_000 }] },
      backlogBytesMax: 2_000,
    });
    const client = await connect();
    await subscribed(client, trades);
    for (let count = 0; count < 50; count++) board.trade({ instId: swap, px: "1", sz: "1", side: "sell", at: startAt });
    expect(await client.closed).toMatchObject({ code: 1008, reason: expect.stringMatching(/^too slow/) });
    expect(clock.pending).toBe(0);
  });

  it("delay: what has left no longer counts", async () => {
    const { board, clock, connect } = await rig({
      faults: { socket: [{ kind: "delay", ms: 10 }] },
      backlogBytesMax: 1_000,
    });
    const client = await connect();
    await subscribed(client, trades);
    for (let count = 1; count <= 20; count++) {
      board.trade({ instId: swap, px: "1", sz: "1", side: "sell", at: startAt });
      clock.advanceTo(startAt + count * 10);
      expect(await client.take()).toMatchObject({ seqId: count - 1 });
    }
  });

  it("close: the connection is closed, and the next one works", async () => {
    const { client, print, connect, board } = await spoiled({ kind: "close", count: 1 });
    print();
    expect(await client.closed).toEqual({ code: 1012, reason: "the service restarts" });
    expect(client.heard.filter(({ event }) => event === "trades")).toEqual([]);
    const next = await connect();
    await subscribed(next, trades);
    board.trade({ instId: swap, px: "1", sz: "1", side: "sell", at: startAt });
    expect(numbers(await next.rest())).toEqual([0]);
  });

  it("half_open: nothing is said any more, not even to pings, and the connection stays whatever the silence", async () => {
    const { client, print, clock, sockets } = await spoiled({ kind: "half_open", fromMs: 10 });
    print();
    expect(numbers(await client.rest())).toEqual([0]);
    clock.advanceTo(startAt + 10);
    const before = client.heard.length;
    print();
    client.say("ping");
    client.say("{");
    let ponged = false;
    client.socket.on("pong", () => {
      ponged = true;
    });
    client.socket.ping();
    await new Promise((resolve) => setTimeout(resolve, 20));
    clock.advanceTo(startAt + 120_000);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(client.heard).toHaveLength(before);
    expect(ponged).toBe(false);
    expect(sockets.count).toBe(1);
    expect(client.socket.readyState).toBe(client.socket.OPEN);
    expect(clock.pending).toBe(0);
  });

  it("half_open: what was on its way does not come either", async () => {
    const { client, print, clock } = await spoiled({ kind: "delay", ms: 100, count: 1 }, { kind: "half_open" });
    print();
    print();
    expect(clock.pending).toBe(0);
    clock.advanceTo(startAt + 1_000);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(client.heard.filter(({ event }) => event === "trades")).toEqual([]);
  });

  it("half_open: a connection past hearing uses no other fault up", async () => {
    const { client, print, connect } = await spoiled({ kind: "half_open", count: 1 }, { kind: "gap", count: 1 });
    print();
    print();
    const next = await connect();
    await subscribed(next, trades);
    print();
    print();
    expect(numbers(await next.rest())).toEqual([1]);
    expect(client.heard.filter(({ event }) => event === "trades")).toEqual([]);
  });

  it("meets only the channel it names, and never an answer", async () => {
    const { client, print, board } = await spoiled({ kind: "gap", channel: "tickers" });
    await subscribed(client, { channel: "tickers", instId: swap });
    print();
    board.ticker({ instId: swap, last: "1", bidPx: "1", bidSz: "1", askPx: "2", askSz: "1", at: startAt });
    expect((await client.rest()).map(({ event }) => event)).toEqual(["trades"]);
  });
});
