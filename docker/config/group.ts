/** One engine of several that share a user's quota, with a standby where the same instance is started twice. */
import { defineConfig, fromEnv, live } from "sluice";
import health from "sluice/plugins/health";
import killSwitch from "sluice/plugins/kill-switch";
import sharedQuota from "sluice/plugins/shared-quota";
import standby from "sluice/plugins/standby";
import joinBest from "sluice/strategies/join-best";

const {
  SLUICE_BASE_URL = "http://127.0.0.1:8080",
  SLUICE_INSTANCE = "engine-1",
  SLUICE_HOST = "a",
  SLUICE_STATE = "/var/lib/sluice",
  SLUICE_RUN = "/run/sluice",
} = process.env;
const store = { env: "SLUICE_STORE" };

export default defineConfig({
  service: live({ environment: "testnet", baseUrl: SLUICE_BASE_URL, keys: [fromEnv("SLUICE")] }),
  instance: SLUICE_INSTANCE,
  journal: { dir: `${SLUICE_STATE}/journal` },
  strategies: [joinBest({ instId: "BTC-USDT-SWAP", keepWithin: "5" })],
  plugins: [
    sharedQuota({ store, group: "desk", of: 2 }),
    standby({ store, group: "desk", name: SLUICE_HOST }),
    health({ path: `${SLUICE_RUN}/health.json` }),
    killSwitch({}),
  ],
});
