/**
 * Trades at a service over the network: the testnet, or `npx sluice venue` on this machine, which prints what to set.
 * SLUICE_BASE_URL names it; SLUICE_API_KEY, SLUICE_SECRET_KEY and SLUICE_PASSPHRASE are the key.
 * First `npx sluice doctor config/testnet.ts`, then `npx sluice run config/testnet.ts`.
 */
import { defineConfig, fromEnv, live } from "sluice";
import journalFile from "../plugins/journal-file/index.ts";
import killSwitch from "../plugins/kill-switch/index.ts";
import joinBest from "../strategies/join-best.ts";

const baseUrl = process.env["SLUICE_BASE_URL"] ?? "http://127.0.0.1:8080";

export default defineConfig({
  service: live({
    environment: "testnet",
    baseUrl,
    keys: [fromEnv("SLUICE")],
  }),
  // Every placement is written here before it leaves: after a crash the next run knows what may exist.
  journal: { dir: `.sluice/${new URL(baseUrl).host.replace(":", "-")}` },
  // What `sluice doctor` prints goes here: profile: { … },
  strategies: [joinBest({ instId: "BTC-USDT-SWAP", keepWithin: "5" })],
  plugins: [killSwitch({}), journalFile({ path: "out/testnet.ndjson" })],
});
