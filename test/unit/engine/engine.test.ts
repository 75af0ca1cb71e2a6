import { concat, firstValueFrom, map, NEVER, type Observable, of, timer, toArray } from "rxjs";
import { describe, expect, it } from "vitest";
import { constant, paper } from "../../../src/backtest.ts";
import { letPromisesSettle } from "../../../src/clock/microtasks.ts";
import { createVirtualClock, type VirtualClock } from "../../../src/clock/virtual-clock.ts";
import type { PluginUndo } from "../../../src/host/strategy.ts";
import { createEngine, definePlugin, type Event, type PluginContext } from "../../../src/index.ts";
import { closed, far, strategy, swap } from "../../support/harness/backtest.ts";

/** Turns the clock, letting promises settle on the way. */
const turn = async (clock: VirtualClock, ms: number): Promise<void> => {
  const until = clock.now() + ms;
  await letPromisesSettle();
  while (clock.step(until)) await letPromisesSettle();
  clock.advanceTo(until);
  await letPromisesSettle();
};

const resting = (name = "resting", px = "30000") =>
  strategy(name, { wanted: () => concat(of([far("a", px), far("b", px)]), NEVER) });

const setup = (
  startsAt = 1_700_000_000_000,
  strategies = [resting()],
  begin?: (context: PluginContext<object>) => PluginUndo | Promise<PluginUndo>,
) => {
  const clock = createVirtualClock(startsAt);
  const plugin = definePlugin({ name: "guest", options: closed, setup: (context) => begin?.(context) })({});
  const engine = createEngine({
    service: paper({ clock, instruments: [swap], latency: constant(10) }),
    strategies,
    plugins: [plugin],
  });
  const events: Event[] = [];
  engine.events$.subscribe((event) => events.push(event));
  const phases = (): string[] =>
    events.flatMap((event) => (event.type === "order.changed" ? [`${event.slot} ${event.phase}`] : []));
  return { clock, engine, events, phases };
};

const started = async (at = setup()): Promise<ReturnType<typeof setup>> => {
  const start = at.engine.start();
  await turn(at.clock, 5_000);
  await start;
  return at;
};

describe("An engine inside a program", () => {
  it("reads the service's state before any strategy runs, and tells what happens", async () => {
    const { engine, events, phases } = await started();
    const first = events.findIndex(({ type }) => type === "engine.started");
    expect(events.slice(0, first).flatMap((event) => (event.type === "action.sent" ? [event.endpoint] : []))).toEqual([
      "instruments",
      "pendingOrders",
      "orderHistory",
    ]);
    expect(phases().filter((text) => text.endsWith("live"))).toEqual(["a live", "b live"]);
    const pending = await firstValueFrom(engine.account.pending$);
    expect(pending.value.map(({ instId, state }) => [instId, state])).toEqual([
      [swap, "live"],
      [swap, "live"],
    ]);
    expect(engine.strategies()).toEqual([expect.objectContaining({ name: "resting", state: "running" })]);
    expect(engine.quotaNow()).toMatchObject({ queued: 0, spent: { resting: 20 } });
    expect((await firstValueFrom(engine.instruments$)).value.has(swap)).toBe(true);
  });

  it("starts once", async () => {
    const { engine, clock } = await started();
    await expect(engine.start()).rejects.toThrow("An engine starts once; this one is started. Make a new one.");
    const stop = engine.stop();
    await turn(clock, 100);
    await stop;
    await expect(engine.start()).rejects.toThrow("this one is stopped");
  });

  it("stops as asked: keeps resting orders, ends every stream, undoes plugins, and once is enough", async () => {
    const undone: string[] = [];
    const { engine, clock, events } = await started(setup(undefined, undefined, () => () => undone.push("guest")));
    const streams: readonly Observable<unknown>[] = [
      engine.account.pending$,
      engine.quota$,
      engine.events$,
      engine.updates$,
    ];
    const ends = Promise.all(streams.map((stream$) => firstValueFrom(stream$.pipe(toArray()))));
    await engine.stop();
    await engine.stop();
    await ends;
    expect(undone).toEqual(["guest"]);
    expect(await firstValueFrom(engine.account.pending$, { defaultValue: "ended" })).toBe("ended");
    expect(events.at(-1)).toMatchObject({ type: "engine.stopped", reason: "orders kept" });
    await turn(clock, 300_000);
    expect(clock.pending).toBe(0);
  });

  it("stops with cancel: every order is gone, in no more time than that takes", async () => {
    const { engine, clock, phases } = await started();
    const before = clock.now();
    let stoppedAt = 0;
    const stop = engine.stop({ cancel: true }).then(() => {
      stoppedAt = clock.now();
    });
    await turn(clock, 2_000);
    await stop;
    expect(phases().filter((text) => text.endsWith("canceled"))).toEqual(["a canceled", "b canceled"]);
    expect(stoppedAt - before).toBeLessThan(500);
  });

  it("halts: takes back what rests and what is under way, places nothing, until resumed", async () => {
    const ticking = strategy("ticking", {
      wanted: () => timer(0, 1_000).pipe(map((round) => [{ ...far("a"), round, px: `${30_000 + round}` }])),
    });
    const { engine, clock, phases } = await started(setup(undefined, [ticking]));
    const seen: string[] = [];
    let done = false;
    engine.halt("enough").subscribe({ next: ({ phase }) => seen.push(phase), complete: () => (done = true) });
    await turn(clock, 5_000);
    expect(seen).toEqual(["canceled"]);
    expect(done).toBe(true);
    const halted = phases().length;
    await turn(clock, 5_000);
    expect(phases()).toHaveLength(halted);
    engine.resume("again");
    await turn(clock, 5_000);
    expect(phases().length).toBeGreaterThan(halted);
  });

  it("halts an order whose placement is under way", async () => {
    const { engine, clock, phases } = setup();
    const start = engine.start();
    while (!phases().includes("b sent")) await turn(clock, 1);
    const seen: string[] = [];
    engine.halt("enough").subscribe(({ slot, phase }) => seen.push(`${slot} ${phase}`));
    await turn(clock, 2_000);
    await start;
    expect(seen).toEqual(["a canceled", "b canceled"]);
  });

  it("tells by name, until told not to, and a listener that throws harms nobody", async () => {
    const { engine, clock, events } = setup();
    const heard: string[] = [];
    engine.on("event", () => {
      throw new Error("no luck");
    });
    engine.on("order.live", (event) => heard.push(event.type));
    engine.on("order.live", () => heard.push("never"))();
    await started({ engine, clock, events, phases: () => [] });
    expect(heard).toEqual(["order.changed", "order.changed"]);
    expect(events.filter(({ type }) => type === "anomaly")).toEqual([
      expect.objectContaining({ what: "listener.threw", detail: "no luck" }),
    ]);
  });

  it("says what it could not read when it cannot start, and has then stopped", async () => {
    const clock = createVirtualClock(0);
    const engine = createEngine({
      service: paper({ clock, instruments: [swap], latency: constant(20_000), timeoutMs: 1_000 }),
      strategies: [resting()],
    });
    const start = engine.start();
    const failing = expect(start).rejects.toThrow(/The engine cannot start: the list of instruments could not be read/);
    await turn(clock, 200_000);
    await failing;
    await expect(engine.start()).rejects.toThrow("this one is stopped");
  });

  it("can be stopped while it starts", async () => {
    const { engine, clock, events } = setup();
    const start = expect(engine.start()).rejects.toThrow("The engine was stopped while it started.");
    await turn(clock, 20);
    await engine.stop();
    await turn(clock, 10_000);
    await start;
    expect(events.filter(({ type }) => type === "engine.started")).toEqual([]);
  });
});

describe("Two engines in one process", () => {
  it("share neither time nor orders", async () => {
    const ticks: Record<string, number[]> = { left: [], right: [] };
    const clockwork = (name: "left" | "right", origin: number) =>
      strategy(name, { run: ({ now }) => timer(1_000, 1_000).pipe(map(() => ticks[name]?.push(now() - origin))) });
    const left = setup(1_000_000, [clockwork("left", 1_000_000), resting()]);
    const right = setup(9_000_000, [clockwork("right", 9_000_000), resting("resting", "31000")]);
    await started(left);
    await started(right);
    await turn(left.clock, 3_000);
    await turn(right.clock, 1_000);
    const at = (ms: readonly number[] | undefined): number[] => (ms ?? []).map((tick) => tick - (ms?.[0] ?? 0));
    expect(at(ticks["left"])).toEqual(Array.from({ length: ticks["left"]?.length ?? 0 }, (_, index) => index * 1_000));
    expect((ticks["left"]?.length ?? 0) - (ticks["right"]?.length ?? 0)).toBe(2);
    const prices = async ({ engine }: typeof left) =>
      (await firstValueFrom(engine.account.pending$)).value.map(({ px }) => px);
    expect(await prices(left)).toEqual(["30000", "30000"]);
    expect(await prices(right)).toEqual(["31000", "31000"]);
    await left.engine.stop();
    await turn(right.clock, 2_000);
    expect(right.engine.strategies()[0]).toMatchObject({ name: "right", state: "running" });
  });
});

describe("What a strategy is told", () => {
  it("products, estimates and its own orders", async () => {
    const told: unknown[] = [];
    const curious = strategy("curious", {
      wanted: ({ listed, estimate, own, name }) => {
        told.push(
          name,
          listed().map(({ instId }) => instId),
          estimate([{ endpoint: "placeOrder", count: 3 }]),
        );
        return timer(1_000, 100_000).pipe(
          map(() => {
            own.orders$.subscribe((mine) => told.push(mine.length));
            return [far()];
          }),
        );
      },
    });
    await started(setup(undefined, [curious]));
    expect(told.slice(0, 4)).toEqual(["curious", [swap], { weight: 30, requests: 3, waitMs: 0 }, 0]);
    expect(told.at(-1)).toBe(1);
  });
});
