import { describe, expect, it } from "vitest";
import type { Login } from "../../../../src/client/transport/socket-pool.ts";
import { createRandom } from "../../../../src/random.ts";
import { createRig, type FakeSocket, obedient, type Rig } from "../../../support/harness/fake-sockets.ts";

const login = (name: string): Login => ({
  name,
  arg: () => ({ apiKey: name, passphrase: "p", timestamp: "t", sign: "s" }),
});

/** A service that opens and grants everything at once. */
const willing = (socket: FakeSocket): void => {
  socket.answer = obedient;
};
const started = (options: Parameters<typeof createRig>[0] = {}): Rig => {
  const rig = createRig({ prepare: willing, ...options });
  rig.pool.start();
  return rig;
};
const openAll = ({ network }: Rig): void => {
  for (const socket of network.sockets) if (!socket.isOpen && !socket.ended) socket.open();
};

describe("Socket pool packing:", () => {
  it("nothing is opened before the start, and what was asked for before goes into one request", () => {
    const rig = createRig({ prepare: willing });
    const trades = rig.subscribe("trades", "A-USDT");
    rig.subscribe("trades", "B-USDT");
    expect(rig.network.sockets).toHaveLength(0);
    expect(rig.clock.pending).toBe(0);
    rig.pool.start();
    rig.network.last.open();
    expect(rig.network.last.asked("subscribe")).toEqual([["trades A-USDT", "trades B-USDT"]]);
    expect(trades.story).toEqual(["live: subscribed"]);
  });

  it("a connection holds as many subscriptions as allowed, and one more is opened when it is full", () => {
    const rig = started({ limits: { connectionsPerIp: 3, subscriptionsPerConnection: 2 } });
    for (const name of ["A", "B", "C", "D", "E"]) rig.subscribe("trades", `${name}-USDT`);
    openAll(rig);
    expect(rig.network.sockets.map((socket) => socket.asked("subscribe").flat().length)).toEqual([2, 2, 1]);
    expect(rig.pool.counts()).toEqual({ connections: 3, sockets: 3, subscriptions: 5 });
  });

  it("holds the description's numbers: 30 connections of 100 subscriptions, and the rest is refused by name", () => {
    const rig = started();
    const heard = Array.from({ length: 3_001 }, (_, index) => rig.subscribe("trades", `X${index}-USDT`));
    openAll(rig);
    expect(rig.network.sockets).toHaveLength(30);
    expect(Math.max(...rig.network.sockets.map((socket) => socket.asked("subscribe").flat().length))).toBe(100);
    expect(heard.filter(({ handle }) => handle.state === "live")).toHaveLength(3_000);
    expect(heard.at(-1)?.story).toEqual(["refused: all 30 connections are full"]);
    expect(rig.anomalies).toEqual(["channel.refused: trades X3000-USDT: all 30 connections are full"]);
  });

  it("who finds no room is let in when somebody leaves", () => {
    const rig = started({ limits: { connectionsPerIp: 1, subscriptionsPerConnection: 1 } });
    const first = rig.subscribe("trades", "A-USDT");
    const second = rig.subscribe("trades", "B-USDT");
    const third = rig.subscribe("trades", "C-USDT");
    openAll(rig);
    second.handle.close();
    first.handle.close();
    rig.clock.advanceTo(rig.clock.now() + 2_000);
    openAll(rig);
    expect(third.story).toEqual(["refused: all 1 connections are full", "live: subscribed"]);
    expect(second.story).toHaveLength(1);
  });

  it("a connection nobody needs any more is closed, and others are told to stop a channel", () => {
    const rig = started();
    const one = rig.subscribe("trades", "A-USDT");
    const two = rig.subscribe("trades", "B-USDT");
    openAll(rig);
    one.handle.close();
    one.handle.close();
    expect(rig.network.last.asked("unsubscribe")).toEqual([["trades A-USDT"]]);
    two.handle.close();
    expect(rig.network.last.left).toBe(true);
    expect(rig.pool.counts()).toEqual({ connections: 0, sockets: 0, subscriptions: 0 });
    expect(rig.clock.pending).toBe(0);
  });

  it("every login has its own connections, apart from the public ones, and is signed for each", () => {
    const rig = started();
    const [one, two] = [login("one"), login("two")];
    rig.subscribe("trades", "A-USDT");
    const orders = rig.subscribe("orders", undefined, one);
    rig.subscribe("account", undefined, one);
    rig.subscribe("orders", undefined, two);
    openAll(rig);
    expect(rig.network.sockets.map((socket) => socket.asked("login").length)).toEqual([0, 1, 1]);
    expect(rig.network.sockets.map((socket) => socket.asked("subscribe"))).toEqual([
      [["trades A-USDT"]],
      [["orders", "account"]],
      [["orders"]],
    ]);
    expect(orders.story).toEqual(["live: subscribed"]);
  });

  it("sockets that are still saying goodbye count: no new one is opened beside them", () => {
    const rig = started({ limits: { connectionsPerIp: 1, subscriptionsPerConnection: 1 } });
    const [first] = [rig.subscribe("trades", "A-USDT")];
    openAll(rig);
    const leaving = rig.network.last;
    leaving.close = () => undefined;
    first.handle.close();
    rig.subscribe("trades", "B-USDT");
    rig.clock.advanceTo(rig.clock.now() + 30_000);
    expect(rig.network.sockets).toHaveLength(1);
    leaving.end();
    rig.clock.advanceTo(rig.clock.now() + 1_000);
    expect(rig.network.sockets).toHaveLength(2);
  });
});

describe("Socket pool admission:", () => {
  it("each attempt asks for leave first, and waits until the instant it is given", () => {
    const asked: number[] = [];
    const rig = createRig({
      prepare: willing,
      leave: (clock) => {
        asked.push(clock.now());
        return asked.length < 3 ? clock.now() + 700 : undefined;
      },
    });
    const from = rig.clock.now();
    rig.pool.start();
    rig.subscribe("trades", "A-USDT");
    rig.clock.advanceTo(from + 1_399);
    expect(rig.network.sockets).toHaveLength(0);
    rig.clock.advanceTo(from + 1_400);
    expect(rig.network.sockets).toHaveLength(1);
    expect(asked).toEqual([from, from + 700, from + 1_400]);
    rig.network.last.open();
    rig.network.last.end();
    rig.clock.advanceTo(from + 10_000);
    expect(asked).toHaveLength(4);
  });

  it("an instant that has passed does not make it spin", () => {
    const rig = createRig({ leave: (clock) => clock.now() - 5 });
    rig.pool.start();
    rig.subscribe("trades", "A-USDT");
    for (let steps = 0; steps < 100; steps++) rig.clock.step();
    expect(rig.clock.now()).toBe(1_000_100);
  });
});

describe("Socket pool reconnection:", () => {
  it("waits between 0 and a bound that doubles up to half a minute, by chance", () => {
    const rig = started({ prepare: () => undefined });
    rig.subscribe("trades", "A-USDT");
    const waits: number[] = [];
    for (let attempt = 0; attempt < 12; attempt++) {
      const sockets = rig.network.sockets.length;
      const from = rig.clock.now();
      rig.network.last.end("refused");
      while (rig.network.sockets.length === sockets) rig.clock.step();
      waits.push(rig.clock.now() - from);
    }
    waits.forEach((ms, tries) => {
      expect(ms).toBeLessThanOrEqual(Math.min(30_000, 1_000 * 2 ** tries));
    });
    expect(new Set(waits).size).toBe(12);
    expect(Math.max(...waits)).toBeGreaterThan(8_000);
    expect(Math.min(...waits)).toBeLessThan(1_000);
    expect(rig.anomalies).toEqual([
      `socket.unreachable: ws://127.0.0.1/ws/v1 failed 3 times: refused; it is tried again`,
    ]);
  });

  it("a full draw waits for the whole bound, none does not wait at all", () => {
    const drawn = (value: number): number => {
      const random = { ...createRandom(1), next: () => value };
      const rig = started({ prepare: () => undefined, random });
      rig.subscribe("trades", "A-USDT");
      const from = rig.clock.now();
      rig.network.last.end();
      while (rig.network.sockets.length === 1) rig.clock.step();
      return rig.clock.now() - from;
    };
    expect(drawn(0.999_999)).toBeCloseTo(1_000, 0);
    expect(drawn(0)).toBe(0);
  });

  it("one that breaks soon after every opening is not tried ever faster", () => {
    const random = { ...createRandom(1), next: () => 1 };
    const rig = started({ random });
    rig.subscribe("trades", "A-USDT");
    const opened: number[] = [];
    for (let turn = 0; turn < 5; turn++) {
      rig.network.last.open();
      opened.push(rig.clock.now());
      rig.network.last.end();
      const sockets = rig.network.sockets.length;
      while (rig.network.sockets.length === sockets) rig.clock.step();
    }
    expect(opened.map((at, index) => at - (opened[index - 1] ?? at))).toEqual([0, 1_000, 2_000, 4_000, 8_000]);
  });

  it("subscribes to everything anew", () => {
    const rig = started();
    const trades = rig.subscribe("trades", "A-USDT");
    const books = rig.subscribe("books", "A-USDT");
    openAll(rig);
    rig.network.last.push("trades", [1], { instId: "A-USDT" });
    rig.network.last.end("reset");
    rig.clock.advanceTo(rig.clock.now() + 2_000);
    openAll(rig);
    rig.network.last.push("trades", [2], { instId: "A-USDT" });
    expect(rig.network.last.asked("subscribe")).toEqual([["trades A-USDT", "books A-USDT"]]);
    expect(trades.story).toEqual([
      "live: subscribed",
      "message [1]",
      "waiting: reset",
      "live: subscribed",
      "message [2]",
    ]);
    expect(books.story).toEqual(["live: subscribed", "waiting: reset", "live: subscribed"]);
    expect(rig.anomalies).toEqual(["socket.lost: reset"]);
  });

  it("one that never opens is given up after a while", () => {
    const rig = started({ prepare: () => undefined });
    rig.subscribe("trades", "A-USDT");
    rig.clock.advanceTo(rig.clock.now() + 16_500);
    expect(rig.network.sockets.length).toBe(2);
    expect(rig.network.sockets[0]?.left).toBe(true);
  });

  it("what an old socket says later has no effect", () => {
    const rig = started();
    const trades = rig.subscribe("trades", "A-USDT");
    openAll(rig);
    const old = rig.network.last;
    old.close = () => undefined;
    old.answer = undefined;
    rig.clock.advanceTo(rig.clock.now() + 31_000);
    old.push("trades", ["late"], { instId: "A-USDT" });
    old.say({ event: "subscribe", arg: { channel: "trades", instId: "A-USDT" }, ts: 0 });
    expect(trades.story.filter((line) => line.startsWith("message"))).toEqual([]);
  });
});

describe("Socket pool logins:", () => {
  const refusing = (socket: FakeSocket): void => {
    socket.answer = (request) => {
      if (typeof request !== "string" && request.op === "login")
        socket.say({ event: "error", code: "50004", msg: "bad\u0000key", ts: 0 });
    };
  };

  it("a refused login is said once and tried again after pauses that grow long", () => {
    const rig = started({
      prepare: (socket, clock) => {
        refusing(socket);
        clock.setTimer(clock.now() + 1, () => socket.open());
      },
    });
    const orders = rig.subscribe("orders", undefined, login("one"));
    rig.clock.advanceTo(rig.clock.now() + 3_600_000);
    expect(orders.story).toEqual([]);
    expect(rig.anomalies).toHaveLength(1);
    expect(rig.anomalies[0]).toContain("login.refused: 50004 bad key");
    expect(rig.network.sockets.length).toBeGreaterThan(4);
    expect(rig.network.sockets.length).toBeLessThan(14);
    expect(rig.network.alive).toBe(0);
  });

  it("a login that is granted later makes the channel live", () => {
    let refusals = 2;
    const rig = started({
      prepare: (socket, clock) => {
        if (refusals-- > 0) refusing(socket);
        else willing(socket);
        clock.setTimer(clock.now() + 1, () => socket.open());
      },
    });
    const orders = rig.subscribe("orders", undefined, login("one"));
    rig.clock.advanceTo(rig.clock.now() + 120_000);
    expect(orders.story).toEqual(["live: subscribed"]);
  });

  it("one that is not answered counts as a lost connection", () => {
    const rig = started({ prepare: () => undefined });
    rig.subscribe("orders", undefined, login("one"));
    rig.network.last.open();
    rig.clock.advanceTo(rig.clock.now() + 5_000);
    expect(rig.network.sockets[0]?.left).toBe(true);
    rig.clock.advanceTo(rig.clock.now() + 1_001);
    expect(rig.network.sockets).toHaveLength(2);
  });
});

describe("Socket keep-alive:", () => {
  it("asks after 20 s without a word and gives up after 30 s", () => {
    const rig = started({
      prepare: (socket) => {
        socket.answer = (request) => {
          if (request !== "ping") obedient(request, socket);
        };
      },
    });
    const trades = rig.subscribe("trades", "A-USDT");
    openAll(rig);
    const from = rig.clock.now();
    rig.clock.advanceTo(from + 19_999);
    expect(rig.network.last.sent).not.toContain("ping");
    rig.clock.advanceTo(from + 20_000);
    expect(rig.network.last.sent.filter((text) => text === "ping")).toHaveLength(1);
    rig.clock.advanceTo(from + 29_999);
    expect(rig.network.sockets[0]?.left).toBe(false);
    rig.clock.advanceTo(from + 30_000);
    expect(rig.network.sockets[0]?.left).toBe(true);
    expect(trades.story.at(-1)).toBe("waiting: no message was received for 30000 ms");
  });

  it("an answer to the question keeps it alive for as long as there is one", () => {
    const rig = started();
    rig.subscribe("trades", "A-USDT");
    openAll(rig);
    rig.clock.advanceTo(rig.clock.now() + 600_000);
    expect(rig.network.sockets).toHaveLength(1);
    expect(rig.network.last.sent.filter((text) => text === "ping")).toHaveLength(30);
  });

  it("a ping of the service is answered with the op pong", () => {
    const rig = started();
    rig.subscribe("trades", "A-USDT");
    openAll(rig);
    rig.network.last.say({ event: "ping", ts: 0 });
    expect(rig.network.last.sent.at(-1)).toEqual({ op: "pong" });
  });
});

describe("Stopping the socket pool:", () => {
  it("leaves no timer and no socket, whatever was under way, and resolves when the last socket has ended", async () => {
    const rig = started();
    rig.subscribe("trades", "A-USDT");
    rig.subscribe("orders", undefined, login("one"));
    rig.subscribe("orders", undefined, login("two"));
    rig.network.sockets[0]?.open();
    const slow = rig.network.sockets[1] as FakeSocket;
    slow.close = () => undefined;
    let closed = false;
    const end = rig.pool.close().then(() => {
      closed = true;
    });
    expect(rig.clock.pending).toBe(0);
    await Promise.resolve();
    expect(closed).toBe(false);
    slow.end();
    await end;
    expect(rig.pool.counts()).toEqual({ connections: 0, sockets: 0, subscriptions: 0 });
    expect(rig.clock.pending).toBe(0);
  });

  it("who leaves on hearing of a loss leaves nothing behind", () => {
    const rig = started();
    const handle = rig.pool.subscribe(
      { channel: "trades", instId: "A-USDT" },
      {
        message: () => undefined,
        state: (state) => {
          if (state === "waiting") handle.close();
        },
      },
    );
    rig.network.last.open();
    rig.network.last.end("reset");
    expect(rig.clock.pending).toBe(0);
    expect(rig.pool.counts()).toEqual({ connections: 0, sockets: 0, subscriptions: 0 });
  });

  it("a handle may be closed afterwards", async () => {
    const rig = started();
    const trades = rig.subscribe("trades", "A-USDT");
    await rig.pool.close();
    trades.handle.close();
    trades.handle.repair("late");
    expect(rig.clock.pending).toBe(0);
  });
});
