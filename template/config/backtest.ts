/** Replays the recorded hour in `fixture`: `npm start`. */
import { defineConfig } from "sluice";
import { backtest, lognormal } from "sluice/backtest";
import trend from "../strategies/trend.ts";

export default defineConfig({
  service: backtest({
    fixture: "fixture",
    latency: lognormal({ medianMs: 25 }),
    fees: { makerBps: "2", takerBps: "5" },
    balances: { USDT: "10000" },
  }),
  strategies: [trend({ instId: "BTC-USDT-SWAP", qty: "0.01" })],
});
