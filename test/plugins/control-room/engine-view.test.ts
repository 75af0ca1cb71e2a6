import { concat, NEVER, of, Subject, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import { EngineView } from "../../../plugins/control-room/engine-view.ts";
import {
  ControlDocument,
  type ControlUpdate,
  type EngineRow,
  EngineSource,
} from "../../../plugins/control-room/index.ts";
import { definePlugin, defineStrategy, type Event, type PluginContext, type Strategy } from "../../../src/index.ts";
import { testPlugin } from "../../../src/testing.ts";
import { closed, far, strategy, swap } from "../../support/harness/backtest.ts";

const facts: EngineRow = {
  name: "main",
  kind: "paper",
  environment: "",
  version: "0.0.0",
  startedAt: 0,
  mode: "active",
  reason: "",
  state: "running",
};

/** A plugin that makes a source, and a follower of its updates. */
const watched = async (strategies: readonly Strategy[] = []) => {
  let source: EngineSource | undefined;
  const updates: ControlUpdate[] = [];
  const follower = new ControlDocument("main");
  const plugin = definePlugin({
    name: "watching",
    options: closed,
    setup: (context: PluginContext<object>) => {
      const made = new EngineSource("main", facts, context);
      source = made;
      follower.apply(made.snapshot());
      made.updates$.subscribe((update) => {
        updates.push(update);
        follower.apply(update);
      });
      return () => made.end();
    },
  });
  const t = await testPlugin(plugin({}), { strategies, fees: { makerBps: "2", takerBps: "5" } });
  return { t, source: source as unknown as EngineSource, updates, follower };
};
const bid = { slot: "bid", instId: swap, side: "buy", px: "59990", qty: "0.5" } as const;

describe("The view of an engine", () => {
  it("shows an order from wanted order to record, its fill, the position and the money, as counted by hand", async () => {
    const { t, follower, source } = await watched();
    t.quote(swap, { bidPx: "60000", askPx: "60001" });
    t.want([bid]);
    await t.advance(1_000);
    const [row] = follower.rows("orders");
    expect(row).toMatchObject({
      strategy: "by hand",
      slot: "bid",
      instId: swap,
      side: "buy",
      px: "59990",
      phase: "live",
      isFinal: false,
    });
    expect(follower.row("strategies", "by hand")).toMatchObject({
      openOrders: 1,
      fills: 0,
      state: "running",
      mode: "active",
    });
    t.quote(swap, { bidPx: "59980", askPx: "59990" });
    t.trade(swap, { side: "sell", px: "59980", qty: "2" });
    await t.advance(2_000);
    const { clOrdId, placedAt } = row ?? { clOrdId: "", placedAt: 0 };
    expect(follower.row("orders", clOrdId)).toMatchObject({
      phase: "filled",
      isFinal: true,
      filledQty: "0.5",
      avgPx: "59990",
      placedAt,
    });
    // Bought 0.5 at 59990; fee 0.0002 of 29995; held against the bid of 59980.
    const held = {
      qty: "0.5",
      avgPx: "59990",
      markPx: "59980",
      realised: "0",
      unrealised: "-5",
      fees: "5.999",
      profit: "-10.999",
    };
    expect(follower.row("positions", `by hand|${swap}`)).toMatchObject({
      strategy: "by hand",
      currency: "USDT",
      ...held,
    });
    expect(follower.rows("money")).toEqual([
      { currency: "USDT", profit: "-10.999", realised: "0", unrealised: "-5", fees: "5.999" },
    ]);
    expect(follower.row("strategies", "by hand")).toMatchObject({
      openOrders: 0,
      fills: 1,
      profit: { USDT: "-10.999" },
    });
    expect(follower.rows("fills")).toMatchObject([
      { clOrdId, px: "59990", qty: "0.5", cost: "5.999", currency: "USDT", position: "0.5" },
    ]);
    expect(follower.rows("equity").at(-1)).toMatchObject({
      profit: { USDT: "-10.999" },
      strategies: { "by hand": { USDT: "-10.999" } },
    });
    expect(follower.row("markets", swap)).toMatchObject({ bid: "59980", ask: "59990", last: "59980" });
    const story = source.story(clOrdId).map((event) => (event.type === "order.changed" ? event.phase : event.type));
    expect(story).toEqual(["sent", "live", "filled", "fill"]);
    expect(source.story("unknown")).toEqual([]);
    // Steps of orders are in their stories; the list of events has what a person should read.
    expect(follower.rows("events").map(({ type }) => type)).toEqual(["fill"]);
    expect(follower.rows("events")[0]?.text).toBe("by hand/bid: bought 0.5 BTC-USDT-SWAP at 59990, fee 5.999 USDT");
    await t.stop();
  });

  it("tells at most ten times a second, only what has changed, and everything to those who follow", async () => {
    const { t, updates, follower, source } = await watched([
      strategy("resting", { wanted: () => concat(of([far("x")]), NEVER) }),
    ]);
    t.quote(swap, { bidPx: "60000", askPx: "60001" });
    t.want([bid]);
    await t.advance(3_000);
    const before = updates.length;
    for (let round = 0; round < 1_000; round++) {
      t.quote(swap, { bidPx: `${60_000 + (round % 7)}`, askPx: "60010" });
      await t.advance(1);
    }
    expect(updates.length - before).toBeLessThanOrEqual(11);
    expect(updates.length - before).toBeGreaterThanOrEqual(9);
    for (const { rows } of updates)
      expect(new Set(rows.map(([section, key]) => `${section} ${key}`)).size).toBe(rows.length);
    expect(updates.map(({ seq }) => seq)).toEqual(updates.map((_, index) => index + (updates[0]?.seq ?? 0)));
    const now = new ControlDocument("main");
    now.apply(source.snapshot());
    for (const section of ["orders", "positions", "money", "strategies", "quota", "events", "markets"] as const) {
      expect(new Map(follower.keys(section).map((key) => [key, follower.row(section, key)]))).toEqual(
        new Map(now.keys(section).map((key) => [key, now.row(section, key)])),
      );
    }
    expect(JSON.parse(JSON.stringify(source.snapshot()))).toEqual(source.snapshot());
    await t.stop();
    expect(follower.row("engine", "")).toMatchObject({ state: "stopped" });
  });

  it("shows halts, failures and refusals in a line each", async () => {
    const { t, follower } = await watched();
    t.want([{ ...bid, px: "-1" }]);
    await t.advance(500);
    t.failStrategy("no luck");
    await t.advance(500);
    t.engine.halt("lunch").subscribe();
    await t.advance(1_500);
    expect(follower.row("engine", "")).toMatchObject({ mode: "halted", reason: "lunch" });
    expect(follower.row("strategies", "by hand")).toMatchObject({ state: "failed" });
    const lines = follower.rows("events").map(({ severity, text }) => `${severity} ${text}`);
    expect(lines).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^bad strategy by hand failed: .*no luck/),
        "bad trading halted: lunch",
      ]),
    );
    expect(lines.some((line) => line.startsWith("warn by hand/bid refused: "))).toBe(true);
    await t.stop();
  });
});

describe("Actions on an engine", () => {
  it("halt everything: answered when the last order is gone, and journalled before", async () => {
    const { t, source } = await watched([
      strategy("resting", { wanted: () => concat(of([far("x"), far("y")]), NEVER) }),
    ]);
    t.quote(swap, { bidPx: "60000", askPx: "60001" });
    t.want([bid]);
    await t.advance(500);
    expect(t.open).toHaveLength(3);
    const result = source.act({ type: "halt", reason: "enough" }, "127.0.0.1:9");
    await t.advance(500);
    expect(await result).toEqual({ ok: true, text: "Trading is halted, and 3 orders are gone.", count: 3 });
    expect([t.open, t.mode]).toEqual([[], "halted"]);
    const [asked, changed] = ["operator.acted", "mode.changed"].map((type) =>
      t.events.find((event) => event.type === type),
    );
    expect(asked).toMatchObject({ action: "halt", target: "", by: "127.0.0.1:9", reason: "enough" });
    expect(asked?.seq).toBeLessThan(changed?.seq ?? 0);
    expect(await source.act({ type: "resume" }, "127.0.0.1:9")).toEqual({ ok: true, text: "Trading is resumed." });
    await t.advance(2_000);
    expect([t.mode, t.open.length]).toEqual(["active", 3]);
    await t.stop();
  });

  it("cancel what matches and nothing else", async () => {
    const { t, source } = await watched([
      strategy("resting", { wanted: () => concat(of([far("x"), far("y")]), NEVER) }),
    ]);
    await t.advance(500);
    const result = source.act({ type: "cancel", where: { strategy: "resting", slot: "x" } }, "me");
    await t.advance(500);
    expect(await result).toEqual({ ok: true, text: "Canceling: 1 order is gone.", count: 1 });
    expect(t.open.map(({ slot }) => slot)).toEqual(["y"]);
    await t.stop();
  });

  it("are answered after ten seconds when the service does not answer, with what is not known yet", async () => {
    const { t, source } = await watched([strategy("resting", { wanted: () => concat(of([far("x")]), NEVER) })]);
    await t.advance(500);
    t.loseRequests(1_000, "cancelBatch");
    let result: unknown;
    void source.act({ type: "halt" }, "me").then((value) => {
      result = value;
    });
    await t.advance(9_000);
    expect(result).toBeUndefined();
    await t.advance(2_000);
    expect(result).toMatchObject({ ok: false, code: "UNFINISHED", text: expect.stringContaining("continues") });
    await t.stop();
  });

  it("that the engine refuses are answered in its words, and nothing has changed", async () => {
    const { t, source } = await watched();
    await t.advance(500);
    expect(await source.act({ type: "halt", strategy: "nobody" }, "me")).toMatchObject({
      ok: false,
      code: "CONFIG_INVALID",
    });
    expect(await source.act({ type: "options", strategy: "by hand", changes: { x: 1 } }, "me")).toMatchObject({
      ok: false,
      code: "CONFIG_INVALID",
      text: expect.stringContaining('"x"'),
    });
    expect(await source.act({ type: "play", paused: true }, "me")).toMatchObject({ ok: false, code: "UNSUPPORTED" });
    expect(t.mode).toBe("active");
    await t.stop();
  });

  it("say that a strategy that was started again with changed options has failed", async () => {
    const fussy = defineStrategy({
      name: "fussy",
      options: { type: "object", additionalProperties: false, properties: { levels: { type: "number", default: 1 } } },
      wanted: ({ options: { levels } }) => (levels > 2 ? throwError(() => new Error("no more than 2 levels")) : NEVER),
    });
    const { t, source } = await watched([fussy({})]);
    await t.advance(500);
    expect(await source.act({ type: "options", strategy: "fussy", changes: { levels: 2 } }, "me")).toMatchObject({
      ok: true,
    });
    expect(await source.act({ type: "options", strategy: "fussy", changes: { levels: 3 } }, "me")).toMatchObject({
      ok: false,
      code: "STRATEGY_ENDED",
      text: expect.stringContaining("is failed now: no more than 2 levels"),
    });
    await t.stop();
  });

  it("say that one strategy is still halted while everything is, and why", async () => {
    const { t, source } = await watched([strategy("resting", { wanted: () => NEVER })]);
    await t.advance(500);
    const halted = source.act({ type: "halt", reason: "lunch" }, "me");
    await t.advance(500);
    expect(await halted).toMatchObject({ ok: true });
    expect(await source.act({ type: "resume", strategy: "resting" }, "me")).toEqual({
      ok: false,
      code: "STILL_HALTED",
      text: "resting itself is resumed and is still halted, because all trading is (lunch). Resume all trading.",
    });
    expect(await source.act({ type: "resume" }, "me")).toEqual({ ok: true, text: "Trading is resumed." });
    expect(await source.act({ type: "resume", strategy: "resting" }, "me")).toEqual({
      ok: true,
      text: "resting is resumed.",
    });
    await t.stop();
  });
});

it("The view of an engine knows since when the service has not answered, and forgets it with the next answer", () => {
  const events$ = new Subject<Event>();
  const view = new EngineView("main", facts, { events$, now: () => 0, every: () => () => undefined });
  const answered = (at: number, status: number): void =>
    events$.next({
      type: "action.answered",
      endpoint: "positions",
      outcome: "done",
      code: "",
      elapsedMs: 3_000,
      status,
      seq: at,
      at,
    });
  const engine = () => view.snapshot().rows.find(([section]) => section === "engine")?.[2];
  answered(8_000, 200);
  answered(27_000, 0);
  view.flush();
  expect(engine()).not.toHaveProperty("unansweredSince");
  answered(30_000, 0);
  view.flush();
  expect(engine()).toMatchObject({ unansweredSince: 8_000, state: "running" });
  answered(31_000, 200);
  view.flush();
  expect(engine()).toEqual(facts);
});
