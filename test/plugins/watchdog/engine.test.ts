/** An engine whose config names a watchdog: when it beats, what it refuses, how it takes leave. */
import { NEVER, of, Subject } from "rxjs";
import { describe, expect, it } from "vitest";
import type { Dial, Receiver } from "../../../plugins/watchdog/ipc.ts";
import type { Report, Word } from "../../../plugins/watchdog/messages.ts";
import { watchdogWith } from "../../../plugins/watchdog/plugin.ts";
import { inProcess } from "../../../src/client/transport/in-process.ts";
import type { Clock } from "../../../src/clock/clock.ts";
import { letPromisesSettle } from "../../../src/clock/microtasks.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { createEngine, type Event, type ServiceSpec, type WantedOrder } from "../../../src/index.ts";
import type { Disk } from "../../../src/journal/disk.ts";
import { far, strategy, swap } from "../../support/harness/backtest.ts";
import { keys, venueOf } from "../../support/harness/engine.ts";
import { memoryDisk } from "../../support/harness/memory-disk.ts";

const setup = async ({
  realTime = true,
  watchful = true,
  watchdog = {} as object | null,
  disk = undefined as Disk | undefined,
  startWithinMs = undefined as number | undefined,
  awaitStart = true,
} = {}) => {
  const inner = createVirtualClock(1_700_000_000_000);
  let lost = 0;
  // What was lost passes without any timer having run.
  const clock: Clock = {
    now: () => inner.now() + lost,
    wallNow: () => inner.wallNow() + lost,
    setTimer: (at, run) => inner.setTimer(at - lost, run),
  };
  const venue = venueOf(clock);
  const transport = inProcess({
    clock,
    latency: { name: "constant", entryMs: () => 20, responseMs: () => 20, feedMs: () => 0 },
    timeoutMs: 3_000,
    handle: ({ method, path, query, body, key }) =>
      venue.handle({ method, path, query, body, key, ip: "local" }, clock.now()),
  });
  const service: ServiceSpec = {
    kind: "world",
    open: () => ({
      clock,
      transport,
      market: {
        trades: () => NEVER,
        quotes: () => NEVER,
        books: () => NEVER,
        candles: () => NEVER,
        lastPx: () => undefined,
      },
      users: [{ uid: "main", ip: "local", keys, pushes$: NEVER, pushing$: of(false) }],
      watchful,
      realTime,
      assumptions: [],
      start: () => undefined,
      stop: () => undefined,
    }),
  };
  const wanted$ = new Subject<readonly WantedOrder[]>();
  const said: Report[] = [];
  let ears: Receiver<Word> | undefined;
  let hungUp = 0;
  const dial = (): Dial => (given) => {
    ears = given;
    return {
      send: (report) => {
        said.push(report);
        if (report.kind === "goodbye") ears?.received({ kind: "farewell" });
      },
      close: () => {
        hungUp++;
      },
    };
  };
  const config = {
    service,
    // The lock of a journal is the machine's: another run of these tests must not hold it.
    instance: `w${process.pid}`,
    strategies: [strategy("s", { wanted: () => wanted$ })],
    plugins: [watchdog !== null && watchdogWith({ dial })({ ...watchdog, ...(startWithinMs && { startWithinMs }) })],
    ...(disk && { journal: { dir: "j" } }),
  };
  const engine = createEngine(config, {
    ...(disk && { openDisk: async () => disk }),
  });
  await engine.load();
  const events: Event[] = [];
  engine.on("event", (event) => events.push(event));
  const run = async (ms: number): Promise<void> => {
    const end = inner.now() + ms;
    await letPromisesSettle();
    while (inner.step(end)) await letPromisesSettle();
    inner.advanceTo(end);
  };
  const settle = async (work: Promise<void>): Promise<void> => {
    let done = false;
    void work.finally(() => {
      done = true;
    });
    for (let second = 0; !done && second < 100; second++) await run(1_000);
    await work;
  };
  await engine.load();
  const starting = engine.start();
  starting.catch(() => undefined);
  if (awaitStart) await settle(starting);
  return {
    engine,
    venue,
    now: () => clock.now(),
    starting,
    said,
    events,
    run,
    settle,
    want: (...wanted: readonly WantedOrder[]) => wanted$.next(wanted),
    hear: (word: Word) => ears?.received(word),
    stand: (ms: number) => {
      lost += ms;
    },
    hungUp: () => hungUp,
    types: () => events.map(({ type }) => type),
    phases: () => events.flatMap((event) => (event.type === "order.changed" ? [`${event.slot} ${event.phase}`] : [])),
  };
};

const long: WantedOrder = { slot: "a", instId: swap, side: "buy", px: "60001", qty: "0.01" };
const target: WantedOrder = { slot: "out", instId: swap, side: "sell", px: "61000", qty: "0.01", reduceOnly: true };
type World = Awaited<ReturnType<typeof setup>>;
const resting = ({ venue }: World): readonly string[] =>
  venue.truth("main").orders.flatMap(({ state, px }) => (state === "live" ? [px] : []));

/** The watchdog's process, or another client, cancels what rests. */
const cancelOutside = (world: World): void => {
  const orders = world.venue.truth("main").orders.filter(({ state }) => state === "live");
  const body = orders.map(({ instId, ordId }) => ({ instId, ordId }));
  const path = "/api/v1/trade/cancel-batch-orders";
  world.venue.handle({ method: "POST", path, query: {}, body, key: "k1", ip: "other" }, world.now());
  expect(resting(world)).toEqual([]);
};

describe("An engine with a watchdog in its config", () => {
  it("beats from before it reads anything, says when it trades and how much is open", async () => {
    const { said, want, run, hear } = await setup({ watchdog: { beatMs: 500, silenceMs: 5_000 } });
    hear({ kind: "armed", silenceMs: 5_000 });
    expect(said.slice(0, 2)).toEqual([
      { kind: "hello", version: 1, session: expect.stringMatching(/^[0-9a-f]{16}$/), beatMs: 500 },
      { kind: "beat", ready: false, open: 0 },
    ]);
    const before = said.length;
    want(far("a"), far("b", "29000"));
    await run(5_000);
    expect(said.length - before).toBe(10);
    expect(said.at(-1)).toEqual({ kind: "beat", ready: true, open: 2 });
  });

  it("after a standstill places nothing before the watchdog has answered, and then what was wanted", async () => {
    const { want, run, hear, stand, phases, events } = await setup();
    hear({ kind: "armed", silenceMs: 15_000 });
    await run(2_000);
    stand(9_000);
    want(far("a"));
    await run(900);
    expect(phases()).toEqual([]);
    expect(events.filter(({ type }) => type === "order.refused")).toMatchObject([
      { reason: expect.stringContaining("was blocked") },
    ]);
    await run(2_000);
    hear({ kind: "heard" });
    await run(20_000);
    expect(phases()).toContain("a live");
  });

  it("that was taken for dead halts, takes its orders back and says why", async () => {
    const { want, run, hear, phases, events, types } = await setup();
    hear({ kind: "armed", silenceMs: 15_000 });
    want(far("a"));
    await run(5_000);
    hear({ kind: "tripped", reason: "no beat for 15 s" });
    want(far("a"), far("b"));
    await run(20_000);
    expect(phases().at(-1)).toBe("a canceled");
    expect(phases().some((phase) => phase.startsWith("b"))).toBe(false);
    expect(types()).toContain("watchdog.tripped");
    expect(events.find(({ type }) => type === "mode.changed")).toMatchObject({
      mode: "halted",
      reason: "the watchdog tripped: no beat for 15 s",
    });
  });

  it.each([
    ["before its watchdog says that it tripped", 3_000],
    ["after its watchdog has said that it tripped", 0],
  ])("that wakes places its resting exit again, whether it learns of the cancel %s", async (_, answerMs) => {
    const world = await setup();
    const { want, run, hear, stand, events, types } = world;
    hear({ kind: "armed", silenceMs: 15_000 });
    want(long, target);
    await run(9_000);
    hear({ kind: "heard" });
    expect(resting(world)).toEqual(["61000"]);
    stand(25_000);
    cancelOutside(world);
    await run(answerMs);
    hear({ kind: "tripped", reason: "no beat for 15 s", canceling: true });
    await run(8_000);
    expect(resting(world)).toEqual([]);
    hear({ kind: "tripped", reason: "no beat for 15 s" });
    await run(8_000);
    expect(resting(world)).toEqual(["61000"]);
    expect(events.filter(({ type }) => type === "position.unprotected")).toMatchObject([
      { slot: "out", reason: "canceled by the watchdog" },
    ]);
    expect(types()).toContain("position.protected");
    cancelOutside(world);
    await run(30_000);
    expect(resting(world)).toEqual([]);
  });

  it("that wakes and was not taken for dead leaves an exit alone that another client canceled", async () => {
    const world = await setup();
    const { want, run, hear, stand, events } = world;
    hear({ kind: "armed", silenceMs: 15_000 });
    want(long, target);
    await run(9_000);
    hear({ kind: "heard" });
    stand(9_000);
    cancelOutside(world);
    await run(3_000);
    hear({ kind: "heard" });
    await run(30_000);
    expect(resting(world)).toEqual([]);
    expect(events.filter(({ type }) => type === "position.unprotected")).toMatchObject([
      { reason: "canceled by another client or by the service" },
    ]);
  });

  it("that was taken for dead and knows it starts halted the next time", async () => {
    const disk = memoryDisk();
    const first = await setup({ disk });
    first.hear({ kind: "armed", silenceMs: 15_000 });
    first.hear({ kind: "tripped", reason: "no beat for 15 s" });
    await first.settle(first.engine.stop());
    const second = await setup({ disk });
    second.want(far("a"));
    await second.run(20_000);
    expect(second.phases()).toEqual([]);
    expect(second.events.find(({ type }) => type === "mode.changed")).toMatchObject({
      mode: "halted",
      reason: expect.stringContaining("tripped"),
    });
  });

  it("takes leave when it stops in order, with orders that stay or with none left", async () => {
    for (const cancel of [false, true]) {
      const { engine, want, run, hear, settle, said } = await setup();
      hear({ kind: "armed", silenceMs: 15_000 });
      want(far("a"));
      await run(5_000);
      await settle(engine.stop({ cancel }));
      expect(said.at(-1)).toEqual({ kind: "goodbye" });
    }
  });

  it("that must have one starts no strategy before it is connected, and tells what it waits for", async () => {
    const { run, hear, settle, starting, types, events } = await setup({ startWithinMs: 30_000, awaitStart: false });
    await run(25_000);
    expect(types()).not.toContain("engine.started");
    expect(events.filter(({ type }) => type === "start.waiting")).toMatchObject([
      { reason: expect.stringContaining("the watchdog") },
    ]);
    hear({ kind: "armed", silenceMs: 15_000 });
    await settle(starting);
    expect(types().slice(-2)).toEqual(["watchdog.armed", "engine.started"]);
  });

  it("that must have one is refused its start where none connects in time", async () => {
    const { settle, starting, types } = await setup({ startWithinMs: 30_000, awaitStart: false });
    await expect(settle(starting)).rejects.toThrow(
      "No watchdog has connected within 30 s, so the engine does not start: nothing was traded.",
    );
    expect(types()).not.toContain("engine.started");
  });

  it("that must have one ends its wait when it is stopped", async () => {
    const { engine, run, settle, starting, types, events } = await setup({
      startWithinMs: 30_000,
      awaitStart: false,
    });
    await run(5_000);
    await settle(engine.stop());
    await settle(starting);
    expect(types()).not.toContain("engine.started");
    expect(events.at(-1)).toMatchObject({
      type: "engine.stopped",
      reason: "it had not started, and nothing was traded",
    });
  });

  it.each([
    ["whose config names none", { watchdog: null }, []],
    ["whose service is embedded", { watchful: false }, []],
    ["whose session is recorded", { realTime: false }, ["watchdog.lost"]],
  ])("%s does not beat", async (_, given, told) => {
    const { said, types, run } = await setup(given);
    await run(5_000);
    expect([said, types().filter((type) => type.startsWith("watchdog"))]).toEqual([[], told]);
  });
});
