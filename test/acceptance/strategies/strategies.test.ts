import { describe, expect, it } from "vitest";
import { lognormal } from "../../../src/backtest.ts";
import { mul, type Strategy, sub } from "../../../src/index.ts";
import { testStartAt, testStrategy } from "../../../src/testing.ts";
import averageCross from "../../../strategies/average-cross.ts";
import joinBest from "../../../strategies/join-best.ts";
import ladder from "../../../strategies/ladder.ts";
import { recorder, run, swap } from "../../support/harness/backtest.ts";
import { generateTapeFor } from "../../support/harness/generated-market.ts";

describe("The join-best strategy", () => {
  it("rests at both best prices, on the product listed first when none is named", async () => {
    const t = await testStrategy(joinBest({}), { instruments: [swap, "ETH-USDT-SWAP"] });
    t.quote(swap, { bidPx: "60000", askPx: "60001" });
    await t.advance();
    expect(t.open.map(({ slot, instId, side, px, ordType, sz }) => [slot, instId, side, px, ordType, sz])).toEqual([
      ["buy", swap, "buy", "60000", "post_only", "100"],
      ["sell", swap, "sell", "60001", "post_only", "100"],
    ]);
    await t.stop();
  });

  it("keeps its place while the market is near, and moves when it is not", async () => {
    const t = await testStrategy(joinBest({ keepWithin: "5" }));
    t.feed(`
      00:00:00 quote ${swap} 60000 / 60001
      00:00:31 quote ${swap} 60004 / 60005
      00:00:33 quote ${swap} 60006 / 60007
    `);
    const bids = (): readonly (readonly string[])[] =>
      t.orders.flatMap(({ slot, px, phase }) => (slot === "buy" ? [[px, phase]] : []));
    await t.advanceTo("00:00:32");
    expect(bids()).toEqual([["60000", "live"]]);
    await t.advanceTo("00:00:34");
    expect(bids()).toEqual([
      ["60000", "canceled"],
      ["60006", "live"],
    ]);
    await t.stop();
  });

  it("stops offering a side that is ahead, and offers it again once the other has caught up", async () => {
    const t = await testStrategy(joinBest({ most: 2 }));
    const slotsAt = async (bidPx: string, askPx: string): Promise<readonly string[]> => {
      t.quote(swap, { bidPx, askPx });
      // Ten calls a second: what is replaced at once would wait.
      await t.advance(1_000);
      return t.open.map(({ slot }) => slot).sort();
    };
    for (const [bidPx, askPx] of [
      ["60000", "60001"],
      ["59990", "59991"],
    ] as const) {
      expect(await slotsAt(bidPx, askPx)).toEqual(["buy", "sell"]);
      t.fill("buy");
      await t.advance();
    }
    expect(await slotsAt("59980", "59981")).toEqual(["sell"]);
    t.fill("sell");
    await t.advance();
    expect(await slotsAt("59985", "59986")).toEqual(["buy", "sell"]);
    expect(t.fills.map(({ side, px }) => [side, px])).toEqual([
      ["buy", "60000"],
      ["buy", "59990"],
      ["sell", "59981"],
    ]);
    await t.stop();
  });
});

describe("The ladder strategy", () => {
  it("rests its levels at whole steps from the middle on both sides, rounded away from it", async () => {
    const t = await testStrategy(ladder({ levels: 3, step: "0.001", notional: "90" }));
    t.quote(swap, { bidPx: "60000", askPx: "60001" });
    await t.advance();
    const middle = "60000.5";
    const away = (level: number): string => mul(mul(middle, "0.001"), String(level));
    expect(t.open.map(({ slot, px, sz }) => [slot, px, sz])).toEqual(
      [1, 2, 3].flatMap((level) => [
        [`bid ${level}`, String(Math.floor(Number(sub(middle, away(level))) * 10) / 10), "90"],
        [`ask ${level}`, String(Math.ceil((60_000.5 + Number(away(level))) * 10) / 10), "90"],
      ]),
    );
    await t.stop();
  });

  it("is rebuilt once the middle has drifted by a step, and not before", async () => {
    const t = await testStrategy(ladder({ levels: 1, step: "0.001" }));
    t.quote(swap, { bidPx: "60000", askPx: "60001" });
    await t.advance();
    t.quote(swap, { bidPx: "60059.9", askPx: "60060.9" });
    await t.advance();
    expect(t.orders.map(({ phase }) => phase)).toEqual(["live", "live"]);
    t.quote(swap, { bidPx: "60060.1", askPx: "60061.1" });
    await t.advance();
    expect(t.orders.map(({ phase }) => phase)).toEqual(["canceled", "canceled", "live", "live"]);
    // A step is 0.001 of the new middle, 60060.6.
    expect(t.open.map(({ px }) => px)).toEqual(["60000.5", "60120.7"]);
    await t.stop();
  });
});

describe("The average-cross strategy", () => {
  it("opens at the first crossing and turns the whole position at the next, once each", async () => {
    const t = await testStrategy(averageCross({ fast: 2, slow: 3, qty: "0.01" }));
    t.quote(swap, { bidPx: "60000", askPx: "60000.1" });
    for (const close of [100, 100, 100, 110, 120, 130, 120, 100, 80, 70, 60, 60])
      t.candle(swap, { close: String(close) });
    await t.advanceTo("00:12:01");
    // By hand: the means cross up with the close of the fourth minute, down with that of the eighth.
    expect(
      t.orders.map(({ side, ordType, sentAt, phase, filledQty }) => [
        side,
        ordType,
        sentAt - testStartAt,
        phase,
        filledQty,
      ]),
    ).toEqual([
      ["buy", "market", 4 * 60_000, "filled", "0.01"],
      ["sell", "market", 8 * 60_000, "filled", "0.02"],
    ]);
    expect(t.position(swap)).toBe("-0.01");
    await t.stop();
  });
});

describe("Journals of the shipped strategies are as reviewed", () => {
  const tape = generateTapeFor([swap], 3, "golden");
  it.each<[string, Strategy]>([
    ["join-best", joinBest({ notional: "200", keepWithin: "80" })],
    ["ladder", ladder({ levels: 2, step: "0.0003", notional: "200" })],
    ["average-cross", averageCross({ barMs: 5_000, fast: 2, slow: 5, qty: "0.01" })],
  ])("%s", async (name, strategy) => {
    const { events, plugin } = recorder();
    const report = await run(tape, [strategy], {
      plugins: [plugin],
      latency: lognormal({ medianMs: 25 }),
      balances: { USDT: "10000" },
    });
    expect(report.fills).toBeGreaterThan(0);
    const text = events.map((event) => `${JSON.stringify(event)}\n`).join("");
    expect(text.length).toBeLessThan(60_000);
    await expect(text).toMatchFileSnapshot(`../golden/${name}.ndjson`);
  });
});
