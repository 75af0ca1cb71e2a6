/** The demo: three strategies on a recorded hour of two swaps, under the real limits. */
import { backtest, defineConfig, lognormal } from "sluice";
import consolePanel from "../plugins/console-panel.ts";
import killSwitch from "../plugins/kill-switch.ts";
import averageCross from "../strategies/average-cross.ts";
import joinBest from "../strategies/join-best.ts";
import ladder from "../strategies/ladder.ts";

export default defineConfig({
  service: backtest({
    fixture: "test/fixtures/demo",
    latency: lognormal({ medianMs: 25 }),
    fees: { makerBps: "2", takerBps: "5" },
    balances: { USDT: "10000" },
  }),
  strategies: [
    joinBest({ instId: "BTC-USDT-SWAP", notional: "300", keepWithin: "5" }),
    ladder({ instId: "BTC-USDT-SWAP", levels: 3, notional: "200", step: "0.0005" }),
    averageCross({ instId: "BTC-USDT-SWAP", fast: 5, slow: 15, qty: "0.005" }),
  ],
  plugins: [killSwitch({}), consolePanel({ everyMs: 600_000 })],
});
