/** Stops and take-profits on bars alone: met inside the bar, at their level, with money counted by hand. */
import { concat, map, NEVER, take } from "rxjs";
import { describe, expect, it } from "vitest";
import { add } from "../../../src/decimal.ts";
import type { Protect, WantedOrder } from "../../../src/index.ts";
import { candleTape, recorder, run, startAt, strategy, swap } from "../../support/harness/backtest.ts";

const hour = 3_600_000;
const minute = 60_000;
const free = { makerBps: "0", takerBps: "0" };
type Bar = readonly [open: number, high: number, low: number, close: number];
const flat: Bar = [1_000, 1_000, 1_000, 1_000];

/** 0.1 from the second bar on, in which the bid is 1000 and the ask 1000.1. */
const holding = (protect: Protect, side: "buy" | "sell") => {
  const order: WantedOrder = { slot: "one", instId: swap, side, ordType: "market", qty: "0.1", protect };
  return strategy("holder", {
    desired: ({ market }) =>
      concat(
        market.candles(swap, hour).pipe(
          take(1),
          map(() => [order]),
        ),
        NEVER,
      ),
  });
};

/** What was filled after the entry, at which prices and so many minutes after the third bar opened, and what it made. */
const exits = async (protect: Protect, bars: readonly Bar[], side: "buy" | "sell" = "buy") => {
  const { events, plugin } = recorder();
  const tape = candleTape(
    [flat, flat, ...bars].map((bar) => bar.map((px) => px * 10)),
    hour,
  );
  const { pnl } = await run(tape, [holding(protect, side)], { plugins: [plugin], fees: { SPOT: free, SWAP: free } });
  const [entry, ...rest] = events.filter((event) => event.type === "fill");
  expect(entry).toMatchObject({ px: side === "buy" ? "1000.1" : "1000", qty: "0.1" });
  const minutesOf = (at: number) => Math.round((at - startAt - 2 * hour) / minute);
  // What an order of an amount of money left over follows in another one.
  const sums = new Map<string, string>();
  for (const { px, qty, at } of rest) {
    const place = `at ${px} after ${minutesOf(at)} min`;
    sums.set(place, add(sums.get(place) ?? "0", qty));
  }
  return { pnl, fills: [...sums].map(([place, qty]) => `${qty} ${place}`) };
};

describe("A stop on bars", () => {
  it("is filled at its level where the bar passes it, not at the bar's end or its worst price", async () => {
    // The bar rose: 1000, 900 after 20 minutes, 1200 after 40, 1120. Half of the way down is 10 minutes.
    expect(await exits({ stopLoss: "950" }, [[1_000, 1_200, 900, 1_120], flat])).toEqual({
      // 0.1 × (950 − 1000.1)
      pnl: "-5.01",
      fills: ["0.1 at 950 after 10 min"],
    });
  });

  it("of a short position meets the ask there", async () => {
    // The bar fell: 1100 after 20 minutes.
    expect(await exits({ stopLoss: "1050" }, [[1_000, 1_100, 900, 950], flat], "sell")).toEqual({
      pnl: "-5.01",
      fills: ["0.1 at 1050.1 after 10 min"],
    });
  });

  it("is filled at the open of a bar that opens beyond it", async () => {
    expect(await exits({ stopLoss: "950" }, [[940, 960, 930, 955], flat])).toEqual({
      pnl: "-6.01",
      fills: ["0.1 at 940 after 0 min"],
    });
  });

  it("is left alone by a bar that turns a tick before it", async () => {
    const { fills } = await exits({ stopLoss: "950" }, [[1_000, 1_200, 950.1, 1_120], flat]);
    expect(fills).toEqual([]);
  });

  it("comes first or second as the bar's path does, and a take-profit is filled at its level as well", async () => {
    const both: Protect = { stopLoss: "950", takeProfit: "1040" };
    // High first: 1050 after 20 minutes, of whose way 1040 is four fifths.
    expect(await exits(both, [[1_000, 1_050, 900, 910], flat])).toEqual({
      pnl: "3.99",
      fills: ["0.1 at 1040 after 16 min"],
    });
    expect(await exits(both, [[1_000, 1_050, 900, 1_010], flat])).toEqual({
      pnl: "-5.01",
      fills: ["0.1 at 950 after 10 min"],
    });
  });

  it("that trails follows the path, and is filled where it stands on the way back", async () => {
    // 990 after 20 minutes, 1100 after 40, and on the way to 1050 1070 after 12 more.
    expect(await exits({ trailing: { by: "30" } }, [[1_000, 1_100, 990, 1_050], flat])).toEqual({
      pnl: "6.99",
      fills: ["0.1 at 1070 after 52 min"],
    });
  });

  it("that trails from a price on begins to follow there", async () => {
    // From 1080 it stands at 1050, which is never met; from 1100 at 1070.
    const { fills } = await exits({ trailing: { by: "30", activePx: "1080" } }, [
      [1_000, 1_085, 990, 1_060],
      [1_060, 1_100, 1_058, 1_058],
    ]);
    expect(fills).toEqual(["0.1 at 1070 after 94 min"]);
  });

  it("is met in a later bar as well, after hours in which nothing happened", async () => {
    const quiet = Array.from({ length: 30 }, (): Bar => [1_000, 1_010, 990, 1_000]);
    expect(await exits({ stopLoss: "950" }, [...quiet, [1_000, 1_000, 940, 940], flat])).toEqual({
      pnl: "-5.01",
      fills: ["0.1 at 950 after 1837 min"],
    });
  });
});
