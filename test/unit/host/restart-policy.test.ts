import { concat, map, NEVER, Observable, of, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { checkConfig } from "../../../src/host/config.ts";
import { definePlugin } from "../../../src/host/define.ts";
import { PluginHost } from "../../../src/host/plugin-host.ts";
import { backoffMs, createFates, type RestartPolicy } from "../../../src/host/restart-policy.ts";
import type { Strategy } from "../../../src/host/strategy.ts";
import { createStrategyHost } from "../../../src/host/strategy-host.ts";
import { EventLog } from "../../../src/journal/event-log.ts";
import type { Event, EventType } from "../../../src/journal/events.ts";
import { createRandom } from "../../../src/random.ts";
import { closed, configOf, strategy } from "../../support/harness/backtest.ts";
import { bid, ready } from "../../support/harness/orders.ts";

type PluginParts = Parameters<PluginHost["start"]>[1];

const noLuck = (): never => {
  throw new Error("no luck");
};
const failsAfter = (ms: number) => timer(ms).pipe(map(noLuck));

/** A host on a rig: strategies with nothing but time and chance. */
const hosted = (supervision: RestartPolicy | undefined, ...strategies: readonly Strategy[]) => {
  const rig = ready();
  const host = createStrategyHost(rig.clock, rig.journal, supervision);
  const orders = rig.orders;
  for (const one of strategies) {
    const parts = {
      name: one.name,
      random: createRandom(1).fork(one.name),
      now: () => rig.clock.now(),
      orders,
      market: {},
    };
    host.start(one, { ...parts, ...streams } as never, rig.orderManager);
  }
  const told = <T extends EventType>(type: T): Extract<Event, { type: T }>[] =>
    rig.journalled(type) as Extract<Event, { type: T }>[];
  const failures = (): number[] => rig.journalled("strategy.failed").map(({ at }) => at);
  return { rig, host, told, failures };
};
const streams = {
  instruments$: NEVER,
  account: { pending$: NEVER, history$: NEVER, balances$: NEVER, positions$: NEVER, equity$: NEVER },
  own: { positions$: NEVER, equity$: NEVER, orders$: NEVER, updates$: NEVER },
  quota$: NEVER,
};

describe("What becomes of a strategy that fails", () => {
  it("the waiting time doubles up to a minute and is never longer", () => {
    const random = createRandom(3);
    for (const [failures, most] of [
      [1, 1_000],
      [2, 2_000],
      [3, 4_000],
      [6, 32_000],
      [7, 60_000],
      [40, 60_000],
    ] as const) {
      for (let i = 0; i < 50; i++) {
        const ms = backoffMs(failures, random);
        expect(ms).toBeGreaterThanOrEqual(most * 0.75);
        expect(ms).toBeLessThanOrEqual(most);
      }
    }
  });

  it("the last of the attempts within the time is the end, older ones do not count", () => {
    const fate = createFates({ attempts: 3, withinMs: 10_000 }, createRandom(1));
    expect([0, 5_000, 10_001, 10_002].map((at) => fate(at).kind)).toEqual([
      "restart",
      "restart",
      "restart",
      "quarantine",
    ]);
  });

  it("the same seed waits alike", () => {
    const waits = () => {
      const fate = createFates({ attempts: 9, withinMs: 1e9 }, createRandom("x"));
      return [1, 2, 3, 4].map((at) => fate(at));
    };
    expect(waits()).toEqual(waits());
  });
});

describe("A supervised strategy", () => {
  it("is started anew from the beginning after a while, and its orders are placed again", () => {
    let starts = 0;
    const moody = strategy("moody", {
      wanted: () => {
        starts++;
        return concat(of([bid({ px: `5000${starts}` })]), starts < 3 ? failsAfter(500) : NEVER);
      },
    });
    const { rig, host, failures, told } = hosted({ attempts: 5, withinMs: 600_000 }, moody);
    rig.run(600);
    expect(host.states.get("moody")).toEqual({ state: "failed", error: "no luck" });
    rig.run(100);
    expect(rig.resting()).toEqual([]);
    rig.run(60_000);
    expect(starts).toBe(3);
    expect(host.states.get("moody")).toEqual({ state: "running" });
    expect(rig.resting()).toEqual(["buy 50003"]);
    expect(failures()).toHaveLength(2);
    const [, second] = told("strategy.restarting");
    expect(second).toMatchObject({ strategy: "moody", failures: 2 });
    expect(second?.inMs).toBeGreaterThanOrEqual(1_500);
    expect(second?.inMs).toBeLessThanOrEqual(2_000);
    expect(
      told("strategy.restarted").map(({ at, failures }) => [
        at - (told("strategy.failed")[failures - 1]?.at ?? 0),
        failures,
      ]),
    ).toEqual(told("strategy.restarting").map(({ inMs, failures }) => [inMs, failures]));
  });

  it("is quarantined after repeated failures: its orders go, by hand too, and the others run on", () => {
    const bad = strategy("s", {
      wanted: () => of([bid({ px: "50001" })]),
      run: () => failsAfter(500),
    });
    const { rig, told, failures } = hosted({ attempts: 3, withinMs: 600_000 }, bad);
    rig.orderManager.wantOne("s", "hand", bid({ slot: "hand", px: "50002" }));
    rig.orderManager.want("calm", [bid({ px: "40000" })]);
    rig.run(120_000);
    expect(failures()).toHaveLength(3);
    expect(told("strategy.quarantined")).toMatchObject([{ strategy: "s", failures: 3, withinMs: 600_000 }]);
    expect(told("strategy.halted")).toMatchObject([{ strategy: "s", reason: "quarantined" }]);
    expect(rig.resting()).toEqual(["buy 40000"]);
    expect(rig.orderManager.modeOf("s")).toBe("halted");
  });

  it("that throws at its very start waits as long", () => {
    let starts = 0;
    const { rig } = hosted(
      { attempts: 4, withinMs: 600_000 },
      strategy("bad", { run: () => (++starts > 0 ? noLuck() : NEVER) }),
    );
    expect(starts).toBe(1);
    rig.run(1_000);
    expect(starts).toBe(2);
    rig.run(600_000);
    expect(starts).toBe(4);
  });

  it("is not started again after the stop", () => {
    let starts = 0;
    const { rig, host } = hosted(
      { attempts: 9, withinMs: 600_000 },
      strategy("bad", { run: () => (++starts > 0 ? noLuck() : NEVER) }),
    );
    host.stop();
    rig.run(600_000);
    expect(starts).toBe(1);
  });

  it("without supervision is stopped by its first failure", () => {
    const { rig, failures, told } = hosted(undefined, strategy("bad", { run: () => failsAfter(10) }));
    rig.run(600_000);
    expect(failures()).toHaveLength(1);
    expect(told("strategy.restarting")).toEqual([]);
  });

  it("is configured for all strategies at once, with both numbers", () => {
    const config = { ...configOf("x", [strategy("s", { run: () => NEVER })]) };
    expect(checkConfig({ ...config, supervision: { attempts: 5, withinMs: 600_000 } }).supervision).toEqual({
      attempts: 5,
      withinMs: 600_000,
    });
    expect(() => checkConfig({ ...config, supervision: { attempts: 0, withinMs: 1 } })).toThrow("must be >= 1");
    expect(() => checkConfig({ ...config, supervision: { atempts: 1, withinMs: 1 } })).toThrow(
      'Did you mean "attempts"',
    );
    expect(checkConfig(config).supervision).toBeUndefined();
  });
});

describe("An ending that throws", () => {
  it("harms neither the stop nor the others, and is told", () => {
    const ended: string[] = [];
    const leaves = (name: string, undo: () => void) => strategy(name, { run: () => new Observable(() => undo) });
    const { host, told } = hosted(
      undefined,
      leaves("bad", noLuck),
      leaves("good", () => ended.push("good")),
    );
    expect(() => host.stop()).not.toThrow();
    expect(ended).toEqual(["good"]);
    expect(told("anomaly")).toMatchObject([{ what: "strategy.teardown", detail: expect.stringContaining("bad: ") }]);
  });

  it("does not keep a failed strategy's orders", () => {
    const bad = strategy("s", {
      wanted: () => concat(of([bid()]), NEVER),
      run: () =>
        new Observable((to) => {
          timer(500).subscribe(() => to.error(new Error("x")));
          return noLuck;
        }),
    });
    const { rig, failures } = hosted(undefined, bad);
    rig.run(5_000);
    expect(failures()).toHaveLength(1);
    expect(rig.resting()).toEqual([]);
  });
});

describe("A plugin's undoing that goes on", () => {
  const setup = (undo: () => unknown) => {
    const machine = createVirtualClock(0);
    const journal = new EventLog(() => 0);
    const failures: string[] = [];
    journal.attach((event: Event) => {
      if (event.type === "plugin.failed") failures.push(event.message);
    });
    const host = new PluginHost(createVirtualClock(0), journal, machine);
    const plugin = definePlugin({ name: "p", options: closed, setup: () => undo });
    void host.start(plugin({}), { ...streams, market: {}, events$: NEVER, updates$: NEVER } as unknown as PluginParts);
    let stopped = false;
    host.stop();
    void host.ended().then(() => (stopped = true));
    const settle = async (): Promise<boolean> => {
      for (let i = 0; i < 20; i++) await Promise.resolve();
      return stopped;
    };
    return { machine, failures, settle };
  };

  it("is waited for", async () => {
    let finish: (() => void) | undefined;
    const { machine, failures, settle } = setup(() => new Promise<void>((resolve) => (finish = resolve)));
    machine.advanceTo(1_000);
    expect(await settle()).toBe(false);
    finish?.();
    expect(await settle()).toBe(true);
    expect([failures, machine.pending]).toEqual([[], 0]);
  });

  it("is waited for two seconds at most", async () => {
    const { machine, failures, settle } = setup(() => new Promise(() => undefined));
    machine.advanceTo(1_999);
    expect(await settle()).toBe(false);
    machine.advanceTo(2_000);
    expect(await settle()).toBe(true);
    expect(failures).toEqual(["its undoing did not end within 2 s and is not waited for"]);
  });

  it("and fails is told", async () => {
    const { failures, settle } = setup(() => Promise.reject(new Error("no luck")));
    expect(await settle()).toBe(true);
    expect(failures).toEqual(["no luck"]);
  });

  it("or not at all", async () => {
    const { settle } = setup(() => undefined);
    expect(await settle()).toBe(true);
  });
});
