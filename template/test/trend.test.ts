import { runBacktest } from "sluice/backtest";
import { describe, expect, it } from "vitest";
import config from "../config/backtest.ts";
import { flat, next, wanted } from "../strategies/trend.ts";

const instId = "BTC-USDT-SWAP";
const up = { kind: "crossing", up: true, px: "1000" } as const;

describe("The strategy", () => {
  it("buys on a crossing upwards, with a stop below", () => {
    const long = next(flat, up, "2");
    expect(long).toEqual({ long: true, round: 1, stopPx: "980" });
    expect(wanted(long, instId, "0.5")).toEqual([{ slot: "entry", side: "buy", instId, ordType: "market", qty: "0.5", round: 1 }]);
  });

  it("leaves when the bid touches the stop, and not before, with an order that can only reduce", () => {
    const long = next(flat, up, "2");
    expect(next(long, { kind: "bid", px: "980.1" }, "2")).toBe(long);
    const stopped = next(long, { kind: "bid", px: "980" }, "2");
    expect(wanted(stopped, instId, "0.5")).toMatchObject([{ slot: "exit", side: "sell", reduceOnly: true, qty: "0.5" }]);
  });

  it("trades the recorded hour without a rejected order, and is never short", async () => {
    const report = await runBacktest(config);
    expect(report.perStrategy["trend"]).toMatchObject({ state: "running", rejected: 0, refused: 0 });
    expect(report.fills).toBeGreaterThan(1);
    for (const { qty } of report.positions) expect(Number(qty)).toBeGreaterThanOrEqual(0);
  });
});
