/**
 * Trades a generated market in real time against the embedded service: no account, no network. `npx sluice run
 * config/paper.ts`
 */
import { defineConfig } from "sluice";
import { paper } from "sluice/backtest";
import killSwitch from "../plugins/kill-switch/index.ts";
import joinBest from "../strategies/join-best.ts";
import ladder from "../strategies/ladder.ts";

export default defineConfig({
  service: paper({ instruments: ["BTC-USDT-SWAP", "ETH-USDT-SWAP"], balances: { USDT: "10000" } }),
  strategies: [joinBest({ instId: "BTC-USDT-SWAP", keepWithin: "5" }), ladder({ instId: "ETH-USDT-SWAP", levels: 2 })],
  plugins: [killSwitch({})],
});
