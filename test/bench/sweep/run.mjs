#!/usr/bin/env node
/**
 * How much faster a sweep is on two threads than on one: the demo under the real limits, in turns.
 *
 *   node test/bench/sweep/run.mjs [--rounds N] [--points N]
 *
 * Two measurements. "Whole": a sweep of its own each time, from the first thread's start to the last result: loading the config and
 * warming up are paid for by every thread, so that short sweeps gain less. "Kept alive": the same runs on threads that have run
 * before, which is what a long sweep tends to. On a machine that does other work at the same time a ratio says little, so what
 * others used of it is printed with it, and the processor time, of which two threads should not need much more than one.
 * The ceiling is what the machine gave in the same rounds to two processes that share nothing, against one: no sweep goes beyond it.
 */
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { register as registerCommonJs } from "tsx/cjs/api";
import { register } from "tsx/esm/api";
import { machineLine, median, timed } from "../machine.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
process.chdir(here("../../.."));
process.env.TSX_TSCONFIG_PATH ??= here("../../../tsconfig.json");
registerCommonJs();
register();
const { loadConfigFile } = await import("../../../src/host/load.ts");
const { planSweep } = await import("../../../src/sweep/plan.ts");
const { createPool } = await import("../../../src/sweep/pool.ts");
const { readMarkets } = await import("../../../src/sweep/shared-market.ts");
const { overridesOf, readVariation } = await import("../../../src/sweep/space.ts");
const { runSweep } = await import("../../../src/sweep/sweep.ts");
const { openThread } = await import("../../../src/sweep/thread.ts");

const given = (name, usual) => Number(process.argv[process.argv.indexOf(name) + 1]) || usual;
const rounds = given("--rounds", 3);
const points = given("--points", 24);
const configPath = "config/backtest.ts";
const plan = planSweep(configPath, await loadConfigFile(configPath, { command: "backtest" }), {
  variations: [`ladder.levels=3..${2 + Math.ceil(points / 2)}`, "ladder.step=0.0005,0.001"].map(readVariation),
  choice: { kind: "grid" },
  max: 1_000,
  by: "pnl",
});

const whole = (threads) => timed(async () => JSON.stringify(await runSweep(plan, { threads })));

const jobs = plan.points.map((point, index) => ({ index, overrides: overridesOf(plan.space, point), market: 0 }));
const markets = readMarkets(plan);
const threads = [];
/** Threads are lent to a pool of each size in turn, and stay. */
const poolOf = (size) => {
  const lent = threads.slice(0, size);
  return createPool({ size }, async () => lent.pop());
};
const keptAlive = (size) =>
  timed(async () => {
    const answers = [];
    await poolOf(size).run(jobs, ({ index }, answer) => {
      answers[index] = answer;
    });
    return JSON.stringify(answers);
  });

const loners = [];
const started = () => {
  const loner = fork(here("./alone.mjs"), { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  loner.once("exit", (code) => {
    if (code !== 0) throw new Error("a process of the bench died");
  });
  return loner;
};
/** The next word of a process that runs by itself: seconds. */
const asked = (loner, facts) =>
  new Promise((resolve) => {
    loner.once("message", resolve);
    loner.send(facts);
  });
/** Each of them runs all jobs, so that two do twice the work. */
const alone = async (size) => Math.max(...(await Promise.all(loners.slice(0, size).map((loner) => asked(loner, "run")))));

const shown = (values) => values.map((value) => value.toFixed(2)).join(", ");

/** One and two threads in turns; which is first changes with each round. */
const compare = async (name, run, ceilingOf) => {
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
  console.log(`  ratio        ${shown(ratios)}, median ${median(ratios).toFixed(2)}; results ${same ? "are the same bytes" : "DIFFER"}`);
  if (ceilingOf !== undefined) {
    const share = median(ratios) / median(ceilings);
    console.log(
      `  ceiling      ${shown(ceilings)}, median ${median(ceilings).toFixed(2)}; the ratio is ${(100 * share).toFixed(0)} % of it`,
    );
  }
  if (!same) process.exitCode = 1;
};

console.log(`${plan.points.length} runs of ${plan.fixture}`);
await compare("Whole sweep", whole);
threads.push(...(await Promise.all([1, 2].map(() => openThread({ configPath, settings: {}, markets })))));
// Each thread warms up on its own.
await Promise.all(threads.map(async (thread) => [await thread.run(jobs[0]), await thread.run(jobs.at(-1))]));
await keptAlive(2);
loners.push(started(), started());
await Promise.all(loners.map((loner) => asked(loner, { configPath, fixture: plan.fixture, jobs })));
await compare("Threads kept alive", keptAlive, alone);
for (const loner of loners) loner.disconnect();
await Promise.all(threads.map((thread) => thread.close()));
