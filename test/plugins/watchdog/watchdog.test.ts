import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Subject } from "rxjs";
import { describe, expect, it, vi } from "vitest";
import { watchdogIn } from "../../../plugins/watchdog/configured.ts";
import watchdog from "../../../plugins/watchdog/index.ts";
import type { Listen, Receiver } from "../../../plugins/watchdog/ipc.ts";
import type { Report } from "../../../plugins/watchdog/messages.ts";
import { keepWatchdog } from "../../../plugins/watchdog/run-option.ts";
import { main } from "../../../src/cli/main.ts";
import { letPromisesSettle } from "../../../src/clock/microtasks.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { checkConfig } from "../../../src/host/config.ts";
import type { Plugin } from "../../../src/host/strategy.ts";
import type { Event } from "../../../src/journal/events.ts";
import { capturedIo } from "../../support/captured-io.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder("watchdog-cli");
const file = (name: string, text: string): string => {
  const path = join(folder, `${name}.mjs`);
  writeFileSync(path, text);
  return path;
};
/** The plugin as data, as this file imports no package. */
const beating = (dir = "undefined"): string =>
  `plugins: [{ kind: "plugin", name: "watchdog", definition: "watchdog", start: () => {}, options: { beatMs: 1000, silenceMs: 15000, scope: "instance", dir: ${dir} } }],`;
/** A service that lists nothing, and refuses everything where asked to. */
const service = (
  over = "",
  beats: string = beating(),
) => `import { of, NEVER } from ${JSON.stringify(import.meta.resolve("rxjs"))};
import { createSystemClock } from ${JSON.stringify(fileURLToPath(new URL("../../../src/clock/system-clock.ts", import.meta.url)))};
const ok = { status: 200, headers: {}, body: { code: "0", msg: "", data: [] } };
const keys = [{ name: "k", permissions: ["read", "trade_futures"] }];
export default ({ command }) => ({
  service: { kind: "live", baseUrl: "https://x", environment: "testnet", open: () => ({
    clock: createSystemClock(),
    transport: (request, sink) => { if (command !== "watchdog") throw new Error(command); setTimeout(() => sink.response(${over === "" ? "ok" : over}), 1); },
    market: {}, users: [{ uid: "main", ip: "local", keys, pushes$: NEVER, pushing$: of(false) }], watchful: true, assumptions: [], start: () => {}, stop: () => {},
  }) },
  strategies: [{ kind: "strategy", name: "s", options: {}, start: () => ({}) }],
  ${beats}
});
`;
const config = file("plain", service());
const refused = file(
  "refused",
  service('{ status: 401, headers: {}, body: { code: "50004", msg: "who?", data: [] } }'),
);
/** On the clock of the test; nothing is ever answered. */
const silent = file(
  "silent",
  service()
    .replace("clock: createSystemClock()", "clock: globalThis.clockOfWatchdogTest")
    .replace(/transport: .*/, "transport: () => {},"),
);
const unbeaten = file("unbeaten", service("", ""));
const unbeatenRun = file("unbeaten-run", service("", `...(command === "watchdog" ? { ${beating()} } : {}),`));
const elsewhere = file("elsewhere", service("", `${beating("command")} instance: command === "run" ? "one" : "main",`));
const keyless = file(
  "keyless",
  service()
    .replace("=> ({", '=> { if (command === "run") throw new Error("no key"); return {')
    .replace(/\}\);\n$/, "}; };\n"),
);
const paper = file("paper", 'export default { service: { kind: "paper" }, strategies: [] };');

/** Runs the command; `story` is told the engine's side of the line as soon as it listens, so before the keys are tried. */
const watch = async (
  argv: readonly string[],
  story: (ears: Receiver<Report>, io: ReturnType<typeof capturedIo>) => void | Promise<void>,
) => {
  const io = capturedIo();
  const listen: Listen = (accept) => {
    const ears = accept({ send: () => undefined, close: () => undefined });
    void story(ears, io);
    return Promise.resolve(() => Promise.resolve());
  };
  const code = await main(["watchdog", ...argv], io, { listen });
  return { code, out: io.outText, err: io.errText };
};
const saidBy = (io: ReturnType<typeof capturedIo>, words: string): Promise<void> =>
  vi.waitFor(() => expect(io.outText).toContain(words), { timeout: 60_000, interval: 20 });
const hello: Report = { kind: "hello", version: 1, session: "a", beatMs: 100 };

describe("sluice watchdog", () => {
  it("with --once ends with the engine's goodbye, and tells it in lines of JSON", async () => {
    const { code, out } = await watch([config, "--once", "--json"], async (ears, io) => {
      ears.received(hello);
      await saidBy(io, "proved");
      ears.received({ kind: "goodbye" });
    });
    const lines = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { kind: string; at: number });
    expect(lines.map(({ kind }) => kind)).toEqual(["armed", "proved", "goodbye"]);
    expect(lines.every(({ at }) => Number.isInteger(at))).toBe(true);
    expect(code).toBe(0);
  });

  it("ends when asked, says that nobody watches, and does not end because nobody reads", async () => {
    const { code, err, out } = await watch([config], (ears, io) => {
      io.stop("unread");
      ears.received(hello);
      void saidBy(io, "an engine is connected").then(() => io.stop());
    });
    expect([code, err]).toEqual([0, "The engine is not protected any more.\n"]);
    expect(out).toContain("an engine is connected; after 15 s of silence its orders are canceled");
    expect(out).toContain("the keys of main can read; 0 orders open");
  });

  it.each([
    ["keys that the service does not know", [refused], 2, /could not cancel anything for user main: 50004 who\?/],
    ["a silence that is none", [config, "--silence-ms", "10"], 2, /whole milliseconds from 500/],
    ["a scope nobody knows", [config, "--scope", "all"], 2, /Allowed choices are instance, user/],
    [
      "a config whose engine sends no heartbeat",
      [unbeaten],
      2,
      /has no plugin "watchdog".*Add watchdog\(\{\}\) of sluice\/plugins\/watchdog to its plugins and restart the engine/,
    ],
    ["a config whose engine alone has none", [unbeatenRun], 2, /as `sluice run` reads it has no plugin "watchdog"/],
    [
      "an engine that sends its heartbeat elsewhere",
      [elsewhere],
      2,
      /would not receive the heartbeat of its engine: instance is "one" for `sluice run` and "main" for `sluice watchdog`; dir of the watchdog is "run" for .* and "watchdog" for/,
    ],
    ["no config", [join(folder, "nowhere.mjs")], 2, /no such file/],
  ])("refuses %s", async (_, argv, code, message) => {
    const ended = await watch(argv, () => undefined);
    expect([ended.code, ended.out]).toEqual([code, ""]);
    expect(ended.err).toMatch(message);
  });
});

describe("sluice watchdog whose service does not answer", () => {
  const watchSilent = async () => {
    const clock = createVirtualClock(0);
    vi.stubGlobal("clockOfWatchdogTest", clock);
    const io = capturedIo();
    let accept: Parameters<Listen>[0] | undefined;
    const listen: Listen = (accepted) => {
      accept = accepted;
      return Promise.resolve(() => Promise.resolve());
    };
    const ended = main(["watchdog", silent, "--once"], io, { listen, clock });
    await vi.waitFor(() => expect(accept).toBeDefined(), 20_000);
    const meet = (session: string): void => {
      const line = { send: () => undefined, close: () => undefined };
      accept?.(line).received({ ...hello, session });
    };
    const run = async (ms: number): Promise<void> => {
      for (const end = clock.now() + ms; clock.now() < end; await letPromisesSettle())
        clock.advanceTo(Math.min(end, clock.now() + 500));
    };
    /** It has tripped, and tries to read what is open. */
    const trip = async (): Promise<void> => {
      meet("a");
      await run(40_000);
      expect(io.outText).toContain("tripped: no beat for 15 s");
    };
    return { io, ended, meet, run, trip };
  };

  it("ends a second after the request to stop while it checks its keys", async () => {
    const { io, ended, run } = await watchSilent();
    io.stop();
    await run(1_000);
    expect(await ended).toBe(0);
    expect(io.outText).toBe("");
  });

  it("reports at least once a minute that orders are still being canceled, and ends at the second request to stop", async () => {
    const { io, ended, run, trip } = await watchSilent();
    await trip();
    await run(300_000);
    const reports = io.outText.split("\n").filter((line) => /still being canceled|could not be read/.test(line));
    expect(reports.length).toBeGreaterThanOrEqual(9);
    expect(reports.at(-1)).toMatch(/orders are still being canceled; the service has not answered for 3\d\d s/);
    io.stop();
    await run(60_000);
    expect(io.errText).toMatch(
      /^Canceling orders; it ends when they are gone\..* Press Ctrl-C again to end it now\.\n$/,
    );
    io.stop();
    expect(await ended).toBe(1);
    expect(io.errText).toContain("orders may still be open at the service");
  });

  it("that was asked to stop ends when a new engine takes over", async () => {
    const { io, ended, meet, trip } = await watchSilent();
    await trip();
    io.stop();
    await letPromisesSettle();
    meet("b");
    expect(await ended).toBe(0);
    expect(io.errText).toContain("The engine is not protected any more.");
  });
});

describe("sluice watchdog while no engine is running", () => {
  it("says in every status line that nothing is protected", async () => {
    const { code, out } = await watch([config], async (_, io) => {
      await saidBy(io, "nothing is protected yet\n");
      io.stop();
    });
    expect(code).toBe(0);
    expect(out).toMatch(
      /the keys of main can read; 0 orders open\n.* {2}no engine has connected: nothing is protected yet\n$/,
    );
  });

  it("watches for `sluice run --watchdog`, whose config may leave it out, and where the engine's keys are not its own", async () => {
    const stop = (_: unknown, io: ReturnType<typeof capturedIo>) => void saidBy(io, "can read").then(() => io.stop());
    expect((await watch([unbeaten, "--beside-run"], stop)).code).toBe(0);
    expect((await watch([keyless], stop)).code).toBe(0);
  });
});

describe("sluice run --watchdog", () => {
  it("leaves no watchdog behind where the engine never came to speak", async () => {
    const clock = createVirtualClock(0);
    const io = capturedIo();
    const listen: Listen = () => Promise.resolve(() => Promise.resolve());
    const ended = main(["watchdog", unbeaten, "--once", "--beside-run"], io, { listen, clock });
    await vi.waitFor(() => {
      expect(io.outText).toContain("nothing is protected yet");
    }, 20_000);
    clock.advanceTo(120_000);
    expect(await ended).toBe(0);
    expect(io.errText).toBe("No engine connected within 120 s.\n");
  });

  it("is given up when the run is gone for the silence of an engine, and then looks for what it left", async () => {
    const clock = createVirtualClock(0);
    const io = capturedIo();
    const listen: Listen = () => Promise.resolve(() => Promise.resolve());
    let isGone = false;
    const argv = ["watchdog", unbeaten, "--once", "--json", "--beside-run", "1"];
    const ended = main(argv, io, { listen, clock, isGone: () => isGone });
    await vi.waitFor(() => {
      expect(io.outText).toContain('"waiting"');
    }, 20_000);
    clock.advanceTo(30_000);
    isGone = true;
    clock.advanceTo(44_000);
    expect(io.outText).not.toContain('"unmet"');
    clock.advanceTo(46_000);
    expect(await ended).toBe(0);
    expect(io.errText).toBe("The run that started this watchdog is gone, and its engine never connected.\n");
    expect(io.outText).toContain('"kind":"unmet"');
    expect(io.outText).toContain('"kind":"over","gone":0,"stuck":0');
  });

  it("ends the one it started where it ends before that was connected, and not afterwards", () => {
    const clock = createVirtualClock(0);
    const events$ = new Subject<Event>();
    const ended: number[] = [];
    const parts = {
      path: "x.ts",
      instance: "one",
      clock,
      note: () => undefined,
      start: () => 77,
      end: (pid: number) => ended.push(pid),
    };
    keepWatchdog(events$, parts).unsubscribe();
    expect(ended).toEqual([77]);
    const keeping = keepWatchdog(events$, parts);
    events$.next({ seq: 1, at: 0, type: "watchdog.armed", silenceMs: 15_000, before: undefined });
    keeping.unsubscribe();
    expect(ended).toEqual([77]);
  });

  it("is refused where orders end with the process", async () => {
    const io = capturedIo();
    expect(await main(["run", paper, "--watchdog"], io)).toBe(2);
    expect(io.errText).toContain("the embedded service ends with this process");
  });

  it("starts one, and again when it is lost, but not over and over", () => {
    const clock = createVirtualClock(0);
    const started: [readonly string[], string][] = [];
    const events$ = new Subject<Event>();
    const lose = (): void => events$.next({ seq: 1, at: 0, type: "watchdog.lost", reason: "gone" });
    const notes: string[] = [];
    const start = (argv: readonly string[], log: string): number | undefined =>
      started.push([argv, log]) === 1 ? 77 : undefined;
    keepWatchdog(events$, { path: "config/x.ts", instance: "one", clock, note: (text) => notes.push(text), start });
    const once = [
      [
        "watchdog",
        expect.stringMatching(/^\/.*config\/x\.ts$/),
        "--once",
        "--json",
        "--beside-run",
        String(process.pid),
      ],
      join(".sluice", "watchdog-one.ndjson"),
    ];
    lose();
    expect(started).toEqual([once]);
    clock.advanceTo(30_000);
    events$.next({ seq: 2, at: 0, type: "engine.stalled", lateMs: 300 });
    expect(started).toHaveLength(1);
    lose();
    lose();
    expect(started).toEqual([once, once]);
    expect(notes).toEqual([
      `A watchdog was started as process 77; what it does is written to ${join(".sluice", "watchdog-one.ndjson")}.`,
      "The watchdog could not be started.",
    ]);
  });
});

describe("The options of the watchdog", () => {
  const configWith = (plugins: readonly unknown[]) =>
    checkConfig({ service: { kind: "live" }, strategies: [{ kind: "strategy", name: "s" }], plugins });
  const made = (options: object) => configWith([watchdog(options as never)]);
  it("have defaults, and are found in a config with nested lists", () => {
    expect(watchdogIn(made({}))).toEqual({ beatMs: 1_000, silenceMs: 15_000, scope: "instance" });
    expect(watchdogIn({ plugins: [false, [[watchdog({ beatMs: 500 })]]] })).toMatchObject({ beatMs: 500 });
    expect(watchdogIn(configWith([]))).toBeUndefined();
  });
  it.each([
    [{ silenceMs: 2_000 }, /silenceMs 2000 is less than three times beatMs 1000\. Write silenceMs: 3000 or more/],
    [{ beatMs: 1 }, /beatMs/],
    [{ scope: "all" }, /scope/],
    [{ silence: 5 }, /"silence"/],
  ])("%o are refused", (options, message) => {
    expect(() => made(options)).toThrow(message);
  });
  it("are taken over by `run --watchdog`, wherever the plugin stands in the config", async () => {
    const { default: option } = await import("../../../plugins/watchdog/run-option.ts");
    const service = { kind: "live", baseUrl: "https://x", environment: "testnet" };
    const plugins = [null, false, [[watchdog({ beatMs: 500 })]]];
    const { plugins: run } = option.configure({ service, plugins }, true, {}) as {
      readonly plugins: readonly Plugin[];
    };
    expect(run.map(({ name, options }) => [name, options])).toEqual([
      ["watchdog", { beatMs: 500, silenceMs: 15_000, scope: "instance", startWithinMs: 60_000 }],
    ]);
  });
  it("stand in the plugins, and the key of earlier versions is refused with what to write", () => {
    const old = { service: { kind: "live" }, strategies: [{ kind: "strategy", name: "s" }], watchdog: {} };
    expect(() => checkConfig(old)).toThrow(
      'config.watchdog: this is a plugin now. Write plugins: [watchdog({ … })] with watchdog from "sluice/plugins/watchdog".',
    );
  });
});
