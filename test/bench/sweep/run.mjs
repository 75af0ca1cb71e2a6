#!/usr/bin/env node
/**
 * How much faster a sweep is on two threads than on one: the demo under the real limits, sixteen points, in turns.
 *
 *   node test/bench/sweep/run.mjs [--rounds N]
 *
 * Everything counts from the first thread's start to the last result, so that starting threads is paid for. On a machine that does
 * other work at the same time the ratio says little: the processor time, which two threads should not need much more of than
 * one, and the load average are printed with it.
 */
import { availableParallelism, loadavg } from "node:os";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { register as registerCommonJs } from "tsx/cjs/api";
import { register } from "tsx/esm/api";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
process.chdir(here("../../.."));
process.env.TSX_TSCONFIG_PATH ??= here("../../../tsconfig.json");
registerCommonJs();
register();
const { loadConfigFile } = await import("../../../src/host/load.ts");
const { planSweep } = await import("../../../src/sweep/plan.ts");
const { readVariation } = await import("../../../src/sweep/space.ts");
const { runSweep } = await import("../../../src/sweep/sweep.ts");

const rounds = Number(process.argv[process.argv.indexOf("--rounds") + 1] || 3) || 3;
const config = "config/backtest.ts";
const plan = planSweep(config, await loadConfigFile(config, { command: "backtest" }), {
  variations: ["ladder.levels=1..8", "ladder.step=0.0005,0.001"].map(readVariation),
  choice: { kind: "grid" },
  max: 1_000,
  by: "pnl",
});

const timed = async (threads) => {
  const startedAt = performance.now();
  const cpuBefore = process.cpuUsage();
  const text = JSON.stringify(await runSweep(plan, { threads }));
  const { user, system } = process.cpuUsage(cpuBefore);
  return { seconds: (performance.now() - startedAt) / 1_000, cpu: (user + system) / 1_000_000, text };
};

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

const seconds = { 1: [], 2: [] };
const cpu = { 1: [], 2: [] };
const texts = new Set();
for (let round = 0; round < rounds; round++) {
  for (const threads of round % 2 === 0 ? [1, 2] : [2, 1]) {
    const run = await timed(threads);
    seconds[threads].push(run.seconds);
    cpu[threads].push(run.cpu);
    texts.add(run.text);
  }
}
const ratios = seconds[1].map((one, round) => one / seconds[2][round]);
const shown = (values) => values.map((value) => value.toFixed(2)).join(", ");
console.log(`${plan.points.length} runs of ${plan.fixture}, ${availableParallelism()} cores, load average ${loadavg()[0].toFixed(1)}`);
console.log(`one thread   ${shown(seconds[1])} s, processor ${shown(cpu[1])} s`);
console.log(`two threads  ${shown(seconds[2])} s, processor ${shown(cpu[2])} s`);
console.log(
  `ratio        ${shown(ratios)}, median ${median(ratios).toFixed(2)}; results ${texts.size === 1 ? "are the same bytes" : "DIFFER"}`,
);
if (texts.size !== 1) process.exitCode = 1;
