#!/usr/bin/env node
/**
 * How much faster a sweep is on two threads than on one, in turns, by the package as it is installed.
 *
 *   node test/bench/sweep/run.mjs [--rounds N] [--points N]
 *
 * Two sweeps: the demo under the real limits, of which each run is some thousands of requests, and a trend follower on a million
 * bars. Two measurements of each. "Whole": a sweep of its own each time, from the first thread's start to the last result: loading
 * the config and warming up are paid for by every thread, so that short sweeps gain less. "Kept alive": the same runs on threads
 * that have run before, which is what a long sweep tends to. On a machine that does other work at the same time a ratio says
 * little, so what others used of it is printed with it, and the processor time, of which two threads should not need much more
 * than one: what the compiler and the collector of one thread do beside it is work that a second thread cannot have for itself.
 * The ceiling is what the machine gave in the same rounds to two processes that share nothing, against one: no sweep goes beyond it.
 */
import { fork } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { register as registerCommonJs } from "tsx/cjs/api";
import { register } from "tsx/esm/api";
import { loadPackage, packageInto } from "../compile.mjs";
import { machineLine, median, timed } from "../machine.mjs";
import { barTape } from "../replay/tapes.mjs";

const root = mkdtempSync(join(tmpdir(), "sluice-sweep-"));
process.on("exit", () => rmSync(root, { recursive: true, force: true }));
const dist = packageInto(root);
process.chdir(root);
const of = (name) => import(pathToFileURL(`${dist}/${name}.js`).href);
const sluice = await loadPackage(dist);
const { loadConfigFile } = await of("host/load");
const { planSweep } = await of("plugins/sweep/sweep-plan");
const { createPool } = await of("plugins/sweep/pool");
const { readMarkets } = await of("plugins/sweep/sweep-markets");
const { overridesOf, readVariation } = await of("plugins/sweep/space");
const { runSweep } = await of("plugins/sweep/sweep");
const { openThread } = await of("plugins/sweep/thread");
registerCommonJs();
register();

const given = (name, usual) => Number(process.argv[process.argv.indexOf(name) + 1]) || usual;
const rounds = given("--rounds", 3);
const points = given("--points", 24);

sluice.writeFixture("bars", barTape(sluice, 1_000_000), { source: "bench" });
writeFileSync(
  "config/follower.ts",
  `import { defineConfig } from "sluice";
  import { backtest, constant } from "sluice/backtest";
import averageCross from "../strategies/average-cross.ts";
export default defineConfig({
  service: backtest({ fixture: "bars", latency: constant(25) }),
  strategies: [averageCross({ barMs: 3_600_000 })],
});
`,
);
const most = (from) => `${from}..${from - 1 + Math.ceil(points / 2)}`;
const sweeps = {
  "the demo": ["config/backtest.ts", [`ladder.levels=${most(3)}`, "ladder.step=0.0005,0.001"]],
  "a trend follower on 1M bars": ["config/follower.ts", [`average-cross.fast=${most(3)}`, "average-cross.slow=40,60"]],
};

/** The next word of a process that runs by itself: seconds. */
const asked = (loner, facts) =>
  new Promise((resolve) => {
    loner.once("message", resolve);
    loner.send(facts);
  });
const started = () => {
  const loner = fork(fileURLToPath(new URL("./alone.mjs", import.meta.url)), [dist], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  loner.once("exit", (code) => {
    if (code !== 0) throw new Error("a process of the bench died");
  });
  return loner;
};

const shown = (values) => values.map((value) => value.toFixed(2)).join(", ");

/** One and two threads in turns; which is first changes with each round. */
const compare = async (name, jobs, run, ceilingOf) => {
  const runs = { 1: [], 2: [] };
  const ceilings = [];
  for (let round = 0; round < rounds; round++) {
    const sizes = round % 2 === 0 ? [1, 2] : [2, 1];
    for (const size of sizes) runs[size].push(await run(size));
    const lone = {};
    if (ceilingOf !== undefined) for (const size of sizes) lone[size] = await ceilingOf(size);
    ceilings.push((2 * lone[1]) / lone[2]);
  }
  const ratios = runs[1].map(({ seconds }, round) => seconds / runs[2][round].seconds);
  const all = [...runs[1], ...runs[2]];
  const same = new Set(all.map(({ value }) => value)).size === 1;
  console.log(`\n${name}: ${machineLine(all.map(({ others }) => others))}`);
  for (const size of [1, 2]) {
    const [seconds, cpu] = [runs[size].map((one) => one.seconds), runs[size].map((one) => one.cpu)];
    const each = (1_000 * Math.min(...cpu)) / jobs.length;
    console.log(
      `  ${size === 1 ? "one thread " : "two threads"}  ${shown(seconds)} s, processor ${shown(cpu)} s, ${each.toFixed(0)} ms a run`,
    );
  }
  console.log(
    `  ratio        ${shown(ratios)}, median ${median(ratios).toFixed(2)}; results ${same ? "are the same bytes" : "DIFFER"}`,
  );
  if (ceilingOf !== undefined) {
    const share = median(ratios) / median(ceilings);
    console.log(
      `  ceiling      ${shown(ceilings)}, median ${median(ceilings).toFixed(2)}; the ratio is ${(100 * share).toFixed(0)} % of it`,
    );
  }
  if (!same) process.exitCode = 1;
};

for (const [title, [configPath, variations]] of Object.entries(sweeps)) {
  const plan = planSweep(configPath, await loadConfigFile(configPath, { command: "backtest" }), {
    variations: variations.map(readVariation),
    choice: { kind: "grid" },
    max: 1_000,
    by: "pnl",
  });
  const jobs = plan.points.map((point, index) => ({ index, overrides: overridesOf(plan.space, point), market: 0 }));
  console.log(`\n== ${title}: ${jobs.length} runs of ${plan.fixture}`);
  await compare("Whole sweep", jobs, (threads) => timed(async () => JSON.stringify(await runSweep(plan, { threads }))));

  const markets = readMarkets(plan);
  const threads = await Promise.all([1, 2].map(() => openThread({ configPath, settings: {}, markets })));
  /** Threads are lent to a pool of each size in turn, and stay. */
  const keptAlive = (size) =>
    timed(async () => {
      const lent = threads.slice(0, size);
      const answers = [];
      await createPool({ size }, async () => lent.pop()).run(jobs, ({ index }, answer) => {
        answers[index] = answer;
      });
      return JSON.stringify(answers);
    });
  // Each thread warms up on its own.
  await Promise.all(threads.map(async (thread) => [await thread.run(jobs[0]), await thread.run(jobs.at(-1))]));
  await keptAlive(2);
  const loners = [started(), started()];
  await Promise.all(loners.map((loner) => asked(loner, { configPath, fixture: plan.fixture, jobs })));
  /** Each of them runs all jobs, so that two do twice the work. */
  const alone = async (size) =>
    Math.max(...(await Promise.all(loners.slice(0, size).map((loner) => asked(loner, "run")))));
  await compare("Threads kept alive", jobs, keptAlive, alone);
  for (const loner of loners) loner.disconnect();
  await Promise.all(threads.map((thread) => thread.close()));
}
