/** What plugins require of Sluice, of each other and of the mode, and set-up that strategies wait for. */
import { NEVER } from "rxjs";
import { describe, expect, it } from "vitest";
import { backtest } from "../../../src/backtest.ts";
import { letPromisesSettle } from "../../../src/clock/microtasks.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import type { CheckedConfig } from "../../../src/host/config.ts";
import { checkConfig } from "../../../src/host/config.ts";
import { PluginHost } from "../../../src/host/plugin-host.ts";
import { packageVersion } from "../../../src/host/plugin-requirements.ts";
import { createEngine, definePlugin, defineStrategy, type Plugin } from "../../../src/index.ts";
import { createNotices } from "../../../src/journal/event-emitter.ts";
import { EventLog } from "../../../src/journal/event-log.ts";
import { closed } from "../../support/harness/backtest.ts";

const idle = defineStrategy({ name: "idle", options: closed, wanted: () => NEVER });
const setup = (): void => undefined;
const refused = (code: string, message: string): object =>
  expect.objectContaining({ name: "SluiceError", code, message: expect.stringContaining(message) });
const thrownBy = (work: () => unknown): unknown => {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
};
const check = (...plugins: readonly Plugin[]): CheckedConfig =>
  checkConfig({ service: backtest({ fixture: "any" }), strategies: [idle({})], plugins });

describe("Requirements of a plugin", () => {
  const of = (requires: object): Plugin => definePlugin({ name: "guest", options: closed, setup, ...requires })({});

  it("are met by this version, by plugins of the config and by its mode", () => {
    const host = definePlugin({ name: "host", options: closed, setup })({}, { as: "under another name" });
    expect(
      check(host, of({ sluice: `^${packageVersion()}`, needs: ["host"], modes: ["backtest"] })).plugins,
    ).toHaveLength(2);
  });

  it.each<[string, object, string]>([
    [
      "another version",
      { sluice: "^99.0.0" },
      `plugin guest: it supports Sluice ^99.0.0, and this is ${packageVersion()}.`,
    ],
    ["a missing plugin", { needs: ["host"] }, "plugin guest: it needs the plugin host. Add host to plugins."],
    [
      "another mode",
      { modes: ["paper", "live"] },
      "plugin guest: it runs in paper and live only, and this config is for backtest. Leave it out of this config.",
    ],
  ])("refuse %s before code of the plugin runs", (_, requires, message) => {
    let ran = false;
    const guest = {
      ...of(requires),
      check: () => {
        ran = true;
      },
    };
    expect(thrownBy(() => check(guest))).toEqual(refused("PLUGIN_INCOMPATIBLE", message));
    expect(ran).toBe(false);
  });

  it("are told all at once", () => {
    expect(thrownBy(() => check(of({ sluice: "<0.0.1", needs: ["one", "two"] })))).toEqual(
      refused(
        "PLUGIN_INCOMPATIBLE",
        "it needs the plugin one. Add one to plugins.\nplugin guest: it needs the plugin two.",
      ),
    );
  });

  it("may ask for any mode in a simulation, which stands for all of them", () => {
    const service = { ...backtest({ fixture: "any" }), kind: "simulation" };
    const config = { service, strategies: [idle({})], plugins: [of({ modes: ["live"] })] };
    expect(checkConfig(config).plugins).toHaveLength(1);
  });

  it.each<[string, object, string]>([
    ["a range that is none", { sluice: "newest" }, 'definePlugin "guest": sluice "newest" is no range of versions.'],
    [
      "an unknown mode",
      { modes: ["papper"] },
      'definePlugin "guest": modes has "papper"; there is backtest, paper, live. Did you mean "paper"?',
    ],
  ])("are refused with %s where the plugin is defined", (_, requires, message) => {
    expect(thrownBy(() => of(requires))).toEqual(refused("CONFIG_INVALID", message));
  });
});

/** A promise that the test settles. */
const deferred = () => {
  let resolve: (value?: unknown) => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<unknown>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
};

const waiting = (work: () => unknown): Plugin =>
  definePlugin({ name: "slow", options: closed, ready: "before trading", setup: () => work() as Promise<undefined> })(
    {},
  );

describe("Set-up that must be ready before trading", () => {
  const hosted = (work: () => unknown) => {
    const machine = createVirtualClock(0);
    const journal = new EventLog(() => machine.now());
    const host = new PluginHost(machine, journal, machine);
    const { on } = createNotices(journal, () => undefined);
    const ready = host.start(waiting(work), {
      events$: journal.events$,
      updates$: NEVER,
      account: {},
      on,
      market: {},
    } as never);
    return { machine, host, ready };
  };

  it("is not waited for where it takes no time", () => {
    expect(hosted(() => undefined).ready).toBeUndefined();
  });

  it("has thirty seconds; its undo still runs where it ends later", async () => {
    const late = deferred();
    const { machine, ready } = hosted(() => late.promise);
    const outcome = expect(ready).rejects.toEqual(
      refused("PLUGIN_FAILED", "plugin slow: its set-up did not end within 30 s. Strategies wait for it"),
    );
    machine.advanceTo(30_000);
    await outcome;
    let undone = false;
    late.resolve(() => {
      undone = true;
    });
    await letPromisesSettle();
    expect(undone).toBe(true);
  });

  const started = async (work: () => unknown) => {
    const { default: config } = await import("../../../config/paper.ts");
    const events: string[] = [];
    const trading = defineStrategy({
      name: "trading",
      options: closed,
      wanted: () => {
        events.push("strategy");
        return NEVER;
      },
    });
    const engine = createEngine({ ...config, strategies: [trading({})], plugins: [waiting(work)] });
    const start = engine.start();
    return { engine, events, start };
  };

  it("lets strategies start when it has ended", async () => {
    const slow = deferred();
    const asked = deferred();
    const { engine, events, start } = await started(() => {
      asked.resolve();
      return slow.promise;
    });
    await asked.promise;
    await letPromisesSettle();
    expect(events).toEqual([]);
    slow.resolve();
    await start;
    expect(events).toEqual(["strategy"]);
    await engine.stop();
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("no port");
      },
    ],
    ["rejects", () => Promise.reject(new Error("no port"))],
  ])("ends the start where it %s, and no strategy starts", async (_, work) => {
    const { engine, events, start } = await started(work);
    await expect(start).rejects.toEqual(refused("PLUGIN_FAILED", "plugin slow: no port. Strategies wait for it"));
    expect(events).toEqual([]);
    await engine.stop();
  });

  it("does not hold up a stop", async () => {
    const asked = deferred();
    const { engine, events, start } = await started(() => {
      asked.resolve();
      return new Promise(() => undefined);
    });
    await asked.promise;
    await engine.stop();
    await start;
    expect(events).toEqual([]);
  });
});
