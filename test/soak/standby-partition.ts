/**
 * Partitions between the leader of a standby group and its store, while a position with a stop is held, counted at the service.
 *
 * Two real processes, a Redis behind a link for each, and a service of its own, all on loopback. Each round cuts the leader's link in one
 * way, reaches the price of the stop at one moment, and heals the link; the stop must execute exactly what was held, within 15 s, whoever
 * sends it. Lease of two seconds, tolerance of one.
 *
 *   npx tsx test/soak/standby-partition.ts [rounds of each shape=10] [seed=1] [shapes, with commas: all]
 */
import { createRandom } from "../../src/random.ts";
import { moments, PartitionTrial, type Round, type Shape, shapes } from "../plugins/standby/harness/partition-trial.ts";
import { cuts } from "../support/harness/cut-link.ts";
import { redisServer } from "../support/harness/redis.ts";

const [rounds = "10", seed = "1", only] = process.argv.slice(2);
const closedMsMax = 15_000;

if (redisServer === undefined) throw new Error("redis-server is not installed: apt-get install redis-server");
const names = (only?.split(",") ?? Object.keys(shapes)) as readonly Shape[];
const problems: string[] = [];
const all: Round[] = [];
for (const shape of names) {
  const random = createRandom(`partitions ${seed} ${shape}`);
  const trial = await PartitionTrial.open(shape, `partition ${seed} ${shape}`);
  try {
    await trial.begin();
    for (let round = 0; round < Number(rounds) && trial.problems.length === 0; round++) {
      const cut = cuts[round % cuts.length] ?? "reset";
      const moment = moments[random.whole(0, moments.length - 1)] ?? "late";
      await trial.play(cut, moment);
      process.stderr.write(`${JSON.stringify(trial.rounds.at(-1))}\n`);
    }
  } finally {
    await trial.end();
  }
  all.push(...trial.rounds);
  problems.push(...trial.problems);
}
for (const { shape, cut, moment, closedMs = 0 } of all)
  if (closedMs > closedMsMax) problems.push(`${shape}, ${cut}, stop ${moment}: closed after ${closedMs} ms`);

const figuresOf = (list: readonly Round[]): object => {
  const sorted = list.map(({ closedMs = Number.POSITIVE_INFINITY }) => closedMs).sort((a, b) => a - b);
  return {
    rounds: list.length,
    takeovers: list.filter(({ isTakenOver }) => isTakenOver).length,
    medianMs: sorted[Math.floor(sorted.length / 2)],
    maxMs: sorted.at(-1),
  };
};
const byShape = Object.fromEntries(names.map((name) => [name, figuresOf(all.filter(({ shape }) => shape === name))]));
process.stdout.write(`${JSON.stringify({ byShape, problems }, null, 2)}\n`);
process.exitCode = problems.length > 0 ? 1 : 0;
