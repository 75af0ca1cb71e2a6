/** The rules for plugins: each fault is found by one rule, and the plugins of the package keep them all. */
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import consolePanel from "../../plugins/console-panel/index.ts";
import health from "../../plugins/health/index.ts";
import journalFile from "../../plugins/journal-file/index.ts";
import killSwitch from "../../plugins/kill-switch/index.ts";
import log from "../../plugins/log/index.ts";
import opentelemetry from "../../plugins/opentelemetry/index.ts";
import prometheus from "../../plugins/prometheus/index.ts";
import sharedQuota from "../../plugins/shared-quota/index.ts";
import watchdog from "../../plugins/watchdog/index.ts";
import { letPromisesSettle } from "../../src/clock/microtasks.ts";
import { definePlugin, type Plugin } from "../../src/index.ts";
import { checkPlugin } from "../../src/testing.ts";
import { closed } from "../support/harness/backtest.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

type Definition = Parameters<typeof definePlugin>[0];

const plugin = (parts: Pick<Definition, "setup" | "extend" | "ready">): Plugin =>
  definePlugin({ name: "tried", options: closed, ...parts } as Definition)({});

const listening = (): Server => createServer().listen(0, "127.0.0.1");

/** Rules that it breaks. */
const brokenBy = async (tried: Plugin): Promise<readonly string[]> =>
  (await checkPlugin(tried, { timeoutMs: 3_000 })).flatMap(({ rule, kind, detail }) =>
    kind === "fail" ? [`${rule} ${detail}`] : [],
  );

/** Something that is set up once and not again. */
const once = (work: () => void): (() => void) => {
  let isDone = false;
  return () => {
    if (isDone) throw new Error("set up twice");
    isDone = true;
    work();
  };
};

const faulty: readonly (readonly [what: string, rule: string, make: () => Plugin])[] = [
  [
    "a set-up that throws",
    "P01 no luck",
    () =>
      plugin({
        setup: () => {
          throw new Error("no luck");
        },
      }),
  ],
  [
    "an undo that throws",
    "P02 no luck",
    () =>
      plugin({
        setup: () => () => {
          throw new Error("no luck");
        },
      }),
  ],
  [
    "state that is left in its value",
    "P03 it does not start a second time: set up twice",
    () => {
      let runs = 0;
      return plugin({
        setup: () => {
          // The starts of the rules before it, and its first one.
          runs += 1;
          if (runs === 5) throw new Error("set up twice");
        },
      });
    },
  ],
  [
    "an undo that hangs on an event of the stop",
    "P04 it holds TCPServerWrap after the stop",
    () =>
      plugin({
        setup: ({ on }) => {
          const server = listening();
          on("engine.stopped", () => server.close());
        },
      }),
  ],
  [
    "an asynchronous set-up that is ended by a step of the engine",
    "P05 it holds TCPServerWrap after the stop",
    () => {
      const open: Server[] = [];
      return plugin({
        setup: async () => {
          await letPromisesSettle();
          open.push(listening());
        },
        extend: () => ({
          closed: async () => {
            for (const server of open.splice(0)) server.close();
          },
        }),
      });
    },
  ],
  [
    "a part that counts on the set-up",
    "P06 after a set-up that failed the engine places no order",
    () => {
      let state: { readonly reason?: string } | undefined;
      return plugin({
        setup: () => {
          state = {};
          return () => {
            state = undefined;
          };
        },
        extend: () => ({
          refuses: () => (state === undefined ? "not set up" : undefined),
        }),
      });
    },
  ],
  [
    "an undo without an end",
    "P07 its undoing did not end within 2 s and is not waited for",
    () => plugin({ setup: () => () => new Promise(() => undefined) }),
  ],
  [
    "a listener that throws at a fill",
    "P08 no luck",
    () =>
      plugin({
        setup: ({ on }) => {
          on("fill", () => {
            throw new Error("no luck");
          });
        },
      }),
  ],
  [
    "a decision by chance",
    "P09 two runs differ",
    () => {
      let runs = 0;
      return plugin({
        setup: ({ on, halt }) => {
          const run = ++runs;
          on("order.filled", () => halt(`run ${run}`).subscribe());
        },
      });
    },
  ],
  [
    "an interceptor that keeps cancels",
    "P11 a halt cancels no order with it",
    () =>
      plugin({
        extend: () => ({
          interceptor: (next) => (request, sink) => {
            if (request.endpoint !== "cancelBatch") next(request, sink);
          },
        }),
      }),
  ],
];

describe("Rules for plugins", () => {
  it.each(faulty)("find %s by one rule", async (_, rule, make) => {
    const broken = await brokenBy(make());
    expect(broken).toEqual([expect.stringContaining(rule)]);
  });

  it("have numbers in order, and skip those after a plugin that does not start", async () => {
    const findings = await checkPlugin(plugin({ setup: once(() => undefined) }));
    expect(findings.map(({ rule }) => rule)).toEqual(
      findings.map((_, index) => `P${String(index + 1).padStart(2, "0")}`),
    );
    const failing = await checkPlugin(
      plugin({
        setup: () => {
          throw new Error("no luck");
        },
      }),
    );
    expect(failing.map(({ kind }) => kind)).toEqual(["fail", ...failing.slice(1).map(() => "skip")]);
  });

  it("are kept by a plugin that does all of it right", async () => {
    const right = plugin({
      setup: async ({ on, print }) => {
        await letPromisesSettle();
        const server = listening();
        on("fill", () => print("a fill"));
        return () => new Promise((resolve) => server.close(resolve));
      },
      extend: () => ({ interceptor: (next) => (request, sink) => next(request, sink) }),
    });
    expect(await brokenBy(right)).toEqual([]);
  });
});

const folder = temporaryFolder("plugin-rules");

describe("Plugins of the package", () => {
  it.each<readonly [string, () => Plugin]>([
    ["console-panel", () => consolePanel({})],
    ["health", () => health({ path: join(folder, "health.json") })],
    ["journal-file", () => journalFile({ path: join(folder, "journal.ndjson") })],
    ["kill-switch", () => killSwitch({})],
    ["log", () => log({ path: join(folder, "log.ndjson") })],
    ["opentelemetry", () => opentelemetry({})],
    ["prometheus", () => prometheus({ port: 0 })],
    ["shared-quota", () => sharedQuota({ store: "redis://127.0.0.1:1", group: "desk", of: 2 })],
    ["watchdog", () => watchdog({})],
  ])("keep the rules: %s", async (_, make) => {
    expect(await brokenBy(make())).toEqual([]);
  });
});
