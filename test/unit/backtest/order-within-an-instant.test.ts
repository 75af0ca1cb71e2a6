import { map } from "rxjs";
import { describe, expect, it } from "vitest";
import { constant, createTape, type Tape } from "../../../src/backtest.ts";
import { seriesOf } from "../../../src/market/tape/tape.ts";
import { btc, quoteTape, recorder, run, startAt, strategy, swap } from "../../support/harness/backtest.ts";
import { witness } from "../../support/harness/recording-strategy.ts";

/** Rows `[ms, aggressor's sign, price, quantity]` beside the quotes of `tape`. */
const withTrades = (tape: Tape, rows: readonly (readonly [number, number, number, number])[]): Tape => {
  const column = (which: number): Float64Array => Float64Array.from(rows.map((row) => row[which] as number));
  const at = Float64Array.from(rows.map(([ms]) => startAt + ms));
  return createTape([btc], [...tape.series, seriesOf("trade", 0, at, [column(1), column(2), column(3)])]);
};

/** The ask falls onto the bid that rests: the quote at 1000 fills it. */
const crossing = quoteTape([
  [0, 600_000, 5_000, 600_010, 5_000],
  [1_000, 599_900, 5_000, 600_000, 5_000],
  [3_000, 599_900, 5_000, 600_000, 5_000],
]);
const seen = ["quote 60000", "quote 59990", "filled at 60000 with the bid at 59990", "quote 59990"];

describe("Within one instant,", () => {
  it.each([
    ["some delay", constant(10)],
    ["none", constant(0)],
  ])("the quote that caused a fill is seen before the fill, with %s", async (_, latency) => {
    const log: string[] = [];
    const { events, plugin } = recorder();
    const report = await run(crossing, [witness(log)], { latency, plugins: [plugin] });
    expect(log).toEqual(seen);
    // The cancel that the quote asked for has nothing left to take away when its instant ends, and is not sent.
    expect(report.orders).toMatchObject({ placed: 2, filled: 1 });
    expect(events.filter((event) => event.type === "action.sent" && event.endpoint === "cancelBatch")).toEqual([]);
  });

  it("all market data comes before the fill, whichever series it is of", async () => {
    const log: string[] = [];
    await run(
      withTrades(crossing, [
        [1_000, -1, 599_990, 5],
        [1_000, -1, 599_980, 5],
      ]),
      [witness(log)],
    );
    expect(log.slice(0, 5)).toEqual([
      "quote 60000",
      "quote 59990",
      "trade 59999",
      "trade 59998",
      "filled at 60000 with the bid at 59990",
    ]);
  });

  it("a delay decides before any rule: a slower feed shows the quote after the fill", async () => {
    const log: string[] = [];
    await run(crossing, [witness(log)], { latency: constant(10, { feedMs: 11 }) });
    expect(log).toEqual(["quote 60000", "filled at 60000 with the bid at 60000", "quote 59990", "quote 59990"]);
  });

  it("an order that arrives with a row meets the market of that row", async () => {
    const prices: string[] = [];
    const eager = strategy("eager", {
      wanted: ({ market, own }) => {
        own.updates$.subscribe(({ phase, record: told }) => {
          if (phase === "filled") prices.push(told?.avgPx ?? "");
        });
        return market
          .quotes(swap)
          .pipe(
            map(() => [{ slot: "x", instId: swap, side: "buy" as const, ordType: "market" as const, qty: "0.01" }]),
          );
      },
    });
    // Seen at 10, sent at once, there at 20.
    const tape = quoteTape([
      [0, 600_000, 5_000, 600_010, 5_000],
      [20, 610_000, 5_000, 610_010, 5_000],
      [2_000, 610_000, 5_000, 610_010, 5_000],
    ]);
    await run(tape, [eager]);
    expect(prices).toEqual(["61001"]);
  });
});
