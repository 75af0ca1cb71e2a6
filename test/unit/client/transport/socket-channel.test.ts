import { describe, expect, it } from "vitest";
import { createRandom } from "../../../../src/random.ts";
import { createRig, type FakeSocket, type Heard, obedient, type Rig } from "../../../support/harness/fake-sockets.ts";

const instId = "A-USDT";
const arg = { channel: "books", instId };

/** A rig with one subscription that the test acknowledges by hand. */
const byHand = (options: Parameters<typeof createRig>[0] = {}): { rig: Rig; books: Heard; socket: FakeSocket } => {
  const rig = createRig(options);
  rig.pool.start();
  const books = rig.subscribe("books", instId);
  rig.network.last.open();
  return { rig, books, socket: rig.network.last };
};
const acknowledge = (socket: FakeSocket): void => {
  socket.restart("books", instId);
  socket.say({ event: "subscribe", arg, ts: 0 });
};
const push = (socket: FakeSocket, what: unknown, skip = 0): void => socket.push("books", [what], { instId, skip });
const pass = ({ clock }: Rig, ms: number): void => clock.advanceTo(clock.now() + ms);

describe("Channel acknowledgements:", () => {
  it("without one in time the channel is refused, and a late one still counts", () => {
    const { rig, books, socket } = byHand();
    pass(rig, 4_999);
    expect(books.story).toEqual([]);
    pass(rig, 1);
    expect(books.story).toEqual(["refused: not acknowledged within 5000 ms"]);
    expect(rig.anomalies).toEqual(["channel.refused: books A-USDT: not acknowledged within 5000 ms"]);
    acknowledge(socket);
    expect(books.story.at(-1)).toBe("live: subscribed");
  });

  it("a refusal is told with its reason, at once and once, and asked about again after minutes", () => {
    const { rig, books, socket } = byHand();
    socket.say({ event: "error", code: "51001", msg: "no such product", arg, ts: 0 });
    expect(books.story).toEqual(["refused: 51001 no such product"]);
    socket.answer = (request) => {
      if (typeof request !== "string")
        socket.say({ event: "error", code: "51001", msg: "no such product", arg, ts: 0 });
      else socket.say("pong");
    };
    pass(rig, 900_000);
    expect(books.story).toEqual(["refused: 51001 no such product"]);
    expect(rig.anomalies).toHaveLength(1);
    expect(socket.asked("subscribe")).toHaveLength(4);
    socket.answer = (request) => obedient(request, socket);
    pass(rig, 300_000);
    expect(books.story).toEqual(["refused: 51001 no such product", "live: subscribed"]);
  });

  it("a refusal that names no channel is counted, and one of a live channel does not end it", () => {
    const { rig, books, socket } = byHand();
    socket.say({ event: "error", code: "60012", msg: "bad request", ts: 0 });
    acknowledge(socket);
    socket.say({ event: "error", code: "60013", msg: "late", arg, ts: 0 });
    expect(books.story).toEqual(["live: subscribed"]);
    expect(rig.anomalies).toEqual(["socket.error: 60012 bad request", "socket.error: 60013 late"]);
  });

  it("data of a channel that was asked for acknowledges it, wherever its numbers stand", () => {
    const { rig, books, socket } = byHand();
    push(socket, "early", 7);
    push(socket, "next");
    acknowledge(socket);
    push(socket, "after the acknowledgement");
    pass(rig, 60_000);
    expect(books.story.slice(0, 4)).toEqual([
      "live: data came without an acknowledgement",
      'message ["early"]',
      'message ["next"]',
      'message ["after the acknowledgement"]',
    ]);
    expect(rig.anomalies).not.toContainEqual(expect.stringContaining("channel."));
  });

  it("without an acknowledgement it is asked for again, later each time and a minute apart at most", () => {
    const random = { ...createRandom(1), next: () => 1 };
    const { rig, books, socket } = byHand({ random });
    const asked: number[] = [];
    socket.answer = (request) => {
      if (typeof request === "string") socket.say("pong");
      else if (request.op === "subscribe") asked.push(rig.clock.now());
    };
    const from = rig.clock.now();
    pass(rig, 280_000);
    expect(asked.map((at) => (at - from) / 1_000)).toEqual([6, 13, 22, 35, 56, 93, 158, 223]);
    expect(books.story).toEqual(["refused: not acknowledged within 5000 ms"]);
    expect(rig.anomalies).toHaveLength(1);
    push(socket, "at last");
    expect(books.story.slice(1)).toEqual(["live: data came without an acknowledgement", 'message ["at last"]']);
  });

  it("the next connection asks again as if it were the first", () => {
    const { rig, books, socket } = byHand();
    pass(rig, 29_000);
    socket.end("reset");
    pass(rig, 1_500);
    rig.network.last.open();
    pass(rig, 6_000);
    expect(rig.network.last.asked("subscribe")).toHaveLength(2);
    acknowledge(rig.network.last);
    expect(books.handle.state).toBe("live");
  });

  it("data after a refusal says that there is a subscription all the same", () => {
    const { books, socket } = byHand();
    socket.say({ event: "error", code: "60030", msg: "already subscribed", arg, ts: 0 });
    push(socket, "data", 3);
    expect(books.story).toEqual([
      "refused: 60030 already subscribed",
      "live: data came without an acknowledgement",
      'message ["data"]',
    ]);
  });

  it("data of the old subscription does not acknowledge the new one, nor does a refused unsubscribe end it", () => {
    const { rig, books, socket } = byHand();
    acknowledge(socket);
    books.handle.repair("test");
    push(socket, "old", 5);
    expect(books.handle.state).toBe("waiting");
    socket.say({ event: "error", code: "50000", msg: "There is no such subscription.", arg, ts: 0 });
    expect(books.handle.state).toBe("waiting");
    push(socket, "new", 5);
    expect(books.handle.state).toBe("live");
    books.handle.repair("again");
    pass(rig, 2_000);
    pass(rig, 5_000);
    expect(books.handle.state).toBe("refused");
    push(socket, "newer", 5);
    expect(books.handle.state).toBe("live");
  });

  it("a channel without an acknowledgement is left with a request, one that was refused without", () => {
    const { rig, books, socket } = byHand();
    pass(rig, 5_000);
    rig.subscribe("trades", instId);
    socket.say({ event: "error", code: "51001", msg: "no", arg: { channel: "trades", instId }, ts: 0 });
    books.handle.close();
    expect(socket.asked("unsubscribe")).toEqual([[`books ${instId}`]]);
  });
});

describe("Channel sequence numbers:", () => {
  it.each<[string, (socket: FakeSocket) => void, string]>([
    ["a gap", (socket) => push(socket, "c", 1), "message 3 follows 2, but the last one read is 1"],
    [
      "a duplicate",
      (socket) => socket.say({ event: "books", arg, data: ["b"], ts: 0, seqId: 1, prevSeqId: 0 }),
      "message 1 came twice",
    ],
    [
      "disorder",
      (socket) => socket.say({ event: "books", arg, data: ["a"], ts: 0, seqId: 0, prevSeqId: -1 }),
      "message 0 came after 1",
    ],
  ])("%s is not passed on and the channel is subscribed anew", (_, misbehave, reason) => {
    const { rig, books, socket } = byHand();
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
    expect(books.story).toEqual([
      "live: subscribed",
      'message ["a"]',
      'message ["b"]',
      `waiting: ${reason}`,
      "live: subscribed",
      'message ["d"]',
    ]);
    expect(rig.anomalies).toEqual([`channel.repaired: books A-USDT: ${reason}`]);
  });

  it("a first message that is not the first of its connection shows a gap", () => {
    const { books, socket } = byHand();
    acknowledge(socket);
    push(socket, "b", 1);
    expect(books.story).toEqual(["live: subscribed", "waiting: message 1 follows 0, but the last one read is -1"]);
  });

  it("so it does on the next connection, whose numbers begin anew", () => {
    const { rig, books, socket } = byHand();
    acknowledge(socket);
    push(socket, "a");
    socket.end("reset");
    pass(rig, 1_000);
    const { last } = rig.network;
    last.open();
    acknowledge(last);
    push(last, "c", 1);
    expect(books.story.at(-1)).toBe("waiting: message 1 follows 0, but the last one read is -1");
  });

  it("after a repair the numbers may begin anew or go on", () => {
    const { books, socket } = byHand();
    acknowledge(socket);
    push(socket, "a", 5);
    socket.say({ event: "subscribe", arg, ts: 0 });
    push(socket, "b", 3);
    push(socket, "c");
    expect(books.pushes.flatMap(({ data }) => data)).toEqual(["b", "c"]);
  });

  it("messages without numbers, or of a service that does not number, are taken as they come", () => {
    const { books, socket } = byHand();
    acknowledge(socket);
    for (const what of ["a", "b"]) socket.say({ event: "books", arg, data: [what], ts: 0 });
    const unnumbered = byHand({ sequenced: false });
    acknowledge(unnumbered.socket);
    push(unnumbered.socket, "a", 4);
    push(unnumbered.socket, "b", 4);
    for (const { pushes } of [books, unnumbered.books]) expect(pushes.flatMap(({ data }) => data)).toEqual(["a", "b"]);
  });

  it("repairs that do not help come ever more slowly, and quickly again after a quiet time", () => {
    const random = { ...createRandom(1), next: () => 1 };
    const { rig, books, socket } = byHand({ random });
    socket.answer = (request) => obedient(request, socket);
    acknowledge(socket);
    const waits: number[] = [];
    const repair = (): void => {
      const from = rig.clock.now();
      books.handle.repair("test");
      while (books.handle.state !== "live") rig.clock.step();
      waits.push(rig.clock.now() - from);
    };
    for (let turn = 0; turn < 9; turn++) repair();
    pass(rig, 60_000);
    repair();
    expect(waits).toEqual([0, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000, 0]);
  });

  it("an acknowledgement that comes while a repair waits is of the old subscription", () => {
    const { rig, books, socket } = byHand();
    acknowledge(socket);
    books.handle.repair("one");
    acknowledge(socket);
    books.handle.repair("two");
    acknowledge(socket);
    expect(books.handle.state).toBe("waiting");
    pass(rig, 2_000);
    acknowledge(socket);
    expect(books.handle.state).toBe("live");
  });
});

describe("Channels of self-contained messages:", () => {
  it.each(["tickers", "trades"])(
    "in %s a gap is told and a duplicate left out, and the subscription goes on",
    (channel) => {
      const rig = createRig();
      rig.pool.start();
      const heard = rig.subscribe(channel, instId);
      const { last: socket } = rig.network;
      socket.open();
      socket.say({ event: "subscribe", arg: { channel, instId }, ts: 0 });
      socket.push(channel, ["a"], { instId });
      socket.say({ event: channel, arg: { channel, instId }, data: ["a"], ts: 0, seqId: 0, prevSeqId: -1 });
      socket.push(channel, ["c"], { instId, skip: 1 });
      expect(heard.story).toEqual([
        "live: subscribed",
        'message ["a"]',
        "waiting: message 2 follows 1, but the last one read is 0",
        "live: its messages are self-contained",
        'message ["c"]',
      ]);
      expect(rig.anomalies.map((text) => text.split(":")[0])).toEqual(["channel.gap", "channel.gap"]);
      expect(socket.asked("unsubscribe")).toEqual([]);
      socket.say({ event: channel, arg: { channel, instId }, data: ["b"], ts: 0, seqId: 0, prevSeqId: -1 });
      expect(heard.handle.state).toBe("waiting");
      expect(socket.asked("unsubscribe")).toHaveLength(1);
    },
  );
});

describe("Unexpected channel messages:", () => {
  it.each<[string, string]>([
    ["no JSON", "{"],
    ["a list", "[]"],
    ["null", "null"],
    ["an unknown event", '{"event":"news"}'],
    ["data that is no list", '{"event":"books","arg":{"channel":"books","instId":"A-USDT"},"data":{}}'],
    ["an event of another channel", '{"event":"trades","arg":{"channel":"books","instId":"A-USDT"},"data":[]}'],
    ["an argument that is none", '{"event":"books","arg":7,"data":[]}'],
    ["an endless list of records", JSON.stringify({ event: "books", arg, data: Array(10_001).fill(1) })],
    ["very deep nesting", "[".repeat(200_000)],
  ])("%s is counted and does no harm", (_, text) => {
    const { rig, books, socket } = byHand();
    acknowledge(socket);
    socket.say(text);
    push(socket, "a");
    expect(rig.anomalies).toHaveLength(1);
    expect(rig.anomalies[0]).toMatch(/^message\.malformed: .{1,200}$/);
    expect(books.story).toEqual(["live: subscribed", 'message ["a"]']);
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
