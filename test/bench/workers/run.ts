/**
 * What the queue costs a run: npm run bench:workers -- [--jobs 100000] [--workers 2] [--json]
 *
 * So many runs that do nothing are asked for and done by worker processes, with a Redis of the bench's own. Processor time is counted
 * in every process, since what else the machine does does not fall on it; memory is looked at after a fifth and at the end.
 *
 * Invariants: everything stays on 127.0.0.1 and ends by itself; exit code 0 when the targets are met, 1 when one is missed or a run
 * was not answered once.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Redis } from "ioredis";
import { QueueSubmitter } from "../../../plugins/sweep/workers/queue-submitter.ts";
import type { WorkSheet } from "../../../plugins/sweep/workers/work-sheet.ts";
import { createSystemClock } from "../../../src/clock/system-clock.ts";
import { packageVersion } from "../../../src/host/plugin-requirements.ts";
import { startRedis } from "../../support/harness/redis.ts";

const { values } = parseArgs({
  options: {
    jobs: { type: "string", default: "100000" },
    workers: { type: "string", default: "2" },
    json: { type: "boolean", default: false },
  },
});
const [count, workers] = [Number(values.jobs), Number(values.workers)];
const targets = { msAJob: 3, redisBytesAJob: 150, heapMb: 20 };

interface Use {
  readonly cpuMs: number;
  readonly heapMb: number;
}

const redis = await startRedis();
const watch = new Redis(redis.url);
const children: ChildProcess[] = Array.from({ length: workers }, () =>
  fork(fileURLToPath(new URL("./worker.ts", import.meta.url)), [redis.url, "4"], {
    execArgv: ["--expose-gc", "--import", "tsx"],
  }),
);

const useOf = async (child: ChildProcess): Promise<Use> => {
  const answer = once(child, "message");
  child.send("use");
  return ((await answer) as [Use])[0];
};
const infoOf = async (section: string, name: string): Promise<number> =>
  Number(new RegExp(`^${name}:([\\d.]+)`, "m").exec(await watch.info(section))?.[1]);
const redisCpuMs = async (): Promise<number> =>
  1_000 * ((await infoOf("cpu", "used_cpu_user")) + (await infoOf("cpu", "used_cpu_sys")));
/** What is still needed; without the flag, what has not been collected yet as well. */
const collect = (): void => (globalThis as { gc?: () => void }).gc?.();
const own = (): Use => {
  collect();
  const { user, system } = process.cpuUsage();
  return { cpuMs: (user + system) / 1_000, heapMb: process.memoryUsage().heapUsed / 2 ** 20 };
};
const used = async () => ({
  at: performance.now(),
  redisMb: (await infoOf("memory", "used_memory")) / 2 ** 20,
  redisCpuMs: await redisCpuMs(),
  submitter: own(),
  workers: await Promise.all(children.map(useOf)),
});

const hash = "0".repeat(64);
const sheet: WorkSheet = {
  kind: "sweep",
  version: packageVersion(),
  config: { path: "none.ts", sources: hash, hash },
  settings: {},
};
const answers = { failed: (reason: string): unknown => ({ reason }), again: () => false };
const options = { url: redis.url, clock: createSystemClock(), durable: true, onNotice: () => undefined };
const submitter = await QueueSubmitter.open<{ readonly index: number }, unknown>(sheet, answers, options);
const jobs = Array.from({ length: count }, (_, index) => ({
  index,
  overrides: { ladder: { levels: index, step: "0.0005" } },
  market: 0,
}));
const answered = new Uint8Array(count);
// Begun when all are there, so that their start is not counted.
while (
  String(await watch.client("LIST"))
    .split("\n")
    .filter((line) => /name=\S*sluice/.test(line)).length < workers
)
  await new Promise((resolve) => setTimeout(resolve, 50));
const before = await used();
let fifth: Promise<Awaited<ReturnType<typeof used>>> | undefined;
let done = 0;
await submitter.run(jobs, ({ index }) => {
  answered[index] = (answered[index] ?? 0) + 1;
  if (++done === Math.floor(count / 5)) fifth = used();
});
const [after, early] = [await used(), (await fifth) ?? before];
await submitter.close();
watch.disconnect();
for (const child of children) child.kill("SIGKILL");
await redis.stop();

const sum = (uses: readonly Use[]): number => uses.reduce((total, { cpuMs }) => total + cpuMs, 0);
const figures = {
  jobs: count,
  workers,
  seconds: (after.at - before.at) / 1_000,
  jobsASecond: (1_000 * count) / (after.at - before.at),
  submitterMs: (after.submitter.cpuMs - before.submitter.cpuMs) / count,
  workerMs: (sum(after.workers) - sum(before.workers)) / count,
  redisMs: (after.redisCpuMs - before.redisCpuMs) / count,
  redisBytesAJob: ((after.redisMb - before.redisMb) * 2 ** 20) / count,
  redisMb: [before.redisMb, early.redisMb, after.redisMb],
  submitterHeapMb: [early.submitter.heapMb, after.submitter.heapMb],
  workerHeapMb: [
    Math.max(...early.workers.map(({ heapMb }) => heapMb)),
    Math.max(...after.workers.map(({ heapMb }) => heapMb)),
  ],
};
const overheadMs = figures.submitterMs + figures.workerMs + figures.redisMs;
const rounded = (_: string, value: unknown): unknown =>
  typeof value === "number" ? Number(value.toPrecision(4)) : value;
if (values.json) process.stdout.write(`${JSON.stringify({ ...figures, overheadMs }, rounded)}\n`);
else
  process.stdout.write(
    [
      `${count} runs that do nothing, ${workers} worker processes: ${figures.seconds.toFixed(1)} s, ${figures.jobsASecond.toFixed(0)} a second`,
      `processor time a run: submitter ${figures.submitterMs.toFixed(3)} ms, worker ${figures.workerMs.toFixed(3)} ms, Redis ${figures.redisMs.toFixed(3)} ms; ${overheadMs.toFixed(3)} ms in all (at most ${targets.msAJob})`,
      `memory: Redis before, after a fifth and at the end ${figures.redisMb.map((mb) => mb.toFixed(1)).join(", ")} MB (${figures.redisBytesAJob.toFixed(0)} bytes a run in the end, at most ${targets.redisBytesAJob}), after a fifth and at the end the submitter ${figures.submitterHeapMb.map((mb) => mb.toFixed(0)).join(" and ")} MB, a worker ${figures.workerHeapMb.map((mb) => mb.toFixed(0)).join(" and ")} MB`,
      "",
    ].join("\n"),
  );
const grown = ([first = 0, last = 0]: readonly number[]): number => last - first;
const misses = [
  ...(answered.every((times) => times === 1) ? [] : ["a run was not answered once"]),
  ...(overheadMs > targets.msAJob ? [`${overheadMs.toFixed(2)} ms a run`] : []),
  ...(figures.redisBytesAJob > targets.redisBytesAJob
    ? [`${figures.redisBytesAJob.toFixed(0)} bytes of Redis a run`]
    : []),
  ...(grown(figures.submitterHeapMb) > targets.heapMb || grown(figures.workerHeapMb) > targets.heapMb
    ? ["a heap that grows"]
    : []),
];
for (const miss of misses) process.stderr.write(`missed: ${miss}\n`);
process.exit(misses.length === 0 ? 0 : 1);
