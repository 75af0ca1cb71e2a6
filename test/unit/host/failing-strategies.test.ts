/**
 * Strategies and plugins that misbehave in every way we could think of, each beside a calm one that must not notice.
 */

import {
  concat,
  EMPTY,
  from,
  interval,
  map,
  merge,
  mergeMap,
  NEVER,
  type Observable,
  of,
  range,
  Observable as Stream,
  take,
  throwError,
  timer,
} from "rxjs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PluginUndo } from "../../../src/host/strategy.ts";
import { definePlugin, type Event, type Plugin, type PluginContext, type Strategy } from "../../../src/index.ts";
import { type Context, calm, closed, far, run, stored, strategy, swap } from "../../support/harness/backtest.ts";

const dir = stored(calm(20));
const quotesInAll = 80;
const atOnce = 100;

// Whatever the runner of the tests has to say of a rejection, the process would have ended: only the host may look.
const others = process.listeners("unhandledRejection").filter(({ name }) => name !== "onRejection");
beforeAll(() => {
  for (const other of others) process.off("unhandledRejection", other);
});
afterAll(() => {
  for (const other of others) process.on("unhandledRejection", other);
});

const noLuck = (): never => {
  throw new Error("no luck");
};
const odd = (value: unknown): Observable<never> => of(value) as Observable<never>;
const wants = (over: object): Observable<never> => concat(odd([{ ...far(), ...over }]), NEVER);
const bad = (wanted: (context: Context) => Observable<never>): Strategy => strategy("bad", { wanted });
const runs = (work: (context: Context) => Observable<unknown>): Strategy => strategy("bad", { run: work });
const does = (work: (context: Context) => void): Strategy =>
  runs((context) => {
    work(context);
    return NEVER;
  });

/** Runs it beside the calm one, which must get every quote and keep its order. */
const beside = async (strategies: readonly Strategy[], plugins: readonly Plugin[] = []) => {
  let quotes = 0;
  const seen: string[] = [];
  const quiet = strategy("calm", {
    wanted: ({ market }) =>
      market.quotes(swap).pipe(
        map(({ bidPx }) => {
          quotes++;
          seen.push(bidPx);
          return [far("calm")];
        }),
      ),
  });
  const events: Event[] = [];
  const watcher = definePlugin({
    name: "watcher",
    options: closed,
    setup: ({ events$ }) => events$.subscribe((event) => events.push(event)),
  });
  const report = await run(dir, [...strategies, quiet], { plugins: [watcher({}), ...plugins] });
  const unharmed = report.perStrategy["calm"];
  expect(unharmed).toMatchObject({ state: "running", placed: 1, canceled: 0, refused: 0, rejected: 0 });
  expect(quotes).toBeGreaterThanOrEqual(quotesInAll - 6);
  expect(new Set(seen).size).toBeGreaterThan(20);
  const failed = events.flatMap((event) =>
    event.type === "strategy.failed" || event.type === "plugin.failed" ? [event.message] : [],
  );
  return { fate: report.perStrategy["bad"], events, failed, quotes };
};

const sharp = { [Symbol.toPrimitive]: noLuck, toString: noLuck };
const withGetter = (field: string, read: () => unknown): object =>
  Object.defineProperty({ ...far() }, field, { get: read, enumerable: true, configurable: true });

const failing: readonly (readonly [string, Strategy, string])[] = [
  ["throws where it is defined", bad(noLuck), "no luck"],
  ["throws in an operator", bad(({ market }) => market.quotes(swap).pipe(map(noLuck))), "no luck"],
  ["throws in a subscriber of its own", does(({ market }) => void market.quotes(swap).subscribe(noLuck)), "no luck"],
  ["emits an error", bad(() => throwError(() => new Error("no luck"))), "no luck"],
  ["throws in an interval", does(() => void interval(100).subscribe(noLuck)), "no luck"],
  ["throws in a timer of the platform", does(() => void setTimeout(noLuck, atOnce)), "no luck"],
  ["throws in a microtask", does(() => queueMicrotask(noLuck)), "no luck"],
  ["rejects a promise nobody waits for", does(() => void Promise.reject(new Error("no luck"))), "no luck"],
  [
    "rejects many promises at once",
    does(() => {
      for (let i = 0; i < 100; i++) void Promise.reject(new Error("no luck"));
    }),
    "no luck",
  ],
  [
    "throws after an await nobody waits for",
    does(() => {
      void (async () => {
        await Promise.resolve();
        noLuck();
      })();
    }),
    "no luck",
  ],
  ["throws in a promise it waits for", runs(() => timer(atOnce).pipe(mergeMap(async () => noLuck()))), "no luck"],
  [
    "fails, and throws again while it is ended",
    bad(
      () =>
        new Stream((to) => {
          timer(atOnce).subscribe(() => to.error(new Error("no luck")));
          return noLuck;
        }),
    ),
    "no luck",
  ],
  ["throws what cannot be shown", bad(() => throwError(() => sharp)), "something that cannot be shown was thrown"],
  ["throws nothing", bad(() => throwError(() => undefined)), "undefined"],
  [
    "throws an error whose message throws",
    bad(() => throwError(() => Object.defineProperty(new Error("x"), "message", { get: noLuck }))),
    "cannot be shown",
  ],
  ["returns null", bad(() => null as never), "returned null, not a stream"],
  ["returns text", bad(() => "buy" as never), "returned string, not a stream"],
  ["returns a promise that fails", bad((async () => noLuck()) as never), "no luck"],
  ["returns a promise of no orders", bad((async () => "buy") as never), "emitted"],
  ["emits undefined", bad(() => odd(undefined)), "emitted undefined"],
  ["emits a hole", bad(() => odd(new Array(3))), "emitted undefined as order 0"],
  ["emits an array without end", bad(() => odd(new Array(4e9))), "emitted 4000000000 orders"],
  [
    "wants 100,000 orders",
    bad(() => odd(Array.from({ length: 1e5 }, (_, i) => far(`s${i}`)))),
    "emitted 100000 orders",
  ],
  ["wants one slot twice", bad(() => odd([far(), far()])), 'two wanted orders have the slot "far"'],
  ["wants a price that is NaN", bad(() => wants({ px: Number.NaN })), "with px NaN"],
  ["wants an infinite price", bad(() => wants({ px: Number.POSITIVE_INFINITY })), "with px Infinity"],
  ["wants a size of minus zero", bad(() => wants({ qty: -0 })), "with qty 0"],
  ["wants a price that throws when it is read", bad(() => odd([withGetter("px", noLuck)])), "no luck"],
  ["wants an order without fields of its own", bad(() => odd([Object.create(far())])), "with slot undefined"],
  ["wants an order with a field nobody knows", bad(() => odd([{ ...far(), prize: "1" }])), 'unknown field "prize"'],
  ["wants a slot that is an object", bad(() => wants({ slot: sharp })), "slot"],
  [
    "asks for a market nobody has",
    does(({ market }) => void market.quotes("NO-SUCH-SWAP").subscribe()),
    "NO-SUCH-SWAP",
  ],
  [
    "cancels with a condition nobody knows",
    does(({ orders }) => void orders.cancel({ sloth: "calm" } as never).subscribe()),
    "sloth",
  ],
  [
    "subscribes to itself",
    bad(() => new Stream((to) => to.next((to as never as { next: never }).next)) as never),
    "emitted",
  ],
];

describe("A strategy that fails is named and stopped, and the calm one does not notice", () => {
  it.each(failing)("%s", async (_, hostile, message) => {
    const { fate, failed } = await beside([hostile]);
    expect(fate).toMatchObject({ state: "failed", error: expect.stringContaining(message) });
    expect(failed).toHaveLength(1);
  });
});

it("A strategy that fails leaves no order in the book, whether it was wanted or placed by hand", async () => {
  const hand = runs(({ orders }) =>
    merge(orders.place(far("hand")), orders.place(far("other")), timer(4_000).pipe(map(noLuck))),
  );
  const { fate, failed } = await beside([hand]);
  expect(failed).toEqual([expect.stringContaining("no luck")]);
  expect(fate).toMatchObject({ state: "failed", placed: 2, canceled: 2, filled: 0 });
});

const refused: readonly (readonly [string, object, string])[] = [
  ["1e3", { px: "1e3" }, "is not decimal text"],
  ["NaN in letters", { px: "NaN" }, "is not decimal text"],
  ["a negative price", { px: "-1" }, "px -1 is not positive"],
  ["a negative size", { qty: "-0.01" }, "qty -0.01 is not positive"],
  ["minus zero in letters", { qty: "-0" }, "qty -0 is not positive"],
  ["a blank", { px: " 5" }, "is not decimal text"],
  ["hexadecimal", { px: "0x10" }, "is not decimal text"],
  ["more digits than anything has", { px: "9".repeat(1_000) }, "is not decimal text"],
  ["a product of the object itself", { instId: "__PROTO__-SWAP" }, "does not list __PROTO__-SWAP"],
  ["a side there is not", { side: "constructor" }, "is not one of buy, sell"],
];

describe("An order that makes no sense is refused, and the calm one does not notice", () => {
  it.each(refused)("%s", async (_, over, reason) => {
    const { fate, events, failed } = await beside([bad(() => wants(over))]);
    expect(failed).toEqual([]);
    expect(fate).toMatchObject({ state: "running", placed: 0 });
    expect(events.flatMap((event) => (event.type === "order.refused" ? [event.reason] : []))).toEqual([
      expect.stringContaining(reason),
    ]);
  });
});

describe("A strategy that misbehaves without failing harms only itself", () => {
  it("wants 20,000 slots one after the other", async () => {
    const { fate } = await beside([bad(() => concat(range(0, 2e4).pipe(map((i) => [far(`s${i}`)])), NEVER) as never)]);
    expect(fate?.state).toBe("running");
    expect(fate?.placed).toBeLessThan(20);
  });

  it("changes its mind 100,000 times without a pause", async () => {
    const flood = range(0, 1e5).pipe(map((i) => [far("x", String(10_000 + i / 10))]));
    const { fate } = await beside([bad(() => concat(flood, NEVER) as never)]);
    expect(fate?.state).toBe("running");
    expect(fate?.placed).toBeLessThan(3);
  });

  it("changes its mind at every quote and every millisecond", async () => {
    const { fate } = await beside([bad(() => interval(1).pipe(map((i) => [far("x", String(20_000 + i))])) as never)]);
    expect(fate?.state).toBe("running");
    expect(fate?.weight).toBeLessThan(1_200);
  });

  it("leaks 10,000 subscriptions", async () => {
    let heard = 0;
    const leaky = does(({ market }) => {
      for (let i = 0; i < 10_000; i++) market.quotes(swap).subscribe(() => heard++);
    });
    expect((await beside([leaky])).fate).toMatchObject({ state: "running" });
    expect(heard).toBeGreaterThan(500_000);
  });

  it("ends at once, or never says anything", async () => {
    expect((await beside([bad(() => EMPTY)])).fate).toMatchObject({ state: "completed", placed: 0 });
    expect((await beside([bad(() => NEVER)])).fate).toMatchObject({ state: "running", placed: 0 });
  });

  it("guesses at orders of others and cancels them", async () => {
    const guessing = does(({ orders, market }) => {
      market.quotes(swap).subscribe(() => {
        for (const where of [{}, { slot: "calm" }, { instId: swap }, { side: "buy" as const }])
          orders.cancel(where).subscribe();
        orders
          .place({ ...far("calm"), px: "1" })
          .pipe(take(1))
          .subscribe();
      });
    });
    const { fate } = await beside([guessing]);
    expect(fate?.state).toBe("running");
  });

  it("alters what it has emitted, which changes nothing", async () => {
    const mine = far() as { px: unknown };
    const { fate, failed } = await beside([
      bad(({ market }) =>
        concat(
          odd([mine]),
          market.quotes(swap).pipe(
            map(() => {
              mine.px = Number.NaN;
              return [far()] as never;
            }),
          ),
        ),
      ),
    ]);
    expect(failed).toEqual([]);
    expect(fate).toMatchObject({ state: "running", placed: 1, canceled: 0 });
  });

  it("says something else each time it is asked, which is asked once", async () => {
    let asked = 0;
    const fickle = withGetter("px", () => (asked++ === 0 ? "30000" : sharp));
    const { fate } = await beside([bad(() => concat(odd([fickle]), NEVER))]);
    expect(fate).toMatchObject({ state: "running", placed: 1 });
    expect(asked).toBe(1);
  });

  it("emits frozen things", async () => {
    const { fate } = await beside([bad(() => concat(odd(Object.freeze([Object.freeze(far())])), NEVER))]);
    expect(fate).toMatchObject({ state: "running", placed: 1 });
  });

  it("places and cancels from within what it is told of its own orders", async () => {
    const phases: string[] = [];
    let round = 0;
    const eager = does(({ orders, own }) => {
      own.updates$.subscribe(({ slot, phase }) => {
        phases.push(`${slot} ${phase}`);
        if (phase === "live" && round < 5) {
          orders.cancel({ slot }).subscribe();
          orders.place(far(`next${round++}`)).subscribe();
        }
      });
      orders.place(far("first")).subscribe();
    });
    const { fate } = await beside([eager]);
    expect(fate).toMatchObject({ state: "running", placed: 6, canceled: 5 });
    for (const slot of ["first", "next0", "next4"]) {
      const life = phases.filter((phase) => phase.startsWith(slot)).map((phase) => phase.split(" ")[1]);
      expect(life.slice(0, 2)).toEqual(["sent", "live"]);
    }
  });

  it("alters the quotes it is given, and others see them as they were", async () => {
    const seen: string[] = [];
    const vandal = does(
      ({ market }) => void market.quotes(swap).subscribe((quote) => Reflect.set(quote, "bidPx", "666")),
    );
    const reader = strategy("reader", {
      run: ({ market }) => market.quotes(swap).pipe(map(({ bidPx }) => seen.push(bidPx))),
    });
    await beside([vandal, reader]);
    expect(seen.length).toBeGreaterThan(50);
    expect(seen).not.toContain("666");
  });
});

const plugin = (setup: (context: PluginContext<object>) => PluginUndo | Promise<PluginUndo>): Plugin =>
  definePlugin({ name: "bad", options: closed, setup })({});

describe("A plugin that misbehaves is named and undone, and the calm strategy does not notice", () => {
  it.each<[string, Plugin]>([
    ["throws where it is set up", plugin(noLuck)],
    ["throws in a listener", plugin(({ on }) => on("event", noLuck))],
    ["throws in a tick", plugin(({ every }) => every(10, noLuck))],
    ["throws in a subscriber", plugin(({ events$ }) => events$.subscribe(noLuck))],
    ["throws at an order", plugin(({ updates$ }) => updates$.subscribe(noLuck))],
    ["throws in a timer", plugin(() => void setTimeout(noLuck, atOnce))],
    ["is set up by a promise that fails", plugin(async () => noLuck())],
    ["throws while it is undone", plugin(() => noLuck)],
    ["rejects while it is undone", plugin(() => async () => noLuck())],
    [
      "leaves a subscription that throws when it ends",
      plugin(({ events$ }) =>
        from(events$)
          .pipe(
            (source) =>
              new Stream((to) => {
                source.subscribe(to);
                return noLuck;
              }),
          )
          .subscribe(),
      ),
    ],
  ])("%s", async (name, hostile) => {
    const { failed } = await beside([], [hostile]);
    // What a promise of the undoing does is reported when nobody listens any more.
    expect(failed).toEqual(/^rejects/.test(name) ? [] : [expect.stringContaining("no luck")]);
  });
});
