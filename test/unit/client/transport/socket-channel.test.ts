import { describe, expect, it } from "vitest";
import { createRandom } from "../../../../src/random.ts";
import { createRig, type FakeSocket, type Heard, obedient, type Rig } from "../../../support/harness/fake-sockets.ts";

const instId = "A-USDT";
const arg = { channel: "trades", instId };

/** A rig with one subscription that the test acknowledges by hand. */
const byHand = (options: Parameters<typeof createRig>[0] = {}): { rig: Rig; trades: Heard; socket: FakeSocket } => {
  const rig = createRig(options);
  rig.pool.start();
  const trades = rig.subscribe("trades", instId);
  rig.network.last.open();
  return { rig, trades, socket: rig.network.last };
};
const acknowledge = (socket: FakeSocket): void => {
  socket.restart("trades", instId);
  socket.say({ event: "subscribe", arg, ts: 0 });
};
const push = (socket: FakeSocket, what: unknown, skip = 0): void => socket.push("trades", [what], { instId, skip });
const pass = ({ clock }: Rig, ms: number): void => clock.advanceTo(clock.now() + ms);

describe("Channel acknowledgements:", () => {
  it("without one in time the channel is refused, and a late one still counts", () => {
    const { rig, trades, socket } = byHand();
    pass(rig, 4_999);
    expect(trades.story).toEqual([]);
    pass(rig, 1);
    expect(trades.story).toEqual(["refused: not acknowledged within 5000 ms"]);
    expect(rig.anomalies).toEqual(["channel.refused: trades A-USDT: not acknowledged within 5000 ms"]);
    acknowledge(socket);
    expect(trades.story.at(-1)).toBe("live: subscribed");
  });

  it("a refusal is told with its reason, at once and once, and asked about again after minutes", () => {
    const { rig, trades, socket } = byHand();
    socket.say({ event: "error", code: "51001", msg: "no such product", arg, ts: 0 });
    expect(trades.story).toEqual(["refused: 51001 no such product"]);
    socket.answer = (request) => {
      if (typeof request !== "string")
        socket.say({ event: "error", code: "51001", msg: "no such product", arg, ts: 0 });
      else socket.say("pong");
    };
    pass(rig, 900_000);
    expect(trades.story).toEqual(["refused: 51001 no such product"]);
    expect(rig.anomalies).toHaveLength(1);
    expect(socket.asked("subscribe")).toHaveLength(4);
    socket.answer = (request) => obedient(request, socket);
    pass(rig, 300_000);
    expect(trades.story).toEqual(["refused: 51001 no such product", "live: subscribed"]);
  });

  it("a refusal that names no channel is counted, and one of a live channel does not end it", () => {
    const { rig, trades, socket } = byHand();
    socket.say({ event: "error", code: "60012", msg: "bad request", ts: 0 });
    acknowledge(socket);
    socket.say({ event: "error", code: "60013", msg: "late", arg, ts: 0 });
    expect(trades.story).toEqual(["live: subscribed"]);
    expect(rig.anomalies).toEqual(["socket.error: 60012 bad request", "socket.error: 60013 late"]);
  });

  it("nothing is told before the acknowledgement", () => {
    const { trades, socket } = byHand();
    push(socket, "early");
    expect(trades.story).toEqual([]);
  });
});

describe("Channel sequence numbers:", () => {
  it.each<[string, (socket: FakeSocket) => void, string]>([
    ["a gap", (socket) => push(socket, "c", 1), "message 3 follows 2, but the last one read is 1"],
    [
      "a duplicate",
      (socket) => socket.say({ event: "trades", arg, data: ["b"], ts: 0, seqId: 1, prevSeqId: 0 }),
      "message 1 came twice",
    ],
    [
      "disorder",
      (socket) => socket.say({ event: "trades", arg, data: ["a"], ts: 0, seqId: 0, prevSeqId: -1 }),
      "message 0 came after 1",
    ],
  ])("%s is not passed on and the channel is subscribed anew", (_, misbehave, reason) => {
    const { rig, trades, socket } = byHand();
    acknowledge(socket);
    push(socket, "a");
    push(socket, "b");
    misbehave(socket);
    push(socket, "in between");
    expect(socket.sent.slice(-2)).toEqual([
      { op: "unsubscribe", args: [arg] },
      { op: "subscribe", args: [arg] },
    ]);
    acknowledge(socket);
    push(socket, "d");
    expect(trades.story).toEqual([
      "live: subscribed",
      'message ["a"]',
      'message ["b"]',
      `waiting: ${reason}`,
      "live: subscribed",
      'message ["d"]',
    ]);
    expect(rig.anomalies).toEqual([`channel.repaired: trades A-USDT: ${reason}`]);
  });

  it("a first message that is not the first of its connection shows a gap", () => {
    const { trades, socket } = byHand();
    acknowledge(socket);
    push(socket, "b", 1);
    expect(trades.story).toEqual(["live: subscribed", "waiting: message 1 follows 0, but the last one read is -1"]);
  });

  it("so it does on the next connection, whose numbers begin anew", () => {
    const { rig, trades, socket } = byHand();
    acknowledge(socket);
    push(socket, "a");
    socket.end("reset");
    pass(rig, 1_000);
    const { last } = rig.network;
    last.open();
    acknowledge(last);
    push(last, "c", 1);
    expect(trades.story.at(-1)).toBe("waiting: message 1 follows 0, but the last one read is -1");
  });

  it("after a repair the numbers may begin anew or go on", () => {
    const { trades, socket } = byHand();
    acknowledge(socket);
    push(socket, "a", 5);
    socket.say({ event: "subscribe", arg, ts: 0 });
    push(socket, "b", 3);
    push(socket, "c");
    expect(trades.pushes.flatMap(({ data }) => data)).toEqual(["b", "c"]);
  });

  it("messages without numbers, or of a service that does not number, are taken as they come", () => {
    const { trades, socket } = byHand();
    acknowledge(socket);
    for (const what of ["a", "b"]) socket.say({ event: "trades", arg, data: [what], ts: 0 });
    const unnumbered = byHand({ sequenced: false });
    acknowledge(unnumbered.socket);
    push(unnumbered.socket, "a", 4);
    push(unnumbered.socket, "b", 4);
    for (const { pushes } of [trades, unnumbered.trades])
      expect(pushes.flatMap(({ data }) => data)).toEqual(["a", "b"]);
  });

  it("repairs that do not help come ever more slowly, and quickly again after a quiet time", () => {
    const random = { ...createRandom(1), next: () => 1 };
    const { rig, trades, socket } = byHand({ random });
    socket.answer = (request) => obedient(request, socket);
    acknowledge(socket);
    const waits: number[] = [];
    const repair = (): void => {
      const from = rig.clock.now();
      trades.handle.repair("test");
      while (trades.handle.state !== "live") rig.clock.step();
      waits.push(rig.clock.now() - from);
    };
    for (let turn = 0; turn < 9; turn++) repair();
    pass(rig, 60_000);
    repair();
    expect(waits).toEqual([0, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000, 0]);
  });

  it("an acknowledgement that comes while a repair waits is of the old subscription", () => {
    const { rig, trades, socket } = byHand();
    acknowledge(socket);
    trades.handle.repair("one");
    acknowledge(socket);
    trades.handle.repair("two");
    acknowledge(socket);
    expect(trades.handle.state).toBe("waiting");
    pass(rig, 2_000);
    acknowledge(socket);
    expect(trades.handle.state).toBe("live");
  });
});

describe("Unexpected channel messages:", () => {
  it.each<[string, string]>([
    ["no JSON", "{"],
    ["a list", "[]"],
    ["null", "null"],
    ["an unknown event", '{"event":"news"}'],
    ["data that is no list", '{"event":"trades","arg":{"channel":"trades","instId":"A-USDT"},"data":{}}'],
    ["an event of another channel", '{"event":"books","arg":{"channel":"trades","instId":"A-USDT"},"data":[]}'],
    ["an argument that is none", '{"event":"trades","arg":7,"data":[]}'],
    ["an endless list of records", JSON.stringify({ event: "trades", arg, data: Array(10_001).fill(1) })],
    ["very deep nesting", "[".repeat(200_000)],
  ])("%s is counted and does no harm", (_, text) => {
    const { rig, trades, socket } = byHand();
    acknowledge(socket);
    socket.say(text);
    push(socket, "a");
    expect(rig.anomalies).toHaveLength(1);
    expect(rig.anomalies[0]).toMatch(/^message\.malformed: .{1,200}$/);
    expect(trades.story).toEqual(["live: subscribed", 'message ["a"]']);
  });

  it("pushes of channels nobody asked for are passed over", () => {
    const { rig, socket } = byHand();
    socket.push("books", [1], { instId: "B-USDT" });
    expect(rig.anomalies).toEqual([]);
  });

  it("a push without an event is known by its argument, and one of a product reaches the channel of all", () => {
    const rig = createRig({
      prepare: (socket) => {
        socket.answer = obedient;
      },
    });
    rig.pool.start();
    const orders = rig.subscribe("orders");
    rig.network.last.open();
    rig.network.last.say({ arg: { channel: "orders", instId }, data: [1] });
    expect(orders.story).toEqual(["live: subscribed", "message [1]"]);
  });
});
