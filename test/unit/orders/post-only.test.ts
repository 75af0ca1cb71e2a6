/** Post-only orders that would take: moved to the touch, left out, or sent and slowed down. Prices are worked out by hand, tick 0.1. */
import { filter, map, Subject } from "rxjs";
import { describe, expect, it } from "vitest";
import { type RunReport, runBacktest } from "../../../src/backtest.ts";
import { defineStrategy, type WantedOrder } from "../../../src/index.ts";
import { takeWanted } from "../../../src/orders/wanted-set.ts";
import type { TestOptions } from "../../../src/testing.ts";
import { testStrategy } from "../../../src/testing.ts";
import { calm, closed, configOf, quoteTape, recorder, stored, strategy, swap } from "../../support/harness/backtest.ts";

const order = (over: Partial<WantedOrder>): WantedOrder => ({
  slot: "one",
  instId: swap,
  side: "buy",
  ordType: "post_only",
  qty: "0.01",
  ...over,
});

/** A strategy that wants what the test says, whether or not a quote comes. */
const rig = async (...quote: readonly [bidPx: string, askPx: string]) => rigWith({}, ...quote);

const rigWith = async (
  orders: NonNullable<TestOptions["orders"]>,
  ...quote: readonly [bidPx: string, askPx: string]
) => {
  const wanted$ = new Subject<readonly WantedOrder[]>();
  const maker = defineStrategy({ name: "maker", options: closed, wanted: () => wanted$ })({});
  const test = await testStrategy(maker, { instruments: [swap], orders });
  const show = (bidPx: string, askPx: string): void => test.quote(swap, { bidPx, askPx });
  const want = async (over: Partial<WantedOrder>): Promise<void> => {
    wanted$.next([order(over)]);
    await test.advance(100);
  };
  show(...quote);
  await test.advance(100);
  const sent = (): readonly string[] => test.orders.map(({ px, phase }) => `${px} ${phase}`);
  return { test, show, want, sent };
};

describe("A post-only order that would take", () => {
  it.each<readonly [string, readonly [string, string], "buy" | "sell", string, string]>([
    ["one tick below the ask", ["99.9", "100.2"], "buy", "101", "100.1"],
    ["one tick above the bid", ["99.9", "100.2"], "sell", "99", "100"],
    ["at the best bid where the spread is one tick", ["100", "100.1"], "buy", "105.55", "100"],
    ["at the best ask where the spread is one tick", ["100", "100.1"], "sell", "95", "100.1"],
    ["below an ask that it would just meet", ["99.9", "100.2"], "buy", "100.2", "100.1"],
    ["where it was wanted if it does not take", ["99.9", "100.2"], "buy", "100.15", "100.1"],
    ["far from the market if it was wanted there", ["99.9", "100.2"], "sell", "120", "120"],
  ])("and moves to the touch rests %s", async (_, quote, side, px, rests) => {
    const { want, sent } = await rig(...quote);
    await want({ side, px, cross: "touch" });
    expect(sent()).toEqual([`${rests} live`]);
  });

  it("is placed by the quote of the moment when its slot opens, and stays there while the wanted order is the same", async () => {
    const { show, want, sent, test } = await rig("99.9", "100.2");
    await want({ px: "99" });
    expect(sent()).toEqual(["99 live"]);
    const canceled = want({ px: "101", cross: "touch" });
    show("99.9", "100.5");
    await canceled;
    expect(sent()).toEqual(["99 canceled", "100.4 live"]);
    show("102", "102.1");
    await test.advance(1_000);
    await want({ px: "101", cross: "touch" });
    expect(sent()).toEqual(["99 canceled", "100.4 live"]);
  });

  it("and is to be skipped is left out, and leaves with the first quote that it does not meet", async () => {
    const { show, want, sent, test } = await rig("99.9", "100.2");
    await want({ px: "100.5", cross: "skip" });
    show("100.4", "100.5");
    await test.advance(100);
    expect([sent(), test.refused]).toEqual([[], []]);
    show("100.5", "100.6");
    await test.advance(100);
    expect(sent()).toEqual(["100.5 live"]);
  });

  it("and is to be skipped goes by the last price where there are no quotes, looked at once a second", async () => {
    const wanted$ = new Subject<readonly WantedOrder[]>();
    const watcher = defineStrategy({
      name: "maker",
      options: closed,
      run: ({ market }) => market.candles(swap, 60_000),
      wanted: () => wanted$,
    })({});
    const test = await testStrategy(watcher, { instruments: [swap] });
    test.candle(swap, { open: "100", high: "100.2", low: "99.9", close: "100" });
    await test.advance(60_100);
    wanted$.next([order({ px: "100.5", cross: "skip" })]);
    await test.advance(2_000);
    expect(test.orders).toEqual([]);
    test.candle(swap, { open: "100", high: "101", low: "100", close: "101" });
    await test.advance(60_000);
    expect(test.orders).toMatchObject([{ px: "100.5", phase: "live" }]);
  });

  it("is sent as it is where nothing else is said, and rejected", async () => {
    const { want, sent } = await rig("99.9", "100.2");
    await want({ px: "101" });
    await want({ px: "102", cross: "reject" });
    expect(sent()).toEqual(["101 rejected", "102 rejected"]);
  });

  it("has no say in orders of other types", async () => {
    const { want, test } = await rig("99.9", "100.2");
    await want({ px: "101", ordType: "limit", cross: "touch" });
    expect(test.refused).toMatchObject([{ slot: "one", reason: "cross is for post_only orders, not for limit" }]);
    expect(() => takeWanted("maker", [{ ...order({ px: "1" }), cross: "tuoch" }])).toThrow(
      'emitted order "one" with cross "tuoch". Write one of "touch", "skip", "reject".',
    );
  });
});

describe("A slot whose post-only orders are rejected one after the other", () => {
  const wantMany = async (
    { want, sent }: Awaited<ReturnType<typeof rig>>,
    count: number,
    from: number,
  ): Promise<number> => {
    const before = sent().length;
    for (let index = 0; index < count; index++) await want({ px: String(from + index) });
    return sent().length - before;
  };

  it("waits from the third on, says so once, and is as quick as before when an order was accepted", async () => {
    const all = await rigWith({ postOnlyPause: "always" }, "99.9", "100.2");
    const { test, want, sent } = all;
    expect(await wantMany(all, 5, 101)).toBe(3);
    expect(test.events.filter(({ type }) => type === "order.slowed")).toMatchObject([
      {
        strategy: "maker",
        slot: "one",
        instId: swap,
        rejections: 3,
        reason: "51026 A post-only order would have taken.",
      },
    ]);
    // Half a second after the third rejection the latest wanted order leaves.
    await test.advance(500);
    expect(sent().slice(3)).toEqual(["105 rejected"]);
    await want({ px: "99" });
    expect(sent()).toHaveLength(4);
    await test.advance(1_000);
    expect(sent().at(-1)).toBe("99 live");
    await want({ px: "110" });
    await want({ px: "111" });
    await want({ px: "112" });
    expect(sent().slice(-3)).toEqual(["110 rejected", "111 rejected", "112 rejected"]);
  });

  it.each(["scarce", "never"] as const)("goes on at once while there is quota (%s)", async (postOnlyPause) => {
    const all = await rigWith({ postOnlyPause }, "99.9", "100.2");
    expect(await wantMany(all, 7, 101)).toBe(7);
    expect(all.test.events.map(({ type }) => type)).not.toContain("order.slowed");
  });

  it.each(["touch", "skip"] as const)("never waits with cross %s", async (cross) => {
    const { events, plugin } = recorder();
    // High for 20 ms and low for 20: an order that was decided by a high quote arrives at a low one.
    const jumping = quoteTape(
      Array.from({ length: 1_000 }, (_, index) => {
        const bid = index % 2 === 0 ? 600_000 : 599_900;
        return [index * 20, bid, 5_000, bid + 1, 5_000];
      }),
    );
    const late = strategy("late", {
      wanted: ({ market }) =>
        market.quotes(swap).pipe(
          filter(({ bidPx }) => bidPx === "60000"),
          map((_, index) => [order({ px: "60000", qty: index % 2 === 0 ? "0.01" : "0.02", cross })]),
        ),
    });
    const config = configOf(stored(jumping), [late], { plugins: [plugin] });
    const report = await runBacktest({ ...config, orders: { postOnlyPause: "always" } });
    expect(report.orders.rejected).toBeGreaterThan(cross === "skip" ? 20 : 0);
    expect(events.map(({ type }) => type)).not.toContain("order.slowed");
  });

  it("is not slowed where it reduces a position", async () => {
    const { test, want } = await rigWith({ postOnlyPause: "always" }, "99.9", "100.2");
    await want({ side: "buy", ordType: "market", px: undefined } as never);
    for (const px of ["95", "94", "93", "92"]) await want({ side: "sell", reduceOnly: true, px });
    const told = test.events.map(({ type }) => type);
    expect(test.orders.filter(({ phase }) => phase === "rejected").length).toBeGreaterThanOrEqual(4);
    expect(told).not.toContain("order.slowed");
  });

  it("rejects less while quota is scarce in a backtest of a maker that always takes", async () => {
    const { events, plugin } = recorder();
    const skewed = strategy("skewed", {
      wanted: ({ market }) =>
        market
          .quotes(swap)
          .pipe(map(({ askPx }, index) => [order({ px: String(Math.ceil(Number(askPx)) + 1 + (index % 7)) })])),
    });
    const rejectedWith = async (postOnlyPause: "scarce" | "always" | "never"): Promise<RunReport> => {
      const config = configOf(stored(calm(240)), [skewed], { plugins: [plugin] });
      return runBacktest({ ...config, orders: { postOnlyPause } });
    };
    const always = await rejectedWith("always");
    // At once, at once, at once, then after 0.5, 1, 2, 4, 8, 16 s and every 30 s: 3 + 6 + 6 in four minutes; answers take a moment.
    expect(always.orders.rejected).toBeGreaterThanOrEqual(13);
    expect(always.orders.rejected).toBeLessThanOrEqual(15);
    expect(events.filter(({ type }) => type === "order.slowed")).toHaveLength(1);
    expect(always.warnings).toContain(
      "skewed paused 1 time after post-only orders were rejected one after the other (orders.postOnlyPause, events order.slowed).",
    );
    const [scarce, never] = [await rejectedWith("scarce"), await rejectedWith("never")];
    expect(never.warnings.join()).not.toContain("paused");
    expect(scarce.orders.rejected).toBeGreaterThan(always.orders.rejected);
    expect(scarce.orders.rejected).toBeLessThan(never.orders.rejected);
  });
});
