/** Stops and take-profits on bars alone: met inside the bar, at their level, with money counted by hand. */
import { concat, map, NEVER, take } from "rxjs";
import { describe, expect, it } from "vitest";
import { candleFills, type FillModel } from "../../../src/backtest.ts";
import { add } from "../../../src/decimal.ts";
import type { Protect, Strategy, WantedOrder } from "../../../src/index.ts";
import { candleTape, recorder, run, startAt, strategy, swap } from "../../support/harness/backtest.ts";

const hour = 3_600_000;
const minute = 60_000;
const free = { makerBps: "0", takerBps: "0" };
type Bar = readonly [open: number, high: number, low: number, close: number];
const flat: Bar = [1_000, 1_000, 1_000, 1_000];

/** 0.1 from the second bar on, in which the bid is 1000 and the ask 1000.1. */
const holding = (protect: Protect, side: "buy" | "sell", { name, qty } = { name: "holder", qty: "0.1" }) => {
  const order: WantedOrder = { slot: "one", instId: swap, side, ordType: "market", qty, protect };
  return strategy(name, {
    wanted: ({ market }) =>
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
const exits = async (protect: Protect, bars: readonly Bar[], side: "buy" | "sell" = "buy", fills?: FillModel) => {
  const { events, plugin } = recorder();
  const tape = candleTape(
    [flat, flat, ...bars].map((bar) => bar.map((px) => px * 10)),
    hour,
  );
  const { pnl } = await run(tape, [holding(protect, side)], {
    plugins: [plugin],
    fees: { SPOT: free, SWAP: free },
    ...(fills !== undefined && { fills }),
  });
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

  it("comes before a take-profit of the same bar; on the shortest path as the bar's direction says", async () => {
    const both: Protect = { stopLoss: "950", takeProfit: "1040" };
    const falling: Bar = [1_000, 1_050, 900, 910];
    const atStop = { pnl: "-5.01", fills: ["0.1 at 950 after 10 min"] };
    expect(await exits(both, [falling, flat])).toEqual(atStop);
    expect(await exits(both, [[1_000, 1_050, 900, 1_010], flat])).toEqual(atStop);
    // High first: 1050 after 20 minutes, of whose way 1040 is four fifths.
    expect(await exits(both, [falling, flat], "buy", candleFills({ path: "shortest" }))).toEqual({
      pnl: "3.99",
      fills: ["0.1 at 1040 after 16 min"],
    });
  });

  it("of a short position comes before its take-profit as well", async () => {
    const both: Protect = { stopLoss: "1050", takeProfit: "960" };
    expect(await exits(both, [[1_000, 1_100, 950, 1_090], flat], "sell")).toEqual({
      pnl: "-5.01",
      fills: ["0.1 at 1050.1 after 10 min"],
    });
  });

  it.each<[string, Protect]>([
    ["that trails", { trailing: { by: "50" }, takeProfit: "1040" }],
    ["beside a take-profit that rests", { stopLoss: "950", takeProfit: "1040", takeProfitAs: "limit" }],
    ["that looks at the last price", { stopLoss: "950", takeProfit: "1040", trigger: "last" }],
  ])("%s comes before the take-profit", async (_, protect) => {
    const { fills } = await exits(protect, [[1_000, 1_050, 900, 910], flat]);
    expect(fills).toEqual(["0.1 at 950 after 10 min"]);
  });

  it("that trails and is not reached as it stands follows the high first, where that costs a profit at the close", async () => {
    // Low first, 990 and 1100 would leave it at 1070 with the close at 1090.
    const { fills } = await exits({ trailing: { by: "30" } }, [[1_000, 1_100, 990, 1_090], flat]);
    expect(fills).toEqual(["0.1 at 1070 after 25 min"]);
  });

  it("that trails follows the path, and is filled where it stands on the way back", async () => {
    // 990 after 20 minutes, 1100 after 40, and on the way to 1050 1070 after 12 more.
    expect(await exits({ trailing: { by: "30" } }, [[1_000, 1_100, 990, 1_050], flat])).toEqual({
      pnl: "6.99",
      fills: ["0.1 at 1070 after 52 min"],
    });
  });

  it("that trails from a price on begins to follow there", async () => {
    // Low first, from 1085 it stands at 1055, which is never met; from 1100 at 1070.
    const { fills } = await exits(
      { trailing: { by: "30", activePx: "1080" } },
      [
        [1_000, 1_085, 990, 1_060],
        [1_060, 1_100, 1_058, 1_058],
      ],
      "buy",
      candleFills({ path: "shortest" }),
    );
    expect(fills).toEqual(["0.1 at 1070 after 94 min"]);
  });

  it("is met in a later bar as well, after hours in which nothing happened", async () => {
    const quiet = Array.from({ length: 30 }, (): Bar => [1_000, 1_010, 990, 1_000]);
    expect(await exits({ stopLoss: "950" }, [...quiet, [1_000, 1_000, 940, 940], flat])).toEqual({
      pnl: "-5.01",
      fills: ["0.1 at 950 after 1817 min"],
    });
  });
});

/** What each strategy was filled at after its entry, in the order of the fills. */
const conflict = async (holders: readonly Strategy[], bar: Bar) => {
  const { events, plugin } = recorder();
  const tape = candleTape(
    [flat, flat, bar, flat].map((one) => one.map((px) => px * 10)),
    hour,
  );
  await run(tape, holders, { plugins: [plugin], fees: { SPOT: free, SWAP: free } });
  const fills = events.filter((event) => event.type === "fill").slice(holders.length);
  return [...new Set(fills.map(({ strategy: by, px }) => `${by} ${px}`))];
};

describe("A bar that is bad for one strategy at its low and for another at its high", () => {
  const long = (qty: string, protect: Protect) => holding(protect, "buy", { name: "long", qty });
  const short = (qty: string, protect: Protect) => holding(protect, "sell", { name: "short", qty });
  const bar: Bar = [1_000, 1_100, 900, 1_000];

  it("takes the end first that leaves less money to both together", async () => {
    // Low first costs 0.2 × (1040 − 950), high first 0.1 × (1050 − 960).
    expect(
      await conflict(
        [long("0.2", { stopLoss: "950", takeProfit: "1040" }), short("0.1", { stopLoss: "1050", takeProfit: "960" })],
        bar,
      ),
    ).toEqual(["short 960.1", "long 950"]);
    expect(
      await conflict(
        [long("0.1", { stopLoss: "950", takeProfit: "1040" }), short("0.2", { stopLoss: "1050", takeProfit: "960" })],
        bar,
      ),
    ).toEqual(["long 1040", "short 1050.1"]);
  });

  it("does not count a larger position that its own end closes at the same price either way", async () => {
    expect(
      await conflict([long("0.3", { stopLoss: "950" }), short("0.1", { stopLoss: "1050", takeProfit: "960" })], bar),
    ).toEqual(["short 1050.1", "long 950"]);
  });
});

describe("Stops of several strategies in one instrument, far from the close of the bar before", () => {
  const sold = async (side: "buy" | "sell", levels: readonly string[], bar: Bar) => {
    const { events, plugin } = recorder();
    const holders = levels.map((stopLoss, index) => holding({ stopLoss }, side, { name: `s${index}`, qty: "0.1" }));
    const tape = candleTape(
      [flat, flat, bar, bar.map(() => bar[3]) as unknown as Bar].map((one) => one.map((px) => px * 10)),
      hour,
    );
    await run(tape, holders, { plugins: [plugin], fees: { SPOT: free, SWAP: free } });
    const fills = events.filter((event) => event.type === "fill").slice(holders.length);
    return fills.map(({ strategy: by, px, qty, position }) => `${by} ${qty} at ${px}: ${position}`);
  };

  it("close what each holds, and no more, at a service that counts money", async () => {
    expect(await sold("buy", ["900", "850", "800"], [1_000, 1_000, 790, 800])).toEqual([
      "s0 0.1 at 900: 0",
      "s1 0.1 at 850: 0",
      "s2 0.1 at 800: 0",
    ]);
    expect(await sold("sell", ["1100", "1150"], [1_000, 1_200, 1_000, 1_200])).toEqual([
      "s0 0.1 at 1100.1: 0",
      "s1 0.1 at 1150.1: 0",
    ]);
  });
});
