import fc from "fast-check";
import { combineLatest, filter, map, scan, startWith } from "rxjs";
import { describe, expect, it } from "vitest";
import { runnerHere } from "../../../plugins/compare/cut-run.ts";
import { type LookAheadOptions, lookAhead } from "../../../plugins/compare/look-ahead.ts";
import { readFixture } from "../../../src/backtest.ts";
import type { Strategy } from "../../../src/index.ts";
import { calm, candleTape, configOf, startAt, stored, strategy, swap } from "../../support/harness/backtest.ts";

const guard = (dir: string, strategies: readonly Strategy[], options: LookAheadOptions = {}) =>
  lookAhead(
    runnerHere(() => configOf(dir, strategies)),
    options,
  );

const bid = (px: string, slot = "bid") => ({ slot, instId: swap, side: "buy" as const, px, qty: "0.01" });
const tick = (ticks: number): string => (ticks / 10).toFixed(1);

/** Follows the best bid. */
const honest = strategy("honest", {
  wanted: ({ market }) => market.quotes(swap).pipe(map(({ bidPx }) => [bid(bidPx)])),
});

/** Bids where the market will be `rows` quotes later; the prices are read when it starts. */
const cheat = (dir: string, rows: number): Strategy =>
  strategy("cheat", {
    wanted: ({ market }) => {
      const { tape } = readFixture(dir);
      const quotes = tape.series.find(({ kind }) => kind === "quote") as Extract<
        (typeof tape.series)[number],
        { kind: "quote" }
      >;
      return market.quotes(swap).pipe(
        scan((count) => count + 1, -1),
        map((index) => [bid(tick(quotes.bidPx[Math.min(index + rows, quotes.bidPx.length - 1)] as number))]),
      );
    },
  });

describe("The look-ahead guard", () => {
  it("clears a strategy that knows only what it was told", async () => {
    const report = await guard(stored(calm(60)), [honest]);
    expect(report).toMatchObject({ verdict: "blind", glimpses: [], unrepeatable: undefined });
    expect(report.cuts).toHaveLength(8);
    expect(report.decisions).toBeGreaterThan(100);
  });

  it("names who read the recording ahead, where, and what was decided differently", async () => {
    const dir = stored(calm(60));
    const { verdict, glimpses } = await guard(dir, [honest, cheat(dir, 3)]);
    expect(verdict).toBe("sees-the-future");
    expect(glimpses.map(({ strategy: name, slot, kind }) => [name, slot, kind])).toEqual([["cheat", "bid", "wants"]]);
    expect(glimpses[0]?.fields.map(({ path }) => path)).toEqual(["bid.px"]);
    const { at = 0, cutAt = 0 } = glimpses[0] ?? {};
    expect(cutAt - at).toBeLessThanOrEqual(3 * 250);
    expect(at).toBeLessThanOrEqual(cutAt);
  });

  it("finds a glance of a single row with a single cut on a decision", async () => {
    const dir = stored(calm(60));
    expect((await guard(dir, [cheat(dir, 1)], { cuts: 1 })).verdict).toBe("sees-the-future");
  });

  it("lets the service trade inside the bar under way, and tells nobody of it", async () => {
    const bars = Array.from({ length: 20 }, (_, index) => [
      600_000 + (index % 5) * 40,
      600_300,
      599_700,
      600_000 + ((index + 1) % 5) * 40,
    ]);
    const dir = stored(candleTape(bars));
    // Below the close by less than the bars reach: filled inside the bar after, which decides what is wanted next.
    const fills = strategy("fills", {
      wanted: ({ market, own }) =>
        combineLatest([
          market.candles(swap, 60_000),
          own.updates$.pipe(
            filter(({ phase }) => phase === "filled"),
            scan((count) => count + 1, 0),
            startWith(0),
          ),
        ]).pipe(map(([{ closeFloat }, filled]) => [{ ...bid(tick(closeFloat * 10 - 100 - filled)), round: filled }])),
    });
    const report = await guard(dir, [fills], { cuts: 12 });
    expect(report.verdict).toBe("blind");
    const inside = report.cuts.filter((at) => (at - startAt) % 60_000 > 1_000);
    expect(inside.length).toBeGreaterThan(6);
    const knows = strategy("knows", {
      wanted: ({ market }) => {
        const { tape } = readFixture(dir);
        const own = tape.series[0] as unknown as { readonly close: Float64Array };
        return market.candles(swap, 60_000).pipe(map((_, index) => [bid(tick(own.close[index + 1] ?? 600_000))]));
      },
    });
    expect((await guard(dir, [knows], { cuts: 4 })).glimpses[0]).toMatchObject({ strategy: "knows", slot: "bid" });
  });

  it("tells a run that cannot be repeated apart from one that looks ahead", async () => {
    let runs = 0;
    const moody = strategy("moody", {
      wanted: ({ market }) => {
        const shift = runs++;
        return market.quotes(swap).pipe(map(({ bidFloat }) => [bid(tick(bidFloat * 10 - shift))]));
      },
    });
    const { verdict, unrepeatable, cuts } = await guard(stored(calm(20)), [honest, moody]);
    expect(verdict).toBe("not-repeatable");
    expect(unrepeatable).toMatchObject({ strategy: "moody", slot: "bid" });
    expect(cuts).toEqual([]);
  });

  it("gives the same report every time", async () => {
    const dir = stored(calm(30));
    const both = [await guard(dir, [cheat(dir, 2)]), await guard(dir, [cheat(dir, 2)])];
    expect(both[0]).toEqual(both[1]);
    expect((await guard(dir, [honest], { seed: 2 })).cuts).not.toEqual((await guard(dir, [honest], { seed: 3 })).cuts);
  });

  it("never finds anything in an honest strategy, whatever it does with what it sees", async () => {
    const dirs = [
      stored(calm(20)),
      stored(
        candleTape(
          Array.from({ length: 12 }, (_, i) => [600_000 + i, 600_200, 599_800, 600_000 + ((i * 7) % 90)]),
          5_000,
        ),
      ),
    ];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...dirs),
        fc.integer({ min: -40, max: 15 }),
        fc.integer({ min: 1, max: 6 }),
        fc.boolean(),
        fc.integer({ min: 0, max: 1_000 }),
        async (dir, away, every, sells, seed) => {
          const any = strategy("any", {
            wanted: ({ market, random }) =>
              (dir === dirs[0]
                ? market.quotes(swap).pipe(map(({ bidFloat }) => bidFloat))
                : market.candles(swap, 5_000).pipe(map(({ closeFloat }) => closeFloat))
              ).pipe(
                map((px, index) => [
                  { ...bid(tick(px * 10 + away)), round: Math.floor(index / every) },
                  ...(sells
                    ? [{ ...bid(tick(px * 10 + 1 - away + random.whole(0, 3)), "ask"), side: "sell" as const }]
                    : []),
                ]),
              ),
          });
          expect((await guard(dir, [any], { cuts: 3, seed })).verdict).toBe("blind");
        },
      ),
      { numRuns: 15 },
    );
  });
});
