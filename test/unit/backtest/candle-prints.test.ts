import fc from "fast-check";
import { map } from "rxjs";
import { describe, expect, it } from "vitest";
import { bidAt, CandlePlayer, isPlayed } from "../../../src/backtest/candle-prints.ts";
import { lastPrices } from "../../../src/backtest/last-prices.ts";
import { createTape } from "../../../src/backtest.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import type { CandleSeries } from "../../../src/market/tape/tape.ts";
import type { Venue } from "../../../src/venue/venue.ts";
import { btc, candles, candleTape, quoteTape, run, startAt, strategy, swap } from "../../support/harness/backtest.ts";

const barMs = 60_000;

/** Everything the service is shown, as `[ms after the first close, what, price]`. */
const shown = (bars: readonly (readonly number[])[]) => {
  const clock = createVirtualClock(startAt + barMs);
  const seen: [number, string, number][] = [];
  const note = (what: string, px: number) => seen.push([clock.now() - startAt - barMs, what, px]);
  const venue = {
    quote: (_: string, bid: number, __: number, ask: number) => {
      note("bid", bid);
      note("ask", ask);
    },
    trade: (_: string, side: string, px: number) => note(side, px),
  } as unknown as Venue;
  const series = candles(bars, barMs) as CandleSeries;
  const player = new CandlePlayer(venue, clock, swap, series, 0);
  bars.forEach((_, row) => {
    clock.advanceTo(series.at[row] as number);
    player.take(row);
  });
  clock.advanceTo(clock.now() + barMs);
  return seen;
};

/** A rising, a falling and a flat bar. */
const bar = fc
  .tuple(fc.integer({ min: 1_000, max: 1_050 }), fc.integer({ min: 0, max: 20 }), fc.nat(20), fc.nat(20))
  .map(([low, range, a, b]) => [low + Math.min(a, range), low + range, low, low + Math.min(b, range)]);

describe("Bars played as prints", () => {
  it("open when the bar begins, the low first when it rose and the high first when it fell, and the close at its end", () => {
    const prints = shown([
      [100, 100, 100, 100],
      [100, 120, 90, 110],
      [110, 115, 95, 96],
    ]).filter(([, what]) => what === "buy" || what === "sell");
    expect(prints.map(([ms, , px]) => [ms, px])).toEqual([
      [0, 100],
      [0, 100],
      [20_000, 90],
      [40_000, 120],
      [60_000, 110],
      [60_000, 110],
      [80_000, 115],
      [100_000, 95],
      [120_000, 96],
    ]);
  });

  it("show no price outside the bar; without a range, one tick above it", () => {
    fc.assert(
      fc.property(fc.array(bar, { minLength: 1, maxLength: 5 }), (bars) => {
        for (const [ms, what, px] of shown(bars)) {
          // At a border the close of one bar and the open of the next are both shown.
          const rows = [Math.ceil(ms / barMs), Math.floor(ms / barMs) + 1].filter((row) => row < bars.length);
          const lows = rows.map((row) => bars[row]?.[2] as number);
          const highs = rows.map((row) => {
            const [, high = 0, low = 0] = bars[row] ?? [];
            return high === low && what === "ask" ? high + 1 : high;
          });
          expect(px).toBeGreaterThanOrEqual(Math.min(...lows));
          expect(px).toBeLessThanOrEqual(Math.max(...highs));
        }
      }),
    );
  });

  it.each([
    ["inside the bar", 105, 105],
    ["at the low", 100, 100],
    ["at the high", 110, 109],
  ])("shows its bid %s", (_, px, expected) => {
    expect(bidAt(px as number, 100, 110)).toBe(expected);
  });

  it("are played only where nothing finer was recorded, and of several lengths the shortest", () => {
    const minute = candles([[1, 1, 1, 1]], barMs);
    const hour = candles([[1, 1, 1, 1]], 60 * barMs);
    const quotes = quoteTape([[0, 1, 1, 2, 1]]).series[0] as never;
    expect(isPlayed(minute as CandleSeries, [minute, hour])).toBe(true);
    expect(isPlayed(hour as CandleSeries, [minute, hour])).toBe(false);
    expect(isPlayed(minute as CandleSeries, [minute, quotes])).toBe(false);
  });
});

describe("A backtest on bars", () => {
  const bars = [
    [1_000, 1_000, 1_000, 1_000],
    [1_000, 1_040, 980, 1_020],
    [1_020, 1_030, 1_000, 1_010],
    [1_010, 1_015, 1_005, 1_012],
  ].map((one) => one.map((px) => px * 100));

  it("fills inside the bar the order was in, never at a price that was past", async () => {
    const fills: (readonly [number, number])[] = [];
    const buyer = strategy("buyer", {
      wanted: ({ market, own, now }) => {
        own.updates$.subscribe(({ phase, record }) => {
          if (phase === "filled") fills.push([now() - startAt, Number(record?.avgPx) * 10]);
        });
        return market.candles(swap, barMs).pipe(
          map(({ close }, round) => [
            {
              slot: "x",
              instId: swap,
              side: round % 2 === 0 ? ("buy" as const) : ("sell" as const),
              px: close,
              qty: "0.01",
              round,
            },
          ]),
        );
      },
    });
    const report = await run(candleTape(bars), [buyer]);
    expect(fills.length).toBeGreaterThan(1);
    for (const [at, px] of fills) {
      const [, high = 0, low = 0] = bars[Math.min(bars.length - 1, Math.floor(at / barMs))] ?? [];
      expect(px).toBeGreaterThanOrEqual(low);
      expect(px).toBeLessThanOrEqual(high);
    }
    expect(Object.values(report.perStrategy)[0]?.pnl).toBe(report.pnl);
  });
});

describe("The last price of an instrument from bars", () => {
  const level = (rows: readonly (readonly number[])[]) => ({
    kind: "level" as const,
    instrument: 0,
    at: Float64Array.from(rows, (_, index) => startAt + index),
    side: Int8Array.from(rows, ([side = 0]) => side),
    px: Float64Array.from(rows, ([, px = 0]) => px),
    qty: Float64Array.from(rows, ([, , qty = 0]) => qty),
    snapshot: Uint8Array.from(rows, ([, , , snapshot = 0]) => snapshot),
  });
  const quotes = (rows: readonly (readonly number[])[]) => quoteTape(rows).series[0] as never;
  it.each([
    ["is the last mid, exact to half a tick", [quotes([[0, 100, 1, 101, 1]])], "10.05"],
    ["is nothing where a side is empty", [quotes([[0, 100, 1, 101, 0]])], undefined],
    [
      "is the mid of the last book",
      [
        level([
          [1, 90, 1, 1],
          [-1, 99, 1, 0],
          [1, 95, 1, 0],
          [-1, 97, 1, 0],
          [-1, 97, 0, 0],
        ]),
      ],
      "9.7",
    ],
    [
      "forgets what came before a snapshot",
      [
        level([
          [1, 95, 1, 1],
          [-1, 97, 1, 0],
          [1, 80, 1, 1],
          [-1, 90, 1, 0],
        ]),
      ],
      "8.5",
    ],
    ["is the close's spread for bars", [candles([[100, 120, 90, 110]], barMs)], "11.05"],
  ])("%s", (_, series, expected) => {
    expect(lastPrices(createTape([btc], series as never)).get(swap)).toBe(expected);
  });
});
