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
    balances: { USDT: "10000", BTC: "0.2" },
  }),
  strategies: [
    joinBest({ notional: "300", keepWithin: "5" }),
    ladder({ levels: 3, notional: "200", step: "0.0005" }),
    averageCross({ fast: 5, slow: 15, qty: "0.005" }),
  ],
  // Concerns spot recordings only: the service describes no cancel for spot orders, so letting them rest has to be asked for.
  orders: { allowUncancellable: true },
  plugins: [killSwitch({}), consolePanel({ everyMs: 600_000 })],
});
