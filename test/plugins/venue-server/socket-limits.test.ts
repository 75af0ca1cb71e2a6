/**
 * How many connections and subscriptions there may be, what opening one costs, and what a reader that does not read gets.
 */
import { connect as connectTcp } from "node:net";
import { describe, expect, it } from "vitest";
import { instruments, swap } from "../../support/harness/venue.ts";
import { keys, rig, startAt, subscribed } from "./harness/sockets.ts";

/** Enough products for more than a hundred subscriptions. */
const many = Array.from({ length: 60 }, (_, index) => ({
  instId: `C${index}-USDT`,
  tickSize: "0.1",
  lotSize: "0.001",
}));
const pairs = many.flatMap(({ instId }) => [
  { channel: "trades", instId },
  { channel: "tickers", instId },
]);

describe("Socket subscriptions", () => {
  it("are at most a hundred a connection; the next is refused and room is made by unsubscribing", async () => {
    const { connect } = await rig({ venue: { instruments: [...instruments, ...many] } });
    const client = await connect();
    await subscribed(client, ...pairs.slice(0, 100));
    client.say({ op: "subscribe", args: [pairs[100]] });
    expect(await client.take()).toMatchObject({
      event: "error",
      arg: pairs[100],
      msg: "A connection has at most 100 subscriptions.",
    });
    await subscribed(client, pairs[7] as (typeof pairs)[number]);
    client.say({ op: "unsubscribe", args: [pairs[0]] });
    await subscribed(client, pairs[100] as (typeof pairs)[number]);
    const other = await connect();
    await subscribed(other, ...pairs.slice(0, 100));
  });
});

describe("Socket connections", () => {
  it("are at most thirty an address; the next is answered with 429 until one has gone", async () => {
    const { connect, refusal, sockets } = await rig();
    const clients = await Promise.all(Array.from({ length: 30 }, connect));
    expect(sockets.count).toBe(30);
    const { status, body } = await refusal();
    expect(status).toBe(429);
    expect(JSON.parse(body)).toMatchObject({ code: "50011", msg: "Too Many Requests" });
    clients[3]?.socket.close();
    await clients[3]?.closed;
    await expect.poll(() => sockets.count, { timeout: 5_000 }).toBe(29);
    await connect();
    expect((await refusal()).status).toBe(429);
  });

  it("elsewhere than at the path are answered with 404", async () => {
    const { refusal, port, url, open } = await rig();
    expect((await refusal(`ws://127.0.0.1:${port}/ws/v2`)).status).toBe(404);
    expect((await refusal(`ws://127.0.0.1:${port}/`)).status).toBe(404);
    const { socket } = open(`${url}?from=here`);
    await new Promise((resolve) => socket.on("open", resolve));
  });

  it("count as requests of their address, opened or not, and are refused when its minute is spent", async () => {
    const { connect, refusal, port, venue, clock, read } = await rig({ venue: { enforceLimits: true } });
    await connect();
    await refusal(`ws://127.0.0.1:${port}/nowhere`);
    expect(venue.meterReport()).toMatchObject({ requests: 2, weight: 0, peak: { ip: 2, key: 0, uid: 0 } });
    for (let count = 0; count < 1198; count++)
      read("common/instruments", {}, { key: undefined, ip: "127.0.0.1", at: startAt });
    expect((await refusal()).status).toBe(429);
    expect(venue.meterReport().refused).toEqual({ ip: 1, key: 0, uid: 0 });
    clock.advanceTo(startAt + 60_000);
    await connect();
  });

  it("that are no WebSocket handshake are refused and leave nothing", async () => {
    const { port, sockets } = await rig();
    const answer = await new Promise<string>((resolve) => {
      const raw = connectTcp(port, "127.0.0.1");
      let text = "";
      raw.on("data", (chunk) => {
        text += chunk.toString();
      });
      raw.on("close", () => resolve(text));
      raw.write(
        "GET /ws/v1 HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: short\r\n\r\n",
      );
    });
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(sockets.count).toBe(0);
  });

  it("do not compress", async () => {
    const { open, url } = await rig();
    const { socket } = open(url, { perMessageDeflate: true });
    await new Promise((resolve) => socket.on("open", resolve));
    expect(socket.extensions).toBe("");
  });
});

describe("A reader that does not read", () => {
  it("is closed with a reason once too much waits for it, and costs no more memory", async () => {
    const backlogBytesMax = 262_144;
    const { connect, board, sockets, clock } = await rig({ backlogBytesMax });
    const [slow, quick] = [await connect(), await connect()];
    for (const client of [slow, quick]) await subscribed(client, { channel: "books", instId: swap });
    await quick.rest();
    slow.socket.pause();
    let pushed = 0;
    // The operating system holds some megabytes for the reader before anything waits here.
    while (board.listeners === 2 && pushed < 10_000) {
      for (let count = 0; count < 20; count++, pushed++) {
        for (let px = 1; px <= 600; px++)
          board.level({ instId: swap, side: "buy", px: String(px), sz: String(pushed + 1), at: pushed });
        board.flush(pushed);
      }
      expect(await quick.rest()).toHaveLength(20);
    }
    expect(board.listeners).toBe(1);
    slow.socket.resume();
    expect(await slow.closed).toEqual({
      code: 1008,
      reason: `too slow: more than ${backlogBytesMax} bytes are unread`,
    });
    expect(slow.heard.map(({ seqId }) => seqId).filter((seqId) => seqId !== undefined)).toEqual(
      Array.from({ length: slow.heard.length - 1 }, (_, index) => index),
    );
    await expect.poll(() => sockets.count, { timeout: 5_000 }).toBe(1);
    expect(clock.pending).toBe(1);
  });
});

describe("A book too large for the outbox", () => {
  it("ends the connection and leaves no listener", async () => {
    const { connect, board, clock } = await rig({
      backlogBytesMax: 10_000,
      faults: { socket: [{ kind: "delay", ms: 60_000 }] },
    });
    for (let px = 1; px <= 2_000; px++)
      board.level({ instId: swap, side: "buy", px: String(px), sz: "1", at: startAt });
    board.flush(startAt);
    const client = await connect();
    client.say({ op: "subscribe", args: [{ channel: "books", instId: swap }] });
    expect(await client.closed).toMatchObject({ code: 1008 });
    expect(board.listeners).toBe(0);
    expect(clock.pending).toBe(0);
  });
});

describe("Closing the sockets", () => {
  it("does not wait for a client that does not answer", async () => {
    const { connect, sockets } = await rig();
    const client = await connect();
    client.socket.pause();
    const closed = sockets.close();
    // Half of what a client is given that has a goodbye to say.
    await expect.poll(() => sockets.count, { timeout: 1_000 }).toBe(0);
    await closed;
  });

  it("says goodbye and leaves no socket, timer or listener", async () => {
    const { connect, member, board, clock, sockets, server, orderListeners } = await rig({
      faults: { socket: [{ kind: "delay", ms: 60_000 }] },
    });
    const client = await connect();
    const ann = await member(keys.ann);
    await subscribed(client, { channel: "trades", instId: swap });
    await subscribed(ann, { channel: "orders" });
    board.trade({ instId: swap, px: "1", sz: "1", side: "buy", at: startAt });
    expect(clock.pending).toBe(3);
    await sockets.close();
    expect(sockets.count).toBe(0);
    expect(await client.closed).toEqual({ code: 1001, reason: "the service is closing" });
    await ann.closed;
    expect(clock.pending).toBe(0);
    expect(board.listeners).toBe(0);
    expect(server.listenerCount("upgrade")).toBe(0);
    expect(orderListeners()).toBe(0);
    await sockets.close();
  });

  it("a client that leaves, politely or not, takes its subscriptions and timers with it", async () => {
    const { connect, board, clock, sockets } = await rig();
    const [polite, rude] = [await connect(), await connect()];
    for (const client of [polite, rude]) await subscribed(client, { channel: "books", instId: swap });
    polite.socket.close();
    rude.socket.terminate();
    await expect.poll(() => sockets.count, { timeout: 5_000 }).toBe(0);
    expect(board.listeners).toBe(0);
    expect(clock.pending).toBe(0);
  });
});
