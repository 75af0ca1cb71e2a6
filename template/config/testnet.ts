/**
 * Trades over the network: at the testnet, or at `npx sluice venue` on this machine, which prints what to set.
 * SLUICE_BASE_URL names the service; SLUICE_API_KEY, SLUICE_SECRET_KEY and SLUICE_PASSPHRASE are the key.
 * First `npx sluice doctor config/testnet.ts`, then `npx sluice run config/testnet.ts`.
 */
import { defineConfig, fromEnv, live } from "sluice";
import killSwitch from "sluice/plugins/kill-switch";
import trend from "../strategies/trend.ts";

const baseUrl = process.env["SLUICE_BASE_URL"] ?? "http://127.0.0.1:8080";

export default defineConfig({
  service: live({ environment: "testnet", baseUrl, keys: [fromEnv("SLUICE")] }),
  // Every placement is written here before it leaves: after a crash the next run knows what may exist.
  journal: { dir: `.sluice/${new URL(baseUrl).host.replace(":", "-")}` },
  // What a mistake may cost: see "Risk limits" in the documentation of sluice.
  orders: { orderNotionalMax: "2000", positionPerStrategy: "2000", lossInAll: "200" },
  strategies: [trend({ instId: "BTC-USDT-SWAP", qty: "0.01" })],
  plugins: [killSwitch({})],
});
