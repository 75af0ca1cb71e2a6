/**
 * Takeovers of a leader by its standby, again and again, under lost answers, counted at the service.
 *
 * Two real processes, a Redis and a service of its own, all on loopback; the leader is killed with SIGKILL, stopped with SIGSTOP until another
 * leads, ended in order, or killed after a
 * while in which the store did not answer, at random moments. After each takeover open orders, position, profit and fees are compared; nothing of a process
 * may reach the service after another one led; no client order id may be placed twice. Most takeovers are made with leases of two seconds and
 * a tolerance of one, to be quick; the last nine with the default figures and a shared quota, to tell how long a takeover takes.
 *
 *   npx tsx test/soak/standby.ts [takeovers=100] [seed=1] [with the default figures=9]
 */
import { createRandom } from "../../src/random.ts";
import { endings, StandbyTrial, type Takeover, type TrialOptions } from "../plugins/standby/harness/standby-trial.ts";
import { redisServer } from "../support/harness/redis.ts";

const [takeovers = 100, seed = 1, defaults = 9] = process.argv.slice(2).map(Number);
const perTrial = 10;

const trialOf = async (
  options: TrialOptions,
  count: number,
): Promise<Pick<StandbyTrial, "problems" | "takeovers" | "orders" | "fills">> => {
  const random = createRandom(`${options.seed} endings`);
  const trial = await StandbyTrial.open(options);
  try {
    await trial.begin();
    for (let turn = 0; turn < count && trial.problems.length === 0; turn++) {
      const ending =
        endings[count <= endings.length * 3 ? turn % endings.length : random.whole(0, endings.length - 1)] ?? "kill";
      await trial.takeOver(ending);
    }
    const { problems, orders, fills } = trial;
    return { problems, takeovers: trial.takeovers, orders, fills };
  } finally {
    await trial.end();
  }
};

const spread = (list: readonly Takeover[]): object => {
  const sorted = list.map(({ tradeMs }) => Math.round(tradeMs)).sort((a, b) => a - b);
  return { takeovers: sorted.length, medianMs: sorted[Math.floor(sorted.length / 2)], maxMs: sorted.at(-1) };
};

const byEnding = (list: readonly Takeover[]): object =>
  Object.fromEntries(endings.map((ending) => [ending, spread(list.filter((one) => one.ending === ending))]));

if (redisServer === undefined) throw new Error("redis-server is not installed: apt-get install redis-server");
const problems: string[] = [];
const quick: Takeover[] = [];
let [orders, fills] = [0, 0];
for (let trial = 0; quick.length < takeovers && problems.length === 0; trial++) {
  const count = Math.min(perTrial, takeovers - quick.length);
  const options = { seed: `standby ${seed} ${trial}`, leaseMs: 2_000, toleranceMs: 1_000, stepMs: 500 };
  const ended = await trialOf(options, count);
  problems.push(...ended.problems);
  quick.push(...ended.takeovers);
  orders += ended.orders;
  fills += ended.fills;
  process.stderr.write(`${quick.length} takeovers, ${orders} orders, ${fills} filled, ${problems.length} problems\n`);
}
const slow =
  defaults === 0
    ? undefined
    : await trialOf(
        { seed: `standby ${seed} default`, leaseMs: 10_000, toleranceMs: 5_000, stepMs: 4_000, shared: true },
        defaults,
      );
problems.push(...(slow?.problems ?? []));
const figures = { orders, fills, quick: byEnding(quick), defaults: byEnding(slow?.takeovers ?? []), problems };
process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
process.exitCode = problems.length > 0 ? 1 : 0;
