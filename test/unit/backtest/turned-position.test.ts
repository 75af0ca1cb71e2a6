/**
 * A strategy that turns its position at each crossing of two averages, against a loop that counts its money in whole numbers.
 */
import { describe, expect, it } from "vitest";
import { backtest } from "../../../src/backtest/backtest-service.ts";
import { lognormal } from "../../../src/backtest/latency.ts";
import { runBacktest } from "../../../src/backtest/runner.ts";
import type { SzUnit } from "../../../src/contract/profile.ts";
import { defineConfig } from "../../../src/host/define.ts";
import { createTape } from "../../../src/market/tape/tape.ts";
import averageCross from "../../../strategies/average-cross.ts";
import { barMs, makeBars, startAt, turned } from "../../bench/peers/bars.mjs";

const instId = "BTC-USDT-SWAP";
const rows = 3_000;

describe("A position reversed by market orders", () => {
  it.each<SzUnit>(["quote_notional", "base", "contracts"])(
    "makes the money counted by hand where sizes count %s",
    async (unit) => {
      const columns = makeBars(rows);
      const at = Float64Array.from(columns.close, (_, row) => startAt + (row + 1) * barMs);
      const tape = createTape(
        [{ instId, tickSize: "1", lotSize: "0.001" }],
        [{ kind: "candle", instrument: 0, barMs, at, ...columns }],
      );
      const config = defineConfig({
        service: backtest({
          latency: lognormal({ medianMs: 25 }),
          balances: { USDT: "100000000" },
          fees: { makerBps: "2", takerBps: "5" },
        }),
        profile: { order: { szUnit: { SPOT: unit, SWAP: unit } } },
        strategies: [averageCross({ instId })],
      });
      const report = await runBacktest(config, {
        market: { tape, facts: { name: "bars", contentHash: "" } },
        print: () => undefined,
      });
      const [held] = report.positions;
      expect({ trades: report.orders.filled, position: held?.qty, fees: report.fees, profit: report.pnl }).toEqual(
        turned(columns, { unit: 0.01, takerBps: 5 }),
      );
      expect(report.orders.filled).toBeGreaterThan(100);
      expect(report.positions).toHaveLength(1);
    },
  );
});
