/** Sockets of BloFin v1 as its published documentation describes them. */
import { describe, expect, it } from "vitest";
import { startAt } from "../venue-server/harness/server.ts";
import { servedSetting } from "./harness/served.ts";

const [instId, ours, ts] = ["BTC-USDT", "BTC-USDT-SWAP", String(startAt)];

describe("Public channels of BloFin", () => {
  it("tell trades, tickers and candles in contracts, by the name of the pair", async () => {
    const { socket, server } = await servedSetting("blofin");
    const client = await socket("/ws/public");
    const args = ["trades", "tickers", "candle1m"].map((channel) => ({ channel, instId }));
    client.say({ op: "subscribe", args });
    for (const arg of args) expect(await client.take()).toEqual({ event: "subscribe", arg });
    server.board.trade({ instId: ours, px: "60000", sz: "0.025", side: "sell", at: startAt });
    expect(await client.take()).toEqual({
      arg: args[0],
      data: [{ instId, tradeId: "1", price: "60000", size: "2.5", side: "sell", ts }],
    });
    server.board.ticker({ instId: ours, last: "60000", bidPx: "59999", bidSz: "1", askPx: "", askSz: "", at: startAt });
    expect(await client.take()).toMatchObject({
      arg: args[1],
      data: [{ instId, bidPrice: "59999", bidSize: "100", askPrice: "", askSize: "" }],
    });
    server.board.candle(
      { instId: ours, ts, open: "1", high: "4", low: "1", close: "2", volume: "0.5", confirm: "0" },
      startAt,
    );
    expect(await client.take()).toEqual({ arg: args[2], data: [[ts, "1", "4", "1", "2", "50", "0.5", "", "0"]] });
  });

  it("give books as an object of numbers, whose snapshot follows 0", async () => {
    const { socket, server } = await servedSetting("blofin");
    server.board.level({ instId: ours, side: "sell", px: "60000.1", sz: "0.001", at: startAt });
    server.board.flush(startAt);
    const client = await socket("/ws/public");
    const arg = { channel: "books", instId };
    client.say({ op: "subscribe", args: [arg] });
    await client.takeEvent("subscribe");
    const whole = { asks: [[60_000.1, 0.1]], bids: [], ts, prevSeqId: "0", seqId: "1" };
    expect(await client.take()).toEqual({ arg, action: "snapshot", data: whole });
    server.board.level({ instId: ours, side: "sell", px: "60000.1", sz: "0", at: startAt + 1 });
    server.board.flush(startAt + 1);
    const change = { asks: [[60_000.1, 0]], bids: [], ts: String(startAt + 1), prevSeqId: "1", seqId: "2" };
    expect(await client.take()).toEqual({ arg, action: "update", data: change });
  });

  it("answer what cannot be subscribed with 60012, and ping with pong", async () => {
    const { socket } = await servedSetting("blofin");
    const client = await socket("/ws/public");
    client.say({
      op: "subscribe",
      args: [{ channel: "trades" }, { channel: "orders" }, { channel: "trades", instId: "FOO-USDT" }],
    });
    for (let count = 0; count < 3; count++)
      expect(await client.take()).toMatchObject({ event: "error", code: "60012" });
    client.say("ping");
    expect(await client.take()).toBe("pong");
  });
});

describe("Private channels of BloFin", () => {
  it("need a login with a nonce", async () => {
    const { socket } = await servedSetting("blofin");
    const client = await socket("/ws/private");
    client.say({ op: "subscribe", args: [{ channel: "orders" }] });
    expect(await client.take()).toMatchObject({ event: "error", code: "60012" });
    // Made with another implementation of HMAC.
    const sign = "MDZjNzgwMjllZTZjNzAwYjgyNTc3MDY3ZjMyMzE2ZjgxMGNmOTRkYjRmODRmOTNlMjU4OGM5MTQ5NjRmOTMwNA==";
    const login = { apiKey: "ann-1", passphrase: "ann-1 phrase", timestamp: ts, nonce: "n-3", sign };
    client.say({ op: "login", args: [{ ...login, nonce: "n-4" }] });
    expect((await client.take()).event).toBe("error");
    client.say({ op: "login", args: [login] });
    expect(await client.take()).toEqual({ event: "login", code: "0", msg: "" });
  });

  it("tell of orders, positions and the account", async () => {
    const { privateSocket, post } = await servedSetting("blofin");
    const client = await privateSocket("/ws/private");
    const args = [
      { channel: "orders" },
      { channel: "positions", instId },
      { channel: "positions", instId: "ETH-USDT" },
      { channel: "account" },
    ];
    client.say({ op: "subscribe", args });
    for (const arg of args) expect((await client.take()).arg).toEqual(arg);
    await post("/api/v1/trade/order", {
      instId,
      marginMode: "isolated",
      side: "sell",
      orderType: "market",
      size: "2.5",
    });
    expect(await client.take()).toMatchObject({
      arg: args[0],
      data: [
        {
          instId,
          clientOrderId: null,
          state: "filled",
          filledSize: "2.500000000000000000",
          fee: "0.750000000000000000",
        },
      ],
    });
    expect(await client.take()).toMatchObject({
      arg: args[1],
      data: [{ positions: "-2.5", marginMode: "isolated", margin: "150" }],
    });
    const { arg, data } = await client.take();
    expect(arg).toEqual(args[3]);
    expect(data.ts).toBe(ts);
    expect(data.details[0]).toMatchObject({ currency: "USDT", balance: "99999.25", available: "99849.25" });
  });
});
