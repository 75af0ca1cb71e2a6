import { describe, expect, it } from "vitest";
import { constant, createTape, lognormal } from "../../../../src/backtest.ts";
import type { Event } from "../../../../src/index.ts";
import { seriesOf } from "../../../../src/market/tape/tape.ts";
import { testStartAt, testStrategy } from "../../../../src/testing.ts";
import averageCross from "../../../../strategies/average-cross.ts";
import joinBest from "../../../../strategies/join-best.ts";
import { btc, recorder, run, stored, swap } from "../../../support/harness/backtest.ts";

const column = (rows: readonly (readonly number[])[], index: number): Float64Array =>
  Float64Array.from(rows.map((row) => row[index] as number));
const timesOf = (rows: readonly (readonly number[])[]): Float64Array => column(rows, 0).map((ms) => testStartAt + ms);

/** Quotes `[ms, bid, bidQty, ask, askQty]`, trades `[ms, sign, px, qty]` and bars `[ms, open, high, low, close, volume]`, ticks and lots. */
const quotes = Array.from({ length: 240 }, (_, index) => {
  const bid = 600_000 + Math.round(400 * Math.sin(index / 9)) + ((index * 7) % 23);
  return [index * 1_000, bid, 5_000 + (index % 7), bid + 1 + (index % 3), 4_000 + (index % 5)];
});
const trades = quotes.map(([ms, bid, , ask], index) => [
  (ms as number) + 300,
  index % 2 === 0 ? 1 : -1,
  (index % 2 === 0 ? ask : bid) as number,
  1 + (index % 4),
]);
const bars = [1, 2, 3].map((minute) => [
  minute * 60_000,
  600_000 + minute,
  600_500,
  599_500,
  600_100 - 300 * (minute % 2),
  40,
]);

const tape = createTape(
  [btc],
  [
    seriesOf(
      "quote",
      0,
      timesOf(quotes),
      [1, 2, 3, 4].map((index) => column(quotes, index)),
    ),
    seriesOf("trade", 0, timesOf(trades), [Int8Array.from(column(trades, 1)), column(trades, 2), column(trades, 3)]),
    seriesOf(
      "candle",
      0,
      timesOf(bars),
      [1, 2, 3, 4, 5].map((index) => column(bars, index)),
      60_000,
    ),
  ],
);
const px = (ticks: number | undefined): string => String((ticks as number) / 10);
const qty = (lots: number | undefined): string => String((lots as number) / 1_000);
const time = (ms: number | undefined): string => new Date(ms as number).toISOString().slice(11, 23);
const text = [
  ...quotes.map(
    ([ms, bid, bidQty, ask, askQty]) =>
      `${time(ms)} quote ${swap} ${px(bid)} x ${qty(bidQty)} / ${px(ask)} x ${qty(askQty)}`,
  ),
  ...trades.map(
    ([ms, sign, at, lots]) => `${time(ms)} trade ${swap} ${sign === 1 ? "buy" : "sell"} ${qty(lots)} at ${px(at)}`,
  ),
  ...bars.map(
    ([ms, ...rest]) => `${time(ms)} candle ${swap} 1m ${rest.slice(0, 4).map(px).join(" ")} volume ${qty(rest[4])}`,
  ),
].join("\n");

/** What a run did, without its start, which a plugin does not see, and its end. */
const deeds = (events: readonly Event[]) =>
  events.filter(({ at, type }) => type !== "engine.started" && at >= testStartAt - 1_000 && at < testStartAt + 230_000);

describe("An engine test", () => {
  it.each([
    ["join-best", () => joinBest({ keepWithin: "5" }), constant(10, { feedMs: 0 })],
    ["join-best, with orders that arrive together with trades", () => joinBest({}), constant(300, { feedMs: 0 })],
    ["join-best over a slow network", () => joinBest({ keepWithin: "5" }), lognormal({ medianMs: 300 })],
    ["average-cross on recorded bars", () => averageCross({ barMs: 60_000, fast: 1, slow: 2 }), constant(10)],
    ["average-cross on bars built from trades", () => averageCross({ barMs: 7_000, fast: 1, slow: 2 }), constant(10)],
  ])("does what a backtest of the same rows does: %s", async (_, make, latency) => {
    const { events, plugin } = recorder();
    await run(stored(tape), [make()], { plugins: [plugin], latency });
    const t = await testStrategy(make(), { latency, instruments: [btc], plugins: [recorder().plugin] });
    t.feed(text);
    await t.advanceTo("00:04:00");
    expect(deeds(events).filter(({ type }) => type === "order.changed").length).toBeGreaterThan(3);
    expect(deeds(t.events)).toEqual(deeds(events));
    await t.stop();
  });
});
