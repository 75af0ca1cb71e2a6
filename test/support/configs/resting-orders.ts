/** As config/testnet.ts, but with orders so far from the market that nothing fills them. */
import { defineConfig } from "sluice";
import testnet from "../../../config/testnet.ts";
import ladder from "../../../strategies/ladder.ts";

export default defineConfig({
  ...testnet,
  plugins: [],
  strategies: [ladder({ instId: "BTC-USDT-SWAP", levels: 1, step: "0.05" })],
});
