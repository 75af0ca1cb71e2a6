/**
 * Worker side of a thread: loads the config once, then runs the jobs it is sent, one at a time.
 *
 * Invariants: it reports that it is ready, or the reason for which it is not, before it receives jobs; every job is
 * answered unless the thread crashes.
 * Not here: TypeScript (thread.ts registers its loader before this file is read).
 */
import { parentPort, workerData } from "node:worker_threads";
import type { ReadMarket } from "sluice/backtest";
import { loadConfigFile } from "sluice/extension";
import { type Job, runJob } from "./job.ts";
import type { FromWorker, WorkerFacts } from "./thread.ts";

const { configPath, markets, settings } = workerData as WorkerFacts;

const say = (message: FromWorker): void => {
  parentPort?.postMessage(message);
};

try {
  // What runs is a backtest, many times: a config that asks gets that answer.
  const config = await loadConfigFile(configPath, { command: "backtest" });
  parentPort?.on("message", (job: Job) => {
    void runJob(config, job, markets[job.market] as ReadMarket, settings).then((answer) => {
      say({ kind: "answer", answer });
    });
  });
  say({ kind: "ready" });
} catch (error) {
  say({ kind: "useless", reason: error instanceof Error ? error.message : String(error) });
}
