/** Orders that come in a gap of the recording: nothing is filled at a price that was past. */
import { concat, map, NEVER, take, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import { createTape, type Tape } from "../../../src/backtest.ts";
import type { Protect, WantedOrder } from "../../../src/index.ts";
import { seriesOf } from "../../../src/market/tape/tape.ts";
import { btc, quoteTape, recorder, run, startAt, strategy, swap } from "../../support/harness/backtest.ts";

const day = 86_400_000;
const minute = 60_000;

/** Bars `[day on which it closes, open, high, low, close]` of one length. */
const barsAt = (bars: readonly (readonly number[])[], barMs: number): Tape =>
  createTape(
    [btc],
    [
      seriesOf(
        "candle",
        0,
        Float64Array.from(bars.map(([end]) => startAt + (end as number) * barMs)),
        [1, 2, 3, 4]
          .map((column) => Float64Array.from(bars.map((bar) => (bar[column] as number) * 10)))
          .concat(Float64Array.from(bars.map(() => 4_000))),
        barMs,
      ),
    ],
  );

/** Friday closes at 1000, Monday opens at 1100. */
const weekend = barsAt(
  [
    [1, 1_000, 1_000, 1_000, 1_000],
    [2, 1_000, 1_000, 1_000, 1_000],
    [5, 1_100, 1_110, 1_090, 1_105],
    [6, 1_105, 1_105, 1_105, 1_105],
  ],
  day,
);

const filled = async (tape: Tape, order: Partial<WantedOrder>, afterBars = 2) => {
  const { events, plugin } = recorder();
  const wanted: WantedOrder = { slot: "one", instId: swap, side: "buy", ordType: "market", qty: "0.1", ...order };
  const waiter = strategy("waiter", {
    wanted: ({ market }) =>
      concat(
        market.candles(swap, day).pipe(
          take(afterBars),
          map((_, index) => (index === afterBars - 1 ? [wanted] : [])),
        ),
        NEVER,
      ),
  });
  const report = await run(tape, [waiter], { plugins: [plugin] });
  const fills = events.flatMap((event) =>
    event.type === "fill" ? [`${event.side} ${event.px} on day ${(event.at - startAt) / day}`] : [],
  );
  return { report, fills: [...new Set(fills.map((line) => line.replace(/(\.\d)\d+$/, "$1")))] };
};

describe("A market order in a gap of bars", () => {
  it("fills at the open after it, and the report counts it", async () => {
    const { report, fills } = await filled(weekend, {});
    expect(fills).toEqual(["buy 1100.1 on day 4.0"]);
    expect(Object.keys(report.gapFills ?? {})).toEqual([swap]);
    expect(report.warnings.join()).toContain("came in a gap of the recording");
    expect(report.assumptions.map(({ what }) => what)).toContain("Gaps of the recording");
  });

  it("costs one list of pending orders a bar, where all bars are long", async () => {
    const { report } = await filled(weekend, {});
    expect(report.quota.requests).toBeLessThan(20);
    expect(report.assumptions.map(({ what }) => what)).toContain("Lists of resting orders");
  });

  it("is followed by a stop that the next gap passes, which fills at the open after that", async () => {
    const falling = barsAt(
      [
        [1, 1_000, 1_000, 1_000, 1_000],
        [2, 1_000, 1_000, 1_000, 1_000],
        [5, 900, 910, 890, 905],
        [6, 905, 905, 905, 905],
      ],
      day,
    );
    const protect: Protect = { stopLoss: "950" };
    expect((await filled(falling, { protect }, 1)).fills).toEqual(["buy 1000.1 on day 1.0", "sell 900 on day 4.0"]);
  });

  it("does not exist where bars follow each other, and nothing is said", async () => {
    const whole = barsAt(
      [1, 2, 3].map((end) => [end, 1_000, 1_000, 1_000, 1_000]),
      day,
    );
    const { report, fills } = await filled(whole, {});
    expect(fills).toEqual(["buy 1000.1 on day 2.0"]);
    expect(report.gapFills).toBeUndefined();
    expect(report.assumptions.map(({ what }) => what)).not.toContain("Gaps of the recording");
  });

  it("rests instead where it has a price, and ends where it is immediate", async () => {
    expect((await filled(weekend, { ordType: "limit", px: "1105" })).fills).toEqual(["buy 1105 on day 4.0"]);
    expect((await filled(weekend, { ordType: "limit", px: "1005" })).fills).toEqual([]);
    expect((await filled(weekend, { ordType: "ioc", px: "1105" })).fills).toEqual([]);
  });
});

describe("A market order in an outage", () => {
  const atMinute = async (tape: Tape) => {
    const { events, plugin } = recorder();
    const buyer = strategy("buyer", {
      wanted: () =>
        concat(
          timer(2 * minute).pipe(
            map(() => [{ slot: "one", instId: swap, side: "buy" as const, ordType: "market" as const, qty: "0.01" }]),
          ),
          NEVER,
        ),
    });
    await run(tape, [buyer], { plugins: [plugin] });
    return events.flatMap((event) => (event.type === "fill" ? [`${event.px} after ${event.at - startAt} ms`] : []));
  };

  it("of quotes fills at the first quote after it", async () => {
    const outage = quoteTape([
      [0, 600_000, 100, 600_001, 100],
      [minute, 600_000, 100, 600_001, 100],
      [20 * minute, 610_000, 100, 610_001, 100],
      [21 * minute, 610_000, 100, 610_001, 100],
    ]);
    expect(await atMinute(outage)).toEqual([`61000.1 after ${20 * minute + 10} ms`]);
  });

  it("of less than five minutes is none: the quote stands", async () => {
    const short = quoteTape([
      [0, 600_000, 100, 600_001, 100],
      [minute, 600_000, 100, 600_001, 100],
      [5 * minute, 610_000, 100, 610_001, 100],
    ]);
    expect(await atMinute(short)).toEqual([expect.stringMatching(/^60000\.1 after 1\d{5} ms$/)]);
  });

  it("of trades fills at the first print after it, whichever side that took", async () => {
    const rows = [
      [0, 1, 600_001],
      [1, -1, 600_000],
      [20 * minute, -1, 610_000],
      [21 * minute, 1, 610_001],
    ];
    const column = (index: number): Float64Array => Float64Array.from(rows.map((row) => row[index] as number));
    const at = column(0).map((ms) => startAt + ms);
    const prints = createTape(
      [btc],
      [seriesOf("trade", 0, at, [Int8Array.from(column(1)), column(2), column(2).fill(100)])],
    );
    expect(await atMinute(prints)).toEqual([`61000.1 after ${20 * minute + 10} ms`]);
  });
});
