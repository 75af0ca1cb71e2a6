/** What an engine loads before it starts: once, in time, and never for an engine that was stopped meanwhile. */
import { NEVER } from "rxjs";
import { describe, expect, it } from "vitest";
import { constant, paper } from "../../../src/backtest.ts";
import type { ServiceEnv } from "../../../src/client/service-port.ts";
import { letPromisesSettle } from "../../../src/clock/microtasks.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { createEngine } from "../../../src/index.ts";
import { strategy, swap } from "../../support/harness/backtest.ts";
import { memoryDisk } from "../../support/harness/memory-disk.ts";

/** An engine before a service whose code is loaded when the test says so. */
const engineOf = () => {
  const clock = createVirtualClock(1_700_000_000_000);
  const inner = paper({ clock, instruments: [swap], latency: constant(10) });
  const happened: string[] = [];
  let settle: { readonly done: () => void; readonly fail: (error: Error) => void } | undefined;
  const load = (): Promise<void> => {
    happened.push("load");
    return new Promise((done, fail) => {
      settle = { done, fail };
    });
  };
  const open = (env: ServiceEnv) => {
    const opened = inner.open(env);
    const start = (): void => {
      happened.push("start");
      opened.start();
    };
    return { ...opened, load, start };
  };
  const strategies = [strategy("one", { wanted: () => NEVER })];
  const openDisk = async () => {
    happened.push("journal");
    return memoryDisk();
  };
  const engine = createEngine(
    { service: { kind: "late", open }, strategies, journal: { dir: "journal" } },
    { openDisk },
  );
  engine.on("engine.started", () => {
    happened.push("started");
  });
  const settled = () => settle as NonNullable<typeof settle>;
  const run = async (ms: number): Promise<void> => {
    const until = clock.now() + ms;
    await letPromisesSettle();
    while (clock.step(until)) await letPromisesSettle();
  };
  return { engine, happened, settled, run };
};

describe("An engine whose service has code to load", () => {
  it("loads it before it starts the service, and once however often it is asked for", async () => {
    const { engine, happened, settled, run } = engineOf();
    const loaded = Promise.all([engine.load(), engine.load()]);
    const started = engine.start();
    await run(1_000);
    expect(happened).toEqual(["load"]);
    settled().done();
    await loaded;
    await run(20_000);
    await started;
    expect(happened).toEqual(["load", "journal", "start", "started"]);
    await engine.stop();
  });

  it("that was loaded before starts without a turn for loading", async () => {
    const { engine, happened, settled, run } = engineOf();
    const loaded = engine.load();
    settled().done();
    await loaded;
    const started = engine.start();
    expect(happened).toEqual(["load", "journal"]);
    await run(20_000);
    await started;
    await engine.stop();
  });

  it("does not start when what was to be loaded cannot be, and says why", async () => {
    const { engine, happened, settled } = engineOf();
    const started = engine.start();
    settled().fail(new Error("the file is gone"));
    await expect(started).rejects.toThrow("the file is gone");
    expect(happened).toEqual(["load"]);
  });

  it("does not start when it is stopped meanwhile", async () => {
    const { engine, happened, settled } = engineOf();
    const started = engine.start();
    await engine.stop();
    settled().done();
    await expect(started).rejects.toMatchObject({ code: "ENGINE_STATE" });
    expect(happened).toEqual(["load"]);
  });
});
