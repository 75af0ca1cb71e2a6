/**
 * What is said on a socket: requests, acknowledgements, refusals, logins, pings.
 */
import { describe, expect, it } from "vitest";
import { replayMarket } from "../../../src/backtest/serve/market-replay.ts";
import { createTape, seriesOf } from "../../../src/market/tape/tape.ts";
import { createRandom } from "../../../src/random.ts";
import { spot, swap } from "../../support/harness/venue.ts";
import { keys, loginArg, rig, startAt, subscribed } from "./harness/sockets.ts";

const trades = { channel: "trades", instId: swap };

describe("Subscribing to a channel", () => {
  it("acknowledges each argument with the argument and the service's time", async () => {
    const { connect } = await rig();
    const client = await connect();
    client.say({ op: "subscribe", args: [trades, { channel: "candle1m", instId: spot }] });
    expect(await client.take()).toEqual({ event: "subscribe", arg: trades, ts: startAt });
    expect(await client.take()).toEqual({
      event: "subscribe",
      arg: { channel: "candle1m", instId: spot },
      ts: startAt,
    });
    client.say({ op: "unsubscribe", args: [trades] });
    expect(await client.take()).toEqual({ event: "unsubscribe", arg: trades, ts: startAt });
  });

  it("pushes after the acknowledgement and no more after unsubscribing", async () => {
    const { connect, board, clock } = await rig();
    const client = await connect();
    const print = { instId: swap, px: "60000.1", sz: "0.5", side: "buy" as const, at: startAt + 7 };
    board.trade(print);
    await subscribed(client, trades);
    clock.advanceTo(startAt + 9);
    board.trade(print);
    expect(await client.take()).toEqual({
      event: "trades",
      arg: trades,
      data: [{ instId: swap, tradeId: "2", px: "60000.1", sz: "0.5", side: "buy", ts: String(startAt + 7) }],
      ts: startAt + 9,
      seqId: 0,
      prevSeqId: -1,
    });
    client.say({ op: "unsubscribe", args: [trades] });
    await client.takeEvent("unsubscribe");
    board.trade(print);
    expect(await client.rest()).toEqual([]);
    expect(board.listeners).toBe(0);
  });

  it("acknowledges a subscription asked for twice and tells everything once", async () => {
    const { connect, board } = await rig();
    const client = await connect();
    await subscribed(client, trades, trades);
    board.trade({ instId: swap, px: "1", sz: "1", side: "sell", at: startAt });
    expect(await client.rest()).toHaveLength(1);
  });

  it("numbers each subscription on each connection for itself, without holes", async () => {
    const { connect, board } = await rig();
    const [one, two] = [await connect(), await connect()];
    const print = (instId: string) => board.trade({ instId, px: "1", sz: "1", side: "sell", at: startAt });
    await subscribed(one, trades, { channel: "trades", instId: spot });
    print(swap);
    await subscribed(two, trades);
    for (const instId of [swap, spot, swap]) print(instId);
    const numbers = (heard: { arg: { instId: string }; seqId: number; prevSeqId: number }[]) =>
      heard.map(({ arg, seqId, prevSeqId }) => [arg.instId, prevSeqId, seqId]);
    expect(numbers(await one.rest())).toEqual([
      [swap, -1, 0],
      [swap, 0, 1],
      [spot, -1, 0],
      [swap, 1, 2],
    ]);
    expect(numbers(await two.rest())).toEqual([
      [swap, -1, 0],
      [swap, 0, 1],
    ]);
    one.say({ op: "unsubscribe", args: [trades] });
    await subscribed(one, trades);
    print(swap);
    expect(numbers(await one.rest())).toEqual([[swap, -1, 0]]);
  });

  it("leaves the numbers out where the profile does", async () => {
    const { connect, board } = await rig({ profile: { websocket: { sequenced: false } } });
    const client = await connect();
    await subscribed(client, trades);
    board.trade({ instId: swap, px: "1", sz: "1", side: "sell", at: startAt });
    expect(Object.keys(await client.take())).toEqual(["event", "arg", "data", "ts"]);
  });

  it("tells the latest ticker at once, and the whole book before changes to it", async () => {
    const { connect, board } = await rig();
    const client = await connect();
    const best = { instId: swap, last: "9", bidPx: "9", bidSz: "1", askPx: "10", askSz: "2", at: startAt };
    board.ticker(best);
    board.level({ instId: swap, side: "buy", px: "9", sz: "1", at: startAt });
    board.level({ instId: swap, side: "buy", px: "10", sz: "3", at: startAt });
    board.level({ instId: swap, side: "sell", px: "100", sz: "1", at: startAt });
    board.level({ instId: swap, side: "sell", px: "11", sz: "2", at: startAt });
    board.flush(startAt);
    await subscribed(client, { channel: "tickers", instId: swap });
    expect((await client.take()).data).toEqual([
      { instId: swap, last: "9", bidPx: "9", bidSz: "1", askPx: "10", askSz: "2", ts: String(startAt) },
    ]);
    await subscribed(client, { channel: "books", instId: swap });
    expect(await client.take()).toMatchObject({
      action: "snapshot",
      data: [
        {
          instId: swap,
          bids: [
            ["10", "3"],
            ["9", "1"],
          ],
          asks: [
            ["11", "2"],
            ["100", "1"],
          ],
          ts: String(startAt),
        },
      ],
      seqId: 0,
      prevSeqId: -1,
    });
    board.level({ instId: swap, side: "sell", px: "11", sz: "0", at: startAt + 1 });
    board.level({ instId: swap, side: "sell", px: "12", sz: "5", at: startAt + 1 });
    board.flush(startAt + 1);
    expect(await client.take()).toMatchObject({
      action: "update",
      data: [
        {
          bids: [],
          asks: [
            ["11", "0"],
            ["12", "5"],
          ],
        },
      ],
      seqId: 1,
      prevSeqId: 0,
    });
  });
});

describe("A served market over the wire", () => {
  it("gives a client that joins late the book that the service has", async () => {
    const random = createRandom("wire");
    const rows = Array.from({ length: 3_000 }, (_, index) => [
      Math.floor(index / 3),
      random.whole(0, 1) * 2 - 1,
      random.whole(1, 60),
      random.whole(0, 2),
      0,
    ]);
    const columns = [1, 2, 3, 4].map((column) => Float64Array.from(rows, (row) => row[column] as number));
    const levels = seriesOf(
      "level",
      0,
      Float64Array.from(rows, ([ms]) => ms as number),
      columns,
    );
    const tape = createTape([{ instId: swap, tickSize: "0.1", lotSize: "0.001" }], [levels]);
    const { connect, venue, board, clock } = await rig();
    const playing = replayMarket(tape, venue, board, clock);
    const books = { channel: "books", instId: swap };
    const client = await connect();
    clock.advanceTo(startAt + 400);
    await subscribed(client, books);
    clock.advanceTo(startAt + 2_000);
    const own = { bids: new Map<string, string>(), asks: new Map<string, string>() };
    const heard = await client.rest();
    expect(heard.map(({ prevSeqId, seqId }) => [prevSeqId, seqId])).toEqual(
      heard.map((_, index) => [index - 1, index]),
    );
    expect(heard.length).toBeGreaterThan(500);
    for (const { data } of heard) {
      for (const side of ["bids", "asks"] as const) {
        for (const [px, sz] of data[0][side]) {
          if (sz === "0") own[side].delete(px);
          else own[side].set(px, sz);
        }
      }
    }
    const other = await connect();
    await subscribed(other, books);
    const { bids, asks } = (await other.take()).data[0];
    const sorted = (levels: Map<string, string>, sign: 1 | -1) =>
      [...levels].sort(([a], [b]) => sign * (Number(a) - Number(b)));
    expect(bids.length).toBeGreaterThan(10);
    expect(sorted(own.bids, -1)).toEqual(bids);
    expect(sorted(own.asks, 1)).toEqual(asks);
    playing.stop();
  });
});

describe("A refused socket message:", () => {
  it.each<[string, object, string, RegExp]>([
    [
      "a channel nobody knows",
      { channel: "prices", instId: swap },
      "50002",
      /no such channel; there are trades, tickers/,
    ],
    ["a public channel without instrument", { channel: "trades" }, "50002", /needs an instId/],
    ["an instrument that is not listed", { channel: "trades", instId: "DOGE-USDT" }, "51001", /not tradable/],
    ["what is no instrument", { channel: "trades", instId: "doge" }, "50002", /BASE-QUOTE/],
    ["an unknown field", { channel: "trades", instId: swap, depth: 5 }, "50002", /unknown key "depth"/],
    ["a private channel without login", { channel: "orders" }, "50004", /needs a login/],
    ["a private channel with an instrument", { channel: "orders", instId: swap }, "50002", /takes no instId/],
  ])("%s is refused with code, msg and arg", async (_, arg, code, msg) => {
    const { connect } = await rig();
    const client = await connect();
    client.say({ op: "subscribe", args: [arg, trades] });
    const { depth: __, ...echo } = arg as { depth?: number };
    expect(await client.take()).toEqual({
      event: "error",
      code,
      msg: expect.stringMatching(msg),
      arg: echo,
      ts: startAt,
    });
    expect(await client.take()).toMatchObject({ event: "subscribe", arg: trades });
  });

  it.each<[string, unknown]>([
    ["an argument that is no object", 7],
    ["an argument without channel", { instId: swap }],
    ["nothing", null],
  ])("%s is refused without arg", async (_, arg) => {
    const { connect } = await rig();
    const client = await connect();
    client.say({ op: "subscribe", args: [arg] });
    const error = await client.take();
    expect(error).toMatchObject({ event: "error", code: "50002" });
    expect(error).not.toHaveProperty("arg");
  });

  it("unsubscribing what is not subscribed is refused", async () => {
    const { connect } = await rig();
    const client = await connect();
    client.say({ op: "unsubscribe", args: [trades] });
    expect(await client.take()).toMatchObject({ event: "error", code: "50002", arg: trades });
  });

  it.each<[string, string]>([
    ["text", "hello"],
    ["half a message", '{"op":"subscr'],
    ["a field twice", '{"op":"unsubscribe","op":"subscribe","args":[{"channel":"trades","instId":"BTC-USDT-SWAP"}]}'],
    ["a list", "[]"],
    ["an op nobody knows", '{"op":"order"}'],
    ["no args", '{"op":"subscribe"}'],
    ["empty args", '{"op":"subscribe","args":[]}'],
    ["args that are no list", '{"op":"unsubscribe","args":{}}'],
    ["a login without sign", '{"op":"login","args":[{"apiKey":"ann-1"}]}'],
    ["a pong with args", '{"op":"pong","args":[]}'],
  ])("%s is an error, and the connection goes on", async (_, text) => {
    const { connect } = await rig();
    const client = await connect();
    client.say(text);
    expect(await client.take()).toMatchObject({ event: "error", code: "50002", ts: startAt });
    await subscribed(client, trades);
  });

  it("closes after too much nonsense, with the reason", async () => {
    const { connect, clock, board } = await rig();
    const client = await connect();
    for (let count = 0; count < 21; count++) client.say("{");
    client.say({ op: "subscribe", args: [trades] });
    expect(await client.closed).toEqual({ code: 1008, reason: "more than 20 messages were no requests" });
    expect(client.heard).toHaveLength(21);
    expect(board.listeners).toBe(0);
    expect(clock.pending).toBe(0);
  });

  it("binary messages are nonsense; one beyond the cap closes", async () => {
    const { connect } = await rig();
    const client = await connect();
    client.socket.send(Buffer.from('{"op":"pong"}'));
    expect(await client.take()).toMatchObject({ event: "error", msg: "Messages are text." });
    client.say(`"${"x".repeat(65_536)}"`);
    expect(await client.closed).toMatchObject({ code: 1009 });
  });
});

describe("Logging in on a socket", () => {
  it("opens the private channels to a key that may read", async () => {
    const { connect } = await rig();
    const client = await connect();
    client.say({ op: "login", args: [loginArg(keys.ann, startAt)] });
    expect(await client.take()).toEqual({ event: "login", code: "0", ts: startAt });
    await subscribed(client, { channel: "orders" }, { channel: "positions" }, { channel: "account" });
  });

  it.each<[string, object, RegExp]>([
    ["an unknown key", { apiKey: "eve" }, /unknown/],
    ["a wrong signature", { sign: "AAAA" }, /signature/],
    ["a wrong passphrase", { passphrase: "open" }, /passphrase/],
    ["an old timestamp", loginArg(keys.ann, startAt - 6_000), /timestamp/],
  ])("refuses %s, and does not repeat it", async (_, change, msg) => {
    const { connect } = await rig();
    const client = await connect();
    client.say({ op: "login", args: [{ ...loginArg(keys.ann, startAt), ...change }] });
    expect(await client.take()).toEqual({
      event: "error",
      code: "50004",
      msg: expect.stringMatching(msg),
      ts: startAt,
    });
    client.say({ op: "subscribe", args: [{ channel: "orders" }] });
    expect(await client.take()).toMatchObject({ event: "error", code: "50004" });
    client.say({ op: "login", args: [loginArg(keys.ann, startAt)] });
    expect(await client.take()).toMatchObject({ event: "login", code: "0" });
  });

  it("judges the timestamp by the service's own calendar", async () => {
    const { connect } = await rig({ faults: { clock: { offsetMs: 60_000 } } });
    const client = await connect();
    client.say({ op: "login", args: [loginArg(keys.ann, startAt)] });
    expect(await client.take()).toMatchObject({ event: "error", code: "50004", ts: startAt + 60_000 });
    client.say({ op: "login", args: [loginArg(keys.ann, startAt + 60_000)] });
    expect(await client.take()).toMatchObject({ event: "login" });
  });

  it("does not open them to a key that may not read, nor twice to anybody", async () => {
    const { member } = await rig();
    const client = await member(keys.blind);
    client.say({ op: "subscribe", args: [{ channel: "orders" }] });
    expect(await client.take()).toMatchObject({
      event: "error",
      code: "50001",
      msg: 'Permission denied: the key needs "read".',
    });
    client.say({ op: "login", args: [loginArg(keys.ann, startAt)] });
    expect(await client.take()).toMatchObject({ event: "error", msg: "This connection is logged in already." });
    client.say({ op: "subscribe", args: [{ channel: "orders" }] });
    expect(await client.take()).toMatchObject({ event: "error", code: "50001" });
  });
});

describe("The socket heartbeat", () => {
  it('answers the text "ping" with "pong" and pings of the protocol with theirs', async () => {
    const { connect } = await rig();
    const client = await connect();
    client.say("ping");
    expect(await client.take()).toBe("pong");
    const pong = new Promise((resolve) => client.socket.on("pong", (data) => resolve(data.toString())));
    client.socket.ping("there?");
    expect(await pong).toBe("there?");
  });

  it("asks every pingMs and keeps whoever answers", async () => {
    const { connect, clock } = await rig();
    const client = await connect();
    for (let count = 1; count <= 5; count++) {
      clock.advanceTo(startAt + count * 15_000);
      expect(await client.take()).toEqual({ event: "ping", ts: startAt + count * 15_000 });
      client.say({ op: "pong" });
      expect(await client.rest()).toEqual([]);
    }
  });

  it("closes a connection that says nothing for silenceMsMax", async () => {
    const { connect, clock, sockets } = await rig();
    const client = await connect();
    clock.advanceTo(startAt + 1_000);
    expect(await client.rest()).toEqual([]);
    clock.advanceTo(startAt + 30_999);
    expect((await client.takeEvent("ping")).ts).toBe(startAt + 15_000);
    clock.advanceTo(startAt + 31_000);
    expect(await client.closed).toEqual({ code: 1008, reason: "nothing was received for 30000 ms" });
    await expect.poll(() => sockets.count, { timeout: 5_000 }).toBe(0);
    expect(clock.pending).toBe(0);
  });
});
