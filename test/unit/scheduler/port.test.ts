/** The quota port when it answers late, says no, forgets, or fails: the scheduler must be honest either way. */
import { describe, expect, it } from "vitest";
import type { Clock } from "../../../src/clock/clock.ts";
import { createVirtualClock, type VirtualClock } from "../../../src/clock/virtual-clock.ts";
import { EventLog } from "../../../src/journal/event-log.ts";
import type { Event } from "../../../src/journal/events.ts";
import type { Action, Ending } from "../../../src/scheduler/action.ts";
import type { Charge } from "../../../src/scheduler/quota/layers.ts";
import { createLedger } from "../../../src/scheduler/quota/ledger.ts";
import type { Grant, Lease, QuotaPort } from "../../../src/scheduler/quota/port.ts";
import { createScheduler } from "../../../src/scheduler/scheduler.ts";

const account = { uid: "u", ip: "home", keys: ["k"] };

/** A port in another process: answers after `delayMs`, grants `capacity` calls a window, and keeps count of every lease. */
const remote = (clock: VirtualClock, { capacity = 2, delayMs = 5, leaseMs = 1_000, windowMs = 1_000 } = {}) => {
  const ended = { settled: 0, lost: 0, released: 0 };
  let granted = 0;
  let used = 0;
  let window = 0;
  const port: QuotaPort = {
    reserve: ([charge]) =>
      new Promise<Grant>((resolve) => {
        clock.setTimer(clock.now() + delayMs, () => {
          const now = Math.floor(clock.now() / windowMs);
          if (now !== window) used = 0;
          window = now;
          if (used >= capacity) {
            resolve({ granted: false, layer: "shared", until: (now + 1) * windowMs, why: "used", lighterThan: 0 });
            return;
          }
          used++;
          granted++;
          resolve({ granted: true, charge: charge as Charge, elements: 1, expiresAt: clock.now() + leaseMs });
        });
      }),
    settle: () => {
      ended.settled++;
      return undefined;
    },
    lose: () => {
      ended.lost++;
    },
    release: () => {
      ended.released++;
    },
  };
  return { port, ended, granted: () => granted };
};

const stage = (make: (clock: VirtualClock) => QuotaPort) => {
  const clock = createVirtualClock(0);
  const events: Event[] = [];
  const journal = new EventLog(() => clock.now());
  journal.attach((event) => events.push(event));
  const sent: { name: string; at: number }[] = [];
  const scheduler = createScheduler({
    clock,
    journal,
    // The port has what tells of probing, too.
    ledger: Object.assign(createLedger({ layers: [], startedAt: 0 }), { probing: () => false }),
    port: make(clock),
    transport: (request, sink) => {
      sent.push({ name: request.path, at: clock.now() });
      clock.setTimer(clock.now() + 10, () => {
        sink.response({ status: 200, headers: {}, body: undefined });
      });
    },
  });
  const endings: Record<string, Ending> = {};
  const ask = (name: string, more: Partial<Action> = {}) =>
    scheduler.submit({
      endpoint: "getOrder",
      class: "read",
      owner: "test",
      weight: 5,
      account,
      build: () => ({ endpoint: "getOrder", method: "GET", path: name, query: {}, body: undefined, key: "k" }),
      done: (ending) => {
        endings[name] = ending;
      },
      ...more,
    });
  /** Moves time in small steps and lets promises settle in between. */
  const run = async (until: number): Promise<void> => {
    while (clock.now() < until) {
      clock.advanceTo(Math.min(until, clock.now() + 1));
      for (let turn = 0; turn < 4; turn++) await Promise.resolve();
    }
  };
  return { clock, scheduler, sent, endings, ask, run, events };
};

describe("A quota port in another process", () => {
  it("is asked before a call leaves, and each lease ends once", async () => {
    let far: ReturnType<typeof remote> | undefined;
    const it = stage((clock) => {
      far = remote(clock);
      return far.port;
    });
    for (const name of ["a", "b", "c"]) it.ask(name);
    await it.run(2_500);
    expect(it.sent.map(({ name }) => name)).toEqual(["a", "b", "c"]);
    // Two a window: the third waits for the next one.
    expect(it.sent[1]?.at).toBeLessThan(1_000);
    expect(it.sent[2]?.at).toBeGreaterThanOrEqual(1_000);
    expect(far?.ended).toEqual({ settled: 3, lost: 0, released: 0 });
    expect(far?.granted()).toBe(3);
  });

  it("gets back what was granted for a call that was withdrawn meanwhile", async () => {
    let far: ReturnType<typeof remote> | undefined;
    const it = stage((clock) => {
      far = remote(clock);
      return far.port;
    });
    const withdraw = it.ask("a");
    await it.run(2);
    withdraw();
    await it.run(100);
    expect(it.sent).toEqual([]);
    expect(far?.ended).toEqual({ settled: 0, lost: 0, released: 1 });
  });

  it("decides by what waits when the answer comes, not when it was asked", async () => {
    const it = stage((clock) => remote(clock, { capacity: 1 }).port);
    const withdraw = it.ask("first");
    await it.run(2);
    withdraw();
    it.ask("second");
    await it.run(500);
    expect(it.sent.map(({ name }) => name)).toEqual(["second"]);
  });

  it("does not send on a lease that ran out on the way", async () => {
    const clock = createVirtualClock(0);
    const late: Lease = {
      granted: true,
      charge: { endpoint: "getOrder", weight: 5, elements: 1, ip: "home", uid: "u", key: "k" },
      elements: 1,
      expiresAt: 3,
    };
    let asked = 0;
    let released = 0;
    const it = stage((own) => ({
      reserve: ([charge]) =>
        new Promise<Grant>((resolve) => {
          asked++;
          own.setTimer(own.now() + 5, () => {
            resolve(
              asked === 1
                ? late
                : { granted: true, charge: charge as Charge, elements: 1, expiresAt: Number.POSITIVE_INFINITY },
            );
          });
        }),
      settle: () => undefined,
      lose: () => undefined,
      release: () => {
        released++;
      },
    }));
    it.ask("a");
    await it.run(50);
    expect(released).toBe(1);
    expect(it.sent).toEqual([{ name: "a", at: 10 }]);
    expect(clock.now()).toBe(0);
  });

  it("that fails is asked again after a second, and said so", async () => {
    let asked = 0;
    const it = stage(() => ({
      reserve: ([charge]) => {
        asked++;
        return asked === 1
          ? Promise.reject(new Error("connection refused"))
          : { granted: true, charge: charge as Charge, elements: 1, expiresAt: Number.POSITIVE_INFINITY };
      },
      settle: () => undefined,
      lose: () => undefined,
      release: () => undefined,
    }));
    it.ask("a");
    await it.run(1_100);
    // The failure is heard at 1, one turn after it was asked.
    expect(it.sent).toEqual([{ name: "a", at: 1_001 }]);
    expect(it.events.filter(({ type }) => type === "anomaly")).toMatchObject([
      { what: "quota.unreachable", detail: "connection refused" },
    ]);
  });
});

describe("A quota port that answers late", () => {
  const late =
    (clock: VirtualClock, reserve: (...asked: Parameters<QuotaPort["reserve"]>) => Grant): QuotaPort["reserve"] =>
    (...asked) =>
      new Promise((resolve) => {
        clock.setTimer(clock.now() + 5, () => {
          resolve(reserve(...asked));
        });
      });
  const ended = { settle: () => undefined, lose: () => undefined, release: () => undefined };

  it.each(["late", "at once"])(
    "chooses among all keys of the account: a call leaves by the one that has room (%s)",
    async (when) => {
      const spent = new Map<string, number>();
      const choose = (charges: readonly Charge[]): Grant => {
        const charge = charges.find(({ key }) => (spent.get(key as string) ?? 0) < 2);
        if (charge === undefined) return { granted: false, layer: "key", until: 1_000, why: "used", lighterThan: 0 };
        spent.set(charge.key as string, (spent.get(charge.key as string) ?? 0) + 1);
        return { granted: true, charge, elements: 1, expiresAt: Number.POSITIVE_INFINITY };
      };
      const it = stage((clock) => ({ ...ended, reserve: when === "late" ? late(clock, choose) : choose }));
      const keys: string[] = [];
      for (let call = 0; call < 4; call++)
        it.ask(String(call), {
          account: { uid: "u", ip: "home", keys: ["one", "two"] },
          build: (key) => {
            keys.push(key as string);
            return { endpoint: "getOrder", method: "GET", path: "", query: {}, body: undefined, key };
          },
        });
      await it.run(500);
      expect(keys).toEqual(["one", "one", "two", "two"]);
    },
  );

  it.each(["late", "at once"])("lets no lighter call pass a heavier one that it keeps room for (%s)", async (when) => {
    const it = stage((clock) => {
      const weigh = ([charge]: readonly Charge[]): Grant =>
        charge?.weight === 10 && clock.now() < 500
          ? { granted: false, layer: "shared", until: 500, why: "reserved", lighterThan: 0 }
          : { granted: true, charge: charge as Charge, elements: 1, expiresAt: Number.POSITIVE_INFINITY };
      return { ...ended, reserve: when === "late" ? late(clock, weigh) : weigh };
    });
    it.ask("heavy", { weight: 10 });
    await it.run(50);
    for (let call = 0; call < 3; call++) {
      it.ask(`light ${call}`);
      // Something was answered: everybody asks again.
      it.scheduler.wake();
      await it.run(100 + call * 50);
    }
    expect(it.sent).toEqual([]);
    await it.run(600);
    expect(it.sent[0]).toMatchObject({ name: "heavy", at: when === "late" ? 505 : 500 });
    expect(it.sent).toHaveLength(4);
  });
});

describe("Calls on a clock that runs while they leave:", () => {
  it("those of one burst are charged as of few instants, each a little early at most; the next burst as of its own", () => {
    const lookMs = 0.01;
    const virtual = createVirtualClock(1_000);
    let looks = 0;
    const clock: Clock = {
      now: () => virtual.now() + looks++ * lookMs,
      wallNow: virtual.wallNow,
      setTimer: (at, run) => virtual.setTimer(at, run),
    };
    const asked: { readonly now: number; readonly lateMs: number }[] = [];
    const port: QuotaPort = {
      reserve: ([charge], _rank, now) => {
        asked.push({ now, lateMs: virtual.now() + looks * lookMs - now });
        // The first finds the door shut, so that the others gather behind it.
        return virtual.now() < 1_005
          ? { granted: false, layer: "shared", until: 1_005, why: "used", lighterThan: 0 }
          : { granted: true, charge: charge as Charge, elements: 1, expiresAt: Number.POSITIVE_INFINITY };
      },
      settle: () => undefined,
      lose: () => undefined,
      release: () => undefined,
    };
    const scheduler = createScheduler({
      clock,
      port,
      journal: new EventLog(() => 0),
      ledger: createLedger({ layers: [], startedAt: 0 }),
      transport: () => undefined,
    });
    const request = { endpoint: "getOrder", method: "GET", path: "", query: {}, body: undefined, key: "k" } as const;
    const ask = (): unknown =>
      scheduler.submit({
        endpoint: "getOrder",
        class: "read",
        owner: "test",
        weight: 5,
        account,
        build: () => request,
        done: () => undefined,
      });
    for (let call = 0; call < 200; call++) ask();
    asked.length = 0;
    virtual.advanceTo(1_010);
    expect(asked).toHaveLength(200);
    expect(new Set(asked.map(({ now }) => now)).size).toBeLessThan(50);
    expect(new Set(asked.map(({ now }) => now)).size).toBeGreaterThan(5);
    expect(Math.max(...asked.map(({ lateMs }) => lateMs))).toBeLessThan(0.25);
    asked.length = 0;
    for (let call = 0; call < 10; call++) ask();
    expect(Math.max(...asked.map(({ lateMs }) => lateMs))).toBeLessThan(5 * lookMs);
  });
});
