/** Parts and steps that plugins add to an engine: their order, what a failure in one of them does, and an engine that refuses by a plugin. */
import { describe, expect, it } from "vitest";
import { runBacktest } from "../../../src/backtest/runner.ts";
import { Extensions } from "../../../src/engine/extensions.ts";
import type { EngineExtension, ExtensionContext } from "../../../src/host/engine-extension.ts";
import { createEngine, definePlugin, type Plugin } from "../../../src/index.ts";
import { testPlugin } from "../../../src/testing.ts";
import { closed } from "../../support/harness/backtest.ts";

type Context = Omit<ExtensionContext<never>, "name" | "options">;

const make = (...all: readonly (EngineExtension | undefined)[]) => {
  const events: { readonly type: string }[] = [];
  const plugins = all.map((extension, index) => ({
    name: `p${index}`,
    definition: `d${index}`,
    options: {},
    extend: () => extension,
  }));
  const context = { events: { append: (event: { readonly type: string }) => events.push(event) } };
  return { events, extensions: new Extensions(plugins, context as unknown as Context) };
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
    const reason = "plugin p0 could not say whether this may be sent, and it is not: no luck";
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
