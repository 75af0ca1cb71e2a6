import { runBacktest } from "sluice/backtest";
import { testStrategy } from "sluice/testing";
import { describe, expect, it } from "vitest";
import config from "../config/backtest.ts";
import trend from "../strategies/trend.ts";

const instId = "BTC-USDT-SWAP";

/** A strategy that has just bought at 60101: its last bar closed above the average of two. */
const bought = async () => {
  const t = await testStrategy(trend({ instId, qty: "0.01", fast: 1, slow: 2, stopPct: "1" }));
  t.feed(`
    00:00:30 quote ${instId} 60100 x 50 / 60101 x 50
    00:01:00 candle ${instId} 1m 60000 60000 60000 60000
    00:02:00 candle ${instId} 1m 60000 60100 60000 60100
  `);
  await t.advanceTo("00:02:30");
  return t;
};

describe("The strategy", () => {
  it("buys on a crossing upwards and sells on a crossing downwards", async () => {
    const t = await bought();
    expect(t.fills.map(({ side, qty, px }) => `${side} ${qty} at ${px}`)).toEqual(["buy 0.01 at 60101"]);
    t.feed(`00:03:00 candle ${instId} 1m 60100 60100 60000 60000`);
    await t.advanceTo("00:03:30");
    expect(t.position(instId)).toBe("0");
    await t.stop();
  });

  it("is closed one percent below its entry, and not before", async () => {
    const t = await bought();
    t.feed(`00:02:40 quote ${instId} 59500.1 x 50 / 59501 x 50`);
    await t.advanceTo("00:02:45");
    expect(t.position(instId)).toBe("0.01");
    t.feed(`00:02:50 quote ${instId} 59500 x 50 / 59501 x 50`);
    await t.advanceTo("00:02:55");
    expect(t.position(instId)).toBe("0");
    expect(t.fills.at(-1)).toMatchObject({ side: "sell", px: "59500" });
    await t.stop();
  });

  it("trades the recorded hour without a rejected order, and is never short", async () => {
    const report = await runBacktest(config);
    expect(report.perStrategy["trend"]).toMatchObject({ state: "running", rejected: 0, refused: 0 });
    expect(report.fills).toBeGreaterThan(1);
    for (const { qty } of report.positions) expect(Number(qty)).toBeGreaterThanOrEqual(0);
  });
});
