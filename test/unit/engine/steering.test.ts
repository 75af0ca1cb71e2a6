/** Watching and steering a running engine: strategies as they stand, open orders, cancels, changed options, health. */

import { concat, EMPTY, NEVER, of, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import { constant, paper } from "../../../src/backtest.ts";
import { letPromisesSettle } from "../../../src/clock/microtasks.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import type { PluginUndo } from "../../../src/host/strategy.ts";
import {
  createEngine,
  definePlugin,
  defineStrategy,
  type Event,
  type PluginContext,
  type Strategy,
} from "../../../src/index.ts";
import { closed, far, strategy, swap } from "../../support/harness/backtest.ts";

const options = {
  type: "object",
  required: ["px"],
  additionalProperties: false,
  properties: {
    px: { type: "string", format: "decimal" },
    ends: { type: "string", enum: ["never", "completes", "fails"], default: "never" },
    password: { type: "string" },
  },
} as const;

/** Wants one order at a price; `desires` counts its starts. */
const starts: string[] = [];
const priced = defineStrategy({
  name: "priced",
  options,
  wanted: ({ options: { px, ends }, name }) => {
    starts.push(`${name} ${px} ${ends}`);
    const wanted = of([far("a", px), far("b", "30000")]);
    return concat(wanted, ends === "never" ? NEVER : ends === "fails" ? throwError(() => new Error("no luck")) : EMPTY);
  },
});

const running = async (
  strategies: readonly Strategy[],
  setup: (context: PluginContext<object>) => PluginUndo | Promise<PluginUndo> = () => undefined,
) => {
  starts.length = 0;
  const clock = createVirtualClock(1_700_000_000_000);
  const guest = definePlugin({ name: "guest", options: closed, setup })({});
  const users = { ann: {}, ben: {} };
  const service = paper({ clock, instruments: [swap], latency: constant(10), balances: { USDT: "1000000" }, users });
  const engine = createEngine({ service, strategies, plugins: [guest] });
  const events: Event[] = [];
  engine.events$.subscribe((event) => events.push(event));
  const run = async (ms: number): Promise<void> => {
    const until = clock.now() + ms;
    await letPromisesSettle();
    while (clock.step(until)) await letPromisesSettle();
    clock.advanceTo(until);
    await letPromisesSettle();
  };
  const start = engine.start();
  await run(5_000);
  await start;
  const slots = (): readonly string[] =>
    engine.openOrders().map(({ strategy: of, slot, spec }) => `${of}/${slot} ${spec?.px}`);
  const sent = (endpoint: string): number =>
    events.filter((event) => event.type === "action.sent" && event.endpoint === endpoint).length;
  return { engine, events, run, slots, sent };
};

describe("Strategies as they stand", () => {
  it("are those of the config in its order, with user, state, mode and its reason, options, schema and positions", async () => {
    const resting = { ...strategy("ben's", { wanted: () => concat(of([far("x")]), NEVER) }), user: "ben" };
    const { engine, run } = await running([
      priced({ px: "31000" }),
      resting,
      priced({ px: "1", ends: "fails" }, { as: "bad" }),
    ]);
    expect(engine.strategies()).toMatchObject([
      {
        name: "priced",
        user: "ann",
        state: "running",
        mode: "active",
        reason: "",
        options: { px: "31000", ends: "never" },
        schema: options,
      },
      { name: "ben's", user: "ben", state: "running" },
      { name: "bad", state: "failed", error: "no luck" },
    ]);
    expect(engine.strategies()[0]?.positions.size).toBe(0);
    engine.halt("looked odd", { strategy: "priced" });
    await run(1_000);
    expect(engine.strategies().map(({ mode, reason }) => [mode, reason])).toEqual([
      ["halted", "looked odd"],
      ["active", ""],
      ["active", ""],
    ]);
    engine.halt("all of it");
    expect(engine.strategies().map(({ reason }) => reason)).toEqual(["all of it", "all of it", "all of it"]);
    await engine.stop();
  });

  it("are there when a plugin starts, before they begin", async () => {
    const seen: string[] = [];
    const { engine } = await running([priced({ px: "31000" })], ({ strategies }) => {
      for (const { name, state } of strategies()) seen.push(`${name} ${state}`);
    });
    expect(seen).toEqual(["priced starting"]);
    await engine.stop();
  });
});

describe("Orders of an engine", () => {
  const two = () => [priced({ px: "31000" }), priced({ px: "32000" }, { as: "other", user: "ben" })];

  it("are those of all strategies and users that are not over", async () => {
    const { engine, slots } = await running(two());
    expect(slots()).toEqual(["priced/a 31000", "priced/b 30000", "other/a 32000", "other/b 30000"]);
    await engine.stop();
  });

  it.each<[string, object, readonly string[]]>([
    ["all", {}, []],
    ["of a strategy", { strategy: "other" }, ["priced/a 31000", "priced/b 30000"]],
    ["of a slot of all strategies", { slot: "a" }, ["priced/b 30000", "other/b 30000"]],
    ["of a side without any", { side: "sell" }, ["priced/a 31000", "priced/b 30000", "other/a 32000", "other/b 30000"]],
    ["with a client order id", { clOrdId: "?" }, ["priced/b 30000", "other/a 32000", "other/b 30000"]],
  ])("are canceled for good: %s", async (_, given, left) => {
    const { engine, run, slots, sent } = await running(two());
    const where = "clOrdId" in given ? { clOrdId: engine.openOrders()[0]?.clOrdId ?? "" } : given;
    const ended: string[] = [];
    let isDone = false;
    engine
      .cancel(where)
      .subscribe({ next: ({ slot, phase }) => ended.push(`${slot} ${phase}`), complete: () => (isDone = true) });
    await run(10_000);
    expect([slots(), ended.length, isDone]).toEqual([left, 4 - left.length, true]);
    expect(ended.every((text) => text.endsWith("canceled"))).toBe(true);
    expect(sent("cancelBatch") > 0).toBe(left.length < 4);
    await engine.stop();
  });

  it("are canceled though nobody subscribes, and by no condition that does not exist", async () => {
    const { engine, run, slots } = await running(two());
    expect(() => engine.cancel({ stratgy: "other" } as object)).toThrow(
      'cancel: unknown condition "stratgy". Did you mean "strategy"?',
    );
    expect(() => engine.cancel({ strategy: "othr" })).toThrow(
      'no strategy is named "othr"; there is priced, other. Did you mean "other"?',
    );
    await run(1_000);
    expect(slots()).toHaveLength(4);
    engine.cancel({ strategy: "priced" });
    await run(5_000);
    expect(slots()).toEqual(["other/a 32000", "other/b 30000"]);
    await engine.stop();
  });
});

describe("Options that are changed while the engine runs", () => {
  it("start the strategy anew; what it still wants rests on, and only what differs is replaced", async () => {
    const { engine, run, slots, sent, events } = await running([priced({ px: "31000" })]);
    const before = engine.openOrders().map(({ clOrdId }) => clOrdId);
    engine.changeOptions("priced", { px: "31500" });
    await run(5_000);
    expect(slots().toSorted()).toEqual(["priced/a 31500", "priced/b 30000"]);
    expect(engine.openOrders().filter(({ clOrdId }) => before.includes(clOrdId))).toHaveLength(1);
    expect([starts, sent("placeOrder")]).toEqual([["priced 31000 never", "priced 31500 never"], 3]);
    expect(engine.strategies()[0]).toMatchObject({ state: "running", options: { px: "31500", ends: "never" } });
    expect(events.find(({ type }) => type === "strategy.changed")).toMatchObject({
      strategy: "priced",
      changes: { px: "31500" },
    });
    await engine.stop();
  });

  it("are told without their secrets, which the strategy itself gets", async () => {
    const { engine, run, events } = await running([priced({ px: "31000" })]);
    engine.changeOptions("priced", { px: "31500", password: "hunter2" });
    await run(1_000);
    expect(engine.strategies()[0]?.options).toMatchObject({ password: "hunter2" });
    expect(events.find(({ type }) => type === "strategy.changed")).toMatchObject({
      changes: { px: "31500", password: "(hidden)" },
    });
    expect(JSON.stringify(events)).not.toContain("hunter2");
    await engine.stop();
  });

  it.each<[string, unknown, string]>([
    ["an unknown one", { pxx: "1" }, 'options of strategy "priced": unknown key "pxx". Did you mean "px"?'],
    ["one of the wrong kind", { px: 1 }, 'options of strategy "priced".px: must be string (got 1).'],
    ["no object", ["px"], 'options of strategy "priced": the changes are not an object.'],
  ])("are refused by name with nothing changed: %s", async (_, changes, words) => {
    const { engine, run, slots, events } = await running([priced({ px: "31000" })]);
    const thrown = ((): unknown => {
      try {
        engine.changeOptions("priced", changes as object);
        return undefined;
      } catch (error) {
        return error;
      }
    })() as { readonly code: string; readonly message: string; readonly details?: readonly string[] };
    expect(thrown.code).toBe("CONFIG_INVALID");
    expect([thrown.message, ...(thrown.details ?? [])].join("\n")).toContain(words);
    await run(1_000);
    expect([slots(), starts.length]).toEqual([["priced/a 31000", "priced/b 30000"], 1]);
    expect(events.some(({ type }) => type === "strategy.changed")).toBe(false);
    expect(() => engine.changeOptions("pricd", {})).toThrow('no strategy is named "pricd"');
    await engine.stop();
    expect(() => engine.changeOptions("priced", { px: "1" })).toThrow("change only while the engine runs");
  });

  it.each(["completes", "fails"] as const)("start one again that %s", async (ends) => {
    const { engine, run, slots } = await running([priced({ px: "31000", ends })]);
    expect([engine.strategies()[0]?.state, slots()]).toEqual([ends === "fails" ? "failed" : "completed", []]);
    engine.changeOptions("priced", { ends: "never" });
    await run(5_000);
    expect(engine.strategies()[0]).toMatchObject({ state: "running" });
    expect(engine.strategies()[0]?.error).toBeUndefined();
    expect(slots()).toEqual(["priced/a 31000", "priced/b 30000"]);
    await engine.stop();
  });

  it("leave a halted strategy halted", async () => {
    const { engine, run, slots } = await running([priced({ px: "31000" })]);
    engine.halt("no", { strategy: "priced" });
    await run(5_000);
    engine.changeOptions("priced", { px: "31500" });
    await run(5_000);
    expect([slots(), engine.strategies()[0]?.mode]).toEqual([[], "halted"]);
    engine.resume("yes", { strategy: "priced" });
    await run(5_000);
    expect(slots()).toEqual(["priced/a 31500", "priced/b 30000"]);
    await engine.stop();
  });

  it("may be changed by a plugin in the middle of what the strategy says, whose rest does not count", async () => {
    const twice = defineStrategy({
      name: "twice",
      options,
      // The first of the two sets is refused at once.
      wanted: ({ options: { px, ends } }) =>
        ends === "completes"
          ? of([{ ...far("a", px), qty: "0.0000001" }], [far("a", "29000")])
          : concat(of([far("a", px)]), NEVER),
    });
    let isFirst = true;
    const { engine, run, slots } = await running(
      [twice({ px: "31000", ends: "completes" })],
      ({ on, changeOptions }) => {
        on("order.refused", () => {
          if (isFirst) changeOptions("twice", { px: "31500", ends: "never" });
          isFirst = false;
        });
      },
    );
    await run(5_000);
    expect([isFirst, slots(), engine.strategies()[0]?.state]).toEqual([false, ["twice/a 31500"], "running"]);
    await engine.stop();
  });
});

describe("A control port", () => {
  it("has what it was asked for in the journal, bounded, and nothing happens by it", async () => {
    const { engine, events } = await running([priced({ px: "31000" })]);
    const count = events.length;
    engine.operatorActed({ action: "halt", target: "priced", by: "page", reason: "x".repeat(10_000) });
    expect(events.slice(count)).toMatchObject([
      { type: "operator.acted", action: "halt", target: "priced", by: "page", reason: "x".repeat(500) },
    ]);
    expect(() => engine.operatorActed({ action: "halt", target: "", by: "page", reason: 7 as never })).toThrow(
      "operatorActed: reason is number",
    );
    const noted = events.length;
    expect(() =>
      engine.operatorActed({ action: "halt", target: "nosuch", by: "me", reason: "", strategy: "nosuch" }),
    ).toThrow('no strategy is named "nosuch"');
    expect(events).toHaveLength(noted);
    await engine.stop();
  });

  it("is told how the engine does", async () => {
    const { engine, run } = await running([priced({ px: "31000" })]);
    const { at, clock, resources, ...rest } = engine.health();
    expect(rest).toEqual({
      open: undefined,
      pushing: { ann: true, ben: true },
      eventLoop: undefined,
      journal: { state: "none", reason: "" },
      watchdog: { state: "none", reason: "" },
      standby: { state: "none", leader: undefined, standbys: [], copyBehind: false },
      plugins: {},
      differences: [],
      anomalies: 0,
      latency: [],
    });
    // The embedded service's calendar is this clock's, and its answers prove it within their second.
    expect(Math.abs(clock?.offsetMs ?? Number.NaN)).toBeLessThanOrEqual(clock?.toleranceMs ?? 0);
    expect(resources.filter(({ user }) => user === "ann").map(({ name }) => name)).toEqual([
      "instruments",
      "pending",
      "history",
      "balances",
      "positions",
    ]);
    const balances = () => engine.health().resources.find(({ name, user }) => name === "balances" && user === "ben");
    expect(balances()).toEqual({
      user: "ben",
      name: "balances",
      ageMs: undefined,
      stale: true,
      problem: "not read yet",
    });
    const listening = engine.accountOf("ben").balances$.subscribe();
    await run(1_000);
    listening.unsubscribe();
    await run(7_000);
    expect(balances()?.ageMs).toBeGreaterThan(7_000);
    expect(engine.health().at).toBe(at + 8_000);
    await engine.stop();
  });
});
