/**
 * Sweeps on workers that die: npm run soak:workers -- [rounds=10] [Redis|PostgreSQL]
 *
 * Each round asks for one sweep, with folds in every other, of four worker processes while one of them is killed with SIGKILL every few
 * runs and another started, and the submitter is stopped and asks again. Its report is compared with that of threads here.
 *
 * Invariants: everything stays on 127.0.0.1 and ends by itself; exit code 0 when all reports are the same, byte for byte, else 1.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { main } from "../../src/cli/main.ts";
import { createRandom } from "../../src/random.ts";
import { capturedIo } from "../support/captured-io.ts";
import { queueServers } from "../support/harness/queues.ts";
import { type OwnWorker, startWorker } from "../support/harness/workers.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const rounds = Number(process.argv[2] ?? 10);
const config = "test/support/configs/sweep.ts";
const fixture = join(temporaryFolder("soak-workers"), "market");
spawnSync(
  process.execPath,
  ["src/cli/sluice.mjs", "generate", "--out", fixture, "--instrument", "BTC-USDT-SWAP", "--minutes", "6"],
  {
    stdio: "inherit",
  },
);

const random = createRandom("soak/workers");
const store = queueServers.find(({ name }) => name === (process.argv[3] ?? "Redis"));
if (store === undefined) throw new Error(`there is no store ${process.argv[3]}`);
const server = await store.start();
const queue = store.watch(server.url);
const workers: OwnWorker[] = [];
let killed = 0;
let stopped = 0;

const ask = async (
  argv: readonly string[],
  stopMs?: number,
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> => {
  const io = capturedIo();
  const ended = main(["sweep", config, "--fixture", fixture, ...argv, "--json"], io);
  const stop = stopMs === undefined ? undefined : setTimeout(() => io.stop(), stopMs);
  const code = await ended;
  clearTimeout(stop);
  return { code, out: io.outText, err: io.errText };
};

/** Kills one of four and starts another each time some runs are done: a run is given up when six workers die of it. */
const harass = async (isOver: () => boolean): Promise<void> => {
  let next = 2;
  while (!isOver()) {
    await pause(200);
    const done = await queue.results();
    if (isOver() || done < next) continue;
    next = done + random.whole(2, 5);
    const [victim] = workers.splice(random.whole(0, workers.length - 1), 1);
    await victim?.kill();
    killed++;
    workers.push(startWorker(server.url));
  }
};

let wrong = 0;
for (let round = 1; round <= rounds; round++) {
  const forward =
    round % 2 === 0 ? ["--folds", "2", "--train", "0.5", "--sampler", "tpe", "--trials", "8", "--batch", "4"] : [];
  const argv = [
    "--vary",
    "ladder.levels=1..8",
    "--vary",
    "ladder.notional=100,200",
    "--vary",
    "fickle.mood=calm",
    "--seed",
    String(round),
    ...forward,
  ];
  const here = await ask([...argv, "--jobs", "1"]);
  while (workers.length < 4) workers.push(startWorker(server.url));
  let over = false;
  const harassed = harass(() => over);
  let there = await ask([...argv, "--workers", server.url], random.whole(3_000, 12_000));
  while (there.code === 130) {
    stopped++;
    there = await ask([...argv, "--workers", server.url], random.whole(6_000, 30_000));
  }
  over = true;
  await harassed;
  const isSame = there.code === here.code && there.out === here.out;
  if (!isSame) wrong++;
  process.stdout.write(
    `round ${round}: ${isSame ? "the same bytes" : `DIFFERS: ${there.err}`}; ${killed} workers killed, ${stopped} submitters stopped so far\n`,
  );
  await queue.empty();
}
for (const worker of workers) await worker.kill();
await queue.close();
await server.stop();
process.exit(wrong === 0 ? 0 : 1);
