/** Engines of a group whose counts are not used: each spends its part of the window evenly. */
import { setImmediate as whenIdle } from "node:timers";
import { describe, expect, it } from "vitest";
import { NotSent } from "../../../plugins/redis/not-sent.ts";
import type { ClaimStore, Statement } from "../../../plugins/shared-quota/claim.ts";
import { MemoryClaimStore } from "../../../plugins/shared-quota/memory-claim-store.ts";
import { SharedQuota } from "../../../plugins/shared-quota/shared-quota.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import type { Division } from "../../../src/scheduler/quota/division.ts";
import { FixedWindow } from "../../../src/scheduler/quota/fixed-window.ts";
import type { Charge } from "../../../src/scheduler/quota/layers.ts";
import { createLedger, type Ledger, type Rank } from "../../../src/scheduler/quota/ledger.ts";
import { answer, layers, noon } from "../../support/harness/ledger.ts";

const second = 1_000;
const minute = 60_000;
const place: Charge = { endpoint: "placeOrder", weight: 10, elements: 1, ip: "home", uid: "u", key: undefined };
const scopes = ["uid:u", "ip:home"];

interface Sent {
  readonly name: string;
  readonly at: number;
  readonly units: number;
}

/** Engines that place ten orders a second if they may, at a service that counts minutes of the clock. */
class Desk {
  readonly clock = createVirtualClock(noon);
  readonly store = new MemoryClaimStore(() => this.clock.now());
  readonly sent: Sent[] = [];
  readonly engines = new Map<string, Engine>();
  isAway = false;
  /** Changes of the user's mode, as name and mode. */
  readonly changes: string[] = [];

  /** Starts an engine. One of the same name is dead from now on. */
  start(name: string, of: number, isBusy = true): Engine {
    this.kill(name);
    const engine = new Engine(this, name, of, isBusy);
    this.engines.set(name, engine);
    return engine;
  }

  kill(name: string): void {
    const engine = this.engines.get(name);
    if (engine !== undefined) engine.isDead = true;
    this.engines.delete(name);
  }

  /** Runs until that many milliseconds after the beginning. */
  async until(ms: number): Promise<void> {
    const end = noon + ms;
    for (;;) {
      await new Promise<void>((resolve) => {
        whenIdle(resolve);
      });
      if (!this.clock.step(end)) break;
    }
    this.clock.advanceTo(end);
  }

  /** Weight that was accepted in the minute of the clock so far. */
  count(at: number): number {
    const from = at - (at % minute);
    return this.sent.reduce((sum, one) => (one.at >= from ? sum + one.units : sum), 0);
  }

  /** Highest weight of all calls within any minute's length that begins in between. */
  most(fromMs: number, toMs: number, name?: string): number {
    const sent = this.sent.filter((one) => name === undefined || one.name === name);
    return sent
      .filter(({ at }) => at >= noon + fromMs && at < noon + toMs)
      .reduce((most, { at: from }) => {
        const within = sent.filter(({ at }) => at >= from && at < from + minute);
        return Math.max(
          most,
          within.reduce((sum, { units }) => sum + units, 0),
        );
      }, 0);
  }

  modes(): string {
    return [...this.engines].map(([name, { mode }]) => `${name} ${mode}`).join(", ");
  }
}

class Engine {
  isDead = false;
  isCutOff = false;
  /** What the store was told. */
  readonly stated: Statement[] = [];
  readonly #desk: Desk;
  readonly #name: string;
  readonly #ledger: Ledger;
  readonly #shared: SharedQuota;
  readonly #divided: FixedWindow[] = [];

  constructor(desk: Desk, name: string, of: number, isBusy: boolean) {
    const { clock } = desk;
    this.#desk = desk;
    this.#name = name;
    this.#ledger = createLedger({
      layers,
      startedAt: clock.now(),
      quietMs: 0,
      onMode: ({ layer, mode }) => layer === "uid" && desk.changes.push(`${name} ${mode}`),
    });
    this.#shared = new SharedQuota({
      clock,
      store: this.#store(),
      member: name,
      share: 1,
      of,
      gone: true,
      address: "home",
      onHalt: () => undefined,
      onFenced: () => undefined,
      onFull: () => undefined,
      onAnomaly: () => undefined,
    });
    this.#ledger.divide(this.#division());
    this.#shared.start(scopes, () => undefined);
    const tick = (): void => {
      if (this.isDead) return;
      if (isBusy) this.call("ordinary");
      clock.setTimer(clock.now() + 100, tick);
    };
    clock.setTimer(clock.now() + 100, tick);
  }

  get mode(): string {
    return this.#divided.find(({ spec }) => spec.name === "uid")?.mode ?? "unknown";
  }

  /** Sends a placement if it may. Returns true then. */
  call(rank: Rank): boolean {
    const { clock, sent, engines } = this.#desk;
    const now = clock.now();
    const ticket = this.#ledger.reserve([place], rank, now, 1);
    if (!ticket.granted) return false;
    sent.push({ name: this.#name, at: now, units: 10 });
    const uid = this.#desk.count(now);
    clock.setTimer(now + 20, () => {
      if (engines.get(this.#name) === this) this.#ledger.settle(ticket, answer(now, { uid }), now + 20);
    });
    return true;
  }

  /** Two refusals that nothing explains, for both layers. */
  refuse(): void {
    const now = this.#desk.clock.now();
    for (const gauge of this.#divided) {
      gauge.noteUnexplained(now - 3, now - 2);
      gauge.noteUnexplained(now - 1, now);
    }
  }

  /** A refusal on the floor. */
  shut(): void {
    for (const gauge of this.#divided) gauge.shut(this.#desk.clock.now());
  }

  leave(): void {
    this.#shared.close();
    this.#desk.kill(this.#name);
  }

  #store(): ClaimStore {
    const { store } = this.#desk;
    const reach = <T>(call: () => Promise<T>): Promise<T> =>
      this.#desk.isAway || this.isDead || this.isCutOff ? Promise.reject(new NotSent("refused")) : call();
    return {
      register: (...all) => reach(() => store.register(...all)),
      claim: (statement) =>
        reach(() => {
          this.stated.push(statement);
          return store.claim(statement);
        }),
      leave: (...all) => store.leave(...all),
      members: () => store.members(),
      ping: () => reach(() => store.ping()),
      halt: (reason) => store.halt(reason),
      halted: () => store.halted(),
      holdings: () => store.holdings(),
      close: () => undefined,
    };
  }

  #division(): Division {
    const shared = this.#shared;
    return {
      attach: (facts) => shared.attach(facts),
      adopt: (window) => {
        if (window instanceof FixedWindow) this.#divided.push(window);
        shared.adopt(window);
      },
      ceiling: (...all) => shared.ceiling(...all),
      lacks: (...all) => shared.lacks(...all),
      spent: (at) => shared.spent(at),
      disturb: () => shared.disturb(),
    };
  }
}

describe("Engines of a group, one of which does not trust the counts of a divided window", () => {
  it("fall with it within two seconds, spend their parts evenly, and use counts again together", async () => {
    const desk = new Desk();
    const [a, b] = [desk.start("a", 3), desk.start("b", 3), desk.start("c", 3)];
    await desk.until(130 * second);
    expect(desk.modes()).toBe("a measured, b measured, c measured");
    a.refuse();
    expect(desk.modes()).toBe("a floor, b measured, c measured");
    await desk.until(132 * second);
    expect(desk.modes()).toBe("a floor, b floor, c floor");
    // A later refusal of another one keeps all of them on the floor for ten minutes more.
    await desk.until(400 * second);
    b.shut();
    await desk.until(731 * second);
    expect(desk.modes()).toBe("a floor, b floor, c floor");
    await desk.until(1_001 * second);
    expect(desk.modes()).toBe("a measured, b measured, c measured");
    // Of the minute in which they leave it the rest beside their parts is free for exits.
    await desk.until(1_005 * second);
    expect(desk.engines.get("c")?.call("exit")).toBe(true);
    expect(desk.most(191 * second, 940 * second)).toBeLessThanOrEqual(1_140);
    expect(desk.most(191 * second, 399 * second)).toBeGreaterThan(880);
    for (const name of ["a", "b", "c"]) expect(desk.most(191 * second, 940 * second, name)).toBeLessThanOrEqual(380);
    await desk.until(1_260 * second);
    const whole = desk.sent.filter(({ at }) => at >= noon + 1_020 * second && at < noon + 1_260 * second).length * 10;
    expect(whole).toBeGreaterThan(4 * 1_150);
    for (let from = 960; from < 1_260; from += 60) {
      const inMinute = desk.sent.filter(({ at }) => at >= noon + from * second && at < noon + (from + 60) * second);
      expect(inMinute.length * 10).toBeLessThanOrEqual(1_200);
    }
  });

  it("never spend more than its floor together, whoever joins, dies, leaves or does not reach the store", async () => {
    const desk = new Desk();
    const [a] = [desk.start("a", 4), desk.start("b", 4), desk.start("c", 4)];
    await desk.until(130 * second);
    a.refuse();
    await desk.until(250 * second);
    desk.start("d", 4);
    // The one that joins is on the floor from its first call on.
    await desk.until(250.11 * second);
    expect(desk.modes()).toBe("a floor, b floor, c floor, d floor");
    await desk.until(370 * second);
    desk.kill("b");
    await desk.until(371 * second);
    desk.start("b", 4);
    await desk.until(440 * second);
    desk.engines.get("c")?.leave();
    desk.start("c", 4);
    await desk.until(520 * second);
    desk.isAway = true;
    await desk.until(600 * second);
    desk.kill("d");
    await desk.until(640 * second);
    desk.isAway = false;
    desk.store.lose();
    desk.start("d", 4);
    await desk.until(720 * second);
    expect(desk.modes()).toBe("a floor, b floor, c floor, d floor");
    // Each process has fallen once, and has not left: b, c and d were started again.
    expect(desk.changes.toSorted()).toEqual(["a", "b", "b", "c", "c", "d", "d"].map((name) => `${name} floor`));
    expect(desk.most(131 * second, 700 * second)).toBeLessThanOrEqual(1_140);
    for (const name of ["a", "b", "c", "d"])
      expect(desk.most(131 * second, 700 * second, name)).toBeLessThanOrEqual(285);
    // The parts of all four are used where nothing happens.
    expect(desk.most(310 * second, 370 * second)).toBeGreaterThan(800);
  });

  it("let an exit leave at once, also in the minute in which ordinary actions wait after the fall", async () => {
    const desk = new Desk();
    const [a, idle] = [desk.start("a", 2), desk.start("idle", 2, false)];
    await desk.until(30 * second);
    idle.call("ordinary");
    await desk.until(130 * second);
    a.refuse();
    await desk.until(140 * second);
    expect([idle.mode, idle.call("ordinary"), idle.call("exit"), idle.call("ordinary")]).toEqual([
      "floor",
      false,
      true,
      false,
    ]);
    await desk.until(189 * second);
    expect(idle.call("ordinary")).toBe(false);
    await desk.until(195 * second);
    // The first one asks the store for a request of the address.
    idle.call("ordinary");
    await desk.until(196 * second);
    expect(idle.call("ordinary")).toBe(true);
    // It uses counts again without a call of its own.
    await desk.until(735 * second);
    expect(desk.modes()).toBe("a measured, idle measured");
  });

  it("stay on the floor for ten minutes at most after the one that does not trust them has gone", async () => {
    const desk = new Desk();
    const a = desk.start("a", 3);
    desk.start("b", 3);
    await desk.until(70 * second);
    a.refuse();
    await desk.until(75 * second);
    desk.kill("a");
    // Another one that joins meanwhile does not make it longer.
    await desk.until(300 * second);
    desk.start("c", 3);
    await desk.until(660 * second);
    expect(desk.modes()).toBe("b floor, c floor");
    await desk.until(680 * second);
    expect(desk.modes()).toBe("b measured, c measured");
  });

  it("stay on the floor while a store that has lost its memory learns of it", async () => {
    const desk = new Desk();
    const [a] = [desk.start("a", 2), desk.start("b", 2)];
    await desk.until(70 * second);
    a.refuse();
    await desk.until(80 * second);
    desk.store.lose();
    a.isCutOff = true;
    await desk.until(82 * second);
    a.isCutOff = false;
    await desk.until(90 * second);
    expect([desk.modes(), desk.changes]).toEqual(["a floor, b floor", ["a floor", "b floor"]]);
  });

  it("state that they hold their parts and want nothing, no more often than they have to", async () => {
    const desk = new Desk();
    const [a, b] = [desk.start("a", 4), desk.start("b", 4)];
    await desk.until(100 * second);
    a.refuse();
    await desk.until(140 * second);
    b.stated.length = 0;
    await desk.until(200 * second);
    expect(b.stated.length).toBeLessThan(80);
    const ofUser = b.stated.map(({ items }) => items.find(({ scope }) => scope === "uid:u"));
    for (const item of ofUser)
      expect(item).toMatchObject({ has: 285, capacity: 1_200, floor: 285, want: 0, exits: 0, used: 0, hungry: 0 });
    expect(Math.min(...ofUser.map((item) => item?.spreadMs ?? 0))).toBe(2 * minute);
    expect(b.stated.every(({ evenly }) => evenly.length === 0)).toBe(true);
    expect(a.stated.at(-1)?.evenly.map(({ scope }) => scope)).toEqual(["ip:home", "uid:u"]);
  });

  it("place with a small part as well, of which one exit is kept", async () => {
    const desk = new Desk();
    const a = desk.start("a", 20);
    await desk.until(70 * second);
    a.refuse();
    await desk.until(300 * second);
    // 57 units less 15.
    expect(desk.most(140 * second, 240 * second)).toBe(40);
  });

  it("send exits only where the group has no room for them", async () => {
    const desk = new Desk();
    desk.start("a", 1);
    await desk.until(5 * second);
    const full = desk.start("full", 1, false);
    await desk.until(10 * second);
    full.call("exit");
    await desk.until(20 * second);
    full.refuse();
    await desk.until(100 * second);
    expect([full.mode, full.call("ordinary"), full.call("exit")]).toEqual(["floor", false, true]);
  });

  it("each fall by themselves where the store does not answer", async () => {
    const desk = new Desk();
    const [a, b] = [desk.start("a", 2), desk.start("b", 2)];
    await desk.until(70 * second);
    desk.isAway = true;
    a.refuse();
    await desk.until(80 * second);
    expect(desk.modes()).toBe("a floor, b measured");
    b.refuse();
    expect(desk.modes()).toBe("a floor, b floor");
    await desk.until(300 * second);
    expect(desk.most(140 * second, 240 * second)).toBeLessThanOrEqual(1_140);
    expect(desk.most(140 * second, 240 * second)).toBeGreaterThan(880);
  });
});
