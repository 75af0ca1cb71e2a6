/**
 * A worker that runs cells: moves the globals onto virtual time, then loads the limiter, then runs what it is sent.
 *
 * Invariants: the globals are replaced before a peer is loaded; one worker loads one limiter only.
 */
import { parentPort, workerData } from "node:worker_threads";
import { register } from "tsx/esm/api";

register();
const { installAmbient } = await import("./ambient.ts");
const { runCell } = await import("./cell.ts");
const { scenarios } = await import("./all-scenarios.ts");
const ambient = installAmbient();
const { configurations } = await import(workerData.module);
const createLimiter = configurations[workerData.configuration];

const answer = async ({ scenario, seed, minutes }) => {
  const tally = await runCell({
    scenario: scenarios[scenario],
    seed,
    minutes,
    createLimiter,
    onClock: (clock) => ambient.use(clock),
  });
  parentPort.postMessage(tally);
};

parentPort.on("message", (job) => {
  void answer(job);
});
