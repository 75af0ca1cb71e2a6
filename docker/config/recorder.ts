/** The service whose market data is recorded. The strategy is not run; a config has one. */
import { defineConfig, fromEnv, live } from "sluice";
import joinBest from "sluice/strategies/join-best";

const { SLUICE_BASE_URL = "http://127.0.0.1:8080" } = process.env;

export default defineConfig({
  service: live({ environment: "testnet", baseUrl: SLUICE_BASE_URL, keys: [fromEnv("SLUICE")] }),
  strategies: [joinBest({ instId: "BTC-USDT-SWAP" })],
});
