/** Sockets of OKX v5 as its published documentation describes them. */
import { describe, expect, it } from "vitest";
import { keys, startAt } from "../venue-server/harness/server.ts";
import { logins, servedSetting } from "./harness/served.ts";

const instId = "BTC-USDT-SWAP";
const [open, inside, business] = ["/ws/v5/public", "/ws/v5/private", "/ws/v5/business"];
const connId = "00000000";

describe("Public channels of OKX", () => {
  it("repeat the argument, and tell trades and tickers in contracts", async () => {
    const { socket, server } = await servedSetting("okx");
    const client = await socket(open);
    const args = [
      { channel: "trades", instId },
      { channel: "tickers", instId },
      { channel: "bbo-tbt", instId },
    ];
    client.say({ op: "subscribe", args });
    for (const arg of args) expect(await client.take()).toEqual({ event: "subscribe", arg, connId });
    server.board.trade({ instId, px: "60000", sz: "0.025", side: "sell", at: startAt });
    const ts = String(startAt);
    const print = { instId, tradeId: "1", px: "60000", sz: "2.5", side: "sell", ts, count: "1" };
    expect(await client.take()).toEqual({ arg: args[0], data: [print] });
    server.board.ticker({
      instId,
      last: "60000",
      bidPx: "59999",
      bidSz: "1",
      askPx: "60001",
      askSz: "0.002",
      at: startAt,
    });
    expect(await client.take()).toMatchObject({
      arg: args[1],
      data: [{ instType: "SWAP", last: "60000", bidPx: "59999", bidSz: "100", askSz: "0.2", ts }],
    });
    expect(await client.take()).toEqual({
      arg: args[2],
      data: [{ asks: [["60001", "0.2", "0", "1"]], bids: [["59999", "100", "0", "1"]], ts, seqId: 0 }],
    });
  });

  it("begin books with a snapshot and number its changes inside the record", async () => {
    const { socket, server } = await servedSetting("okx");
    server.board.level({ instId, side: "buy", px: "59999", sz: "1", at: startAt });
    server.board.flush(startAt);
    const client = await socket(open);
    const arg = { channel: "books", instId };
    client.say({ op: "subscribe", args: [arg] });
    await client.takeEvent("subscribe");
    const numbers = { checksum: 0, seqId: 0, prevSeqId: -1, ts: String(startAt) };
    expect(await client.take()).toEqual({
      arg,
      action: "snapshot",
      data: [{ asks: [], bids: [["59999", "100", "0", "1"]], ...numbers }],
    });
    server.board.level({ instId, side: "buy", px: "59999", sz: "0", at: startAt + 1 });
    server.board.flush(startAt + 1);
    const changed = {
      asks: [],
      bids: [["59999", "0", "0", "0"]],
      checksum: 0,
      seqId: 1,
      prevSeqId: 0,
      ts: String(startAt + 1),
    };
    expect(await client.take()).toEqual({ arg, action: "update", data: [changed] });
  });

  it("have candles as arrays, at another address", async () => {
    const { socket, server } = await servedSetting("okx");
    const client = await socket(business);
    const arg = { channel: "candle1m", instId };
    client.say({ op: "subscribe", args: [arg, { channel: "trades", instId }] });
    await client.takeEvent("subscribe");
    expect(await client.take()).toMatchObject({ event: "error", code: "60018" });
    const bar = {
      instId,
      ts: String(startAt),
      open: "1",
      high: "4",
      low: "1",
      close: "2",
      volume: "0.5",
      confirm: "1" as const,
    };
    server.board.candle(bar, startAt);
    expect(await client.take()).toEqual({ arg, data: [[String(startAt), "1", "4", "1", "2", "50", "0.5", "", "1"]] });
  });

  it("answer what cannot be subscribed with a code, and ping with pong", async () => {
    const { socket } = await servedSetting("okx");
    const client = await socket(open);
    client.say({
      op: "subscribe",
      args: [{ channel: "trades" }, { channel: "trades", instId: "FOO-USDT" }, { channel: "nothing" }],
    });
    expect((await client.take()).code).toBe("60012");
    expect((await client.take()).code).toBe("60018");
    expect((await client.take()).code).toBe("60018");
    client.say("{");
    expect(await client.take()).toMatchObject({ event: "error", code: "60012", connId });
    client.say("ping");
    expect(await client.take()).toBe("pong");
  });
});

describe("Private channels of OKX", () => {
  it("need a login, whose time is in seconds", async () => {
    const { socket, clock } = await servedSetting("okx");
    const client = await socket(inside);
    client.say({ op: "subscribe", args: [{ channel: "account" }] });
    expect(await client.take()).toMatchObject({ event: "error", code: "60011" });
    const login = { apiKey: "ann-1", passphrase: "ann-1 phrase", timestamp: "1700000000" };
    // Made with another implementation of HMAC.
    const sign = "56b0LtBJhM5gcjbsdtHbHLoWoKUZSeXMl97/pNIAEnk=";
    for (const [wrong, code] of [
      [{ timestamp: "1700000000000" }, "60006"],
      [{ apiKey: "nobody" }, "60005"],
      [{ passphrase: "guess" }, "60024"],
      [{ sign: "guess" }, "60007"],
    ]) {
      client.say({ op: "login", args: [{ ...login, sign, ...(wrong as object) }] });
      expect(await client.take()).toMatchObject({ event: "error", code });
    }
    client.say({ op: "login", args: [{ ...login, sign }] });
    expect(await client.take()).toEqual({ event: "login", code: "0", msg: "", connId });
    expect(logins.okx(keys.ann, clock.wallNow()).sign).toBe(sign);
  });

  it("tell of orders, positions and the account, by kind of product", async () => {
    const { privateSocket, post } = await servedSetting("okx");
    const client = await privateSocket(inside);
    const args = [
      { channel: "orders", instType: "SWAP" },
      { channel: "orders", instType: "SPOT" },
      { channel: "positions", instType: "ANY" },
      { channel: "account" },
    ];
    client.say({ op: "subscribe", args });
    for (const arg of args) expect((await client.take()).arg).toEqual(arg);
    const order = { instId, tdMode: "isolated", side: "sell", ordType: "market", sz: "2.5" };
    await post("/api/v5/trade/order", order);
    expect(await client.take()).toMatchObject({
      arg: args[0],
      data: [
        { instType: "SWAP", state: "filled", accFillSz: "2.5", avgPx: "60000", fee: "-0.75", uTime: String(startAt) },
      ],
    });
    expect(await client.take()).toMatchObject({
      arg: args[2],
      data: [{ instId, pos: "-2.5", avgPx: "60000", mgnMode: "isolated", margin: "150", imr: "" }],
    });
    const [usdt] = (await client.take()).data[0].details;
    expect(usdt).toMatchObject({ ccy: "USDT", cashBal: "99999.25", availBal: "99849.25", frozenBal: "150" });
    await post("/api/v5/trade/order", {
      instId: "BTC-USDT",
      tdMode: "cash",
      side: "sell",
      ordType: "limit",
      px: "70000",
      sz: "1",
    });
    expect(await client.take()).toMatchObject({ arg: args[1], data: [{ instType: "SPOT", state: "live", sz: "1" }] });
    await post("/api/v5/trade/close-position", { instId, mgnMode: "isolated" });
    const gone = await client.take((message) => message.arg.channel === "positions");
    expect(gone.data).toMatchObject([{ instId, pos: "0" }]);
  });

  it("are closed after half a minute in which nothing was sent either way", async () => {
    const { privateSocket, clock, post } = await servedSetting("okx");
    const client = await privateSocket(inside);
    client.say({ op: "subscribe", args: [{ channel: "account" }] });
    await client.takeEvent("subscribe");
    clock.advanceTo(startAt + 20_000);
    await post("/api/v5/trade/order", { instId, tdMode: "cross", side: "buy", ordType: "market", sz: "1" });
    await client.take((message) => message.data !== undefined);
    clock.advanceTo(startAt + 49_999);
    client.say("ping");
    expect(await client.take()).toBe("pong");
    clock.advanceTo(startAt + 79_999);
    expect(await client.closed).toMatchObject({ code: 1008 });
    expect(client.heard.filter((message) => message.event === "ping")).toEqual([]);
  });
});
