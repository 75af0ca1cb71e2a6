import { concat, map, mergeMap, NEVER, type Observable, of, take, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import { definePlugin, type Event, type Strategy } from "../../../src/index.ts";
import { calm, closed, far, run, stored, strategy, swap } from "../../support/harness/backtest.ts";

const dir = stored(calm(30));

/** Runs a strategy beside a steady one and tells both fates and what was journalled. */
const beside = async (other: Strategy) => {
  const events: Event[] = [];
  const watcher = definePlugin({
    name: "watcher",
    options: closed,
    setup: ({ events$ }) => events$.subscribe((event) => events.push(event)),
  });
  const steady = strategy("steady", {
    wanted: ({ market }) =>
      market.quotes(swap).pipe(map(({ bidPx }) => [{ ...far(), ordType: "post_only" as const, round: bidPx }])),
  });
  const report = await run(dir, [other, steady], { plugins: [watcher({})] });
  const { steady: unharmed, ...rest } = report.perStrategy;
  expect(unharmed).toMatchObject({ state: "running", placed: 1 });
  return { fate: rest[other.name], events, report };
};

const nonsense = (value: unknown): Observable<never> => of(value) as Observable<never>;
const afterSeconds = (seconds: number) => timer(seconds * 1_000);

describe("A strategy that fails is named and stopped, and the others run on", () => {
  it.each<[string, Strategy, string]>([
    [
      "throws in wanted at once",
      strategy("bad", {
        wanted: () => {
          throw new Error("no luck");
        },
      }),
      "no luck",
    ],
    [
      "throws in an operator later",
      strategy("bad", {
        wanted: () =>
          afterSeconds(5).pipe(
            map(() => {
              throw new TypeError("no luck");
            }),
          ),
      }),
      "TypeError: no luck",
    ],
    [
      "throws in a subscriber of its own",
      strategy("bad", {
        wanted: ({ market }) => {
          market.quotes(swap).subscribe(() => {
            throw new Error("no luck");
          });
          return NEVER;
        },
      }),
      "no luck",
    ],
    [
      "throws in a subscriber behind an operator",
      strategy("bad", {
        run: ({ market }) => {
          market
            .quotes(swap)
            .pipe(map(({ bidPx }) => bidPx))
            .subscribe(() => {
              throw new Error("no luck");
            });
          return NEVER;
        },
      }),
      "no luck",
    ],
    [
      "throws after an await",
      strategy("bad", {
        run: ({ market }) =>
          market.quotes(swap).pipe(
            mergeMap(async () => {
              await Promise.resolve();
              throw new Error("no luck");
            }),
          ),
      }),
      "no luck",
    ],
    ["returns text", strategy("bad", { wanted: (() => "buy") as never }), "`wanted` returned string, not a stream"],
    ["returns nothing", strategy("bad", { run: (() => undefined) as never }), "`run` returned undefined, not a stream"],
    [
      "names an instrument nobody lists",
      strategy("bad", { wanted: ({ market }) => market.quotes("BTC-USDT-SWPA").pipe(map(() => [])) }),
      "BTC-USDT-SWAP",
    ],
    ["emits no list", strategy("bad", { wanted: () => nonsense("buy") }), 'emitted "buy". Emit a list'],
    ["emits no order", strategy("bad", { wanted: () => nonsense([null]) }), "emitted null as order 0"],
    [
      "emits an order without a slot",
      strategy("bad", { wanted: () => nonsense([{ ...far(), slot: undefined }]) }),
      "order 0 with slot undefined",
    ],
    [
      "emits a price that is NaN",
      strategy("bad", { wanted: () => nonsense([{ ...far(), px: Number.NaN }]) }),
      'order "far" with px NaN. Write text, such as px: "42000.5"',
    ],
    [
      "emits a tolerance that is no decimal",
      strategy("bad", { wanted: () => of([{ ...far(), keepWithin: "1e3" }]) }),
      'keepWithin "1e3"',
    ],
    [
      "emits one slot twice",
      strategy("bad", { wanted: () => of([far(), far()]) }),
      'two wanted orders have the slot "far"',
    ],
  ])("%s", async (_, bad, message) => {
    const { fate, events } = await beside(bad);
    expect(fate).toMatchObject({ state: "failed", error: expect.stringContaining(message) });
    const failed = events.filter(({ type }) => type === "strategy.failed");
    expect(failed).toEqual([expect.objectContaining({ strategy: "bad", message: fate?.error })]);
  });

  it("withdraws its orders", async () => {
    const { fate } = await beside(
      strategy("bad", {
        wanted: () => concat(of([far()]), NEVER),
        run: () =>
          afterSeconds(5).pipe(
            map(() => {
              throw new Error("later");
            }),
          ),
      }),
    );
    expect(fate).toMatchObject({ state: "failed", placed: 1, canceled: 1 });
  });

  it("gets nothing more: neither values nor its own timers", async () => {
    let calls = 0;
    const { fate } = await beside(
      strategy("bad", {
        wanted: ({ market }) => {
          market.quotes(swap).subscribe(() => calls++);
          timer(0, 100).subscribe(() => {
            calls++;
            if (calls > 10) throw new Error("enough");
          });
          return NEVER;
        },
      }),
    );
    expect(fate?.state).toBe("failed");
    expect(calls).toBe(11);
  });
});

describe("A strategy that ends", () => {
  it("withdraws its orders and counts as completed", async () => {
    const { fate } = await beside(
      strategy("short", {
        wanted: ({ market }) =>
          market.quotes(swap).pipe(
            take(8),
            map(() => [far()]),
          ),
      }),
    );
    expect(fate).toMatchObject({ state: "completed", placed: 1, canceled: 1 });
  });

  it("runs while one of its two streams does", async () => {
    const half = strategy("half", {
      wanted: ({ market }) =>
        market.quotes(swap).pipe(
          take(1),
          map(() => [far()]),
        ),
      run: () => NEVER,
    });
    expect((await beside(half)).fate).toMatchObject({ state: "running" });
    const both = strategy("both", { wanted: () => of([]), run: () => of(1) });
    expect((await beside(both)).fate).toMatchObject({ state: "completed" });
  });
});

describe("An order that cannot be sent", () => {
  it.each([
    ["a price that is not a decimal", { px: "NaN" }, 'px "NaN" is not decimal text'],
    ["an instrument nobody lists", { instId: "BTC-USTD-SWAP" }, 'Did you mean "BTC-USDT-SWAP"?'],
    ["no price", { px: undefined }, "needs px"],
    ["a side there is not", { side: "long" }, 'side "long" is not one of buy, sell'],
  ])("with %s is refused with the reason, and its strategy goes on", async (_, change, reason) => {
    const wanted = { ...far(), ...change } as never;
    const { fate, events } = await beside(strategy("odd", { wanted: () => concat(of([wanted]), NEVER) }));
    expect(fate).toMatchObject({ state: "running", placed: 0, refused: 1 });
    expect(events).toContainEqual(
      expect.objectContaining({
        type: "order.refused",
        strategy: "odd",
        slot: "far",
        reason: expect.stringContaining(reason),
      }),
    );
  });
});
