/** An engine as a service: trades a generated market until `service` is replaced by a live one; metrics, health and journal where a supervisor finds them. */
import { defineConfig } from "sluice";
import { paper } from "sluice/backtest";
import health from "sluice/plugins/health";
import killSwitch from "sluice/plugins/kill-switch";
import prometheus from "sluice/plugins/prometheus";
import joinBest from "sluice/strategies/join-best";

const {
  SLUICE_STATE = "/var/lib/sluice",
  SLUICE_RUN = "/run/sluice",
  SLUICE_METRICS_HOST = "127.0.0.1",
  SLUICE_METRICS_PORT = "9464",
} = process.env;

export default defineConfig({
  service: paper({ instruments: ["BTC-USDT-SWAP"] }),
  journal: { dir: `${SLUICE_STATE}/journal` },
  strategies: [joinBest({ instId: "BTC-USDT-SWAP", keepWithin: "5" })],
  plugins: [
    health({ path: `${SLUICE_RUN}/health.json` }),
    killSwitch({}),
    prometheus({ host: SLUICE_METRICS_HOST, port: Number(SLUICE_METRICS_PORT) }),
  ],
});
