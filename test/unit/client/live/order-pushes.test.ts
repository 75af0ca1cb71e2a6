import { describe, expect, it } from "vitest";
import { createOrderPushes } from "../../../../src/client/live/order-pushes.ts";
import { createContract } from "../../../../src/contract/contract.ts";
import type { ProfileOverrides } from "../../../../src/contract/profile.ts";
import { createRig, type FakeSocket, obedient } from "../../../support/harness/fake-sockets.ts";

const record = (ordId: string, more: object = {}) => ({
  instId: "A-USDT",
  ordId,
  clOrdId: "",
  px: "1",
  sz: "1",
  ordType: "limit",
  side: "buy",
  state: "live",
  avgPx: "",
  accFillSz: "0",
  fee: "0",
  createdAt: "1",
  updatedAt: "1",
  ...more,
});

const setUp = (answer: FakeSocket["answer"] = obedient, overrides: ProfileOverrides = {}) => {
  const rig = createRig({
    prepare: (socket, clock) => {
      socket.answer = answer;
      clock.setTimer(clock.now() + 5, () => socket.open());
    },
  });
  const anomalies: string[] = [];
  const errors: unknown[] = [];
  const pushes = createOrderPushes({
    contract: createContract(overrides),
    onAnomaly: (what, detail) => anomalies.push(`${what}: ${detail}`),
    onError: (error) => errors.push(error),
  });
  const story: string[] = [];
  pushes.pushing$.subscribe({
    next: (pushing) => story.push(String(pushing)),
    complete: () => story.push("no more turns"),
  });
  pushes.pushes$.subscribe({
    next: ({ ordId, state }) => story.push(`${ordId} ${state}`),
    complete: () => story.push("no more orders"),
  });
  pushes.start(rig.pool, { name: "main", arg: () => ({ apiKey: "k", passphrase: "p", timestamp: "t", sign: "s" }) });
  rig.pool.start();
  const pass = (ms: number): void => rig.clock.advanceTo(rig.clock.now() + ms);
  return { rig, pushes, story, anomalies, errors, pass };
};

describe("The order channel's state and records:", () => {
  it("false until logged in and subscribed, true while it is whole, false and true once for each turn", () => {
    const { rig, story, pass } = setUp();
    expect(story).toEqual(["false"]);
    pass(5);
    expect(story).toEqual(["false", "true"]);
    rig.network.last.push("orders", [record("1")]);
    rig.network.last.end("reset");
    pass(2_000);
    rig.network.last.push("orders", [record("2"), record("3")]);
    expect(story).toEqual(["false", "true", "1 live", "false", "true", "2 live", "3 live"]);
  });

  it("a gap is one turn to false and one back, and what came out of order is not passed on", () => {
    const { rig, story, pass } = setUp();
    pass(5);
    rig.network.last.push("orders", [record("1")]);
    rig.network.last.push("orders", [record("3")], { skip: 1 });
    rig.network.last.push("orders", [record("4")]);
    expect(story).toEqual(["false", "true", "1 live", "false", "true", "4 live"]);
  });

  it("silence is a turn to false", () => {
    const { story, pass } = setUp((request, socket) => {
      if (request !== "ping") obedient(request, socket);
    });
    pass(30_004);
    expect(story).toEqual(["false", "true"]);
    pass(1);
    expect(story).toEqual(["false", "true", "false"]);
  });

  it("a refused login leaves it false, is said once by the pool, and is not hammered", () => {
    const { rig, story, pass } = setUp((request, socket) => {
      if (typeof request !== "string" && request.op === "login")
        socket.say({ event: "error", code: "50004", msg: "unknown key", ts: 0 });
    });
    pass(600_000);
    expect(story).toEqual(["false"]);
    expect(rig.anomalies).toHaveLength(1);
    expect(rig.network.sockets.length).toBeLessThan(10);
  });

  it("a refused channel leaves it false", () => {
    const { story, pass } = setUp((request, socket) => {
      if (typeof request !== "string" && request.op === "subscribe") {
        socket.say({ event: "error", code: "50001", msg: "no permission", arg: { channel: "orders" }, ts: 0 });
      } else obedient(request, socket);
    });
    pass(1_000);
    expect(story).toEqual(["false"]);
  });

  it("a service without the channel is polled, and said so", () => {
    const { rig, story, anomalies } = setUp(obedient, { websocket: { privateChannels: ["account"] } });
    expect(anomalies).toEqual(["channel.refused: orders: the service does not offer this channel; orders are polled"]);
    expect(story).toEqual(["false"]);
    expect(rig.network.sockets).toHaveLength(0);
  });

  it("records are read as in the listings: aliases of states are, fields nobody knows are dropped", () => {
    const { rig, story, pushes, pass } = setUp();
    const seen: object[] = [];
    pushes.pushes$.subscribe((order) => seen.push(order));
    pass(5);
    rig.network.last.push("orders", [record("1", { state: "mmp_canceled", posSide: "net" })]);
    expect(story.at(-1)).toBe("1 canceled");
    expect(Object.keys(seen[0] ?? {})).not.toContain("posSide");
  });

  it.each<[string, unknown]>([
    ["nothing", null],
    ["without an id", record("1", { ordId: undefined })],
    ["of a state nobody knows", record("1", { state: "sleeping" })],
    ["with a float", record("1", { px: 1.5 })],
  ])("a record that is %s is never passed on; the state has to be read, so pushing turns", (_, bad) => {
    const { rig, story, anomalies, pass } = setUp();
    pass(5);
    rig.network.last.push("orders", [record("1"), bad, record("2")]);
    expect(story).toEqual(["false", "true", "1 live", "2 live", "false", "true"]);
    expect(anomalies).toHaveLength(1);
    expect(anomalies[0]).toContain("record.unreadable: orders data[1]");
  });

  it("a listener that throws is reported and the connection holds", () => {
    const { rig, pushes, errors, story, pass } = setUp();
    pushes.pushes$.subscribe(() => {
      throw new Error("mine");
    });
    pass(5);
    rig.network.last.push("orders", [record("1")]);
    rig.network.last.push("orders", [record("2")]);
    expect(errors).toHaveLength(2);
    expect(story).toEqual(["false", "true", "1 live", "2 live"]);
  });

  it("both streams end at the stop", () => {
    const { pushes, rig, story, pass } = setUp();
    pass(5);
    pushes.stop();
    expect(story).toEqual(["false", "true", "no more orders", "no more turns"]);
    expect(rig.clock.pending).toBe(0);
  });
});
