/**
 * The demo: three strategies on a generated hour of two swaps, under the real limits. `--fixture DIR` takes another
 * market.
 */
import { defineConfig } from "sluice";
import { backtest, lognormal } from "sluice/backtest";
import consolePanel from "../plugins/console-panel/index.ts";
import killSwitch from "../plugins/kill-switch/index.ts";
import averageCross from "../strategies/average-cross.ts";
import joinBest from "../strategies/join-best.ts";
import ladder from "../strategies/ladder.ts";

export default defineConfig({
  service: backtest({
    fixture: "test/fixtures/demo",
    latency: lognormal({ medianMs: 25 }),
    fees: { makerBps: "2", takerBps: "5" },
    // Balances for each quote currency, and something to sell for spot.
    balances: { USDT: "10000", USD: "10000", BTC: "0.2" },
  }),
  strategies: [
    // Quotes both sides of BTC. It pays for adverse selection: a fill at the best price tends to come before a worse price.
    joinBest({ notional: "200", keepWithin: "200", most: 3 }),
    // Thirty-six orders rebuilt at once: bursts that meet the requests a second, and in busy minutes the weight a minute.
    ladder({ levels: 18, notional: "110", step: "0.0005" }),
    // Follows trends on bars of a minute: many small losses, a few larger wins.
    averageCross({ fast: 2, slow: 6, qty: "0.02" }),
  ],
  // Concerns spot recordings only: the service describes no cancel for spot orders, so letting them rest has to be
  // asked for.
  orders: { allowUncancellable: true },
  plugins: [killSwitch({}), consolePanel({ everyMs: 600_000, columns: 79 })],
});
