import { describe, expect, it } from "vitest";
import { constant, createTape, lognormal } from "../../../src/backtest.ts";
import { definePlugin, type Event, mul, type Strategy, sub } from "../../../src/index.ts";
import { seriesOf } from "../../../src/market/tape/tape.ts";
import averageCross from "../../../strategies/average-cross.ts";
import joinBest from "../../../strategies/join-best.ts";
import ladder from "../../../strategies/ladder.ts";
import { closed, quoteTape, run, startAt, stored, swap } from "../../support/harness/backtest.ts";
import { generateTapeFor } from "../../support/harness/generated-market.ts";

type Changed = Extract<Event, { type: "order.changed" }>;

const journalOf = async (tape: Parameters<typeof run>[0], strategy: Strategy, latency = constant(25)) => {
  const events: Event[] = [];
  const recorder = definePlugin({
    name: "recorder",
    options: closed,
    setup: ({ events$ }) => events$.subscribe((event) => events.push(event)),
  });
  const report = await run(tape, [strategy], {
    plugins: [recorder({})],
    latency,
    balances: { USDT: "10000" },
  });
  const changes = events.flatMap((event): Changed[] => (event.type === "order.changed" ? [event] : []));
  return { events, report, changes, live: changes.filter(({ phase }) => phase === "live") };
};

const still = [
  [0, 600_000, 5_000, 600_010, 5_000],
  [30_000, 600_000, 5_000, 600_010, 5_000],
];

describe("The join-best strategy", () => {
  it("rests at both best prices, on the product listed first when none is named", async () => {
    const { live } = await journalOf(quoteTape(still), joinBest({}));
    expect(live.map(({ slot, record }) => [slot, record?.instId, record?.side, record?.px, record?.ordType, record?.sz])).toEqual([
      ["buy", swap, "buy", "60000", "post_only", "100"],
      ["sell", swap, "sell", "60001", "post_only", "100"],
    ]);
  });

  it("keeps its place while the market is near, and moves when it is not", async () => {
    const tape = stored(
      quoteTape([
        ...still,
        [31_000, 600_040, 5_000, 600_050, 5_000],
        [33_000, 600_060, 5_000, 600_070, 5_000],
        [60_000, 600_060, 5_000, 600_070, 5_000],
      ]),
    );
    const { live } = await journalOf(tape, joinBest({ keepWithin: "5" }));
    expect(live.flatMap(({ slot, record }) => (slot === "buy" ? [record?.px] : []))).toEqual(["60000", "60006"]);
  });

  it("stops offering a side that is ahead", async () => {
    const falling = Array.from({ length: 30 }, (_, index) => [index * 2_000, 600_000 - 100 * index, 5_000, 600_010 - 100 * index, 5_000]);
    const { report, changes } = await journalOf(quoteTape(falling), joinBest({ most: 2 }));
    expect(changes.filter(({ phase, slot }) => phase === "filled" && slot === "buy")).toHaveLength(2);
    expect(report.orders.filled).toBe(2);
  });
});

describe("The ladder strategy", () => {
  it("rests its levels at whole steps from the middle on both sides, rounded away from it", async () => {
    const { live } = await journalOf(quoteTape(still), ladder({ levels: 3, step: "0.001", notional: "90" }));
    const middle = "60000.5";
    const away = (level: number): string => mul(mul(middle, "0.001"), String(level));
    expect(live.map(({ slot, record }) => [slot, record?.px, record?.sz])).toEqual(
      [1, 2, 3].flatMap((level) => [
        [`bid ${level}`, String(Math.floor(Number(sub(middle, away(level))) * 10) / 10), "90"],
        [`ask ${level}`, String(Math.ceil((60_000.5 + Number(away(level))) * 10) / 10), "90"],
      ]),
    );
  });

  it("is rebuilt once the middle has drifted by a step, and not before", async () => {
    const drift = (ticks: number): number[][] => [
      ...still,
      [31_000, 600_000 + ticks, 5_000, 600_010 + ticks, 5_000],
      [60_000, 600_000 + ticks, 5_000, 600_010 + ticks, 5_000],
    ];
    const near = await journalOf(quoteTape(drift(599)), ladder({ levels: 1, step: "0.001" }));
    const far = await journalOf(quoteTape(drift(601)), ladder({ levels: 1, step: "0.001" }));
    expect([near.report.orders.placed, far.report.orders.placed]).toEqual([2, 4]);
  });
});

describe("The average-cross strategy", () => {
  /** Closes a second apart from quotes and prints at one price. */
  const closes = [100, 100, 100, 110, 120, 130, 120, 100, 80, 70, 60, 60];
  it("opens at the first crossing and turns the whole position at the next, once each", async () => {
    const at = Float64Array.from(closes, (_, index) => startAt + index * 1_000 + 500);
    const px = Float64Array.from(closes, (close) => close * 1_000);
    const ones = Float64Array.from(closes, () => 5_000);
    const asks = px.map((bid) => bid + 1);
    const instruments = quoteTape(still).instruments;
    const tape = createTape(instruments, [
      seriesOf("quote", 0, at, [px, ones, asks, ones]),
      seriesOf("trade", 0, at, [Int8Array.from(closes, () => 1), px, Float64Array.from(closes, () => 1)]),
    ]);
    const { changes } = await journalOf(tape, averageCross({ barMs: 1_000, fast: 2, slow: 3, qty: "0.01" }));
    const filled = changes.filter(({ phase }) => phase === "filled");
    // By hand: the means cross up with the close of the fourth second, down with that of the eighth.
    expect(filled.map(({ record }) => [record?.side, Math.floor((Number(record?.createdAt) - startAt) / 1_000)])).toEqual([
      ["buy", 4],
      ["sell", 8],
    ]);
    const quantities = filled.map(({ record }) => Number(record?.accFillSz) / Number(record?.avgPx));
    expect(quantities[0]).toBeCloseTo(0.01, 6);
    expect(quantities[1]).toBeCloseTo(0.02, 6);
  });
});

describe("Journals of the shipped strategies are as reviewed", () => {
  const tape = generateTapeFor([swap], 3, "golden");
  it.each<[string, Strategy]>([
    ["join-best", joinBest({ notional: "200", keepWithin: "80" })],
    ["ladder", ladder({ levels: 2, step: "0.0003", notional: "200" })],
    ["average-cross", averageCross({ barMs: 5_000, fast: 2, slow: 5, qty: "0.01" })],
  ])("%s", async (name, strategy) => {
    const { events, report } = await journalOf(tape, strategy, lognormal({ medianMs: 25 }));
    expect(report.fills).toBeGreaterThan(0);
    const text = events.map((event) => `${JSON.stringify(event)}\n`).join("");
    expect(text.length).toBeLessThan(60_000);
    await expect(text).toMatchFileSnapshot(`../golden/${name}.ndjson`);
  });
});
