/** The machine's own clocks, timers, chance and network inside a strategy: on the engine's time, or refused by name. */
import crypto, { randomUUID } from "node:crypto";
import { once } from "node:events";
import http from "node:http";
import net from "node:net";
import { setInterval as everyImported, setTimeout as laterImported } from "node:timers";
import { setTimeout as pause, setInterval as ticks } from "node:timers/promises";
import { promisify } from "node:util";
import { concat, firstValueFrom, from, NEVER, of, Subscription, timer } from "rxjs";
import { beforeAll, describe, expect, it } from "vitest";
import { constant, paper } from "../../../src/backtest.ts";
import { letPromisesSettle } from "../../../src/clock/microtasks.ts";
import { createSystemClock } from "../../../src/clock/system-clock.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { inside, type Owner } from "../../../src/host/execution-context.ts";
import { installVirtualGlobals } from "../../../src/host/virtual-globals.ts";
import { createEngine, definePlugin, type Event } from "../../../src/index.ts";
import { createRandom } from "../../../src/random.ts";
import { testPlugin } from "../../../src/testing.ts";
import { run as backtested, closed, far, quoteTape, stored, strategy, swap } from "../../support/harness/backtest.ts";

const startAt = Date.UTC(2024, 0, 1);

const setup = (seed = "a", sealed = true) => {
  const clock = createVirtualClock(startAt);
  const failures: unknown[] = [];
  const life = new Subscription();
  const owner: Owner = {
    clock,
    life,
    fail: (error) => failures.push(error),
    ...(sealed ? { sealed: createRandom(seed) } : {}),
  };
  return { clock, life, failures, as: <T>(work: () => T): T => inside(owner, work) };
};

/** Lets virtual time pass, promises settling in between. */
const run = async (clock: ReturnType<typeof createVirtualClock>, ms: number): Promise<void> => {
  const until = clock.now() + ms;
  await letPromisesSettle();
  while (clock.step(until)) await letPromisesSettle();
  clock.advanceTo(until);
};

beforeAll(installVirtualGlobals);

/** The instant of a date made without arguments. */
const made = (): number => {
  const date = new Date();
  return date.getTime();
};

describe("Time inside a strategy", () => {
  it("is the engine's, however it is asked for", () => {
    const { clock, as } = setup();
    clock.advanceTo(startAt + 1_500);
    expect(as(() => [Date.now(), made(), Date.parse(Date())])).toEqual([
      startAt + 1_500,
      startAt + 1_500,
      startAt + 1_000,
    ]);
    const before = as(() => performance.now());
    clock.advanceTo(startAt + 2_000);
    expect(as(() => performance.now()) - before).toBe(500);
    expect(as(() => new Date(7).getTime())).toBe(7);
    expect(as(() => new Date() instanceof Date)).toBe(true);
  });

  it("can be asked of the machine's own clock by a strategy that runs on it", () => {
    const clock = createSystemClock();
    const owner: Owner = { clock, life: new Subscription(), fail: (error) => expect.fail(String(error)) };
    const near = (at: number): void => expect(Math.abs(at - clock.now())).toBeLessThan(1_000);
    inside(owner, () => {
      near(clock.now());
      near(clock.wallNow());
      near(Date.now());
      near(performance.now());
    });
  });

  it("is the machine's outside", () => {
    setup();
    expect(Math.abs(Date.now() - made())).toBeLessThan(1_000);
    expect(Date.now()).toBeGreaterThan(Date.UTC(2025, 0, 1));
    class Own extends Date {}
    expect(new Own(5).getTime()).toBe(5);
  });

  it.each<[string, (done: () => void) => void, number]>([
    ["setTimeout", (done) => setTimeout(done, 250), 250],
    ["an imported setTimeout", (done) => laterImported(done, 250), 250],
    ["setTimeout without a delay", (done) => setTimeout(done), 0],
    ["setImmediate", (done) => setImmediate(done), 0],
    ["a promised setTimeout", (done) => void from(pause(250)).subscribe(done), 250],
    ["a promisified setTimeout", (done) => void from(promisify(setTimeout)(250)).subscribe(done), 250],
    ["queueMicrotask", (done) => queueMicrotask(done), 0],
    ["process.nextTick", (done) => process.nextTick(done), 0],
  ])("%s calls back on it", async (_, begin, ms) => {
    const { clock, as } = setup();
    const at: number[] = [];
    as(() => begin(() => at.push(clock.now() - startAt)));
    if (ms > 0) {
      await run(clock, ms - 1);
      expect(at).toEqual([]);
    }
    await run(clock, 1);
    expect(at).toEqual([ms]);
  });

  it("setInterval repeats until it is cleared, and so does the imported one", async () => {
    const { clock, as } = setup();
    const at: number[] = [];
    const timer = as(() => setInterval(() => at.push(clock.now() - startAt), 100));
    const imported = as(() => everyImported(() => at.push(clock.now() - startAt), 150));
    await run(clock, 310);
    as(() => {
      clearInterval(timer);
      clearTimeout(imported);
    });
    await run(clock, 1_000);
    expect(at).toEqual([100, 150, 200, 300, 300]);
    expect(clock.pending).toBe(0);
  });

  it("a promised interval ticks on it", async () => {
    const { clock, as } = setup();
    const at: number[] = [];
    void as(async () => {
      for await (const value of ticks(100, "x")) if (at.push(clock.now() - startAt) === 3 || value !== "x") return;
    });
    await run(clock, 1_000);
    expect(at).toEqual([100, 200, 300]);
  });

  it("what a timer begins goes on as the strategy, and what it throws is the strategy's failure", async () => {
    const { clock, as, failures } = setup();
    const seen: number[] = [];
    as(() =>
      setTimeout(() => {
        seen.push(Date.now() - startAt);
        setTimeout(() => {
          throw new Error("late");
        }, 5);
      }, 10),
    );
    await run(clock, 100);
    expect(seen).toEqual([10]);
    expect(failures).toMatchObject([{ message: "late" }]);
  });

  it("no timer runs after the strategy's end, and none is left", async () => {
    const { clock, as, life } = setup();
    let ran = 0;
    as(() => {
      setTimeout(() => ran++, 10);
      setInterval(() => ran++, 10);
    });
    life.unsubscribe();
    expect(clock.pending).toBe(0);
    await run(clock, 100);
    expect(ran).toBe(0);
  });

  it("a timer can be refreshed, and handled like the platform's", async () => {
    const { clock, as } = setup();
    const at: number[] = [];
    const timer = as(() => setTimeout(() => at.push(clock.now() - startAt), 100));
    await run(clock, 60);
    timer.unref().ref().refresh();
    await run(clock, 60);
    expect(at).toEqual([]);
    await run(clock, 40);
    expect(at).toEqual([160]);
  });
});

describe("What the undo of a plugin begins", () => {
  it("takes the machine's time, as the engine's stands still: timers, immediates, RxJS", async () => {
    const done: string[] = [];
    const plugin = definePlugin({
      name: "leaving late",
      options: closed,
      setup: () => async () => {
        await new Promise<void>((resolve) => setTimeout(resolve, 2));
        done.push("timer");
        await new Promise<void>((resolve) => setImmediate(resolve));
        done.push("immediate");
        await pause(2);
        done.push("promise");
        await firstValueFrom(timer(2));
        done.push("stream");
      },
    });
    const t = await testPlugin(plugin({}));
    await t.stop();
    expect(done).toEqual(["timer", "immediate", "promise", "stream"]);
    expect(t.events.filter(({ type }) => type === "plugin.failed")).toEqual([]);
  });
});

describe("A timer that a library made for all its callers", () => {
  const shared = (sealed: boolean) => {
    const { as, life } = setup("a", sealed);
    let runs = 0;
    const made = as(() => setTimeout(() => runs++, 2));
    life.unsubscribe();
    return { as, made, runs: () => runs };
  };

  it("goes on in the machine's time after the end of the plugin that called first", async () => {
    const { made, runs } = shared(false);
    made.refresh();
    await expect.poll(runs).toBe(1);
    made.refresh();
    clearTimeout(made);
    await pause(20);
    expect(runs()).toBe(1);
  });

  it("is not set again by the plugin that has ended, nor for a strategy", async () => {
    const { as, made, runs } = shared(false);
    as(() => made.refresh());
    const sealed = shared(true);
    sealed.made.refresh();
    await pause(20);
    expect([runs(), sealed.runs()]).toEqual([0, 0]);
  });
});

describe("Chance inside a strategy", () => {
  const draw = (): unknown[] => [
    Math.random(),
    randomUUID(),
    globalThis.crypto.randomUUID(),
    crypto.randomInt(10, 1_000),
    crypto.randomBytes(6).toString("hex"),
    [...globalThis.crypto.getRandomValues(new Uint16Array(3))],
    [...crypto.getRandomValues(new Uint8Array(3))],
  ];

  it("comes from the seed", () => {
    expect(setup("a").as(draw)).toEqual(setup("a").as(draw));
    expect(setup("a").as(draw)).not.toEqual(setup("b").as(draw));
    expect(setup("a").as(() => randomUUID())).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
  });

  it("is the machine's outside, and in a plugin", () => {
    expect(draw()).not.toEqual(draw());
    expect(setup("a", false).as(() => randomUUID())).not.toBe(setup("a", false).as(() => randomUUID()));
  });
});

describe("The network inside a strategy", () => {
  it.each<[string, () => unknown, RegExp]>([
    ["fetch", () => fetch("http://127.0.0.1:9/"), /^fetch was called inside a strategy.*let a plugin ask/],
    ["node:net", () => net.connect(9, "127.0.0.1"), /^a network connection was called inside a strategy/],
    ["node:http", () => http.get("http://127.0.0.1:9/").on("error", () => undefined), /^a network connection/],
  ])("%s is refused by name", (_, ask, message) => {
    expect(() => setup().as(ask)).toThrow(message);
  });

  it("is open outside and to plugins", async () => {
    const server = http.createServer((_, response) => response.end("here")).listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = `http://127.0.0.1:${(server.address() as net.AddressInfo).port}/`;
    expect(await (await fetch(url)).text()).toBe("here");
    expect(await setup("a", false).as(async () => (await fetch(url)).text())).toBe("here");
    server.closeAllConnections();
    server.close();
  });
});

describe("A backtest under virtual globals", () => {
  it("gives the same orders every time although its strategy asks the machine's clock and chance", async () => {
    const rolling = strategy("rolling", {
      wanted: () =>
        concat(
          from(
            (async () => {
              await new Promise((resolve) => setTimeout(resolve, 1_000 + Math.floor(Math.random() * 500)));
              return [{ ...far("a", String(30_000 + Math.floor(Math.random() * 1_000))), tag: String(Date.now()) }];
            })(),
          ),
          NEVER,
        ),
    });
    const tape = stored(quoteTape(Array.from({ length: 60 }, (_, index) => [index * 100, 600_000, 5, 600_010, 5])));
    const [first, second, other] = await Promise.all(
      [1, 1, 2].map(async (seed) => backtested(tape, [rolling], { seed })),
    );
    expect(first?.orders.placed).toBe(1);
    expect(second?.resultHash).toBe(first?.resultHash);
    expect(other?.resultHash).not.toBe(first?.resultHash);
  });

  it("a strategy that fetches fails by name, and the others run on", async () => {
    const clock = createVirtualClock(startAt);
    const engine = createEngine({
      service: paper({ clock, instruments: [swap], latency: constant(10) }),
      strategies: [
        strategy("curious", { run: () => from(fetch("http://127.0.0.1:9/")) }),
        strategy("calm", { wanted: () => concat(of([far("a", "30000")]), NEVER) }),
      ],
    });
    const happened: Event[] = [];
    engine.events$.subscribe((event) => happened.push(event));
    void engine.start();
    await run(clock, 10_000);
    expect(happened.filter(({ type }) => type === "strategy.failed")).toMatchObject([
      { strategy: "curious", message: expect.stringContaining("fetch was called inside a strategy") as string },
    ]);
    expect(engine.strategies().find(({ name }) => name === "calm")?.state).toBe("running");
    await engine.stop();
  });
});
