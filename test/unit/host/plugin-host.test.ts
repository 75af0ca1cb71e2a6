import { of } from "rxjs";
import { describe, expect, it } from "vitest";
import { letPromisesSettle } from "../../../src/clock/microtasks.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { createDisposables } from "../../../src/host/disposables.ts";
import { PluginHost } from "../../../src/host/plugin-host.ts";
import type { PluginUndo } from "../../../src/host/strategy.ts";
import { definePlugin, type Event, type PluginContext } from "../../../src/index.ts";
import { createNotices } from "../../../src/journal/event-emitter.ts";
import { EventLog } from "../../../src/journal/event-log.ts";
import { closed } from "../../support/harness/backtest.ts";

type PluginParts = Parameters<PluginHost["start"]>[1];

const setup = () => {
  const clock = createVirtualClock(0);
  const journal = new EventLog(() => clock.now());
  const notices = createNotices(journal, () => undefined);
  const events: Event[] = [];
  journal.attach((event) => events.push(event));
  const host = new PluginHost(clock, journal);
  const parts = {
    events$: journal.events$,
    updates$: of(),
    account: {},
    on: notices.on,
    market: { lastPx: () => undefined },
    halt: () => of(),
    resume: () => undefined,
    now: () => clock.now(),
  } as unknown as PluginParts;
  const start = (name: string, begin: (context: PluginContext<object>) => PluginUndo | Promise<PluginUndo>): void => {
    void host.start(definePlugin({ name, options: closed, setup: begin })({}), parts);
  };
  const failures = (): unknown[] =>
    events.filter(({ type }) => type === "plugin.failed").map((event) => ({ ...event }));
  const happen = (): void => journal.append({ type: "quota.otherClients", layer: "uid", used: 1 });
  return { clock, host, start, events, failures, happen };
};

const throwing = (message: string) => (): never => {
  throw new Error(message);
};

describe("Scope", () => {
  it("undoes the last addition first, each once, also when one throws, and late ones at once", () => {
    const done: string[] = [];
    const scope = createDisposables();
    scope.add(() => done.push("first"));
    scope.add(throwing("second"));
    scope.add(() => done.push("third"));
    expect(scope.close()).toEqual([new Error("second")]);
    scope.add(() => done.push("late"));
    expect(done).toEqual(["third", "first", "late"]);
    expect(scope.close()).toEqual([]);
    expect(done).toHaveLength(3);
  });
});

describe("Plugins", () => {
  it("load a package beside their file, and a missing one ends the plugin with the line that installs it", () => {
    const { start, failures } = setup();
    let loaded: unknown;
    start("has", ({ requirePackage }) => {
      loaded = requirePackage<object>("rxjs", "7", import.meta.url);
    });
    start("lacks", ({ requirePackage }) => {
      requirePackage("no-such-package", "15", import.meta.url);
    });
    expect(loaded).toHaveProperty("of");
    expect(failures()).toEqual([
      expect.objectContaining({
        plugin: "lacks",
        message:
          "plugin lacks: it needs the package no-such-package, which is not installed. Install it: npm install no-such-package@15",
      }),
    ]);
  });

  it("are undone in reverse order, last addition first, also when one throws", () => {
    const { host, start, failures } = setup();
    const done: string[] = [];
    start("one", () => () => done.push("one"));
    start("two", () => throwing("no luck"));
    start("three", () => () => done.push("three"));
    host.stop();
    host.stop();
    expect(done).toEqual(["three", "one"]);
    expect(failures()).toEqual([expect.objectContaining({ plugin: "two", message: "no luck" })]);
  });

  it("hear and tick until the stop and not after it", () => {
    const { clock, host, start, happen } = setup();
    const heard: string[] = [];
    start("one", ({ on, every, events$, now }) => {
      on("quota.otherClients", () => heard.push("on"));
      const off = on("event", () => heard.push("never"));
      off();
      every(100, () => heard.push(`tick ${now()}`));
      events$.subscribe(() => heard.push("stream"));
    });
    happen();
    clock.advanceTo(250);
    host.stop();
    happen();
    clock.advanceTo(500);
    expect(heard.sort()).toEqual(["on", "stream", "tick 100", "tick 200"]);
    expect(clock.pending).toBe(0);
  });

  it.each<[string, (context: PluginContext<object>) => PluginUndo | Promise<PluginUndo>]>([
    ["in setup", throwing("no luck")],
    ["in a listener", ({ on }) => on("quota.otherClients", throwing("no luck"))],
    ["in a listener to everything, its own failure included", ({ on }) => on("event", throwing("no luck"))],
    ["in a tick", ({ every }) => every(10, throwing("no luck"))],
    ["in a subscriber", ({ events$ }) => events$.subscribe(throwing("no luck"))],
    [
      "in every place at once",
      ({ on, every, events$ }) => [
        on("event", throwing("no luck")),
        every(10, throwing("no luck")),
        events$.subscribe(throwing("no luck")),
      ],
    ],
  ])("that throw %s are named once and undone, and the others run on", (_, bad) => {
    const { clock, start, failures, happen, host } = setup();
    const heard: string[] = [];
    let undone = 0;
    start("before", ({ on }) => on("quota.otherClients", () => heard.push("before")));
    start("bad", (context) => {
      context.on("journal.failed", () => undefined);
      void bad(context);
      return () => undone++;
    });
    start("after", ({ on }) => on("quota.otherClients", () => heard.push("after")));
    happen();
    happen();
    clock.advanceTo(100);
    expect(heard).toEqual(["before", "after", "before", "after"]);
    expect(failures()).toEqual([expect.objectContaining({ plugin: "bad", message: "no luck" })]);
    const undoneAtOnce = undone;
    host.stop();
    expect(undone).toBe(undoneAtOnce);
    expect(undone).toBe(bad.length === 0 && _ === "in setup" ? 0 : 1);
  });

  it("whose set-up is asynchronous are undone as others are, also where it ends after them", async () => {
    const { start, failures, host } = setup();
    const heard: string[] = [];
    let later: () => void = () => undefined;
    start("quick", async () => {
      await Promise.resolve();
      return () => heard.push("quick");
    });
    start("slow", async () => {
      await new Promise<void>((resolve) => {
        later = resolve;
      });
      return () => {
        heard.push("slow");
        throw new Error("no luck");
      };
    });
    await letPromisesSettle();
    expect(heard).toEqual([]);
    host.stop();
    expect(heard).toEqual(["quick"]);
    later();
    await letPromisesSettle();
    expect(heard).toEqual(["quick", "slow"]);
    expect(failures()).toEqual([expect.objectContaining({ plugin: "slow", message: "no luck" })]);
  });

  it("that listen to a name that no event has are named with the name that was meant, and the others run on", () => {
    const { start, failures, happen } = setup();
    const heard: string[] = [];
    start("misspelt", ({ on }) => {
      on("event", () => heard.push("misspelt"));
      on("quota.otherClient" as "quota.otherClients", () => heard.push("misspelt"));
    });
    start("other", ({ on }) => on("quota.otherClients", () => heard.push("other")));
    happen();
    expect(heard).toEqual(["other"]);
    expect(failures()).toEqual([
      expect.objectContaining({
        plugin: "misspelt",
        message: expect.stringContaining('Did you mean "quota.otherClients"?'),
      }),
    ]);
  });

  it("two that throw at every event do not keep each other going", () => {
    const { start, failures, happen } = setup();
    start("one", ({ on }) => on("event", throwing("one")));
    start("two", ({ on }) => on("event", throwing("two")));
    happen();
    expect(failures()).toHaveLength(2);
  });
});
