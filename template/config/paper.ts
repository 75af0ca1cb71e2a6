/** Trades a generated market in real time, without an account or a network: `npm run paper`. */
import { defineConfig } from "sluice";
import { paper } from "sluice/backtest";
import killSwitch from "sluice/plugins/kill-switch";
import trend from "../strategies/trend.ts";

export default defineConfig({
  service: paper({ instruments: ["BTC-USDT-SWAP"], balances: { USDT: "10000" } }),
  // Short bars, to see something within minutes.
  strategies: [trend({ instId: "BTC-USDT-SWAP", qty: "0.01", barMs: 5_000 })],
  plugins: [killSwitch({})],
});
