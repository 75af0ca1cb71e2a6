import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Subject } from "rxjs";
import { describe, expect, it } from "vitest";
import { main } from "../../../src/cli/main.ts";
import type { RunParts } from "../../../src/cli/run.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { SluiceError } from "../../../src/errors.ts";
import type { QuotaState } from "../../../src/host/context.ts";
import type { Event, EventBody } from "../../../src/journal/events.ts";
import { type CaptureOptions, capturedIo } from "../../support/captured-io.ts";
import { quotaState, strategyView } from "../../support/harness/records.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

type CreateEngine = NonNullable<RunParts["createEngine"]>;
type RunningEngine = ReturnType<CreateEngine>;

const folder = temporaryFolder("run");
const config = join(folder, "config.mjs");
writeFileSync(config, "export default ({ command }) => ({ command });");

/** A promise and what fulfils it. */
const gate = (): readonly [Promise<void>, () => void] => {
  let open = (): void => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return [passed, open];
};

/** An engine that does what the test tells it, beside the command that runs it. */
const stage = (argv: readonly string[] = [], look: CaptureOptions = {}, path = config) => {
  const clock = createVirtualClock();
  const io = capturedIo(look);
  const events$ = new Subject<Event>();
  const quota$ = new Subject<QuotaState>();
  const log: unknown[] = [];
  const [begun, begin] = gate();
  const [halted, halt] = gate();
  let seq = 0;
  const say = (body: EventBody): void => {
    events$.next({ ...body, seq: seq++, at: 1_000 });
  };
  const engine: RunningEngine & { starting: () => Promise<void>; stopping: () => Promise<void> } = {
    events$,
    quota$,
    strategies: () => [strategyView()],
    openOrders: () => [],
    starting: () => Promise.resolve(),
    stopping: () => Promise.resolve(),
    start: () => {
      log.push("start");
      begin();
      return engine.starting();
    },
    stop: async () => {
      log.push("stop");
      halt();
      await engine.stopping();
      say({ type: "engine.stopped", reason: "asked" });
      events$.complete();
    },
  };
  let print: (line: string) => void = () => {};
  const createEngine: CreateEngine = (given, options) => {
    log.push(given);
    print = options.print ?? print;
    return engine;
  };
  const ended = main(["run", path, ...argv], io, { createEngine, clock });
  return { clock, io, engine, events$, quota$, log, say, print: (line: string) => print(line), ended, begun, halted };
};

const started = async (argv: readonly string[] = [], look: CaptureOptions = {}, path = config) => {
  const act = stage(argv, look, path);
  await act.begun;
  // One turn, for what the command does once the start is done.
  await new Promise((resolve) => setImmediate(resolve));
  return act;
};

describe("The run command", () => {
  it("starts an engine with the config for running, and stops it when asked", async () => {
    const { io, log, ended } = await started();
    io.stop();
    expect(await ended).toBe(0);
    expect(log).toEqual([{ command: "run" }, "start", "stop"]);
    expect(io.errText).toBe("Stopping: Ctrl-C.\n");
    expect(io.outText).toContain(
      "stopped: the embedded service ends with this process, and its orders with it\n\n Paper run at the embedded service\n",
    );
    expect(io.outText).toContain("\nRan 0:00:00: 0 requests");
  });

  it("stops by itself after --seconds", async () => {
    const { clock, log, io, ended } = await started(["--seconds", "2.5"]);
    clock.advanceTo(2_499);
    expect(log).not.toContain("stop");
    clock.advanceTo(2_500);
    expect(await ended).toBe(0);
    expect(io.errText).toBe("Stopping: --seconds is over.\n");
    expect(io.outText).toContain("Ran 0:00:02:");
    expect(clock.pending).toBe(0);
  });

  it("stops without a word when nobody reads any more", async () => {
    const { io, log, ended } = await started(["--json"]);
    io.stop("unread");
    expect(await ended).toBe(0);
    expect(log).toContain("stop");
    expect(io.errText).toBe("");
  });

  it("ends when the engine ends", async () => {
    const { events$, io, ended } = await started();
    events$.complete();
    expect(await ended).toBe(0);
    expect(io.errText).toBe("Stopping: the engine ended.\n");
  });

  const answered: Extract<EventBody, { type: "action.answered" }> = {
    type: "action.answered",
    endpoint: "instruments",
    outcome: "done",
    status: 200,
    code: "0",
    elapsedMs: 5,
  };
  const starts = async (...argv: readonly string[]) => {
    const act = stage(argv);
    const [ready, release] = gate();
    act.engine.starting = () => ready;
    await act.begun;
    return { ...act, release };
  };

  it("lets a start that was asked to stop finish first", async () => {
    const act = await starts();
    const { release } = act;
    act.io.stop();
    await new Promise((resolve) => setImmediate(resolve));
    expect(act.log).not.toContain("stop");
    release();
    expect(await act.ended).toBe(0);
    expect(act.log).toContain("stop");
  });

  it.each<[string, readonly EventBody[], number]>([
    ["at a service that answers stops soon", [answered], 5_000],
    ["before the first answer stops soon", [], 5_000],
    ["at a service that does not answer stops at once", [{ ...answered, outcome: "unknown", status: 0 }], 0],
  ])("a start that is asked to stop %s, and does not look done", async (_, story, ms) => {
    const act = await starts("--cancel");
    for (const body of story) act.say(body);
    act.io.stop();
    await new Promise((resolve) => setImmediate(resolve));
    act.clock.advanceTo(Math.max(0, ms - 1));
    await new Promise((resolve) => setImmediate(resolve));
    expect(act.log.includes("stop")).toBe(ms === 0);
    act.clock.advanceTo(ms);
    expect(await act.ended).toBe(1);
    expect(act.log).toContain("stop");
    expect(act.io.errText).toContain(
      "error: Stopped (Ctrl-C) before the engine had started: nothing was traded or canceled.",
    );
  });

  it("bounds a start by --seconds", async () => {
    const act = await starts("--seconds", "5");
    act.say({ ...answered, outcome: "unknown", status: 0 });
    act.clock.advanceTo(5_000);
    expect(await act.ended).toBe(1);
    expect(act.io.errText).toContain("Stopped (--seconds is over) before the engine had started");
  });

  it("a second request abandons a start that is let finish", async () => {
    const act = await starts();
    act.io.stop();
    await new Promise((resolve) => setImmediate(resolve));
    act.io.stop();
    expect(await act.ended).toBe(1);
    expect(act.io.errText).toContain("Abandoned while stopping");
  });

  it("fails when the start fails, and leaves nothing behind", async () => {
    const act = stage(["--seconds", "60"]);
    act.engine.starting = () => Promise.reject(new SluiceError("CONFIG_INVALID", "config.keys is missing."));
    expect(await act.ended).toBe(2);
    expect(act.io.errText).toContain("error: config.keys is missing.\n");
    expect(act.log).not.toContain("stop");
    expect([act.clock.pending, act.events$.observed, act.quota$.observed]).toEqual([0, false, false]);
  });

  it("a second request abandons a stop that hangs", async () => {
    const act = await started();
    act.engine.stopping = () => new Promise(() => {});
    act.io.stop();
    await act.halted;
    act.io.stop();
    expect(await act.ended).toBe(1);
    expect(act.io.errText).toContain("error: Abandoned while stopping: orders may still be open");
  });

  it("fails when a strategy failed on the way", async () => {
    const { say, io, ended } = await started();
    say({ type: "strategy.failed", strategy: "ladder", message: "no bid" });
    io.stop();
    expect(await ended).toBe(1);
    expect(io.errText).toContain("error: Failed while running:\n  - strategy ladder: no bid\n");
  });
});

describe("A halted run", () => {
  const halt: EventBody = { type: "mode.changed", mode: "halted", reason: "sluice close" };
  const begin: EventBody = { type: "engine.started", strategies: ["s"], plugins: [] };

  it("of an earlier run's halt says so first, in every status line and at the end, and ends with 3", async () => {
    const act = stage([], { isTty: true, columns: 80, env: { NO_COLOR: "1" } });
    act.engine.starting = async () => {
      act.say(halt);
      act.say(begin);
    };
    await act.begun;
    await new Promise((resolve) => setImmediate(resolve));
    act.clock.advanceTo(3_000);
    act.io.stop();
    expect(await act.ended).toBe(3);
    expect(act.io.outText).toMatch(/^00:00:01\.000 {2}HALTED: sluice close\n/);
    expect(act.io.errText).toContain(
      `No entry is placed while halted; stops, targets and exits stay in force. To resume: stop, look, and start with\n  sluice run ${config}\n`,
    );
    expect(
      act.io.errText.match(/0:00:0\d │ HALTED: sluice close \(previous run\); restart to resume/g)?.length,
    ).toBeGreaterThan(2);
    expect(act.io.errText).toMatch(/error: HALTED: sluice close \(previous run\); restart to resume\n$/);
  });

  it("that arms what an earlier run protected gives its advice once, and again after another halt", async () => {
    const act = stage([], { env: { NO_COLOR: "1" } });
    const long = { strategy: "s", instId: "BTC-USDT-SWAP", side: "sell", qty: "1", avgPx: "60000" } as const;
    const levels = { stopPx: "59000", takeProfitPx: "", trigger: "best" } as const;
    const armed = (name: string): EventBody => ({ type: "protection.armed", name, ...long, ...levels });
    act.engine.starting = async () => {
      act.say(halt);
      act.say(armed("a"));
      act.say(armed("b"));
      act.say(begin);
      act.say(armed("c"));
    };
    await act.begun;
    await new Promise((resolve) => setImmediate(resolve));
    const advice = (): readonly string[] => act.io.errText.match(/No entry is placed while halted; .*force.*/g) ?? [];
    expect(advice()).toEqual([expect.stringContaining("stay in force (2 protections armed).")]);
    act.say({ type: "mode.changed", mode: "active", reason: "resumed" });
    act.say(halt);
    expect(advice()).toHaveLength(2);
    act.io.stop();
    await act.ended;
  });

  it.each<[string, EventBody, string]>([
    ["everything", halt, "error: HALTED: sluice close; resume with --resume\n"],
    [
      "one strategy",
      { type: "strategy.halted", strategy: "s", reason: "lost" },
      "error: HALTED s: lost; resume with --resume\n",
    ],
  ])("by a halt of %s on the way ends with 3; with --json the event tells it", async (_, body, words) => {
    const path = join(folder, "journal.mjs");
    writeFileSync(path, 'export default { journal: { dir: "j" } };');
    const { say, io, engine, ended } = await started(["--json"], {}, path);
    say(begin);
    say(body);
    engine.stopping = async () => {
      say({ type: "mode.changed", mode: "reducing", reason: "stop" });
    };
    io.stop();
    expect(await ended).toBe(3);
    expect(io.errText).toContain(words);
    expect(io.errText).toContain(`start with\n  sluice run ${path} --resume\n`);
    expect(io.outText).toContain(JSON.stringify(body).slice(1, -1));
  });

  it("and taken back again is done; so is one that halts in order to stop", async () => {
    const act = await started();
    act.say(halt);
    act.say({ type: "mode.changed", mode: "active", reason: "looked" });
    act.engine.stopping = async () => {
      act.say({ type: "mode.changed", mode: "halted", reason: "stop" });
    };
    act.io.stop();
    expect(await act.ended).toBe(0);
  });
});

describe("sluice run --json", () => {
  it("prints every event as a line, number and instant first, and nothing else on stdout", async () => {
    const { say, clock, io, ended } = await started(["--json"], { isTty: true, env: { NO_COLOR: "1" } });
    say({ type: "anomaly", what: "order", detail: "fell\nhard" });
    clock.advanceTo(30_000);
    io.stop();
    expect(await ended).toBe(0);
    expect(io.outText).toBe(
      '{"seq":0,"at":1000,"type":"anomaly","what":"order","detail":"fell\\nhard"}\n{"seq":1,"at":1000,"type":"engine.stopped","reason":"asked"}\n',
    );
    expect(io.errText).toContain("Ran 0:00:30");
  });
});

describe("Run for people", () => {
  it("passes on what plugins print, made harmless", async () => {
    const { print, io, ended } = await started();
    print("saved\u001b[2J");
    io.stop();
    await ended;
    expect(io.errText).toContain("saved\\u001b[2J\n");
  });

  it("asks for no state before the engine runs", async () => {
    const act = stage();
    const [ready, release] = gate();
    act.engine.starting = () => ready;
    await act.begun;
    expect([act.events$.observed, act.quota$.observed]).toEqual([true, false]);
    release();
    await new Promise((resolve) => setImmediate(resolve));
    expect(act.quota$.observed).toBe(true);
    act.io.stop();
    await act.ended;
    expect([act.events$.observed, act.quota$.observed]).toEqual([false, false]);
  });

  it("rewrites one line a second on a terminal, with events above it", async () => {
    const { say, quota$, clock, io, ended } = await started([], { isTty: true, columns: 80, env: { NO_COLOR: "1" } });
    quota$.next(quotaState());
    clock.advanceTo(2_000);
    const line = "0:00:01 │ +12.34 USDT r+13.10 u+0.29 f1.05 │ 0.012 BTC │ open 0 │ quota 40%";
    expect(io.errText).toBe(`\r\u001b[K${line}\r\u001b[K${line.replace("0:00:01", "0:00:02")}`);
    say({ type: "anomaly", what: "order", detail: "fell" });
    expect(io.outText).toBe("00:00:01.000  anomaly order: fell\n");
    expect(io.errText.split("\r\u001b[K").map((text) => text.slice(0, 7))).toEqual([
      "",
      "0:00:01",
      "0:00:02",
      "0:00:02",
    ]);
    io.stop();
    expect(await ended).toBe(0);
    expect(io.errText.endsWith("\r\u001b[K")).toBe(true);
  });

  it("says at once that the service does not answer any more, in every status line too, and when it answers again", async () => {
    const { say, clock, io, ended } = await started([], { isTty: true, columns: 80, env: { NO_COLOR: "1" } });
    const answer = { type: "action.answered", endpoint: "positions", code: "", elapsedMs: 1 } as const;
    say({ type: "engine.started", strategies: [], plugins: [] });
    say({ type: "anomaly", what: "socket.lost", detail: "code 1006" });
    say({ ...answer, outcome: "unknown", status: 0 });
    expect(io.errText).toContain("UNREACHABLE: the service has not answered since ");
    clock.advanceTo(31_000);
    expect(io.errText).toContain("0:00:31 │ UNREACHABLE for 0:00:30 │ ");
    say({ ...answer, outcome: "done", status: 200 });
    expect(io.errText).toContain("the service answers again at 00:00:01 UTC, after 0:00:00.\n");
    io.stop();
    expect(await ended).toBe(0);
  });

  it("does not redraw for events that nobody reads", async () => {
    const { say, clock, io, ended } = await started([], { isTty: true });
    clock.advanceTo(1_000);
    const before = io.errText;
    say({ type: "action.dropped", action: 1, endpoint: "getOrder", reason: "stale" });
    expect(io.errText).toBe(before);
    io.stop();
    await ended;
  });

  it("writes a status every ten seconds elsewhere, without a control character", async () => {
    const { quota$, clock, io, ended } = await started();
    quota$.next(quotaState());
    clock.advanceTo(25_000);
    io.stop();
    await ended;
    expect(io.outText.match(/^0:00:\d\d │ profit \+12.34 USDT │ realised \+13.10 │ unrealised \+0.29/gm)).toEqual([
      "0:00:10 │ profit +12.34 USDT │ realised +13.10 │ unrealised +0.29",
      "0:00:20 │ profit +12.34 USDT │ realised +13.10 │ unrealised +0.29",
    ]);
    expect(io.outText + io.errText).not.toMatch(/[^\P{Cc}\n]/u);
  });
});
