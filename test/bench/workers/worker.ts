/** A worker of the bench: its runs are nothing, so that what is left is the queue. Ends with its parent. */
import { type OpenWork, QueueWorker } from "../../../plugins/sweep/workers/queue-worker.ts";
import { createSystemClock } from "../../../src/clock/system-clock.ts";

const [url = "", jobs = "4"] = process.argv.slice(2);
const nothing: OpenWork = () =>
  Promise.resolve({
    title: "nothing",
    run: (data) =>
      Promise.resolve({ kind: "answer" as const, answer: { status: "done", of: data, figures: "x".repeat(400) } }),
    close: () => Promise.resolve(),
  });
const worker = await QueueWorker.open({
  url,
  jobs: Number(jobs),
  clock: createSystemClock(),
  kinds: new Map([["sweep", nothing]]),
  say: () => undefined,
});
process.on("message", () => {
  (globalThis as { gc?: () => void }).gc?.();
  const { user, system } = process.cpuUsage();
  process.send?.({ cpuMs: (user + system) / 1_000, heapMb: process.memoryUsage().heapUsed / 2 ** 20 });
});
process.on("disconnect", () => process.exit());
await worker.run();
