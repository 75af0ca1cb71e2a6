/** Strategies that keep the quota busy: what a limit, a crash or a lost answer meets here is never idle. */
import { defineConfig } from "sluice";
import { backtest, constant } from "sluice/backtest";
import averageCross from "../../../strategies/average-cross.ts";
import joinBest from "../../../strategies/join-best.ts";
import ladder from "../../../strategies/ladder.ts";

const btc = "BTC-USDT-SWAP";
const eth = "ETH-USDT-SWAP";

export default defineConfig({
  service: backtest({ fixture: "test/fixtures/demo", latency: constant(25), balances: { USDT: "10000" } }),
  strategies: [
    joinBest({ instId: btc, notional: "200" }),
    joinBest({ instId: eth, notional: "100" }, { as: "join-eth" }),
    ladder({ instId: btc, levels: 12, notional: "100", step: "0.0001" }),
    ladder({ instId: eth, levels: 12, notional: "60", step: "0.0002" }, { as: "ladder-eth" }),
    averageCross({ fast: 2, slow: 5, barMs: 10_000, qty: "0.02" }),
  ],
});
