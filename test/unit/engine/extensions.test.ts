/** Parts and steps that plugins add to an engine: their order, what a failure in one of them does, and an engine that refuses by a plugin. */
import { describe, expect, it } from "vitest";
import { runBacktest } from "../../../src/backtest/runner.ts";
import type { Clock } from "../../../src/clock/clock.ts";
import { letPromisesSettle } from "../../../src/clock/microtasks.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { Extensions } from "../../../src/engine/extensions.ts";
import type { EngineExtension, ExtensionContext } from "../../../src/host/engine-extension.ts";
import { createEngine, definePlugin, type Plugin } from "../../../src/index.ts";
import { testPlugin } from "../../../src/testing.ts";
import { closed } from "../../support/harness/backtest.ts";

declare module "sluice" {
  interface PluginEvents {
    "test.said": { readonly words: string };
  }
}

type Context = Omit<ExtensionContext<never>, "name" | "options">;

const make = (...all: readonly (EngineExtension | undefined)[]) => makeAt(createVirtualClock(0), ...all);

/** `machine`: the clock by which the stop ends. */
const makeAt = (machine: Clock, ...all: readonly (EngineExtension | undefined)[]) => {
  const events: { readonly type: string }[] = [];
  const plugins = all.map((extension, index) => ({
    name: `p${index}`,
    definition: `d${index}`,
    options: {},
    extend: () => extension,
  }));
  const context = { events: { append: (event: { readonly type: string }) => events.push(event) } };
  return { events, extensions: new Extensions(plugins, context as unknown as Context, machine) };
};

const failing = () => {
  throw new Error("no luck");
};

describe("Steps of extensions", () => {
  it("cost no turn of the event loop where no extension has them", () => {
    const { extensions } = make({}, undefined);
    expect([extensions.acquire(), extensions.join(), extensions.synced()]).toEqual([undefined, undefined, undefined]);
    expect(extensions.stopping(() => ({ cancel: true, open: 0 }))).toBeUndefined();
    expect([extensions.refuses, extensions.flagOnly, extensions.group]).toEqual([undefined, undefined, undefined]);
  });

  it("run in the order of the config at the start and in reverse at the stop", async () => {
    const done: string[] = [];
    const part = (name: string): EngineExtension => ({
      join: async () => void done.push(`${name} joins`),
      synced: () => void done.push(`${name} is synced`),
      started: () => void done.push(`${name} has started`),
      stopping: async ({ open }) => void done.push(`${name} stops with ${open}`),
      closed: async () => void done.push(`${name} is closed`),
    });
    const { extensions } = make(part("a"), part("b"));
    await extensions.join();
    await extensions.synced();
    extensions.started();
    await extensions.stopping(() => ({ cancel: false, open: 2 }));
    await extensions.closed();
    expect(done).toEqual([
      "a joins",
      "b joins",
      "a is synced",
      "b is synced",
      "a has started",
      "b has started",
      "b stops with 2",
      "a stops with 2",
      "b is closed",
      "a is closed",
    ]);
  });

  it("close every extension, also where one throws, and report that", async () => {
    const done: string[] = [];
    const { extensions } = make({ closed: async () => void done.push("first") }, { closed: failing });
    await expect(extensions.closed()).rejects.toThrow("no luck");
    expect(done).toEqual(["first"]);
  });

  it("close the engine where one throws while it stops, and the stop reports that", async () => {
    const done: string[] = [];
    const clumsy = definePlugin({
      name: "clumsy",
      options: closed,
      extend: () => ({ stopping: failing, closed: async () => void done.push("closed") }),
    });
    const test = await testPlugin(clumsy({}));
    await expect(test.stop()).rejects.toThrow("no luck");
    expect(done).toEqual(["closed"]);
  });

  it("are reported where one throws when strategies run, and the others are told", () => {
    const done: string[] = [];
    const { extensions, events } = make({ started: failing }, { started: () => void done.push("second") });
    extensions.started();
    expect(done).toEqual(["second"]);
    expect(events).toEqual([{ type: "plugin.failed", plugin: "p0", message: "no luck" }]);
  });

  it("are not waited for longer than five seconds at the stop", async () => {
    const clock = createVirtualClock(0);
    const never = () => new Promise<void>(() => undefined);
    const done: string[] = [];
    const { extensions, events } = makeAt(
      clock,
      { stopping: never, closed: never },
      { closed: async () => void done.push("last") },
    );
    const stopped = extensions.stopping(() => ({ cancel: false, open: 0 }));
    clock.advanceTo(4_999);
    expect(events).toEqual([]);
    clock.advanceTo(5_000);
    await stopped;
    const closing = extensions.closed();
    await letPromisesSettle();
    clock.advanceTo(10_000);
    await closing;
    expect(done).toEqual(["last"]);
    const detail = "plugin p0 did not end within 5 s and is not waited for";
    expect(events).toEqual([
      { type: "anomaly", what: "plugin.end", detail },
      { type: "anomaly", what: "plugin.end", detail },
    ]);
  });

  it("wait one after the other until this process may trade", async () => {
    const found = (continues: boolean, inOrder: boolean) => ({ acquire: async () => ({ continues, inOrder }) });
    const { extensions } = make(found(false, false), found(true, false));
    await expect(extensions.acquire()).resolves.toEqual({ continues: true, inOrder: false });
  });
});

describe("Reasons of extensions to refuse", () => {
  it("are asked in the order of the config; the first one counts", () => {
    const { extensions } = make({ refuses: () => undefined }, { refuses: (isExit) => (isExit ? undefined : "night") });
    expect([extensions.refuses?.(false), extensions.refuses?.(true)]).toEqual(["night", undefined]);
  });

  it("refuse where one throws, and are reported once", () => {
    const { extensions, events } = make({ refuses: failing, blocks: failing, flagOnly: failing });
    const reason = "plugin p0 failed to decide whether this may be sent, so it is not sent: no luck";
    expect([extensions.refuses?.(true), extensions.flagOnly?.()]).toEqual([reason, reason]);
    expect(extensions.blocks({} as never)).toBe(reason);
    expect(events).toEqual([{ type: "anomaly", what: "plugin.refusal", detail: reason }]);
  });

  it("keep one journal only", () => {
    const openDisk = failing as never;
    expect(() => make({ openDisk }, { openDisk })).toThrow("config.plugins: p0 and p1 both keep the journal");
  });

  it("wrap the transport, the first plugin outermost", () => {
    const calls: string[] = [];
    const wrap = (name: string): EngineExtension => ({
      interceptor: (next) => (request, sink) => {
        calls.push(name);
        next(request, sink);
      },
    });
    const { extensions } = make(wrap("outer"), wrap("inner"));
    extensions.interceptor(() => calls.push("wire"))({} as never, {} as never);
    expect(calls).toEqual(["outer", "inner", "wire"]);
  });
});

describe("A plugin that refuses entries", () => {
  const quiet = definePlugin({
    name: "quiet",
    options: closed,
    extend: () => ({ refuses: (isExit) => (isExit ? undefined : "quiet hours") }),
  });
  const fills = async (plugins: readonly Plugin[]): Promise<number> => {
    const { default: config } = await import("../../../config/backtest.ts");
    const report = await runBacktest({ ...config, plugins });
    return Object.values(report.perStrategy).reduce((total, { fills: count }) => total + count, 0);
  };

  it("leaves a backtest without fills, which has them otherwise", async () => {
    expect([await fills([quiet({})]), (await fills([])) > 0]).toEqual([0, true]);
  });
});

describe("An engine that only closes positions", () => {
  it("starts no plugin, and tells extensions its purpose", async () => {
    const seen: string[] = [];
    const both = definePlugin({
      name: "both",
      options: closed,
      setup: () => void seen.push("set up"),
      extend: ({ purpose }) => void seen.push(purpose),
    });
    const { default: config } = await import("../../../config/paper.ts");
    for (const purpose of ["trade", "close"] as const) {
      const engine = createEngine({ ...config, plugins: [both({})] }, { purpose });
      await engine.start();
      await engine.stop();
    }
    expect(seen).toEqual(["trade", "set up", "close"]);
  });
});

describe("What a plugin says about itself", () => {
  const talkative = definePlugin({
    name: "talkative",
    options: closed,
    events: {
      "test.said": ({ words }) => {
        if (words === "") throw new Error("nothing to say");
        return ["bad", `said ${words}`];
      },
    },
    setup: ({ on }) => void on("test.said", ({ words }) => heard.push(words)),
    extend: ({ events }) => ({
      started: () => {
        events.append({ type: "test.said", words: "hello" });
      },
      health: () => ({ mood: "fine" }),
    }),
  });
  const heard: string[] = [];

  it("is an event with a text, and its part of the engine's health", async () => {
    const test = await testPlugin(talkative({}, { as: "loud" }));
    const said = { type: "test.said", words: "hello", seq: 0, at: 0 } as const;
    expect(test.events.filter(({ type }) => type === "test.said")).toMatchObject([{ words: "hello" }]);
    expect(heard).toEqual(["hello"]);
    expect(test.engine.eventText(said)).toEqual(["bad", "said hello"]);
    expect(test.engine.eventText({ ...said, words: "" })).toEqual([
      "warn",
      "test.said, whose text failed: nothing to say",
    ]);
    expect(test.engine.eventText({ type: "journal.failed", reason: "", seq: 0, at: 0 })).toBeUndefined();
    expect(test.engine.health().plugins).toEqual({ loud: { mood: "fine" } });
    await test.stop();
  });
});
