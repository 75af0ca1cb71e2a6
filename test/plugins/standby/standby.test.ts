/**
 * One process of several: what leaves, what is told, what it takes over.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NEVER } from "rxjs";
import { describe, expect, it } from "vitest";
import standby from "../../../plugins/standby/index.ts";
import type { LeaseStore } from "../../../plugins/standby/lease-store.ts";
import { MemoryLeaseStore } from "../../../plugins/standby/memory-lease-store.ts";
import { Standby } from "../../../plugins/standby/standby.ts";
import watchdog from "../../../plugins/watchdog/index.ts";
import { live } from "../../../src/client/live/live-service.ts";
import { createCredentials } from "../../../src/client/transport/secrets.ts";
import { VirtualClock } from "../../../src/clock/virtual-clock.ts";
import { SluiceError } from "../../../src/errors.ts";
import { checkConfig } from "../../../src/host/config.ts";
import { createEngine } from "../../../src/index.ts";
import type { EventBody } from "../../../src/journal/events.ts";
import { strategy } from "../../support/harness/backtest.ts";
import { memoryDisk } from "../../support/harness/memory-disk.ts";
import { requestOf } from "../../support/harness/transport.ts";

/** What it does now, also where a test has replaced it meanwhile. */
const callsOf = (store: LeaseStore): LeaseStore => ({
  look: (...args) => store.look(...args),
  take: (...args) => store.take(...args),
  renew: (...args) => store.renew(...args),
  release: (...args) => store.release(...args),
  files: () => store.files(),
  read: (...args) => store.read(...args),
  append: (...args) => store.append(...args),
  replace: (...args) => store.replace(...args),
  stage: (...args) => store.stage(...args),
  replaceStaged: (...args) => store.replaceStaged(...args),
  remove: (...args) => store.remove(...args),
  close: () => store.close(),
});

const setUp = () => {
  const clock = new VirtualClock(1_000_000);
  const store = new MemoryLeaseStore(() => clock.now());
  const pass = async (ms: number): Promise<void> => {
    const until = clock.now() + ms;
    for (let more = true; more; more = clock.step(until)) for (let turn = 0; turn < 60; turn++) await Promise.resolve();
    clock.advanceTo(until);
  };
  const join = (name: string, overBulk: Partial<LeaseStore> = {}) => {
    const gate = { isDead: false };
    const never = new Promise<never>(() => undefined);
    const calls = callsOf(store);
    // A process that is dead asks nothing and hears no answer.
    const reached: LeaseStore = {
      ...calls,
      look: (...args) => (gate.isDead ? never : calls.look(...args)),
      take: (...args) => (gate.isDead ? never : calls.take(...args)),
      renew: (...args) => (gate.isDead ? never : calls.renew(...args)),
      release: (...args) => (gate.isDead ? never : calls.release(...args)),
    };
    const events: EventBody[] = [];
    const told: string[] = [];
    const disk = memoryDisk();
    const locks: string[] = [];
    const lock = async (taken: string) => {
      locks.push(taken);
      return async () => void told.push("unlocked");
    };
    const standby = new Standby({
      clock,
      journal: { append: (event) => void events.push(event) },
      store: { ...reached, close: () => void told.push("closed") },
      bulk: { ...reached, ...overBulk, close: () => undefined },
      candidate: { name, session: name, owner: "service / user / main" },
      leaseMs: 10_000,
      toleranceMs: 5_000,
      disk: { ...disk, lock },
      isExit: (clOrdId) => clOrdId === "exit" || clOrdId === "netting exit",
      isUnflagged: (clOrdId) => clOrdId === "netting exit",
      onBack: () => void told.push("back"),
      onDeposed: (leader) => void told.push(`deposed by ${leader}`),
    });
    return { standby, events, told, disk, locks, gate };
  };
  return { clock, store, pass, join };
};

const placing = (clOrdId: string) => requestOf("placeOrder", { body: { clOrdId } });
const requests = [
  placing("entry"),
  placing("exit"),
  requestOf("cancelBatch"),
  requestOf("setLeverage"),
  requestOf("pendingOrders"),
];
const passing = (standby: Standby): readonly boolean[] =>
  requests.map((request) => standby.blocks(request) === undefined);

describe("A process with a standby", () => {
  it("sends reads only before it leads, everything while it leads, cancels and exits while the store is away", async () => {
    const { pass, join, store } = setUp();
    const { standby, events, told } = join("first");
    const leading = standby.lead();
    expect(passing(standby)).toEqual([false, false, false, false, true]);
    await pass(17_000);
    expect(await leading).toBe(false);
    expect(passing(standby)).toEqual([true, true, true, true, true]);
    expect([standby.refusal(false), standby.refusal(true)]).toEqual([undefined, undefined]);
    const renew = store.renew.bind(store);
    store.renew = () => Promise.reject(new Error("away"));
    await pass(9_000);
    expect(passing(standby)).toEqual([false, true, true, false, true]);
    expect(standby.refusal(false)).toContain("the store of the standby does not answer");
    expect(standby.refusal(true)).toBeUndefined();
    store.renew = renew;
    await pass(1_000);
    expect(passing(standby)).toEqual([true, true, true, true, true]);
    // What was refused meanwhile is considered again.
    expect(told).toContain("back");
    expect(events.map((event) => ("what" in event ? event.what : event.type))).toEqual([
      "standby.waiting",
      "standby.leading",
      "standby.alone",
      "standby.back",
    ]);
  });

  it("sends no exit without the reduce-only flag when its lease has run out", async () => {
    const { pass, join, store } = setUp();
    const { standby, told } = join("first");
    void standby.lead();
    await pass(17_000);
    expect([standby.blocks(placing("netting exit")), standby.flagOnly()]).toEqual([undefined, undefined]);
    const renew = store.renew.bind(store);
    store.renew = () => Promise.reject(new Error("away"));
    await pass(7_000);
    expect(standby.blocks(placing("netting exit"))).toBeUndefined();
    await pass(2_000);
    expect(standby.blocks(placing("exit"))).toBeUndefined();
    expect(standby.blocks(placing("netting exit"))).toContain("with the reduce-only flag only");
    expect(standby.blocks(requestOf("amendOrder", { body: { clOrdId: "netting exit" } }))).toBeDefined();
    expect(standby.flagOnly()).toContain("another process may lead");
    // What leaves before a whole lease has passed is executed before another process leads.
    expect(standby.yieldMs()).toBe(0);
    await pass(1_500);
    expect(standby.yieldMs()).toBeGreaterThan(10_000);
    await pass(60_000);
    expect(standby.yieldMs()).toBe(3_000);
    store.renew = renew;
    await pass(1_000);
    expect([standby.blocks(placing("netting exit")), standby.flagOnly()]).toEqual([undefined, undefined]);
    expect(standby.yieldMs()).toBe(0);
    expect(told).toContain("back");
  });

  it("keeps back what is no exit while the copy of its journal lacks something, and sends it afterwards", async () => {
    const { pass, join, store } = setUp();
    const { standby, told } = join("first");
    void standby.lead();
    await pass(17_000);
    await standby.disk.create("00000001.journal", Buffer.from("begun\n"));
    const append = store.append.bind(store);
    store.append = store.replace = () => Promise.reject(new Error("away"));
    const file = await standby.disk.open("00000001.journal");
    await file.append(Buffer.from("an order\n"));
    await file.sync();
    expect(passing(standby)).toEqual([false, true, true, false, true]);
    expect(standby.refusal(false)).toContain("missing in its copy");
    await pass(1_100);
    expect(told).not.toContain("back");
    Object.assign(store, { append, replace: MemoryLeaseStore.prototype.replace.bind(store) });
    await pass(1_600);
    expect(told).toContain("back");
    expect(passing(standby)).toEqual([true, true, true, true, true]);
  });

  it.each([
    ["the copy of its journal is complete, when it is so in time", 2_000, true],
    ["its lease has run out, when the copy stays behind", 60_000, false],
  ])("that ends in order hands over once %s", async (_, awayMs, isHandedOver) => {
    const { pass, join, store, clock } = setUp();
    const first = join("first");
    void first.standby.lead();
    await pass(17_000);
    await first.standby.disk.create("00000001.journal", Buffer.from("begun\n"));
    const append = store.append.bind(store);
    store.append = store.stage = () => Promise.reject(new Error("away"));
    const file = await first.standby.disk.open("00000001.journal");
    await file.append(Buffer.from("a halt\n"));
    await file.sync();
    const second = join("second");
    let ledAt = Number.POSITIVE_INFINITY;
    void second.standby.lead().then(() => {
      ledAt = clock.now();
    });
    await pass(1_000);
    const endedAt = clock.now();
    const ending = first.standby.end();
    await pass(awayMs);
    Object.assign(store, { append, stage: MemoryLeaseStore.prototype.stage.bind(store) });
    await pass(20_000);
    await ending;
    expect(first.events.some((event) => event.type === "anomaly" && event.what === "standby.behind")).toBe(
      !isHandedOver,
    );
    expect(first.told).toContain("unlocked");
    if (isHandedOver) {
      expect(ledAt - endedAt).toBeGreaterThan(1_900);
      expect(ledAt - endedAt).toBeLessThan(4_000);
      expect(String(second.disk.files.get("00000001.journal"))).toBe("begun\na halt\n");
    } else {
      // Half a lease for the copy, a lease, and what was signed.
      expect(ledAt - endedAt).toBeGreaterThan(19_000);
      expect(ledAt - endedAt).toBeLessThan(22_000);
    }
  });

  it("takes over at once from one that ends in order, with its journal, and names it", async () => {
    const { pass, join, store } = setUp();
    const first = join("first");
    void first.standby.lead();
    await pass(17_000);
    await first.standby.disk.create("00000001.journal", Buffer.from("what it knows\n"));
    const second = join("second");
    const leading = second.standby.lead();
    await pass(3_000);
    expect(second.standby.health()).toMatchObject({ state: "waiting", leader: { name: "first" } });
    expect(first.standby.health()).toMatchObject({ state: "leading", standbys: [{ name: "second" }] });
    expect(String(second.disk.files.get("00000001.journal"))).toBe("what it knows\n");
    await first.standby.disk.open("00000001.journal").then(async (file) => {
      await file.append(Buffer.from("and last\n"));
      await file.sync();
    });
    await first.standby.end();
    expect(store.record?.released).toBe(true);
    await pass(700);
    expect(await leading).toBe(true);
    expect(String(second.disk.files.get("00000001.journal"))).toBe("what it knows\nand last\n");
    expect(second.events).toContainEqual({ type: "standby.leading", before: "first", released: true });
    expect(first.told).toEqual(["closed", "unlocked"]);
  });

  it("is told when another has taken the lead, and sends nothing from then on, exits included", async () => {
    const { clock, pass, join, store } = setUp();
    const { standby, told } = join("first");
    void standby.lead();
    await pass(17_000);
    await store.take({ name: "second", session: "2", owner: "service / user / main" }, store.record);
    clock.stepWall(60_000);
    expect(passing(standby)).toEqual([false, false, false, false, true]);
    await pass(600);
    expect(passing(standby)).toEqual([false, false, false, false, true]);
    expect(told).toContain("deposed by second");
  });

  it("has its folder for itself, whoever leads", async () => {
    const { pass, join } = setUp();
    const { standby, locks } = join("first");
    void standby.lead();
    await pass(100);
    expect(locks).toEqual(["service / user / main / memory"]);
    expect(() => standby.disk).toThrow("does not lead yet");
  });

  it("waits for the service's tolerance also where one that waited for it was ended", async () => {
    const { clock, pass, join } = setUp();
    const a = join("a");
    void a.standby.lead();
    await pass(17_000);
    const b = join("b");
    b.standby.lead().catch(() => undefined);
    await pass(2_000);
    a.gate.isDead = true;
    const killed = clock.now();
    while (b.standby.health().state !== "settling") await pass(100);
    const c = join("c");
    let led = false;
    void c.standby.lead().then(() => {
      led = true;
    });
    await pass(600);
    void b.standby.end();
    while (!led) await pass(100);
    expect(clock.now() - killed).toBeGreaterThanOrEqual(15_000);
    expect(c.events).toContainEqual({ type: "standby.leading", before: "b", released: false });
  });

  it("does not lead before it has read the copy of the journal, which it leaves as it is, and leads then", async () => {
    const { pass, join, store } = setUp();
    const first = join("first");
    void first.standby.lead();
    await pass(17_000);
    await first.standby.disk.create("00000007.journal", Buffer.from("halted; 12 lots held\n"));
    const over: Partial<LeaseStore> = { read: () => Promise.reject(new Error("Command timed out")) };
    const second = join("second", { read: (...args) => (over.read ?? store.read.bind(store))(...args) });
    let led = false;
    void second.standby.lead().then(() => {
      led = true;
    });
    await pass(3_000);
    first.gate.isDead = true;
    await pass(150_000);
    expect(led).toBe(false);
    expect(store.record).toMatchObject({ name: "second", released: false });
    expect(Buffer.from(await store.read("00000007.journal", 0, 100)).toString()).toBe("halted; 12 lots held\n");
    const notes = second.events.filter((event) => event.type === "anomaly");
    expect(notes.length).toBeGreaterThanOrEqual(2);
    expect(notes.length).toBeLessThanOrEqual(3);
    expect(notes[0]).toMatchObject({ what: "standby.journal", detail: expect.stringContaining("Command timed out") });
    delete over.read;
    await pass(1_000);
    expect(led).toBe(true);
    expect(String(second.disk.files.get("00000007.journal"))).toBe("halted; 12 lots held\n");
  });

  it("does not wait for a store that refuses it, and shows why one does not answer", async () => {
    const { pass, join, store } = setUp();
    store.look = () => Promise.reject(new Error("the store redis://h:1 does not answer: ECONNREFUSED"));
    const { standby, events } = join("first");
    const leading = standby.lead();
    leading.catch(() => undefined);
    await pass(2_000);
    const error = "the store redis://h:1 does not answer: ECONNREFUSED";
    expect(standby.health()).toMatchObject({ state: "waiting", storeError: error });
    expect(events).toEqual([
      { type: "standby.waiting", leader: "" },
      { type: "standby.waiting", leader: "", error },
    ]);
    store.look = () => Promise.reject(new SluiceError("CONFIG_INVALID", "standby.store: WRONGPASS"));
    await pass(600);
    await expect(leading).rejects.toThrow("WRONGPASS");
  });

  it("can be ended while it cannot read the copy", async () => {
    const { pass, join } = setUp();
    const first = join("first");
    void first.standby.lead();
    await pass(17_000);
    await first.standby.disk.create("00000001.journal", Buffer.from("begun\n"));
    await first.standby.end();
    const second = join("second", { read: () => Promise.reject(new Error("away")) });
    const leading = second.standby.lead();
    leading.catch(() => undefined);
    await pass(2_100);
    // No time passes any more.
    await second.standby.end();
    await expect(leading).rejects.toThrow("stopped while it was on standby");
  });

  it("can be ended while it waits", async () => {
    const { pass, join } = setUp();
    const { standby } = join("first");
    const leading = standby.lead();
    await pass(1_000);
    await standby.end();
    await expect(leading).rejects.toThrow("stopped while it was on standby");
  });
});

describe("An engine that stands by", () => {
  it("says that it cancelled nothing when it is stopped before it led, and shows the store that does not answer", async () => {
    const dir = await mkdtemp(join(tmpdir(), "sluice-standby-"));
    const credentials = createCredentials({ apiKey: "a", secretKey: "b", passphrase: "c" });
    const engine = createEngine({
      service: live({ environment: "testnet", baseUrl: "http://127.0.0.1:1", keys: [{ credentials }] }),
      strategies: [strategy("one", { wanted: () => NEVER })],
      journal: { dir },
      plugins: [standby({ store: "redis://:secret@127.0.0.1:1", group: "desk" })],
    });
    const reasons: string[] = [];
    engine.events$.subscribe((event) => void (event.type === "engine.stopped" && reasons.push(event.reason)));
    const start = engine.start();
    start.catch(() => undefined);
    try {
      while (engine.health().standby.storeError === undefined) await new Promise((resolve) => setImmediate(resolve));
      expect(engine.health().standby.storeError).toContain("the store redis://127.0.0.1:1 does not answer");
      await engine.stop({ cancel: true });
      await expect(start).rejects.toThrow("stopped");
      expect(reasons).toEqual([expect.stringContaining("no order was cancelled")]);
    } finally {
      await engine.stop();
      await rm(dir, { recursive: true });
    }
  });
});

describe("A config with a standby", () => {
  const service = live({
    environment: "testnet",
    baseUrl: "http://127.0.0.1:1",
    keys: [{ credentials: createCredentials({ apiKey: "a", secretKey: "b", passphrase: "c" }) }],
  });
  const config = {
    service,
    strategies: [strategy("one", { wanted: () => NEVER })],
  };
  const hot = standby({ store: "redis://localhost", group: "desk" });

  it.each([
    ["no journal to hand over", { plugins: [hot] }, "standby needs a journal"],
    [
      "a watchdog, which would cancel what it goes on with",
      { journal: { dir: "j" }, plugins: [hot, watchdog({})] },
      "Leave watchdog or standby out",
    ],
  ])("is refused with %s", (_, more, message) => {
    expect(() => checkConfig({ ...config, ...more })).toThrow(message);
  });

  it.each([
    ["a store that is none", { store: "localhost" }, 'options of plugin "standby".store'],
    ["a lease too short to renew", { leaseMs: 10 }, 'options of plugin "standby".leaseMs'],
  ])("is refused with %s", (_, more, message) => {
    expect(() => standby({ store: "redis://localhost", group: "desk", ...more })).toThrow(message);
  });

  it("is taken with store, group and journal", () => {
    const { plugins } = checkConfig({ ...config, plugins: [hot], journal: { dir: "j" } });
    expect(plugins[0]?.options).toEqual({ store: "redis://localhost", group: "desk", leaseMs: 10_000 });
  });

  it("is told that standby is a plugin where it writes the key of before", () => {
    expect(() => checkConfig({ ...config, standby: { store: "redis://localhost", group: "desk" } })).toThrow(
      'config.standby: this is a plugin now. Write plugins: [standby({ … })] with standby from "sluice/plugins/standby"',
    );
  });
});
