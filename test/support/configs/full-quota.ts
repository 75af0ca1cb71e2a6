/** Few orders, for whose exits little is kept: the minute is spent to its brim, where one call too many is refused. */
import { defineConfig } from "sluice";
import averageCross from "../../../strategies/average-cross.ts";
import joinBest from "../../../strategies/join-best.ts";
import busy from "./busy-quota.ts";

export default defineConfig({
  ...busy,
  strategies: [
    joinBest({ instId: "BTC-USDT-SWAP", notional: "200" }),
    joinBest({ instId: "ETH-USDT-SWAP", notional: "100" }, { as: "join-eth" }),
    joinBest({ instId: "BTC-USDT-SWAP", notional: "150" }, { as: "join-more" }),
    averageCross({ fast: 2, slow: 5, barMs: 5_000, qty: "0.02" }),
  ],
});
